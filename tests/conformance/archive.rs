//! The cases as they are kept: what each consists of, and its arrays.

use std::collections::BTreeMap;
use std::io::Read;

use serde_json::{Map, Value as Json};

use super::array::Array;

/// All cases.
pub(crate) struct Archive {
    pub(crate) cases: Vec<Case>,
    arrays: Vec<u8>,
}

/// One case: a graph, its inputs and what comes out.
pub(crate) struct Case {
    pub(crate) id: String,
    /// Version of the operators.
    pub(crate) opset: u64,
    pub(crate) nodes: Vec<NodeDef>,
    /// Inputs and weights.
    pub(crate) inputs: Vec<Stored>,
    pub(crate) outputs: Vec<Stored>,
    /// By the name of an output: `rtol`, and `atol` as a share of the largest element.
    pub(crate) tolerance: BTreeMap<String, (f64, f64)>,
}

/// A use of an operator.
pub(crate) struct NodeDef {
    pub(crate) op: String,
    pub(crate) attrs: Map<String, Json>,
    /// Names; empty for what is left out.
    pub(crate) inputs: Vec<String>,
    pub(crate) outputs: Vec<String>,
}

/// An array of a case.
pub(crate) struct Stored {
    pub(crate) name: String,
    /// Whether its values are known when a graph is compiled: a shape, an axis, a weight of whole
    /// numbers.
    pub(crate) fixed: bool,
    at: usize,
    bytes: usize,
}

impl Archive {
    pub(crate) fn read() -> Self {
        let file = include_bytes!("onnx.zip");
        let mut zip = zip::ZipArchive::new(std::io::Cursor::new(file)).expect("a zip archive");
        let mut entry = |name: &str| {
            let mut bytes = Vec::new();
            let mut entry = zip.by_name(name).expect("the entry is there");
            entry.read_to_end(&mut bytes).expect("the entry is whole");
            bytes
        };
        let cases: Vec<Json> = serde_json::from_slice(&entry("cases.json")).expect("JSON");
        Self {
            cases: cases.iter().map(case).collect(),
            arrays: entry("arrays.bin"),
        }
    }

    /// The bytes of a `.npy` file.
    pub(crate) fn file(&self, stored: &Stored) -> &[u8] {
        &self.arrays[stored.at..stored.at + stored.bytes]
    }

    pub(crate) fn array(&self, stored: &Stored) -> Array {
        Array::of_npy(self.file(stored))
    }
}

fn case(json: &Json) -> Case {
    let weights = list(&json["weights"]).map(|json| {
        let whole = json["dtype"]
            .as_str()
            .is_some_and(|dtype| dtype.contains("int"));
        stored(json, whole)
    });
    let inputs = list(&json["inputs"]).map(|json| {
        let is_size = json["name"] == "shape" || json["name"] == "size";
        stored(json, json["static"] == true || is_size)
    });
    let tolerance = json["tolerance"].as_object().expect("by name").iter();
    Case {
        id: text(&json["id"]),
        opset: json["opset"]
            .as_object()
            .expect("by domain")
            .values()
            .filter_map(Json::as_u64)
            .max()
            .unwrap_or(0),
        nodes: list(&json["nodes"]).map(node).collect(),
        inputs: inputs.chain(weights).collect(),
        outputs: list(&json["outputs"])
            .map(|json| stored(json, false))
            .collect(),
        tolerance: tolerance
            .map(|(name, json)| {
                let number = |key: &str| json[key].as_f64().expect("a number");
                (name.clone(), (number("rtol"), number("atol_scale")))
            })
            .collect(),
    }
}

fn node(json: &Json) -> NodeDef {
    NodeDef {
        op: text(&json["op"]),
        attrs: json["attrs"].as_object().expect("by name").clone(),
        inputs: list(&json["inputs"]).map(text).collect(),
        outputs: list(&json["outputs"]).map(text).collect(),
    }
}

fn stored(json: &Json, fixed: bool) -> Stored {
    let number = |key: &str| json[key].as_u64().expect("a number") as usize;
    Stored {
        name: text(&json["name"]),
        fixed,
        at: number("at"),
        bytes: number("bytes"),
    }
}

fn list(json: &Json) -> impl Iterator<Item = &Json> {
    json.as_array().expect("a list").iter()
}

fn text(json: &Json) -> String {
    json.as_str().expect("a text").to_owned()
}
