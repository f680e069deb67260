//! Sizes that only the data shows.

use std::sync::{Barrier, LazyLock};

use crate::run::{PASS, constant, execute};
use crate::support::{MIB, Pipeline, TestOp, f32, files, op, value};
use haul_ir::dtype::DType;
use haul_ir::expr::{Expr, Symbol};
use haul_ir::graph::{Dim, Source};
use haul_ir::op::{Attr, CpuKernel, IndexItem};
use haul_ir::types::{TensorType, ValueType};

/// Parts of 5 and 3 elements: `x[n - 5:]` has 5 of 5, and of 3 only the last 2.
#[test]
fn a_view_of_another_shape_than_inferred_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut p = Pipeline::new();
    p.input("x", constant(&[1.0]), f32(&[8]));
    let of = p.graph.inputs.ids().next().unwrap();
    let n = Expr::symbol(Symbol::new("n"));
    let split = Source::Split {
        of,
        axis: 0,
        size: 5,
    };
    let ty = TensorType::new(DType::F32, vec![n.clone()]);
    let (parts, part) = p.items("parts", split, ty);
    let dim = Dim {
        per_item: Some(parts),
        ..Dim::default()
    };
    p.graph.dims.insert(Symbol::new("n"), dim);
    p.stage("s", Some(parts), 1, MIB);
    let last_five = IndexItem::Slice {
        start: Some(&n - &Expr::from(5_u64)),
        stop: None,
        step: 1,
    };
    let index = [("index", Attr::Index(vec![last_five]))];
    let last = p.op_with("last", op("index"), vec![value(part)], &index);
    p.op("s", &PASS, vec![value(last)]);
    let error = execute(&p.plan(), folder.path()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "stage `s`, item `1`, op `last`: `last` is f32[5]: that is [5], and the data gives [2]\n  \
         arguments: f32[3]\n  \
         help: a bound or a size in the formula is out of range for the sizes of this data"
    );
}

/// Gives its input back when a second task has come as far.
static MEET: TestOp = TestOp {
    name: "meet",
    kernel: CpuKernel::Array(|_| {
        static BOTH: LazyLock<Barrier> = LazyLock::new(|| Barrier::new(2));
        BOTH.wait();
        Ok(())
    }),
};

/// Two tasks of one item, neither of which knows of the other, count the rows with and without a
/// header.
#[test]
fn a_size_of_an_item_is_the_same_in_all_its_tasks() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.csv"), "1\n2\n3\n").unwrap();
    let mut p = Pipeline::new();
    let (files, item) = p.items("files", files("*.csv"), ValueType::Text);
    let n = Symbol::new("n");
    let dim = Dim {
        per_item: Some(files),
        ..Dim::default()
    };
    p.graph.dims.insert(n.clone(), dim);
    for (name, header) in [("with", true), ("without", false)] {
        p.stage(name, Some(files), 1, MIB);
        let ty = TensorType::new(DType::F32, vec![Expr::symbol(n.clone())]);
        let attrs = [
            ("type", Attr::Type(ty.into())),
            ("header", Attr::Bool(header)),
        ];
        let parsed = p.op_with("parsed", op("parse_csv"), vec![value(item)], &attrs);
        p.op("met", &MEET, vec![value(parsed)]);
    }
    let error = execute(&p.plan(), folder.path()).unwrap_err();
    let messages = [
        "`n` is 2 here and 3 elsewhere",
        "`n` is 3 here and 2 elsewhere",
    ];
    assert!(messages.contains(&&*error.message), "{error}");
    assert_eq!(error.place.item.as_deref(), Some("a"));
}
