//! Moves of elements against a naive walk over all indices, for random shapes and layouts.

use haul_ir::dtype::DType;
use haul_ir::expr::Expr;
use haul_ir::op::{Attr, Attrs, IndexItem};
use haul_kernels::catalogue;
use proptest::prelude::*;

use crate::support::run::{Arg, run};
use crate::support::tensor::{Lie, Tensor, Value};

/// A tensor of small whole numbers, each another.
fn counted(shape: &[usize], lie: Lie) -> Tensor {
    let values: Vec<_> = (0..shape.iter().product::<usize>())
        .map(|value| Value::Int(value as i128))
        .collect();
    Tensor::new(DType::I32, shape, &values, lie)
}

fn compute(op: &str, args: Vec<Tensor>, attrs: Vec<(&'static str, Attr)>) -> Tensor {
    let op = catalogue().find(op).expect("there is the op");
    let args: Vec<_> = args.into_iter().map(Arg::Tensor).collect();
    let outputs = run(op, &args, &Attrs(attrs));
    outputs
        .unwrap_or_else(|error| panic!("{}: {error:?}", op.name()))
        .remove(0)
}

fn ints(values: &[usize]) -> Attr {
    Attr::Ints(
        values
            .iter()
            .map(|value| Expr::from(*value as u64))
            .collect(),
    )
}

/// All indices of a shape in row-major order.
fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    shape.iter().fold(vec![Vec::new()], |found, size| {
        let longer = |index: Vec<usize>| {
            (0..*size).map(move |at| {
                let mut index = index.clone();
                index.push(at);
                index
            })
        };
        found.into_iter().flat_map(longer).collect()
    })
}

/// The element at an index of a tensor made by [`counted`].
fn at(shape: &[usize], index: &[usize]) -> Value {
    let place = shape
        .iter()
        .zip(index)
        .fold(0, |place, (size, at)| place * size + at);
    Value::Int(place as i128)
}

fn lies() -> impl Strategy<Value = Lie> {
    prop::sample::select(Lie::ALL.to_vec())
}

fn shapes() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(prop::sample::select(vec![0, 1, 2, 3, 5, 37]), 0..4)
}

/// A slice as Python writes it, or nothing for one index.
type Part = (Option<i64>, Option<i64>, i64);

fn parts() -> impl Strategy<Value = Part> {
    let bound = || prop::option::of(-8_i64..8);
    (
        bound(),
        bound(),
        prop::sample::select(vec![-3_i64, -2, -1, 1, 2, 3]),
    )
}

/// The indices that a slice takes, by stepping as the definition says.
fn taken(size: usize, (start, stop, step): Part) -> Vec<usize> {
    let size = size as i64;
    let from_end = |bound: i64| if bound < 0 { bound + size } else { bound };
    let first = if step > 0 { 0 } else { size - 1 };
    let start = start.map(from_end);
    let stop = stop.map(from_end);
    let all = (0..size).map(|k| first + k * step.signum());
    let within = |at: &i64| match step > 0 {
        true => start.is_none_or(|start| *at >= start) && stop.is_none_or(|stop| *at < stop),
        false => start.is_none_or(|start| *at <= start) && stop.is_none_or(|stop| *at > stop),
    };
    let near: Vec<i64> = all.filter(within).collect();
    near.into_iter()
        .step_by(step.unsigned_abs() as usize)
        .map(|at| at as usize)
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn slices(
        axes in prop::collection::vec((0_usize..7, parts()), 1..4),
        lie in lies(),
    ) {
        let shape: Vec<usize> = axes.iter().map(|(size, _)| *size).collect();
        let bound = |bound: Option<i64>| bound.map(|bound| Expr::from(i128::from(bound)));
        let items = axes.iter().map(|(_, (start, stop, step))| IndexItem::Slice {
            start: bound(*start),
            stop: bound(*stop),
            step: *step,
        });
        let items = Attr::Index(items.collect());
        let got = compute("index", vec![counted(&shape, lie)], vec![("index", items)]);
        let chosen: Vec<Vec<usize>> = axes.iter().map(|(size, part)| taken(*size, *part)).collect();
        let sizes: Vec<usize> = chosen.iter().map(Vec::len).collect();
        prop_assert_eq!(got.shape(), &sizes[..]);
        let source = |index: &Vec<usize>| -> Vec<usize> {
            index.iter().zip(&chosen).map(|(at, chosen)| chosen[*at]).collect()
        };
        let wanted: Vec<_> = indices(&sizes).iter().map(|index| at(&shape, &source(index))).collect();
        // A view, and a copy of it.
        prop_assert_eq!(got.values(), wanted.clone());
        prop_assert_eq!(compute("copy", vec![got], vec![]).values(), wanted);
    }

    #[test]
    fn transposes_and_their_copies(
        (shape, order) in shapes().prop_flat_map(|shape| {
            let order: Vec<usize> = (0..shape.len()).collect();
            (Just(shape), Just(order).prop_shuffle())
        }),
        lie in lies(),
    ) {
        let x = counted(&shape, lie);
        let got = compute("transpose", vec![x], vec![("axes", ints(&order))]);
        let sizes: Vec<usize> = order.iter().map(|axis| shape[*axis]).collect();
        let source = |index: &Vec<usize>| {
            let mut source = vec![0; shape.len()];
            order.iter().zip(index).for_each(|(axis, at)| source[*axis] = *at);
            source
        };
        let wanted: Vec<_> = indices(&sizes).iter().map(|index| at(&shape, &source(index))).collect();
        prop_assert_eq!(got.values(), wanted.clone());
        prop_assert_eq!(compute("copy", vec![got], vec![]).values(), wanted);
    }

    #[test]
    fn broadcasts_and_their_copies(
        shape in shapes(),
        repeated in prop::collection::vec(any::<bool>(), 4),
        new in prop::collection::vec(0_usize..3, 0..2),
        lie in lies(),
    ) {
        let x: Vec<usize> = shape.iter().zip(&repeated).map(|(n, one)| if *one { 1 } else { *n }).collect();
        let sizes = [new.clone(), shape].concat();
        let got = compute("broadcast_to", vec![counted(&x, lie)], vec![("shape", ints(&sizes))]);
        let source = |index: &Vec<usize>| -> Vec<usize> {
            index[new.len()..].iter().zip(&x).map(|(at, n)| if *n == 1 { 0 } else { *at }).collect()
        };
        let wanted: Vec<_> = indices(&sizes).iter().map(|index| at(&x, &source(index))).collect();
        prop_assert_eq!(got.values(), wanted.clone());
        prop_assert_eq!(compute("copy", vec![got], vec![]).values(), wanted);
    }

    #[test]
    fn joins(
        shape in prop::collection::vec(1_usize..5, 1..4),
        sizes in prop::collection::vec(0_usize..4, 1..4),
        axis in 0_usize..3,
        lie in lies(),
    ) {
        let axis = axis % shape.len();
        let with = |size: usize| {
            let mut shape = shape.clone();
            shape[axis] = size;
            shape
        };
        let inputs: Vec<_> = sizes.iter().map(|size| counted(&with(*size), lie)).collect();
        let attrs = vec![("axis", Attr::Int(Expr::from(axis as u64)))];
        let got = compute("concat", inputs, attrs);
        let source = |mut index: Vec<usize>| {
            let mut input = 0;
            while index[axis] >= sizes[input] {
                index[axis] -= sizes[input];
                input += 1;
            }
            at(&with(sizes[input]), &index)
        };
        let whole = with(sizes.iter().sum());
        prop_assert_eq!(got.shape(), &whole[..]);
        prop_assert_eq!(got.values(), indices(&whole).into_iter().map(source).collect::<Vec<_>>());
    }
}

/// Large enough for tiles and tasks, with sides that they do not divide.
#[test]
fn copies_of_large_views() {
    for shape in [
        vec![301, 203],
        vec![5, 67, 129],
        vec![40_000, 3],
        vec![3, 40_000],
    ] {
        let x = counted(&shape, Lie::Contiguous);
        let turned = compute("transpose", vec![x], vec![("axes", Attr::None)]);
        let wanted = turned.values();
        assert_eq!(
            compute("copy", vec![turned], vec![]).values(),
            wanted,
            "{shape:?}"
        );
    }
}

/// Products of whole numbers, against sums over all indices.
#[test]
fn products_of_integers_wrap() {
    let (left, right) = (
        counted(&[33, 700], Lie::Reversed),
        counted(&[700, 35], Lie::Transposed),
    );
    let got = compute("matmul", vec![left, right], vec![]).values();
    for (row, col) in [(0, 0), (16, 34), (32, 17)] {
        let term = |k: i64| (row as i64 * 700 + k) * (k * 35 + col as i64);
        let sum: i64 = (0..700).map(term).sum();
        assert_eq!(got[row * 35 + col], Value::Int(i128::from(sum as i32)));
    }
}
