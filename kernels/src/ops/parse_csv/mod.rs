//! Tables of numbers out of text.

mod table;

use haul_ir::dtype::Kind;
use haul_ir::op::{
    ArgType, Attr, Attrs, Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred,
    Op, Param, ParamKind, Work,
};
use haul_ir::types::{TensorType, ValueType};

/// `parse_csv(text, type='f32[n, 8]', header=true)`.
pub(crate) struct ParseCsv;

impl Op for ParseCsv {
    fn name(&self) -> &'static str {
        "parse_csv"
    }

    fn doc(&self) -> &'static str {
        "The numbers of a table of comma-separated values (RFC 4180; a byte order mark, blanks \
         around numbers and empty lines are skipped). The type says how many columns there are; \
         a symbol in it is bound by the data; `t[n]` takes one column. With `header`, the first \
         line holds names. A missing field is NaN among floats and an error among integers; so \
         is a line with another number of fields, and what is no number."
    }

    fn params(&self) -> &'static [Param] {
        &[
            Param {
                name: "text",
                kind: ParamKind::Text,
                default: None,
            },
            Param {
                name: "type",
                kind: ParamKind::Type,
                default: None,
            },
            Param {
                name: "header",
                kind: ParamKind::Bool,
                default: Some("true"),
            },
        ]
    }

    fn rule(&self) -> &'static str {
        "text -> type"
    }

    fn family(&self) -> Family {
        Family::Io
    }

    fn infer(&self, call: &Call<'_>) -> Result<Inferred, InferError> {
        match call.inputs {
            [ArgType::Value(ValueType::Text)] => {}
            [other] => {
                let message = format!("needs text, this is {other}");
                return Err(InferError::new(Fault::Type, message).on(0));
            }
            _ => return Err(InferError::new(Fault::Type, "needs one text")),
        }
        let ty = declared(call.attrs)?;
        let wrong = |fault, message| Err(InferError::new(fault, message).on_attr("type"));
        if ty.dtype.kind() == Kind::Complex {
            let message = format!("there is no way to write {} in a table", ty.dtype);
            return wrong(Fault::DType, message);
        }
        if !(1..=2).contains(&ty.rank()) {
            let message = format!("a table has one or two axes, {ty} has {}", ty.rank());
            return wrong(Fault::Rank, message);
        }
        Ok(Inferred::plain(1, ty.clone()))
    }

    fn work(&self, _: &Call<'_>, _: &[ValueType]) -> Work {
        Work::Unknown
    }

    fn work_formula(&self) -> &'static str {
        "unknown: the length of the text is known when it is read"
    }

    fn cpu(&self) -> CpuKernel {
        CpuKernel::Parse {
            measure: table::measure,
            fill: table::fill,
        }
    }

    fn gpu(&self) -> GpuKernel {
        GpuKernel::None("text is parsed where it is read, on CPUs")
    }

    fn examples(&self) -> &'static [Example] {
        &[
            Example {
                formula: "parse_csv(text, type='f32[n, 2]')",
                given: &[("text", "text", "a,b\n1,2.5\n-3,\n")],
                result: ("f32[2, 2]", "1 2.5 -3 nan"),
            },
            Example {
                formula: "parse_csv(text, type='i64[n]', header=false)",
                given: &[("text", "text", "1\n2\n")],
                result: ("i64[2]", "1 2"),
            },
        ]
    }
}

fn declared(attrs: &Attrs) -> Result<&TensorType, InferError> {
    match attrs.get("type") {
        Attr::Type(ty) => Ok(ty),
        _ => Err(InferError::new(Fault::Value, "needs a type").on_attr("type")),
    }
}
