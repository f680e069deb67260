//! One node while it is converted: its inputs as names, its attributes, the lines it becomes.

use std::fmt::Display;

use haul_ir::dtype::DType;
use serde_json::Value as Json;

use super::archive::NodeDef;
use super::array::{Array, numbered};
use super::graph::Graph;

pub(crate) struct Node<'g, 'c> {
    graph: &'g mut Graph<'c>,
    node: &'g NodeDef,
}

/// The names of what a node gives, or why it is not converted.
pub(crate) type Converted = Result<Vec<String>, String>;

impl<'g, 'c> Node<'g, 'c> {
    pub(crate) fn new(graph: &'g mut Graph<'c>, node: &'g NodeDef) -> Self {
        Self { graph, node }
    }

    pub(crate) fn op(&self) -> &'g str {
        &self.node.op
    }

    pub(crate) fn opset(&self) -> u64 {
        self.graph.opset
    }

    pub(crate) fn inputs(&self) -> usize {
        self.node.inputs.len()
    }

    /// How many results are asked for.
    pub(crate) fn outputs(&self) -> usize {
        self.node.outputs.len()
    }

    /// Whether a result is asked for.
    pub(crate) fn wants(&self, at: usize) -> bool {
        self.node
            .outputs
            .get(at)
            .is_some_and(|name| !name.is_empty())
    }

    /// Whether an input is given.
    pub(crate) fn has(&self, at: usize) -> bool {
        self.node
            .inputs
            .get(at)
            .is_some_and(|name| !name.is_empty())
    }

    fn input(&self, at: usize) -> Result<&'g str, String> {
        match self.node.inputs.get(at) {
            Some(name) if !name.is_empty() => Ok(name),
            _ => Err(format!("input {at} is left out")),
        }
    }

    /// The name of an input in the pipeline.
    pub(crate) fn x(&mut self, at: usize) -> Result<String, String> {
        let name = self.input(at)?;
        self.graph.name(name)
    }

    /// The elements of an input that the pipeline takes as an option.
    pub(crate) fn fixed(&self, at: usize) -> Result<Array, String> {
        let fixed = self.graph.fixed(self.input(at)?).cloned();
        fixed.ok_or_else(|| format!("input {at} is data, and an option in haul"))
    }

    /// The whole numbers of an input that the pipeline takes as an option; none where it is left out.
    pub(crate) fn fixed_ints(&self, at: usize) -> Result<Option<Vec<i64>>, String> {
        if !self.has(at) {
            return Ok(None);
        }
        self.fixed(at).map(|array| Some(array.to_ints()))
    }

    pub(crate) fn dtype(&mut self, at: usize) -> Result<DType, String> {
        if let Some(fixed) = self.graph.fixed(self.input(at)?) {
            return Ok(fixed.dtype);
        }
        let name = self.x(at)?;
        Ok(self.graph.ty(&name)?.dtype)
    }

    pub(crate) fn shape(&mut self, at: usize) -> Result<Vec<i64>, String> {
        if let Some(fixed) = self.graph.fixed(self.input(at)?) {
            return Ok(fixed.shape.iter().map(|size| *size as i64).collect());
        }
        let name = self.x(at)?;
        self.shape_of(&name)
    }

    /// The sizes of a line.
    pub(crate) fn shape_of(&mut self, name: &str) -> Result<Vec<i64>, String> {
        let ty = self.graph.ty(name)?;
        let size =
            |size: &haul_ir::expr::Expr| size.as_int().and_then(|size| i64::try_from(size).ok());
        let sizes: Option<Vec<_>> = ty.shape.iter().map(size).collect();
        sizes.ok_or_else(|| "a size is open".to_owned())
    }

    pub(crate) fn rank(&mut self, at: usize) -> Result<i64, String> {
        self.shape(at).map(|shape| shape.len() as i64)
    }

    /// An axis counted from the front.
    pub(crate) fn front(&mut self, axis: i64, at: usize) -> Result<i64, String> {
        let rank = self.rank(at)?;
        Ok(if axis < 0 { axis + rank } else { axis })
    }

    pub(crate) fn attr(&self, name: &str) -> Option<&'g Json> {
        self.node.attrs.get(name)
    }

    pub(crate) fn int(&self, name: &str, default: i64) -> i64 {
        self.attr(name).and_then(Json::as_i64).unwrap_or(default)
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.int(name, 0) != 0
    }

    pub(crate) fn ints(&self, name: &str) -> Option<Vec<i64>> {
        self.attr(name)?
            .as_array()?
            .iter()
            .map(Json::as_i64)
            .collect()
    }

    pub(crate) fn float(&self, name: &str, default: f64) -> f64 {
        self.attr(name).and_then(Json::as_f64).unwrap_or(default)
    }

    pub(crate) fn word(&self, name: &str, default: &'static str) -> &'g str {
        self.attr(name).and_then(Json::as_str).unwrap_or(default)
    }

    /// The dtype that an attribute numbers.
    pub(crate) fn dtype_attr(&self, name: &str, default: DType) -> Result<DType, String> {
        match self.attr(name).and_then(Json::as_i64) {
            Some(number) => numbered(number).ok_or_else(|| format!("no dtype is number {number}")),
            None => Ok(default),
        }
    }

    /// Adds a line.
    pub(crate) fn line(&mut self, formula: impl AsRef<str>) -> String {
        self.graph.line(formula.as_ref(), &self.node.op)
    }

    /// Adds a line that is all there is to the node.
    pub(crate) fn give(&mut self, formula: impl AsRef<str>) -> Converted {
        Ok(vec![self.line(formula)])
    }

    /// Adds a line with several results.
    pub(crate) fn results(&mut self, formula: impl AsRef<str>, count: usize) -> Vec<String> {
        self.graph.results(formula.as_ref(), count, &self.node.op)
    }

    /// A result in the dtype of an input, which haul widens.
    pub(crate) fn give_as(&mut self, formula: impl Display, at: usize) -> Converted {
        let dtype = self.dtype(at)?;
        self.give(format!("{dtype}({formula})"))
    }
}
