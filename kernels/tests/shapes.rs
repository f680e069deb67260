//! Shape rules against the answers in `data/shape_inference.json`.

use haul_ir::dtype::DType;
use haul_ir::expr::Expr;
use haul_ir::op::{ArgType, Attrs, Call};
use haul_ir::types::{TensorType, ValueType};
use haul_kernels::catalogue;
use serde_json::Value as Json;

use crate::support::formula;

#[test]
fn shapes_are_as_expected() {
    let text = include_str!("data/shape_inference.json");
    let cases: Vec<Json> = serde_json::from_str(text).expect("the file is JSON");
    let failures: Vec<String> = cases.iter().filter_map(|case| check(case).err()).collect();
    assert!(
        failures.is_empty(),
        "{} fail:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

fn check(case: &Json) -> Result<(), String> {
    let (name, attributes) = call(case);
    let op = catalogue()
        .find(name)
        .ok_or_else(|| format!("there is no op `{name}`"))?;
    let texts = op.params().iter().map(|param| {
        let given = attributes.iter().find(|(name, _)| *name == param.name);
        given.map(|(_, text)| text.as_str())
    });
    let attrs: Attrs = formula::attrs(op, &texts.collect::<Vec<_>>());
    let shapes = case["inputs"].as_array().unwrap().iter();
    let inputs: Vec<_> = shapes
        .map(|shape| ArgType::Value(tensor(shape).into()))
        .collect();
    let inferred = op.infer(&Call {
        inputs: &inputs,
        attrs: &attrs,
    });
    let got: Result<Vec<ValueType>, ()> = inferred.map(|found| found.outputs).map_err(|_| ());
    let want: Result<Vec<ValueType>, ()> = match &case["output"] {
        Json::Array(shapes) => Ok(shapes.iter().map(|shape| tensor(shape).into()).collect()),
        _ => Err(()),
    };
    if got == want {
        return Ok(());
    }
    Err(format!("{case}: got {got:?}"))
}

fn tensor(shape: &Json) -> TensorType {
    let sizes = shape.as_array().unwrap().iter();
    let shape = sizes.map(|size| Expr::from(size.as_u64().unwrap()));
    TensorType::new(DType::F32, shape.collect())
}

/// The op that a case means, and its attributes as authors write them.
fn call(case: &Json) -> (&str, Vec<(&'static str, String)>) {
    let attrs = &case["attrs"];
    let text = |name: &str| attrs[name].to_string();
    match case["op"].as_str().unwrap() {
        "reduce_sum" => (
            "sum",
            vec![("axis", text("axis")), ("keepdims", text("keepdims"))],
        ),
        "concat" => ("concat", vec![("axis", text("axis"))]),
        "reshape" => ("reshape", vec![("shape", text("shape"))]),
        "transpose" => ("transpose", vec![("axes", text("perm"))]),
        "slice" => ("index", vec![("index", slices(&attrs["start_stop_step"]))]),
        "conv2d" => {
            let attributes = vec![
                ("stride", text("strides")),
                ("dilation", text("dilations")),
                ("padding", padding(&attrs["pads"])),
                ("groups", text("group")),
            ];
            ("conv2d", attributes)
        }
        other => (other, Vec::new()),
    }
}

fn slices(items: &Json) -> String {
    let part = |number: &Json| {
        if number.is_null() {
            String::new()
        } else {
            number.to_string()
        }
    };
    let items = items.as_array().unwrap().iter();
    let items = items.map(|item| [0, 1, 2].map(|at| part(&item[at])).join(":"));
    items.collect::<Vec<_>>().join(", ")
}

/// ONNX's order, all beginnings and then all ends, is ours.
fn padding(pads: &Json) -> String {
    pads.to_string()
}
