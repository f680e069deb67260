//! A pipeline that grows line by line: one line or more for each node of a graph.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use haul_compiler::{Facts, check};
use haul_ir::diagnostic::Severity;
use haul_ir::expr::Expr;
use haul_ir::types::TensorType;

use super::Left;
use super::archive::{Archive, Case, NodeDef};
use super::array::Array;
use super::node::Node;
use super::{fold, operators};

/// The pipeline of a case.
pub(crate) struct Graph<'c> {
    pub(crate) opset: u64,
    /// By their names in the case.
    values: HashMap<String, Known<'c>>,
    inputs: Vec<Input>,
    lines: Vec<Line>,
    /// By their names in the pipeline.
    types: HashMap<String, TensorType>,
    /// The names of what comes out.
    outputs: Vec<String>,
    names: usize,
}

/// What is known of a value of the case.
#[derive(Clone, Default)]
struct Known<'c> {
    /// Its name in the pipeline.
    name: Option<String>,
    /// Its elements, where they are known when a graph is compiled.
    fixed: Option<Array>,
    /// The file that it is read from.
    file: Option<&'c [u8]>,
}

struct Input {
    name: String,
    ty: String,
    file: Vec<u8>,
}

struct Line {
    text: String,
    operator: String,
}

impl<'c> Graph<'c> {
    pub(crate) fn new(archive: &'c Archive, case: &'c Case) -> Self {
        let values = case.inputs.iter().map(|stored| {
            let known = Known {
                name: None,
                fixed: stored.fixed.then(|| archive.array(stored)),
                file: Some(archive.file(stored)),
            };
            (stored.name.clone(), known)
        });
        Self {
            opset: case.opset,
            values: values.collect(),
            inputs: Vec::new(),
            lines: Vec::new(),
            types: HashMap::new(),
            outputs: Vec::new(),
            names: 0,
        }
    }

    /// Adds the lines of all nodes, and what comes out.
    pub(crate) fn convert(&mut self, case: &Case) -> Result<(), Left> {
        for node in &case.nodes {
            self.node(node, case).map_err(|reason| Left {
                operator: node.op.clone(),
                reason,
            })?;
        }
        for output in &case.outputs {
            let name = self.name(&output.name).map_err(|reason| Left {
                operator: case.nodes[0].op.clone(),
                reason,
            })?;
            // What comes in cannot come out as it is.
            let name = match name.starts_with('x') {
                true => self.line(&format!("copy({name})"), "Identity"),
                false => name,
            };
            self.outputs.push(name);
        }
        let names = self.outputs.clone();
        self.compile(&names).map(drop)
    }

    fn node(&mut self, node: &NodeDef, case: &Case) -> Result<(), String> {
        if node.op == "Identity" {
            let known = self.known(&node.inputs[0])?.clone();
            self.values.insert(node.outputs[0].clone(), known);
            return Ok(());
        }
        let wanted = |name: &String| case.outputs.iter().any(|output| output.name == *name);
        let folded = fold::fold(self, node)?;
        // A constant is computed here only where graphs compute with their own shapes.
        if let (Some(fixed), false) = (&folded, node.outputs.iter().any(wanted)) {
            let known = Known {
                fixed: Some(fixed.clone()),
                ..Known::default()
            };
            self.values.insert(node.outputs[0].clone(), known);
            return Ok(());
        }
        let names = operators::convert(&mut Node::new(self, node))?;
        for (output, name) in node.outputs.iter().zip(names) {
            let known = Known {
                name: Some(name),
                fixed: folded.clone(),
                file: None,
            };
            self.values.insert(output.clone(), known);
        }
        Ok(())
    }

    fn known(&self, name: &str) -> Result<&Known<'c>, String> {
        let known = self.values.get(name);
        known.ok_or_else(|| format!("`{name}` has no value"))
    }

    /// The elements of a value, where they are known when a graph is compiled.
    pub(crate) fn fixed(&self, name: &str) -> Option<&Array> {
        self.values.get(name)?.fixed.as_ref()
    }

    /// The name of a value in the pipeline; what has none yet becomes an input.
    pub(crate) fn name(&mut self, value: &str) -> Result<String, String> {
        let known = self.known(value)?.clone();
        if let Some(name) = known.name {
            return Ok(name);
        }
        let file = match (known.file, &known.fixed) {
            (Some(file), _) => file.to_vec(),
            (None, Some(array)) => array.to_npy(),
            (None, None) => return Err(format!("`{value}` has no value")),
        };
        let array = Array::of_npy(&file);
        let name = format!("x{}", self.inputs.len());
        let sizes = array.shape.iter().map(|size| Expr::from(*size as u64));
        let ty = TensorType::new(array.dtype, sizes.collect());
        self.inputs.push(Input {
            name: name.clone(),
            ty: ty.to_string(),
            file,
        });
        self.types.insert(name.clone(), ty);
        if let Some(known) = self.values.get_mut(value) {
            known.name = Some(name.clone());
        }
        Ok(name)
    }

    /// Adds a line, and gives the name of its value.
    pub(crate) fn line(&mut self, formula: &str, operator: &str) -> String {
        self.results(formula, 1, operator).remove(0)
    }

    /// Adds a line with several results, and gives their names.
    pub(crate) fn results(&mut self, formula: &str, count: usize, operator: &str) -> Vec<String> {
        let names: Vec<_> = (0..count)
            .map(|at| format!("v{}", self.names + at))
            .collect();
        self.names += count;
        self.lines.push(Line {
            text: format!("{} = {formula}", names.join(", ")),
            operator: operator.to_owned(),
        });
        names
    }

    /// The type of a value of the pipeline.
    pub(crate) fn ty(&mut self, name: &str) -> Result<TensorType, String> {
        if let Some(ty) = self.types.get(name) {
            return Ok(ty.clone());
        }
        let types = self.compile(&[name.to_owned()]);
        let ty = types.map_err(|left| left.reason)?.remove(0);
        self.types.insert(name.to_owned(), ty.clone());
        Ok(ty)
    }

    /// The types of lines.
    fn compile(&self, names: &[String]) -> Result<Vec<TensorType>, Left> {
        let text = self.text(names);
        let checked = check(&text, haul_kernels::catalogue(), &Facts::default());
        if let Some(typed) = checked.typed {
            let graph = typed.graph();
            let types = graph
                .outputs
                .iter()
                .map(|output| &graph.values[output.value].ty);
            return Ok(types.filter_map(|ty| ty.tensor().cloned()).collect());
        }
        let errors = checked.diagnostics.iter();
        let errors = errors.filter(|found| found.severity == Severity::Error);
        let first = errors
            .min_by_key(|found| found.primary.span)
            .expect("a reason");
        let (before, after) = text.split_at(first.primary.span.start);
        let before = before.rsplit('\n').next().unwrap_or_default();
        let after = after.split('\n').next().unwrap_or_default();
        let written = format!("{before}{after}");
        let at = self.lines.iter().find(|line| line.text == written.trim());
        Err(Left {
            operator: at.map_or("Identity", |line| &line.operator).to_owned(),
            reason: first.message.clone(),
        })
    }

    pub(crate) fn pipeline(&self) -> String {
        self.text(&self.outputs)
    }

    fn text(&self, outputs: &[String]) -> String {
        let mut text = String::from("Pipeline(\n    version: 1,\n    inputs: {\n");
        for Input { name, ty, .. } in &self.inputs {
            let _ = writeln!(
                text,
                "        \"{name}\": Npy(path: \"{name}.npy\", type: \"{ty}\"),"
            );
        }
        text.push_str("    },\n    stages: {\n        \"y\": (do: \"\n");
        for line in &self.lines {
            let _ = writeln!(text, "            {}", line.text);
        }
        text.push_str("        \"),\n    },\n    outputs: {\n");
        for (at, name) in outputs.iter().enumerate() {
            let _ = writeln!(
                text,
                "        \"{at}\": Npy(path: \"out/{at}.npy\", from: \"y.{name}\"),"
            );
        }
        text.push_str("    },\n)\n");
        text
    }

    pub(crate) fn write_inputs(&self, folder: &Path) {
        for input in &self.inputs {
            let path = folder.join(format!("{}.npy", input.name));
            fs::write(path, &input.file).expect("the input is written");
        }
    }
}
