//! Work against `data/unit_ops.json`: flops and bytes of unit operations.

use haul_ir::expr::Expr;
use haul_ir::op::{ArgType, Call, Work};
use haul_kernels::catalogue;
use serde_json::Value as Json;

use crate::support::{formula, text};

/// Attributes by name, as authors write them.
type Given = &'static [(&'static str, &'static str)];

/// The operation, as the file names it; the op and its types here; attributes.
type Case = (&'static str, &'static str, &'static [&'static str], Given);

#[rustfmt::skip]
const CALLS: &[Case] = &[
    ("matmul", "matmul", &["f32[128, 256]", "f32[256, 64]"], &[]),
    ("matvec", "matmul", &["f32[4096, 4096]", "f32[4096]"], &[]),
    ("add", "add", &["f32[]", "f32[]"], &[]),
    ("add f32", "add", &["f32[100000000]", "f32[100000000]"], &[]),
    ("conv2d", "conv2d", &["f32[8, 64, 56, 56]", "f32[128, 64, 3, 3]"], &[("padding", "[1, 1, 1, 1]")]),
    ("conv2d depthwise", "conv2d", &["f32[1, 32, 112, 112]", "f32[32, 1, 3, 3]"], &[("padding", "[1, 1, 1, 1]"), ("groups", "32")]),
    ("fft c64", "fft", &["c64[1048576]"], &[]),
    ("sum f32", "sum", &["f32[1000000]"], &[]),
    ("transpose f32", "copy", &["f32[4096, 4096]"], &[]),
    ("dense bf16", "matmul", &["bf16[1, 4096]", "bf16[4096, 4096]"], &[]),
];

#[test]
fn unit_operations_have_their_work() {
    let cases: Vec<Json> =
        serde_json::from_str(include_str!("data/unit_ops.json")).expect("the file is JSON");
    assert_eq!(cases.len(), CALLS.len());
    for (case, call) in cases.iter().zip(CALLS) {
        assert_eq!(case["op"], call.0);
        check(case, call);
    }
}

fn check(case: &Json, (_, name, types, given): &Case) {
    let (flops, read, written) = work(name, types, given);
    let agree = |key: &str, got: i128| {
        if let Some(want) = case[key].as_u64() {
            assert_eq!(got, want.into(), "{key} of {case}");
        }
    };
    for key in ["flops", "flops_no_bias", "flops_5nlog2n"] {
        agree(key, flops);
    }
    agree("bytes", read + written);
    agree("in_bytes_f32", read);
    agree("out_bytes_f32", written);
    if let Some(intensity) = case["arithmetic_intensity"].as_f64() {
        let got = flops as f64 / (read + written) as f64;
        assert!(
            (got - intensity).abs() < 1e-9 * intensity,
            "intensity {got} of {case}"
        );
    }
}

/// Flops, bytes read and bytes written.
fn work(name: &str, types: &[&str], given: &[(&str, &str)]) -> (i128, i128, i128) {
    let op = catalogue().find(name).expect("there is the op");
    let texts = op.params().iter().map(|param| {
        given
            .iter()
            .find(|(name, _)| *name == param.name)
            .map(|(_, text)| *text)
    });
    let attrs = formula::attrs(op, &texts.collect::<Vec<_>>());
    let inputs: Vec<_> = types
        .iter()
        .map(|ty| ArgType::Value(text::ty(ty).into()))
        .collect();
    let call = Call {
        inputs: &inputs,
        attrs: &attrs,
    };
    let outputs = op.infer(&call).expect("the call fits").outputs;
    let Work::Known {
        flops,
        read,
        written,
    } = op.work(&call, &outputs)
    else {
        panic!("the work of {name} is known")
    };
    let value = |expr: &Expr| expr.eval(&|_| None).expect("no symbols");
    (value(&flops), value(&read), value(&written))
}

/// Op, types, and flops by hand.
const FLOPS: &[(&str, &[&str], i128)] = &[
    ("exp", &["f32[10, 10]"], 2000),
    ("add", &["c64[10]", "c64[10]"], 20),
    ("mul", &["c64[10]", "c64[10]"], 60),
    ("mul", &["f32[10, 1]", "f32[10]"], 100),
    ("div", &["f32[10]", "f32[10]"], 40),
    ("f32", &["f32[10]"], 0),
    ("f32", &["i32[10]"], 10),
    ("mean", &["f32[10, 10]"], 100),
    ("norm", &["f32[10, 10]"], 200),
    ("max", &["f32[10, 10]"], 99),
    ("softmax", &["f32[10, 10]"], 2400),
    ("trace", &["f32[10, 12]"], 9),
    ("cumsum", &["c64[10, 12]"], 240),
    ("sort", &["f32[10, 16]"], 640),
    ("median", &["f32[10, 10]"], 400),
    ("logsumexp", &["f32[10, 10]"], 2300),
    ("silu", &["f32[10, 10]", "f32[]"], 2500),
    ("layer_norm", &["f32[10, 10]", "f32[]"], 800),
    ("mse_loss", &["f32[10, 10]", "f32[10, 10]"], 300),
    // 12 results of 2 channels and 2 taps, a multiply-add each.
    ("conv1d", &["f32[1, 2, 5]", "f32[3, 2, 2]"], 96),
    // 10 elements, each times 3 channels of 2 taps.
    ("conv_transpose1d", &["f32[1, 2, 5]", "f32[2, 3, 2]"], 120),
    // 8 scores: 3 multiply-adds for each, and 5 with it; 25 for the rest.
    ("attention", &["f32[2, 3]", "f32[4, 3]", "f32[4, 5]"], 328),
    ("global_avg_pool", &["f32[2, 3, 5, 7]"], 210),
];

#[test]
fn flops_by_hand() {
    for (name, types, flops) in FLOPS {
        assert_eq!(work(name, types, &[]).0, *flops, "{name} of {types:?}");
    }
}

#[test]
fn a_trace_reads_the_diagonal() {
    assert_eq!(work("trace", &["f32[10, 12]"], &[]).1, 40);
}
