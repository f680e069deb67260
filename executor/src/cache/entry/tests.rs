use std::fs;
use std::sync::Arc;

use haul_ir::column::Extent;
use haul_ir::dtype::DType;
use haul_ir::tensor::{Bool, Layout};
use haul_ir::types::{CellKind, CellType};
use indexmap::IndexMap;

use super::*;
use crate::cancel::Cancel;
use crate::memory::Memory;
use crate::table::{Column, ColumnSpace, HeapSpace, Table};
use crate::tensor::{Tensor, Text};

const KEY: Key = Key([7; KEY_BYTES]);

fn account() -> Arc<Account> {
    Memory::new(1 << 24).account(1 << 24)
}

fn about() -> About {
    About {
        pipeline: "p".into(),
        stage: "s".into(),
        item: Some("a".into()),
        sizes: vec![("n".into(), 3)],
        skipped: vec![("in".into(), "in.csv".into(), 2)],
    }
}

/// `i16[2, 3]` that holds 0 to 5, as the transposed view of a buffer.
fn tensor(account: &Arc<Account>) -> Tensor {
    let elements: [i16; 6] = [0, 3, 1, 4, 2, 5];
    let mut buffer = account.allocate(12).unwrap();
    buffer
        .bytes_mut()
        .copy_from_slice(bytemuck::cast_slice(&elements));
    let whole = Tensor::contiguous(DType::I16, &[3, 2], buffer);
    whole.with_layout(Layout {
        shape: vec![2, 3],
        strides: vec![1, 2],
        offset: 0,
    })
}

/// `ab`, missing, `` and `b`, which lie apart in a heap that holds more, or share its letters.
fn texts(account: &Arc<Account>, heap: &str, extents: [(u64, u64); 4]) -> Column {
    let allocate = |bytes| account.allocate(bytes);
    let mut letters = allocate(heap.len()).unwrap();
    letters.bytes_mut().copy_from_slice(heap.as_bytes());
    let cell = CellType {
        kind: CellKind::Text,
        is_optional: true,
    };
    let mut space = ColumnSpace::new(cell, 4, HeapSpace::New(letters), &allocate).unwrap();
    let mut column = space.space();
    for (cell, (start, len)) in column.extents().iter_mut().zip(extents) {
        *cell = Extent { start, len };
    }
    let valid = [true, false, true, true].map(Bool::from);
    column.valid.unwrap().copy_from_slice(&valid);
    space.filled()
}

fn read_back(results: &[Data]) -> (About, Vec<Data>) {
    let file = tempfile::NamedTempFile::new().unwrap();
    let bytes = write(file.as_file(), KEY, about(), results).unwrap();
    assert_eq!(bytes, file.as_file().metadata().unwrap().len());
    let stop = Stop::new(Cancel::new());
    let open = || Entry::open(file.path(), KEY).unwrap();
    open().verify(&stop).unwrap();
    let entry = open();
    (entry.about.clone(), entry.read(&account(), &stop).unwrap())
}

fn shown(column: &Column) -> Vec<Option<&str>> {
    let view = column.view();
    let row = |(row, text)| view.is_valid(row).then_some(text);
    view.texts().enumerate().map(row).collect()
}

#[test]
fn results_come_back_as_they_were() {
    let account = account();
    let apart = texts(&account, "xxabxxbxx", [(2, 2), (90, 9), (0, 0), (6, 1)]);
    let shared = texts(&account, "ab", [(0, 2), (0, 0), (1, 0), (1, 1)]);
    let cells = [("t", apart.cell), ("u", shared.cell)];
    let cells: IndexMap<_, _> = cells.map(|(name, cell)| (name.to_owned(), cell)).into();
    let text = "täxt".to_owned();
    let charge = account.charge(text.len() as u64).unwrap();
    let results = [
        Data::Tensor(tensor(&account)),
        Data::Column(apart.clone()),
        Data::Table(Table {
            cells: Arc::new(cells),
            rows: 4,
            columns: [apart, shared].into(),
        }),
        Data::Text(Text::new(text, charge)),
    ];
    let (told, back) = read_back(&results);
    assert_eq!(told, about());
    for (data, back) in results.iter().zip(&back) {
        assert_eq!(data.ty(), back.ty());
    }
    let [
        Data::Tensor(tensor),
        Data::Column(column),
        Data::Table(table),
        Data::Text(text),
    ] = &back[..]
    else {
        panic!("other kinds came back");
    };
    assert_eq!(
        tensor.view().contiguous::<i16>(),
        Some(&[0, 1, 2, 3, 4, 5][..])
    );
    let rows = [Some("ab"), None, Some(""), Some("b")];
    assert_eq!(shown(column), rows);
    // Only the letters of rows are kept.
    assert_eq!(column.view().heap, b"abb");
    assert!(table.columns.iter().all(|column| shown(column) == rows));
    assert_eq!(text.as_str(), "täxt");
}

/// A view that repeats what its buffer holds once is not worth its room.
#[test]
fn what_repeats_is_not_kept() {
    let account = account();
    let whole = tensor(&account);
    let repeated = whole.with_layout(whole.layout.broadcast_to(&[9, 2, 3]));
    assert_eq!(size(&[Data::Tensor(whole)]), Some(12));
    assert_eq!(size(&[Data::Tensor(repeated)]), None);
}

/// Whatever byte is another one, and wherever the file ends, nothing of it is taken.
#[test]
fn a_damaged_entry_is_refused() {
    let account = account();
    let file = tempfile::NamedTempFile::new().unwrap();
    let results = [Data::Tensor(tensor(&account))];
    write(file.as_file(), KEY, about(), &results).unwrap();
    let whole = fs::read(file.path()).unwrap();
    let stop = Stop::new(Cancel::new());
    let refused = |bytes: &[u8]| {
        fs::write(file.path(), bytes).unwrap();
        let entry = Entry::open(file.path(), KEY);
        let read = entry.and_then(|entry| entry.read(&account, &stop));
        matches!(read, Err(Unusable::Damaged(_)))
    };
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        assert!(refused(&bytes), "byte {at}");
        assert!(refused(&whole[..at]), "{at} bytes");
    }
    fs::write(file.path(), &whole).unwrap();
    let other = Entry::open(file.path(), Key([8; KEY_BYTES]));
    assert!(matches!(other, Err(Unusable::Damaged(_))));
}
