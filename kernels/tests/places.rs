//! What only the data shows: numbers that name no place stop the run, and say where.

use haul_kernels::catalogue;

use crate::support::formula;
use crate::support::run::{Arg, Failure, run};

/// Op, its inputs with their elements, its attributes by name, and the error.
type Case = (
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static [(&'static str, &'static str)],
    &'static str,
);

#[rustfmt::skip]
const CASES: &[Case] = &[
    ("bincount", &[("i32[3]", "1 4 0")], &[("length", "4")],
        "element 1 is 4, not a place from 0 to below 4"),
    ("bincount", &[("i8[3]", "1 0 -1")], &[("length", "4")],
        "element 2 is -1, not a place from 0 to below 4"),
    ("segment_sum", &[("f32[2, 1]", "1 2"), ("u8[2]", "0 3")], &[("segments", "3")],
        "element 1 is 3, not a place from 0 to below 3"),
    ("embedding", &[("i32[2]", "1 3"), ("f32[3, 1]", "1 2 3")], &[],
        "row 3 does not exist: the table has 3"),
    ("embedding", &[("i64[1]", "-4"), ("f32[3, 1]", "1 2 3")], &[],
        "row -4 does not exist: the table has 3"),
    ("one_hot", &[("i32[2]", "1 -3"), ("i32[]", "1"), ("i32[]", "0")], &[("classes", "2")],
        "class -3 does not exist: there are 2"),
    ("nll_loss", &[("f32[2, 2]", "1 2 3 4"), ("i32[2]", "1 2")], &[],
        "class 2 of item 1 does not exist: there are 2 classes"),
    ("cross_entropy", &[("f32[2, 2]", "1 2 3 4"), ("i32[2]", "-1 0")], &[("ignore_index", "-2")],
        "class -1 of item 0 does not exist: there are 2 classes"),
    ("fmod", &[("i32[2]", "1 2"), ("i32[2]", "1 0")], &[], "an integer is divided by zero"),
];

#[test]
fn wrong_places_are_named() {
    for (name, inputs, given, message) in CASES {
        let op = catalogue().find(name).expect("there is the op");
        let texts = op.params().iter().map(|param| {
            let written = given.iter().find(|(name, _)| *name == param.name);
            written.map(|(_, text)| *text)
        });
        let attrs = formula::attrs(op, &texts.collect::<Vec<_>>());
        let tensor = |(ty, elements): &(&str, &str)| Arg::Tensor(formula::tensor(ty, elements));
        let args: Vec<_> = inputs.iter().map(tensor).collect();
        match run(op, &args, &attrs) {
            Err(Failure::Kernel(error)) => assert_eq!(error.message, *message, "{name}"),
            Err(Failure::Infer(error)) => panic!("{name}: {error:?}"),
            Ok(_) => panic!("{name} runs"),
        }
    }
}

/// Sizes near the largest there may be neither overflow nor take long.
#[test]
fn windows_far_larger_than_the_input() {
    let x = Arg::Tensor(formula::tensor("f32[1, 1, 2, 2, 2]", "1 2 3 4 5 6 7 8"));
    for (name, wanted) in [("max_pool", 8.0), ("lp_pool", 204.0_f64.sqrt())] {
        let op = catalogue().find(name).expect("there is the op");
        let texts = op.params().iter().map(|param| match param.name {
            "kernel_size" => Some("1073741824"),
            "padding" => Some("'same'"),
            "stride" => Some("1"),
            _ => None,
        });
        let attrs = formula::attrs(op, &texts.collect::<Vec<_>>());
        let outputs = run(op, std::slice::from_ref(&x), &attrs).expect("it runs");
        let wanted = format!("{wanted} ").repeat(8);
        let wanted = formula::tensor("f32[1, 1, 2, 2, 2]", &wanted);
        let agreed = outputs[0].agrees(&wanted, 1e-6, 0.0);
        agreed.unwrap_or_else(|difference| panic!("{name}: {difference}"));
    }
}
