//! Reductions of random shapes against loops over indices.

use haul_ir::dtype::DType;
use haul_ir::op::Attrs;
use haul_kernels::catalogue;
use proptest::prelude::*;

use crate::support::formula;
use crate::support::run::{Arg, run};
use crate::support::tensor::{Lie, Tensor, Value};

/// A shape, a layout, and which axes are reduced.
fn reduction() -> impl Strategy<Value = (Vec<usize>, Lie, Vec<bool>)> {
    let size = prop_oneof![4 => 1_usize..6, 1 => 60_usize..140];
    let lie = prop::sample::select(Lie::ALL.to_vec());
    let shape = prop::collection::vec(size, 1..4);
    (shape, lie).prop_flat_map(|(shape, lie)| {
        let picked = prop::collection::vec(any::<bool>(), shape.len());
        (Just(shape), Just(lie), picked)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn reductions_agree_with_loops((shape, lie, picked) in reduction()) {
        let elements: usize = shape.iter().product();
        // Whole numbers, of which sums are exact; several equal ones, so that places are decided.
        let numbers: Vec<i64> = (0..elements as i64).map(|at| at * 7919 % 31 - 15).collect();
        let values: Vec<_> = numbers.iter().map(|number| Value::Int((*number).into())).collect();
        for dtype in [DType::I8, DType::I64, DType::F32, DType::F64] {
            let input = Tensor::new(dtype, &shape, &values, lie);
            for (name, fold) in LOOPS {
                let got = reduce(name, &input, &picked);
                let want: Vec<i64> = groups(&shape, &picked, &numbers).iter().map(|g| fold(g)).collect();
                prop_assert_eq!(whole(&got), want, "{} of {:?} over {:?}", name, dtype, &picked);
            }
        }
        if picked.iter().filter(|picked| **picked).count() == 1 {
            let input = Tensor::new(DType::F32, &shape, &values, lie);
            let place = |group: &Vec<i64>| {
                let max = group.iter().max().unwrap();
                group.iter().position(|number| number == max).unwrap() as i64
            };
            let want: Vec<i64> = groups(&shape, &picked, &numbers).iter().map(place).collect();
            prop_assert_eq!(whole(&reduce("argmax", &input, &picked)), want);
        }
    }
}

type Loop = fn(&[i64]) -> i64;

const LOOPS: [(&str, Loop); 3] = [
    ("sum", |group| group.iter().sum()),
    ("max", |group| *group.iter().max().unwrap()),
    ("min", |group| *group.iter().min().unwrap()),
];

fn reduce(name: &str, input: &Tensor, picked: &[bool]) -> Tensor {
    let op = catalogue().find(name).expect("there is the op");
    let axes = picked.iter().enumerate().filter(|(_, picked)| **picked);
    let axes: Vec<_> = axes.map(|(axis, _)| axis).collect();
    let attrs: Attrs = formula::attrs(op, &[None, Some(&format!("{axes:?}")), None]);
    let outputs = run(op, &[Arg::Tensor(input.clone())], &attrs);
    outputs.expect("the call fits").remove(0)
}

/// The numbers that come to each place of the result.
fn groups(shape: &[usize], picked: &[bool], numbers: &[i64]) -> Vec<Vec<i64>> {
    let kept = shape.iter().zip(picked).filter(|(_, picked)| !**picked);
    let mut groups = vec![Vec::new(); kept.map(|(size, _)| size).product()];
    for (at, number) in numbers.iter().enumerate() {
        let (mut rest, mut group, mut step) = (at, 0, 1);
        for (size, picked) in shape.iter().zip(picked).rev() {
            if !picked {
                group += rest % size * step;
                step *= size;
            }
            rest /= size;
        }
        groups[group].push(*number);
    }
    groups
}

fn whole(tensor: &Tensor) -> Vec<i64> {
    let whole = |value| match value {
        Value::Int(int) => int as i64,
        Value::Real(real) => real as i64,
        Value::Complex(..) => panic!("no complex numbers here"),
    };
    tensor.values().into_iter().map(whole).collect()
}

/// Ones, whose number is the sum: a running sum in `f32` would stop at 2**24.
#[test]
fn long_sums_stay_accurate() {
    let length = (1 << 24) + 3000;
    let input = Tensor::new(
        DType::F32,
        &[length],
        &vec![Value::Int(1); length],
        Lie::Contiguous,
    );
    let sum = whole(&reduce("sum", &input, &[true]))[0];
    // Beyond 2**24 every second whole number is an f32.
    assert!(
        (sum - length as i64).abs() <= 2,
        "the sum of {length} ones is {sum}"
    );
}
