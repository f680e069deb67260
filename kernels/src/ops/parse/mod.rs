//! Numbers and tables out of text.

mod csv;
mod jsonl;
mod table;

use haul_ir::dtype::Kind;
use haul_ir::op::{
    ArgType, Attr, Attrs, Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred,
    Param, ParamKind, Work,
};
use haul_ir::types::ValueType;

use super::array_op::{ArrayOp, attribute, required};

const TEXT: Param = required("text", ParamKind::Text);
const TYPE: Param = required("type", ParamKind::Type);

/// `parse_csv(text, type='f32[n, 8]', header=true)`.
pub(crate) static PARSE_CSV: ArrayOp = parse(
    "parse_csv",
    "Comma-separated values (RFC 4180; a byte order mark, blanks around numbers and empty \
          lines are skipped) as numbers, or as a table. The type says how many columns there are; \
          a symbol in it is bound by the data; `t[n]` takes one column. With `header`, the first \
          line holds names, by which a table finds its columns among others. An empty field is NaN \
          among floats of a tensor, a missing value where a table's type has `?`, as is the word \
          that `na` says, and else an error, as are a line with another number of fields, and \
          what is no number.",
    &[
        TEXT,
        TYPE,
        attribute("header", ParamKind::Bool, "true"),
        attribute("na", ParamKind::Quoted, "none"),
    ],
    CpuKernel::Measured {
        measure: csv::measure,
        fill: csv::fill,
    },
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
        Example {
            formula: "parse_csv(text, type='table[n]{name: text, age: i64?}', na='NA')",
            given: &[("text", "text", "age,city,name\n31,Bonn,Ada\nNA,Kiel,Bo\n")],
            result: ("table[2]{name: text, age: i64?}", "'Ada' 'Bo'; 31 missing"),
        },
    ],
);

/// `parse_jsonl(text, type='table[n]{a: f64}')`.
pub(crate) static PARSE_JSONL: ArrayOp = parse(
    "parse_jsonl",
    "Lines of JSON (RFC 8259; empty lines are skipped) as numbers, or as a table. `t[n]` \
          takes a number a line, `t[n, m]` a list of numbers a line, a table an object a line, \
          whose keys are columns; keys that are no column are left out. A symbol in the type is \
          bound by the data. `null`, and a key that is not there, are NaN among floats of a \
          tensor, a missing value where a table's type has `?`, and else an error, as is a key \
          that is there twice.",
    &[TEXT, TYPE],
    CpuKernel::Measured {
        measure: jsonl::measure,
        fill: jsonl::fill,
    },
    &[
        Example {
            formula: "parse_jsonl(text, type='f64[n, 2]')",
            given: &[("text", "text", "[1, 2.5]\n[-3e2, null]\n")],
            result: ("f64[2, 2]", "1 2.5 -300 nan"),
        },
        Example {
            formula: "parse_jsonl(text, type='table[n]{name: text, age: i64?}')",
            given: &[(
                "text",
                "text",
                "{\"name\": \"Ada\", \"age\": 31}\n{\"name\": \"B\\u00f6\"}\n",
            )],
            result: ("table[2]{name: text, age: i64?}", "'Ada' 'Bö'; 31 missing"),
        },
    ],
);

/// An op that reads text as what its attribute `type` says.
const fn parse(
    name: &'static str,
    doc: &'static str,
    params: &'static [Param],
    cpu: CpuKernel,
    examples: &'static [Example],
) -> ArrayOp {
    ArrayOp {
        name,
        doc,
        params,
        rule: "text -> type",
        family: Family::Io,
        infer,
        work: |_, _| Work::Unknown,
        work_formula: "unknown: the length of the text is known when it is read",
        cpu,
        gpu: GpuKernel::None("text is parsed where it is read, on CPUs"),
        examples,
    }
}

/// What the attribute `type` says.
fn infer(call: &Call<'_>) -> Result<Inferred, InferError> {
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
    if let ValueType::Tensor(tensor) = ty {
        if tensor.dtype.kind() == Kind::Complex {
            let message = format!("there is no way to write {} in a table", tensor.dtype);
            return wrong(Fault::DType, message);
        }
        if !(1..=2).contains(&tensor.rank()) {
            let message = format!("a table has one or two axes, {ty} has {}", tensor.rank());
            return wrong(Fault::Rank, message);
        }
    }
    Ok(Inferred::plain(1, ty.clone()))
}

fn declared(attrs: &Attrs) -> Result<&ValueType, InferError> {
    match attrs.get("type") {
        Attr::Type(ty) => Ok(ty),
        _ => Err(InferError::new(Fault::Value, "needs a type").on_attr("type")),
    }
}
