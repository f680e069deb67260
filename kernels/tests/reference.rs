//! Kernels against values of independent tools: reference files made by `scripts/reference.py`,
//! and the examples of the catalogue.

use std::path::Path;

use haul_ir::dtype::{DType, Kind};
use haul_ir::op::{Attrs, CpuKernel, Op, ParamKind};
use haul_kernels::catalogue;
use serde_json::Value as Json;

use crate::support::formula;
use crate::support::rows::{self, Rows};
use crate::support::run::{Arg, Output, run, run_any};
use crate::support::tensor::{Lie, Tensor, Value};

macro_rules! groups {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            check_group(stringify!($name));
        }
    )*};
}

groups! {
    attention cast contractions conv decompositions elementary elementwise fft filters functions linalg losses moves networks norms
    order pools pytorch random reduce sampling scans shape softmax special spectra statistics totals vectors windows
}

/// Every case of a file, with its inputs lying in every way.
fn check_group(group: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/reference/{group}.json"));
    let text = std::fs::read_to_string(path).expect("the reference file is there");
    let cases: Vec<Json> = serde_json::from_str(&text).expect("the reference file is JSON");
    assert!(!cases.is_empty());
    let mut failures = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        if let Err(failure) = check_case(case) {
            let (op, attrs) = (&case["op"], &case["attrs"]);
            failures.push(format!("case {number}, {op} {attrs}: {failure}"));
        }
    }
    let shown = failures
        .iter()
        .take(20)
        .cloned()
        .collect::<Vec<_>>()
        .join("\n");
    assert!(
        failures.is_empty(),
        "{} cases of {group} fail:\n{shown}",
        failures.len()
    );
}

fn check_case(case: &Json) -> Result<(), String> {
    let op = find(case["op"].as_str().unwrap())?;
    let attrs = attrs(op, &case["attrs"]);
    let tensors = |key: &str| {
        case[key]
            .as_array()
            .unwrap()
            .iter()
            .map(tensor)
            .collect::<Vec<_>>()
    };
    let (inputs, wanted) = (tensors("inputs"), tensors("outputs"));
    let number = |key: &str| case[key].as_f64().unwrap();
    for lie in Lie::ALL {
        let args: Vec<_> = inputs
            .iter()
            .map(|input| Arg::Tensor(input.lying(lie)))
            .collect();
        let outputs = run(op, &args, &attrs).map_err(|error| format!("{error:?}"))?;
        assert_eq!(outputs.len(), wanted.len(), "results of {}", op.name());
        for (output, wanted) in outputs.iter().zip(&wanted) {
            let agreed = output.agrees(wanted, number("rtol"), number("atol"));
            agreed.map_err(|difference| format!("{lie:?}: {difference}"))?;
            if case["signed_zeros"] == true && signs(output) != signs(wanted) {
                return Err("zeros have other signs".to_owned());
            }
        }
        // The caller, not the kernel, walks these.
        if matches!(
            op.cpu(),
            CpuKernel::Elementwise(_) | CpuKernel::Contiguous(_)
        ) {
            break;
        }
    }
    Ok(())
}

fn find(name: &str) -> Result<&'static dyn Op, String> {
    catalogue()
        .find(name)
        .ok_or_else(|| format!("there is no op `{name}`"))
}

/// Which elements are negative zeros.
fn signs(tensor: &Tensor) -> Vec<bool> {
    let negative = |part: f64| part == 0.0 && part.is_sign_negative();
    let values = tensor.values().into_iter();
    values
        .flat_map(|value| match value {
            Value::Int(_) => [false, false],
            Value::Real(re) => [negative(re), false],
            Value::Complex(re, im) => [negative(re), negative(im)],
        })
        .collect()
}

fn tensor(json: &Json) -> Tensor {
    let dtype: DType = json["dtype"].as_str().unwrap().parse().expect("a dtype");
    let shape = json["shape"].as_array().unwrap().iter();
    let shape: Vec<_> = shape.map(|size| size.as_u64().unwrap() as usize).collect();
    let values = json["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|json| value(dtype, json));
    Tensor::new(dtype, &shape, &values.collect::<Vec<_>>(), Lie::Contiguous)
}

fn value(dtype: DType, json: &Json) -> Value {
    let real = |json: &Json| match json {
        Json::String(word) => word.parse().expect("nan, inf or -inf"),
        number => number.as_f64().expect("a number"),
    };
    match dtype.kind() {
        Kind::Bool => Value::Int(json.as_bool().expect("a truth value").into()),
        Kind::Int => {
            let unsigned = json.as_u64().map(i128::from);
            Value::Int(
                unsigned
                    .or(json.as_i64().map(i128::from))
                    .expect("a whole number"),
            )
        }
        Kind::Float => Value::Real(real(json)),
        Kind::Complex => Value::Complex(real(&json[0]), real(&json[1])),
    }
}

fn attrs(op: &dyn Op, json: &Json) -> Attrs {
    let json = json.as_object().expect("attributes by name");
    for name in json.keys() {
        let known = op.params().iter().any(|param| param.name == name);
        assert!(known, "{} has no parameter `{name}`", op.name());
    }
    let texts: Vec<Option<String>> = op
        .params()
        .iter()
        .map(|param| json.get(param.name).map(|json| attr_text(param.kind, json)))
        .collect();
    let texts: Vec<Option<&str>> = texts.iter().map(Option::as_deref).collect();
    formula::attrs(op, &texts)
}

/// An attribute as an author would write it.
fn attr_text(kind: ParamKind, json: &Json) -> String {
    match (kind, json) {
        (ParamKind::Index, Json::Array(items)) => {
            items.iter().map(index_text).collect::<Vec<_>>().join(", ")
        }
        (ParamKind::Numbers, Json::String(word)) => word.clone(),
        (_, Json::Null) => "none".to_owned(),
        (_, Json::String(word)) => format!("'{word}'"),
        (_, other) => other.to_string(),
    }
}

fn index_text(json: &Json) -> String {
    match json {
        Json::String(word) if word == "ellipsis" => "...".to_owned(),
        Json::String(word) => word.clone(),
        _ if json.get("at").is_some() => json["at"].to_string(),
        _ => {
            let part = |at: usize| match &json["slice"][at] {
                Json::Null => String::new(),
                number => number.to_string(),
            };
            format!("{}:{}:{}", part(0), part(1), part(2))
        }
    }
}

/// Every op has examples; each gives what it says, in every layout.
#[test]
fn examples() {
    for op in catalogue().0 {
        assert!(!op.examples().is_empty(), "{} has no example", op.name());
        for example in op.examples() {
            let (name, args, attrs) = formula::call(example, *op);
            assert_eq!(
                name,
                op.name(),
                "`{}` is an example of another op",
                example.formula
            );
            let (ty, elements) = example.result;
            if rows::is_rows(ty) {
                let outputs = run_any(*op, &args, &attrs)
                    .unwrap_or_else(|error| panic!("{}: {error:?}", example.formula));
                let Output::Rows(found) = &outputs[0] else {
                    panic!("{} gives no rows", example.formula);
                };
                assert_eq!(
                    found.words(),
                    Rows::new(ty, elements).words(),
                    "{}",
                    example.formula
                );
                continue;
            }
            let wanted = formula::tensor(ty, elements);
            for lie in Lie::ALL {
                let args: Vec<_> = args.iter().map(|arg| arg.lying(lie)).collect();
                let outputs = run(*op, &args, &attrs)
                    .unwrap_or_else(|error| panic!("{}: {error:?}", example.formula));
                let agreed = outputs[0].agrees(&wanted, epsilon(wanted.dtype), 1e-15);
                agreed.unwrap_or_else(|error| panic!("{}: {error}", example.formula));
            }
        }
    }
}

/// Two units in the last place of a dtype.
fn epsilon(dtype: DType) -> f64 {
    match dtype.real() {
        DType::Bf16 => 2.0_f64.powi(-7),
        DType::F16 => 2.0_f64.powi(-10),
        DType::F32 => f64::from(f32::EPSILON),
        _ => f64::EPSILON,
    }
}

/// Values come before attributes, several tensors first, no name twice.
#[test]
fn parameters_are_in_order() {
    for op in catalogue().0 {
        let values: Vec<_> = op
            .params()
            .iter()
            .map(|param| param.kind.is_value())
            .collect();
        assert!(
            values.is_sorted_by(|a, b| a >= b),
            "parameters of {}",
            op.name()
        );
        for (position, param) in op.params().iter().enumerate() {
            assert!(
                position == 0 || param.kind != ParamKind::Tensors,
                "{}",
                op.name()
            );
            let same = op.params().iter().filter(|other| other.name == param.name);
            assert_eq!(same.count(), 1, "`{}` of {}", param.name, op.name());
        }
    }
}

/// Every op has a name of its own, and words for what it does.
#[test]
fn ops_are_described() {
    for op in catalogue().0 {
        let same = catalogue().names().filter(|name| *name == op.name());
        assert_eq!(same.count(), 1, "`{}` is there once", op.name());
        for words in [op.doc(), op.rule(), op.work_formula()] {
            assert!(!words.is_empty(), "words for {}", op.name());
        }
    }
}
