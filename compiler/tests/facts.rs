//! What is known beside the file: numbers set, sizes bound, headers read.

use std::collections::HashMap;

use crate::support::dump;
use haul_compiler::{Checked, Facts, check, undeclared};
use haul_ir::dtype::DType;
use haul_ir::format::{File, NPY};
use haul_ir::types::{TensorType, ValueType};

const PIPELINE: &str = r#"Pipeline(
    version: 1,
    dims: { "n": (plan: 100, max: 200) },
    params: { "k": 3 },
    inputs: {
        "x": Npy(path: "x.npy", type: "f32[n, k]"),
        "y": Npy(path: "y.npy"),
        "files": Files(glob: "*.npy", type: "f32[m]", plan: 5),
    },
    stages: {
        "sums": (each: "files", do: "sum(files) + sum(y)"),
        "all": (do: "gather(sums) + sum(x) / n"),
    },
)"#;

#[test]
fn headers_bind_sizes_and_give_types() {
    let facts = Facts {
        headers: headers([("x", "f32", &[150, 3]), ("y", "f64", &[7])]),
        widths: HashMap::from([("files".to_owned(), 12)]),
        ..Facts::default()
    };
    insta::assert_snapshot!(dump(&checked(&facts).typed.expect("it is fine")), @r"
    dim m each files
    collection files of 12
    input x: f32[150, 3]
    input y: f64[7]
    input files: f32[m] each files
    stage sums each files
      request cpus 1 memory 2147483648 gpus 0
      sums.sum -> sums.sum#3: f32[] = sum(files#2, keepdims=Bool(false))
      sums.sum_2 -> sums.sum_2#4: f64[] = sum(y#1, keepdims=Bool(false))
      sums.f64 -> sums.f64#5: f64[] = f64(sums.sum#3) in sums
      sums -> sums#6: f64[] = add(sums.f64#5, sums.sum_2#4)
      gives sums#6; is sums#6
    stage all
      request cpus 1 memory 2147483648 gpus 0
      all.gather -> all.gather#7: f64[12] = gather(each sums#6)
      all.sum -> all.sum#8: f32[] = sum(x#0, keepdims=Bool(false))
      all.div -> all.div#9: f32[] = div(all.sum#8, 150 f32) in all.f64
      all.f64 -> all.f64#10: f64[] = f64(all.div#9)
      all -> all#11: f64[12] = add(all.gather#7, all.f64#10)
      gives all#11; is all#11
    ");
}

#[test]
fn dims_and_params_are_set() {
    let facts = Facts {
        params: vec![("k".into(), "4".into()), ("n".into(), "20".into())],
        headers: headers([("y", "f32", &[7])]),
        ..Facts::default()
    };
    let typed = checked(&facts).typed.expect("it is fine");
    let graph = typed.graph();
    let types: Vec<_> = graph
        .inputs
        .iter()
        .map(|input| graph.values[input.value].ty.to_string())
        .collect();
    assert_eq!(types, ["f32[20, 4]", "f32[7]", "f32[m]"]);
}

#[test]
fn what_does_not_fit_is_told() {
    let y = ("y", "f32", &[7][..]);
    let said = |facts: &Facts| {
        let diagnostics = checked(facts).diagnostics;
        let lines = diagnostics
            .iter()
            .map(|d| format!("{} {} ({})", d.code, d.message, d.primary.text));
        lines.collect::<Vec<_>>().join("\n")
    };
    let set = |name: &str, value: &str| Facts {
        params: vec![(name.into(), value.into())],
        headers: headers([y]),
        ..Facts::default()
    };
    assert_eq!(
        said(&Facts::default()),
        "E0221 the type of `y` is not known ()"
    );
    assert_eq!(
        said(&set("k", "many")),
        "E0228 `k` cannot be set to `many`: not a number ()"
    );
    assert_eq!(
        said(&set("k", "2.5")),
        "E0228 `k` cannot be set to `2.5`: it is a whole number in the file ()"
    );
    assert_eq!(
        said(&set("n", "-4")),
        "E0228 `n` cannot be set to `-4`: not a size ()"
    );
    assert_eq!(
        said(&set("x", "4")),
        "E0228 `x` cannot be set: it is no param and no dim ()"
    );
    assert_eq!(
        said(&set("n", "300")),
        "E0228 `n` is 300, more than its max 200 (n = 300 comes from the command line)"
    );
    let facts = Facts {
        headers: headers([("x", "f32", &[150, 4]), y]),
        ..Facts::default()
    };
    assert_eq!(
        said(&facts),
        "E0220 `x.npy` has f32[150, 4], declared is f32[150, 3] (n = 150 from the header of `x`)"
    );
    let facts = Facts {
        headers: headers([("x", "f64", &[150, 3]), y]),
        ..Facts::default()
    };
    assert_eq!(
        said(&facts),
        "E0220 `x.npy` has f64[150, 3], declared is f32[150, 3] (n = 150 from the header of `x`)"
    );
}

#[test]
fn params_keep_their_kind() {
    let text = r#"Pipeline(version: 1, params: { "rate": 2.0 }, inputs: {
        "x": Constant(value: [1, 2], type: "i64[2]"),
    }, stages: {"s": (do: "x * rate")})"#;
    let facts = Facts {
        params: vec![("rate".into(), "3".into())],
        ..Facts::default()
    };
    let typed = check(text, haul_kernels::catalogue(), &facts)
        .typed
        .expect("it is fine");
    let graph = typed.graph();
    let stage = graph.stages.iter().next().expect("there is one");
    assert_eq!(graph.values[stage.value].ty.to_string(), "f64[2]");
}

#[test]
fn undeclared_types_are_asked_for() {
    let text = r#"Pipeline(version: 1, inputs: {
        "a": Npy(path: "a.npy"),
        "b": Npy(path: "b.npy", type: "f32[4]"),
        "c": Split(of: Npy(path: "c.npy"), size: 2),
        "d": Text(path: "d.txt"),
    }, stages: {"s": (do: "a")})"#;
    let ast = haul_compiler::syntax::parse(text).0.expect("it reads");
    let npy = |path: &str| File::new(&NPY, path);
    let expected = [
        ("a".to_owned(), npy("a.npy")),
        ("c.of".to_owned(), npy("c.npy")),
    ];
    assert_eq!(undeclared(&ast), expected);
}

fn checked(facts: &Facts) -> Checked {
    check(PIPELINE, haul_kernels::catalogue(), facts)
}

fn headers<const N: usize>(types: [(&str, &str, &[u64]); N]) -> HashMap<String, ValueType> {
    let header = |(name, dtype, shape): (&str, &str, &[u64])| {
        let dtype: DType = dtype.parse().expect("it is a dtype");
        let shape = shape.iter().map(|size| (*size).into()).collect();
        (name.to_owned(), TensorType::new(dtype, shape).into())
    };
    types.into_iter().map(header).collect()
}
