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
