//! Numbers and tables out of text.

mod csv;
mod jsonl;
mod table;

use haul_ir::dtype::Kind;
use haul_ir::op::{
    ArgType, Attr, Attrs, Call, CpuKernel, Example, Family, Fault, Fill, GpuKernel, InferError,
    Inferred, Measure, Op, Param, ParamKind, Work,
};
use haul_ir::types::ValueType;

/// An op that reads text as what its attribute `type` says.
pub(crate) struct Parse {
    name: &'static str,
    doc: &'static str,
    params: &'static [Param],
    measure: Measure,
    fill: Fill,
    examples: &'static [Example],
}

const TEXT: Param = Param {
    name: "text",
    kind: ParamKind::Text,
    default: None,
};

const TYPE: Param = Param {
    name: "type",
    kind: ParamKind::Type,
    default: None,
};

/// `parse_csv(text, type='f32[n, 8]', header=true)`.
pub(crate) static PARSE_CSV: Parse = Parse {
    name: "parse_csv",
    doc: "Comma-separated values (RFC 4180; a byte order mark, blanks around numbers and empty \
          lines are skipped) as numbers, or as a table. The type says how many columns there are; \
          a symbol in it is bound by the data; `t[n]` takes one column. With `header`, the first \
          line holds names, by which a table finds its columns among others. An empty field is NaN \
          among floats of a tensor, a missing value where a table's type has `?`, as is the word \
          that `na` says, and else an error, as are a line with another number of fields, and \
          what is no number.",
    params: &[
        TEXT,
        TYPE,
        Param {
            name: "header",
            kind: ParamKind::Bool,
            default: Some("true"),
        },
        Param {
            name: "na",
            kind: ParamKind::Quoted,
            default: Some("none"),
        },
    ],
    measure: csv::measure,
    fill: csv::fill,
    examples: &[
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
};

/// `parse_jsonl(text, type='table[n]{a: f64}')`.
pub(crate) static PARSE_JSONL: Parse = Parse {
    name: "parse_jsonl",
    doc: "Lines of JSON (RFC 8259; empty lines are skipped) as numbers, or as a table. `t[n]` \
          takes a number a line, `t[n, m]` a list of numbers a line, a table an object a line, \
          whose keys are columns; keys that are no column are left out. A symbol in the type is \
          bound by the data. `null`, and a key that is not there, are NaN among floats of a \
          tensor, a missing value where a table's type has `?`, and else an error, as is a key \
          that is there twice.",
    params: &[TEXT, TYPE],
    measure: jsonl::measure,
    fill: jsonl::fill,
    examples: &[
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
};

impl Op for Parse {
    fn name(&self) -> &'static str {
        self.name
    }

    fn doc(&self) -> &'static str {
        self.doc
    }

    fn params(&self) -> &'static [Param] {
        self.params
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

    fn work(&self, _: &Call<'_>, _: &[ValueType]) -> Work {
        Work::Unknown
    }

    fn work_formula(&self) -> &'static str {
        "unknown: the length of the text is known when it is read"
    }

    fn cpu(&self) -> CpuKernel {
        CpuKernel::Measured {
            measure: self.measure,
            fill: self.fill,
        }
    }

    fn gpu(&self) -> GpuKernel {
        GpuKernel::None("text is parsed where it is read, on CPUs")
    }

    fn examples(&self) -> &'static [Example] {
        self.examples
    }
}

fn declared(attrs: &Attrs) -> Result<&ValueType, InferError> {
    match attrs.get("type") {
        Attr::Type(ty) => Ok(ty),
        _ => Err(InferError::new(Fault::Value, "needs a type").on_attr("type")),
    }
}
