//! Calls that do not fit their op, told with the types of all operands and where these come
//! from.

use haul_ir::diagnostic::{Code, Diagnostic, Span};
use haul_ir::op::{ArgType, Fault, InferError};
use haul_ir::types::{CellType, ValueType};

use super::Inference;
use crate::diagnostics::codes::{AXIS, DTYPE, KIND_OF_VALUE, RANK, SHAPE, VALUE};
use crate::ops::of_texts;
use crate::render::signature;
use crate::resolve::{CallId, Node};

impl Inference<'_> {
    pub(super) fn fault(&self, node: &Node, types: &[ArgType], error: &InferError) -> Diagnostic {
        let origin = &node.origin;
        let message = told(origin.written, &error.message);
        let span = blamed(node, error);
        let mut mistake = Diagnostic::error(code(error.fault), span, message);
        for (place, ty) in origin.args.iter().zip(types) {
            if matches!(ty, ArgType::Weak(_)) {
                continue;
            }
            mistake = match *place == span {
                true => mistake.at(ty.to_string()),
                false => mistake.label(*place, ty.to_string()),
            };
        }
        for (place, text) in self.origins(node, error) {
            mistake = mistake.label(place, text);
        }
        mistake = self.with_calls(mistake, origin.call);
        match help(node, types, error) {
            Some(help) => mistake.help(help),
            None => mistake,
        }
    }

    /// Shows each use of a function that leads to the place.
    fn with_calls(&self, mut mistake: Diagnostic, call: Option<CallId>) -> Diagnostic {
        let mut next = call;
        while let Some(call) = next {
            let site = &self.calls[call];
            mistake = mistake.label(site.span, format!("in this use of `{}`", site.function));
            next = site.caller;
        }
        mistake
    }
}

/// What to do about it, where that is known.
fn help(node: &Node, types: &[ArgType], error: &InferError) -> Option<String> {
    let origin = &node.origin;
    if error.help.is_some() {
        return error.help.clone();
    }
    if !origin.is_operator {
        let (signature, rule) = (signature(node.op), node.op.rule());
        return Some(format!("`{signature}` takes {rule}"));
    }
    let written = of_texts(origin.written).filter(|_| types.iter().all(is_text))?;
    Some(format!("write `{written}` for texts"))
}

/// Whether it is a text, or a column of it.
fn is_text(ty: &ArgType) -> bool {
    match ty {
        ArgType::Value(ValueType::Text) => true,
        ArgType::Value(ValueType::Column(column)) => column.cell == CellType::TEXT,
        _ => false,
    }
}

/// The message with the name of the op, as its subject where it has none.
fn told(written: &str, message: &str) -> String {
    let verbs = ["needs ", "is ", "takes ", "has ", "gives "];
    let colon = if verbs.iter().any(|verb| message.starts_with(verb)) {
        ""
    } else {
        ":"
    };
    format!("`{written}`{colon} {message}")
}

/// Where the caret stands: at the option or argument at fault, or the operator between them.
fn blamed(node: &Node, error: &InferError) -> Span {
    let origin = &node.origin;
    if let Some(attribute) = error.attribute {
        let written = origin.attrs.iter().find(|(name, _)| *name == attribute);
        return written.map_or(origin.at, |(_, span)| *span);
    }
    match error.argument {
        Some(argument) if !origin.is_operator => {
            origin.args.get(argument).copied().unwrap_or(origin.at)
        }
        _ => origin.at,
    }
}

fn code(fault: Fault) -> Code {
    match fault {
        Fault::Type => KIND_OF_VALUE,
        Fault::Shape => SHAPE,
        Fault::DType => DTYPE,
        Fault::Axis => AXIS,
        Fault::Rank => RANK,
        Fault::Value => VALUE,
    }
}
