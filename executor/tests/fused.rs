//! Groups of elementwise ops against plain loops, on strided and broadcast inputs.

use std::path::Path;

use crate::paths;
use crate::support::{MIB, Pipeline, f32, op, value};
use haul_executor::{Cancel, Machine, Options, Silent, run};
use haul_ir::dtype::DType;
use haul_ir::expr::Expr;
use haul_ir::graph::{Arg, Scalar, Source};
use haul_ir::op::{Attr, IndexItem};
use haul_ir::plan::Plan;

fn bytes_of(plan: &Plan, cpus: u32, folder: &Path, path: &str) -> Vec<u8> {
    let options = Options {
        paths: paths(folder),
        out: folder.to_owned(),
        machine: Machine {
            cpus,
            memory: 256 * MIB,
            cpu: "test cpu".into(),
            emulated: Vec::new(),
        },
        keep_going: false,
        cancel: Cancel::new(),
        caching: None,
    };
    run(plan, &options, &Silent).unwrap();
    std::fs::read(folder.join(path)).unwrap()
}

/// The numbers of a file that the executor wrote: after a header whose length is at byte 8.
fn numbers(file: &[u8]) -> Vec<f32> {
    let start = 10 + usize::from(u16::from_le_bytes([file[8], file[9]]));
    let elements = file[start..].chunks_exact(4);
    elements
        .map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap()))
        .collect()
}

/// `exp(a * b - c) / (b + 3) + a`, with `m = a * b - c` given as well. `a` is a transposed input
/// of `[cols, rows]`, `b` a row, `c` every other element of a longer array, backwards.
fn plan(rows: u64, cols: u64, fuse: bool, cpus: u32) -> Plan {
    let mut p = Pipeline::new();
    let a = p.input("a", Source::Random { seed: 1 }, f32(&[cols, rows]));
    let b = p.input("b", Source::Random { seed: 2 }, f32(&[cols]));
    let c = p.input("c", Source::Random { seed: 3 }, f32(&[rows, 2 * cols]));
    p.npy("a.npy", a);
    p.npy("b.npy", b);
    p.npy("c.npy", c);
    p.stage("s", None, cpus, 200 * MIB);
    let a = p.op_with(
        "at",
        op("transpose"),
        vec![value(a)],
        &[("axes", Attr::None)],
    );
    let every_other = IndexItem::Slice {
        start: None,
        stop: None,
        step: -2,
    };
    let index = Attr::Index(vec![IndexItem::Ellipsis, every_other]);
    let c = p.op_with("ci", op("index"), vec![value(c)], &[("index", index)]);
    let product = p.op("p", op("mul"), vec![value(a), value(b)]);
    let m = p.op("m", op("sub"), vec![value(product), value(c)]);
    let e = p.op("e", op("exp"), vec![value(m)]);
    let three = Arg::Scalar(Scalar::Int(Expr::from(3_u64)), DType::F32);
    // Of the row's own shape, so outside the group.
    let divisor = p.op("d", op("add"), vec![value(b), three]);
    let q = p.op("q", op("div"), vec![value(e), value(divisor)]);
    let s = p.op("s", op("add"), vec![value(q), value(a)]);
    p.gives(m);
    p.gives(s);
    p.npy("m.npy", m);
    p.npy("s.npy", s);
    if fuse {
        p.fuse(&[product, m, e]);
        p.fuse(&[q, s]);
    }
    p.plan()
}

#[test]
fn fused_is_unfused_is_a_plain_loop_for_any_number_of_cpus() {
    // Around one block of 4096 elements, one job of 16 blocks, and odd sizes.
    for (rows, cols) in [
        (1, 1),
        (3, 5),
        (64, 64),
        (17, 241),
        (4096, 1),
        (1, 4097),
        (181, 211),
        (257, 300),
        (4, 8200),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let unfused = bytes_of(&plan(rows, cols, false, 1), 1, folder.path(), "s.npy");
        for cpus in 1..=3 {
            let fused = bytes_of(&plan(rows, cols, true, cpus), cpus, folder.path(), "s.npy");
            assert!(fused == unfused, "{rows} x {cols} on {cpus} cpus");
        }
        let read = |path: &str| numbers(&std::fs::read(folder.path().join(path)).unwrap());
        let (a, b, c, m) = (read("a.npy"), read("b.npy"), read("c.npy"), read("m.npy"));
        let s = numbers(&unfused);
        let (rows, cols) = (rows as usize, cols as usize);
        assert_eq!((m.len(), s.len()), (rows * cols, rows * cols));
        for i in 0..rows {
            for j in 0..cols {
                let (a, b) = (a[j * rows + i], b[j]);
                let c = c[i * 2 * cols + 2 * cols - 1 - 2 * j];
                let at = i * cols + j;
                assert_eq!(m[at], a * b - c);
                let expected = f64::from(m[at]).exp() / f64::from(b + 3.0) + f64::from(a);
                assert!((f64::from(s[at]) - expected).abs() < 1e-6, "{i}, {j}");
            }
        }
    }
}

/// `y = x + 1`, then `y = y * x - y` fifty times over: many blocks taking turns in few places.
#[test]
fn a_long_chain_is_a_plain_loop() {
    let folder = tempfile::tempdir().unwrap();
    let mut p = Pipeline::new();
    let x = p.input("x", Source::Random { seed: 9 }, f32(&[10_000]));
    p.npy("x.npy", x);
    p.stage("s", None, 2, MIB);
    let one = Arg::Scalar(Scalar::Float(1.0), DType::F32);
    let mut y = p.op("y", op("add"), vec![value(x), one]);
    let mut group = vec![y];
    for round in 0..50 {
        let product = p.op(&format!("p{round}"), op("mul"), vec![value(y), value(x)]);
        y = p.op(
            &format!("y{round}"),
            op("sub"),
            vec![value(product), value(y)],
        );
        group.extend([product, y]);
    }
    p.fuse(&group);
    p.gives(y);
    p.npy("y.npy", y);
    let y = numbers(&bytes_of(&p.plan(), 2, folder.path(), "y.npy"));
    let x = numbers(&std::fs::read(folder.path().join("x.npy")).unwrap());
    for (x, y) in x.iter().zip(&y) {
        let expected = (0..50).fold(x + 1.0, |y, _| y * x - y);
        assert_eq!(*y, expected);
    }
    assert_eq!(y.len(), 10_000);
}
