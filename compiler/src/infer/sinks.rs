//! Whether results can be written as outputs say.

use haul_ir::diagnostic::Diagnostic;
use haul_ir::dtype::Kind;
use haul_ir::expr::Expr;
use haul_ir::graph::Sink;
use haul_ir::types::{TensorType, ValueType};

use super::Inference;
use crate::diagnostics::codes::SINK;
use crate::resolve::{Output, refuse_picture};

impl Inference<'_> {
    pub(super) fn check_sinks(&mut self, outputs: &[Output]) {
        for output in outputs {
            let Some(ty) = self.value_type(output.value) else {
                continue;
            };
            let ValueType::Tensor(tensor) = ty else {
                continue;
            };
            let place = output.from;
            let (span, message) = match &output.sink {
                Sink::Npy { .. } => continue,
                Sink::Image { .. } => (place, refuse_picture(tensor)),
                Sink::Csv { columns, .. } => match refuse_table(tensor) {
                    Some(message) => (place, Some(message)),
                    None => {
                        let span = output.columns.unwrap_or(output.path);
                        (span, refuse_columns(columns.len(), tensor))
                    }
                },
            };
            if let Some(message) = message {
                let mistake = Diagnostic::error(SINK, span, message);
                let ty = tensor.to_string();
                self.mistakes.report(match span == place {
                    true => mistake.at(ty),
                    false => mistake.label(place, ty),
                });
            }
        }
    }
}

/// Why a table cannot be written of a tensor.
fn refuse_table(tensor: &TensorType) -> Option<String> {
    if tensor.dtype.kind() == Kind::Complex {
        return Some("a table holds real numbers".to_owned());
    }
    let rank = tensor.rank();
    (rank > 2).then(|| format!("a table has rows and columns, this has {rank} axes"))
}

/// Why the columns cannot have these many names.
fn refuse_columns(named: usize, tensor: &TensorType) -> Option<String> {
    let there_are = match tensor.shape.as_slice() {
        [_, columns] => columns.clone(),
        _ => Expr::ONE,
    };
    let there_are = there_are.as_u64()?;
    (named > 0 && there_are != named as u64)
        .then(|| format!("{named} columns are named, there are {there_are}"))
}
