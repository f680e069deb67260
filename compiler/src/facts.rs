//! What is known of a pipeline beside its file.

use std::collections::HashMap;

use haul_ir::graph::Pin;
use haul_ir::types::ValueType;

/// What is known beside the file: values for params, sizes that data binds, types that headers
/// of files tell.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Params and dims by name with the number that replaces or binds them, as it was written:
    /// `--set lr=0.1`.
    pub params: Vec<(String, String)>,
    /// Names of stages, lines (`stage.line`) or ops with the side that they are pinned to, whatever
    /// the file says: `--pin kernel.g=cpu`.
    pub pins: Vec<(String, Pin)>,
    /// Dims by name with the size that data gave them.
    pub dims: Vec<(String, u64)>,
    /// Types from headers of files, by the name of the input that [`undeclared`](crate::undeclared)
    /// or the file has; always with whole sizes.
    pub headers: HashMap<String, ValueType>,
    /// Why the data of an input cannot be read, by the same names.
    pub unreadable: HashMap<String, String>,
    /// How many items there are, by the name of the input that makes the collection.
    pub widths: HashMap<String, u64>,
}
