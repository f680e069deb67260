//! Parquet and Arrow files, against what PyArrow and NumPy say that they hold.

use std::fs;
use std::panic::catch_unwind;
use std::path::Path;
use std::sync::Arc;

use haul_ir::dtype::DType;
use haul_ir::expr::{Expr, Symbol};
use haul_ir::format::{ARROW, Column, File, Format, JSONL, PARQUET, SettingValue};
use haul_ir::graph::Source;
use haul_ir::types::{CellKind, CellType, TableType, TensorType, ValueType};

use crate::files::{convert, data, elements, npy, read};

/// The same columns in each.
const FILES: [&str; 5] = [
    "all.parquet",
    "file.arrow",
    "lz4.arrow",
    "zstd.arrow",
    "stream.arrows",
];

fn open(path: &str) -> File {
    File::new(Format::of_path(path).unwrap(), path)
}

fn column(path: &str, name: &str) -> File {
    open(path).with("column", SettingValue::Text(name.into()))
}

fn columns(path: &str, names: &[&str]) -> File {
    let names = names.iter().map(|name| Column::Name((*name).into()));
    open(path).with("columns", SettingValue::Columns(names.collect()))
}

fn missing(file: File, number: &str) -> File {
    file.with("missing", SettingValue::Text(number.into()))
}

fn expected(path: &str) -> (TensorType, Vec<u8>) {
    read(&npy(path), &data(), None).unwrap()
}

#[test]
fn every_type_of_column_reads_as_numpy_has_it() {
    let names = [
        "u8",
        "i16",
        "u32",
        "i64",
        "u64",
        "f16",
        "f32",
        "f64",
        "bool",
        "f64_null",
        "dictionary",
        "time",
        "day",
        "grid",
    ];
    for file in FILES.map(|file| format!("columns/{file}")) {
        for name in names {
            let (ty, bytes) = read(&column(&file, name), &data(), None).unwrap();
            let (expected_ty, expected) = expected(&format!("columns/{name}.npy"));
            assert_eq!(ty, expected_ty, "{file}: {name}");
            assert!(is_same(ty.dtype, &bytes, &expected), "{file}: {name}");
        }
        let (_, bytes) = read(&missing(column(&file, "i32_null"), "0"), &data(), None).unwrap();
        assert_eq!(bytes, expected("columns/i32_null.npy").1, "{file}");
    }
}

/// Whether numbers are the same; one NaN is as good as another.
fn is_same(dtype: DType, left: &[u8], right: &[u8]) -> bool {
    let is_nan = |bytes: &[u8]| match dtype {
        DType::F16 => half::f16::from_le_bytes(bytes.try_into().unwrap()).is_nan(),
        DType::F32 => f32::from_le_bytes(bytes.try_into().unwrap()).is_nan(),
        DType::F64 => f64::from_le_bytes(bytes.try_into().unwrap()).is_nan(),
        _ => false,
    };
    let size = dtype.size() as usize;
    let mut pairs = left.chunks(size).zip(right.chunks(size));
    left.len() == right.len() && pairs.all(|(l, r)| l == r || (is_nan(l) && is_nan(r)))
}

#[test]
fn columns_make_a_matrix_in_the_order_and_dtype_that_is_asked_for() {
    for file in FILES.map(|file| format!("columns/{file}")) {
        let out = tempfile::tempdir().unwrap();
        let source = Source::File(columns(&file, &["i16", "u8", "i16"]));
        let ty = TensorType::new(DType::I32, vec![5_u64.into(), 3_u64.into()]);
        convert(&source, ty, npy("y.npy"), &data(), out.path()).unwrap();
        let bytes = elements(&out.path().join("y.npy"));
        let numbers = bytes.chunks_exact(4);
        let numbers = numbers.map(|bytes| i32::from_le_bytes(bytes.try_into().unwrap()));
        let expected = [
            [-32768, 0, -32768],
            [-1, 1, -1],
            [0, 127, 0],
            [1, 128, 1],
            [32767, 255, 32767],
        ];
        assert_eq!(numbers.collect::<Vec<_>>(), expected.concat(), "{file}");
    }
}

#[test]
fn nothing_is_narrowed_and_what_cannot_be_read_is_named() {
    let file = "columns/all.parquet";
    let cases = [
        (
            column(file, "i64"),
            Some(DType::F64),
            "row 3 of column `i64`",
        ),
        (column(file, "i64"), Some(DType::F64), "is no f64"),
        (column(file, "i16"), Some(DType::U8), "-32768 is no u8"),
        (
            column(file, "f64"),
            Some(DType::F32),
            "holds f64, not f32 as declared",
        ),
        (
            column(file, "f32"),
            Some(DType::I32),
            "holds f32, not i32 as declared",
        ),
        (column(file, "text"), None, "column `text` holds text"),
        (
            column(file, "nope"),
            None,
            "there is no column `nope`, only: u8, i16",
        ),
        (
            columns(file, &["u8", "f64"]),
            None,
            "declare the type to read them as",
        ),
        (columns(file, &["f32", "grid"]), None, "differ in length"),
        (
            missing(column(file, "i32_null"), "1.5"),
            None,
            "1.5 is no i32",
        ),
        (open(file), None, "column `text` holds text"),
    ];
    for (file, dtype, part) in cases {
        let error = read(&file, &data(), dtype).unwrap_err();
        assert!(error.contains(part), "{part}: {error}");
        assert!(error.contains("all.parquet"), "{error}");
    }
}

#[test]
fn what_is_written_reads_back() {
    for name in ["u8", "i64", "u64", "f16", "f32", "f64", "bool"] {
        for (format, path) in [(&PARQUET, "y.parquet"), (&ARROW, "y.arrow")] {
            let out = tempfile::tempdir().unwrap();
            let (ty, bytes) = expected(&format!("columns/{name}.npy"));
            let names = SettingValue::Columns(vec![Column::Name("é, \"x\"".into())]);
            let sink = File::new(format, path).with("columns", names);
            let source = Source::File(npy(&format!("columns/{name}.npy")));
            convert(&source, ty.clone(), sink, &data(), out.path()).unwrap();
            let found = read(&column(path, "é, \"x\""), out.path(), None).unwrap();
            assert_eq!(found.0, ty);
            assert!(is_same(ty.dtype, &found.1, &bytes), "{name}");
        }
    }
}

#[test]
fn a_matrix_of_many_batches_reads_back() {
    let out = tempfile::tempdir().unwrap();
    let numbers: Vec<f64> = (0..3_000_000).map(f64::from).collect();
    let bytes = bytemuck::cast_slice(&numbers);
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 3), }\n";
    let length = (header.len() as u16).to_le_bytes();
    let file = [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), bytes].concat();
    fs::write(out.path().join("x.npy"), file).unwrap();
    let (ty, _) = read(&npy("x.npy"), out.path(), None).unwrap();
    for (format, path) in [(&PARQUET, "y.parquet"), (&ARROW, "y.arrow")] {
        let source = Source::File(npy("x.npy"));
        convert(
            &source,
            ty.clone(),
            File::new(format, path),
            out.path(),
            out.path(),
        )
        .unwrap();
        let (found, elements) = read(&open(path), out.path(), None).unwrap();
        assert_eq!(found, ty);
        assert_eq!(elements, bytes, "{path}");
    }
    assert_eq!(elements(&out.path().join("x.npy")).len(), bytes.len());
}

/// A table of these columns: `name: text?`.
fn table(columns: &[(&str, CellKind, bool)]) -> ValueType {
    let columns = columns.iter().map(|(name, kind, is_optional)| {
        let (kind, is_optional) = (*kind, *is_optional);
        ((*name).to_owned(), CellType { kind, is_optional })
    });
    ValueType::Table(TableType {
        rows: Expr::symbol(Symbol::new("n")),
        columns: Arc::new(columns.collect()),
    })
}

const INT: CellKind = CellKind::Element(DType::I64);
const FLOAT: CellKind = CellKind::Element(DType::F64);

fn all_columns() -> ValueType {
    table(&[
        ("name", CellKind::Text, true),
        ("kind", CellKind::Text, true),
        ("large", CellKind::Text, false),
        ("count", INT, true),
        ("mass", FLOAT, true),
        ("flag", CellKind::Element(DType::Bool), false),
        ("small", CellKind::Element(DType::U8), false),
    ])
}

#[test]
fn a_table_reads_as_python_has_it_and_is_written_the_same() {
    let ty = all_columns();
    let expected = fs::read_to_string(data().join("columns/table.csv")).unwrap();
    let out = tempfile::tempdir().unwrap();
    let check = |from: &str, base: &Path| {
        let (source, sink) = (Source::File(open(from)), open("y.csv"));
        convert(&source, ty.clone(), sink, base, out.path()).unwrap();
        let found = fs::read_to_string(out.path().join("y.csv")).unwrap();
        assert_eq!(found, expected, "{from}");
    };
    for from in ["columns/table.parquet", "columns/table.arrow"] {
        check(from, &data());
        for to in ["y.parquet", "y.arrow"] {
            let source = Source::File(open(from));
            convert(&source, ty.clone(), open(to), &data(), out.path()).unwrap();
            check(to, out.path());
        }
    }
}

#[test]
fn lines_of_json_are_written_as_python_does() {
    let of_file = |name: &str| expected(&format!("columns/{name}.npy")).0;
    let cases = [
        ("table", open("columns/table.arrow"), all_columns()),
        ("grid", npy("columns/grid.npy"), of_file("grid").into()),
        (
            "f64_null",
            npy("columns/f64_null.npy"),
            of_file("f64_null").into(),
        ),
    ];
    let out = tempfile::tempdir().unwrap();
    let to = || File::new(&JSONL, "y.jsonl");
    for (name, from, ty) in cases {
        convert(&Source::File(from), ty, to(), &data(), out.path()).unwrap();
        let expected = data().join(format!("columns/{name}.jsonl"));
        let expected = fs::read_to_string(expected).unwrap();
        let found = fs::read_to_string(out.path().join("y.jsonl")).unwrap();
        assert_eq!(found, expected, "{name}");
    }
    let source = Source::File(npy("columns/f64.npy"));
    let error = convert(&source, of_file("f64"), to(), &data(), out.path());
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("JSON has no infinity")
    );
}

#[test]
fn columns_that_are_not_as_declared_are_named() {
    let cases = [
        (("count", INT, false), "row 1 of column `count`"),
        (("count", INT, false), "declare the column as `i64?`"),
        (("count", FLOAT, true), "row 0 of column `count`"),
        (("mass", INT, true), "`mass` holds f64, not i64 as declared"),
        (("name", FLOAT, true), "`name` holds text, not f64?"),
        (
            ("mass", CellKind::Text, true),
            "`mass` holds Float64, not text?",
        ),
        (
            ("nope", INT, true),
            "there is no column `nope`, only: name, kind",
        ),
    ];
    for file in ["columns/table.parquet", "columns/table.arrow"] {
        for (column, part) in cases {
            let out = tempfile::tempdir().unwrap();
            let source = Source::File(open(file));
            let made = convert(
                &source,
                table(&[column]),
                open("y.csv"),
                &data(),
                out.path(),
            );
            let error = made.unwrap_err().to_string();
            assert!(error.contains(part), "{part}: {error}");
        }
    }
}

/// Whatever bytes are flipped, the file reads, or is refused by name.
#[test]
fn broken_files_end_in_an_error() {
    for file in FILES {
        let good = fs::read(data().join("columns").join(file)).unwrap();
        for seed in 0..100_u64 {
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join(file), mutated(&good, seed)).unwrap();
            let read = catch_unwind(|| {
                for name in ["f64", "grid", "dictionary", "i32_null"] {
                    if let Err(error) = read(&column(file, name), folder.path(), None) {
                        assert!(error.contains(file) || error.contains("memory"), "{error}");
                    }
                }
            });
            assert!(read.is_ok(), "{file}, seed {seed}");
        }
    }
    let ty = table(&[
        ("name", CellKind::Text, true),
        ("kind", CellKind::Text, true),
        ("count", INT, true),
    ]);
    for file in ["table.parquet", "table.arrow"] {
        let good = fs::read(data().join("columns").join(file)).unwrap();
        for seed in 0..200_u64 {
            let folder = tempfile::tempdir().unwrap();
            let base = folder.path();
            fs::write(base.join(file), mutated(&good, seed)).unwrap();
            let source = Source::File(open(file));
            let read = catch_unwind(|| convert(&source, ty.clone(), open("y.csv"), base, base));
            let Ok(read) = read else {
                panic!("{file}, seed {seed}");
            };
            if let Err(error) = read.map_err(|error| error.to_string()) {
                assert!(error.contains(file) || error.contains("memory"), "{error}");
            }
        }
    }
}

fn mutated(good: &[u8], seed: u64) -> Vec<u8> {
    // xorshift*
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut random = |below: usize| {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % below
    };
    let mut bytes = good.to_vec();
    for _ in 0..=random(4) {
        let at = random(bytes.len());
        match random(4) {
            0 => bytes[at] ^= 1 << random(8),
            1 => bytes[at] = [0, 0x7f, 0x80, 0xff][random(4)],
            2 => bytes.truncate(at.max(1)),
            _ => {
                let from = random(bytes.len());
                let length = random(16).min(bytes.len() - from.max(at));
                bytes.copy_within(from..from + length, at);
            }
        }
    }
    bytes
}
