//! Ops that pick and scatter: what they refuse, sizes that many tasks share, collections.

use haul_ir::dtype::DType;
use haul_kernels::catalogue;

use crate::support::formula;
use crate::support::run::{Arg, Failure, run};
use crate::support::tensor::{Lie, Tensor, Value};

/// The first result of a call; of each attribute its text, in order.
fn call(op: &str, args: &[Arg], attrs: &[&str]) -> Result<Tensor, String> {
    let op = catalogue().find(op).expect("there is the op");
    let mut attrs = attrs.iter().copied();
    let values = |kind: haul_ir::op::ParamKind| kind.is_value();
    let given = op.params().iter().map(|param| match values(param.kind) {
        true => None,
        false => attrs.next(),
    });
    let given: Vec<_> = given.collect();
    let outputs = run(op, args, &formula::attrs(op, &given));
    outputs
        .map(|mut outputs| outputs.remove(0))
        .map_err(|failure| match failure {
            Failure::Infer(error) => error.message,
            Failure::Kernel(error) => error.message,
        })
}

fn tensor(ty: &str, elements: &str) -> Arg {
    Arg::Tensor(formula::tensor(ty, elements))
}

/// An index that an axis has not is named, the first of several.
#[test]
fn indices_out_of_bounds() {
    let x = || tensor("f32[2, 3]", "1 2 3 4 5 6");
    let fails = |op: &str, args: &[Arg], attrs: &[&str], message: &str| {
        assert_eq!(
            call(op, args, attrs).err().as_deref(),
            Some(message),
            "{op}"
        );
    };
    let indices = tensor("i64[4]", "1 3 -4 7");
    let axis_1 = "index 3 is out of bounds for axis 1 of size 3";
    fails("take", &[x(), indices], &["1"], axis_1);
    let minus = tensor("i8[1]", "-3");
    let axis_0 = "index -3 is out of bounds for axis 0 of size 2";
    fails("take", &[x(), minus], &["0"], axis_0);
    let indices = || tensor("i64[2, 2]", "0 -3 3 9");
    fails("take_along_axis", &[x(), indices()], &["1"], axis_1);
    let tuples = || tensor("i64[2, 2]", "1 -3 0 3");
    fails("gather_nd", &[x(), tuples()], &["0"], axis_1);
    let updates = || tensor("f32[2, 2]", "1 2 3 4");
    fails(
        "scatter",
        &[x(), indices(), updates()],
        &["1", "'none'"],
        axis_1,
    );
    let updates = tensor("f32[2]", "1 2");
    fails("scatter_nd", &[x(), tuples(), updates], &["'none'"], axis_1);
    let lengths = tensor("i64[2]", "3 4");
    let none = "length 4 is none of axis 1 of size 3";
    fails("reverse_sequence", &[x(), lengths], &["1", "0"], none);
    let empty = tensor("f32[0]", "");
    let index = tensor("i64[1]", "0");
    let axis_0 = "index 0 is out of bounds for axis 0 of size 0";
    fails("take", &[empty, index], &["0"], axis_0);
}

/// Numbers that the dtype has not stop the run.
#[test]
fn ranges_that_do_not_fit() {
    let message = call("arange", &[], &["250", "258", "2", "'u8'"]).err();
    assert_eq!(message.as_deref(), Some("256 does not fit u8"));
}

fn counted(size: usize, lie: Lie) -> Tensor {
    let values: Vec<_> = (0..size as i128).map(Value::Int).collect();
    Tensor::new(DType::I32, &[size], &values, lie)
}

/// Sizes beyond what one task fills, element by element.
#[test]
fn large_sizes() {
    let size = 70_001;
    let n = size as i128;
    for lie in Lie::ALL {
        let x = || Arg::Tensor(counted(size, lie));
        let same = |op: &str, got: Tensor, wanted: &dyn Fn(i128) -> i128| {
            for (at, value) in got.values().into_iter().enumerate() {
                assert_eq!(
                    value,
                    Value::Int(wanted(at as i128)),
                    "{op} at {at}, {lie:?}"
                );
            }
        };
        let got = call("roll", &[x()], &["12345", "none"]).expect("it rolls");
        same("roll", got, &|at| (at - 12345).rem_euclid(n));
        let got = call("pad", &[x()], &["[100000, 50000]", "'wrap'", "0", "none"]);
        same("wrap", got.expect("it pads"), &|at| {
            (at - 100_000).rem_euclid(n)
        });
        let got = call("pad", &[x()], &["[20000, 30000]", "'reflect'", "0", "none"]);
        same("reflect", got.expect("it pads"), &|at| {
            let at = (at - 20_000).abs();
            if at < n { at } else { 2 * (n - 1) - at }
        });
        let got = call(
            "pad",
            &[x()],
            &["[20000, 30000]", "'constant'", "-7", "none"],
        );
        same("constant", got.expect("it pads"), &|at| {
            let at = at - 20_000;
            if (0..n).contains(&at) { at } else { -7 }
        });
        let indices = counted(size, lie);
        let got = call("take", &[x(), Arg::Tensor(indices)], &["none"]);
        same("take", got.expect("it takes"), &|at| at);
        let indices = Arg::Tensor(counted(size, lie));
        let got = call("take_along_axis", &[x(), indices], &["0"]);
        same("take_along_axis", got.expect("it takes"), &|at| at);
    }
    let got = call("arange", &[], &["0", "100000", "3", "'i32'"]).expect("it counts");
    let wanted: Vec<_> = (0..100_000).step_by(3).map(Value::Int).collect();
    assert_eq!(got.values(), wanted);
}

/// The items of a collection, by hand: 1 + 3 + 5.5 = 9.5, 2 + 4 + 6 = 12.
#[test]
fn collections() {
    let items = |ty: &str, items: &[&str]| {
        Arg::Items(items.iter().map(|item| formula::tensor(ty, item)).collect())
    };
    let three = ["1 2", "3 4", "5.5 6"];
    for dtype in ["f16", "bf16", "f32", "f64", "c64", "c128"] {
        let ty = format!("{dtype}[2]");
        let got = call("sum_all", &[items(&ty, &three)], &[]).expect("it sums");
        let wanted = formula::tensor(&ty, "9.5 12");
        got.agrees(&wanted, 0.0, 0.0).expect(dtype);
    }
    for (dtype, sum) in [("i8", "i64"), ("u8", "u64"), ("i32", "i64"), ("u64", "u64")] {
        let ty = format!("{dtype}[2]");
        let many = ["100 2", "100 4", "100 6"];
        let got = call("sum_all", &[items(&ty, &many)], &[]).expect("it sums");
        let wanted = formula::tensor(&format!("{sum}[2]"), "300 12");
        got.agrees(&wanted, 0.0, 0.0).expect(dtype);
        let got = call("mean_all", &[items(&ty, &many)], &[]).expect("it has a mean");
        let wanted = formula::tensor("f64[2]", "100 4");
        got.agrees(&wanted, 0.0, 0.0).expect(dtype);
    }
    let truths = items("bool[2]", &["true false", "true true"]);
    let got = call("sum_all", &[truths], &[]).expect("it sums");
    let wanted = formula::tensor("i64[2]", "2 1");
    got.agrees(&wanted, 0.0, 0.0).expect("bool");
    let rows = items("i32[1, 2]", &["1 2", "3 4"]);
    let got = call("concat_all", &[rows], &["1"]).expect("it joins");
    let wanted = formula::tensor("i32[1, 4]", "1 2 3 4");
    got.agrees(&wanted, 0.0, 0.0).expect("concat_all");
}
