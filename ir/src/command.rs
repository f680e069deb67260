//! Programs of the author's: the op of a stage with `command`, and what its arguments mean.

use std::ops::Range;

use crate::op::{
    ArgType, Attr, Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, Op,
    Param, ParamKind, Work,
};
use crate::types::ValueType;

/// The op that runs a program. It is in no catalogue: formulas cannot call it.
///
/// Its attributes are `argv`, the program and its arguments as the author wrote them; `out`, the
/// declared type of what the program makes; and `flops`, the author's estimate of its work. It takes
/// the values of the [placeholders](reads) in `argv`.
pub static COMMAND: Command = Command;

/// The type of [`COMMAND`].
#[derive(Clone, Copy, Debug)]
pub struct Command;

/// The placeholder of the file that the program has to write.
pub const OUT: &str = "out";

/// A part of an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// As it is.
    Text(String),
    /// What stands between braces, and where in the argument.
    Placeholder(String, Range<usize>),
}

/// The parts of an argument: `{name}` stands for a value, `{{` and `}}` for braces.
///
/// # Errors
/// Where a brace stands alone, in bytes.
pub fn parts(argument: &str) -> Result<Vec<Part>, Range<usize>> {
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut at = 0;
    while let Some(found) = argument[at..].find(['{', '}']) {
        let brace = at + found;
        text.push_str(&argument[at..brace]);
        let rest = &argument[brace..];
        if rest.starts_with("{{") || rest.starts_with("}}") {
            text.push_str(&rest[..1]);
            at = brace + 2;
            continue;
        }
        let end = rest.find('}').filter(|_| rest.starts_with('{'));
        let end = brace + end.ok_or(brace..brace + 1)?;
        if !text.is_empty() {
            parts.push(Part::Text(std::mem::take(&mut text)));
        }
        let name = &argument[brace + 1..end];
        parts.push(Part::Placeholder(name.to_owned(), brace + 1..end));
        at = end + 1;
    }
    text.push_str(&argument[at..]);
    if !text.is_empty() || parts.is_empty() {
        parts.push(Part::Text(text));
    }
    Ok(parts)
}

/// The names that stand for values in the arguments of a program, each once, in order of first use.
pub fn reads<'a>(argv: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut reads = Vec::new();
    for part in argv
        .into_iter()
        .flat_map(|argument| parts(argument).unwrap_or_default())
    {
        if let Part::Placeholder(name, _) = part
            && name != OUT
            && !reads.contains(&name)
        {
            reads.push(name);
        }
    }
    reads
}

impl Op for Command {
    fn name(&self) -> &'static str {
        "command"
    }

    fn doc(&self) -> &'static str {
        "Runs a program, which reads its values from files and writes its result to one."
    }

    fn params(&self) -> &'static [Param] {
        const fn attribute(name: &'static str, kind: ParamKind) -> Param {
            let default = None;
            Param {
                name,
                kind,
                default,
            }
        }
        const {
            &[
                attribute("argv", ParamKind::Words),
                attribute("out", ParamKind::Type),
                attribute("flops", ParamKind::Int),
            ]
        }
    }

    fn rule(&self) -> &'static str {
        "[..] -> as declared"
    }

    fn family(&self) -> Family {
        Family::Io
    }

    fn infer(&self, call: &Call<'_>) -> Result<Inferred, InferError> {
        for (position, input) in call.inputs.iter().enumerate() {
            let help = match input {
                ArgType::Value(ValueType::Tensor(_) | ValueType::Text) | ArgType::Weak(_) => {
                    continue;
                }
                ArgType::Items(..) => "make one value of it in a stage before, such as `gather(x)`",
                ArgType::Value(_) => "take the numbers out of it in a stage before",
            };
            let message = format!("takes tensors, texts and numbers, this is {input}");
            return Err(InferError::new(Fault::Type, message)
                .on(position)
                .help(help));
        }
        match call.attrs.get("out") {
            Attr::Type(ty) => Ok(Inferred::plain(call.inputs.len(), ty.clone())),
            _ => Err(InferError::new(Fault::Value, "needs the type of its result").on_attr("out")),
        }
    }

    fn work(&self, call: &Call<'_>, outputs: &[ValueType]) -> Work {
        match call.attrs.get("flops") {
            Attr::Int(flops) => Work::of(flops.clone(), call, outputs),
            _ => Work::Unknown,
        }
    }

    fn work_formula(&self) -> &'static str {
        "as the author estimates, or unknown"
    }

    fn cpu(&self) -> CpuKernel {
        CpuKernel::Program
    }

    fn gpu(&self) -> GpuKernel {
        GpuKernel::None("a program runs on CPUs")
    }

    fn examples(&self) -> &'static [Example] {
        &[]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placeholder(name: &str, range: Range<usize>) -> Part {
        Part::Placeholder(name.to_owned(), range)
    }

    #[test]
    fn placeholders_stand_between_braces() {
        let text = |text: &str| Part::Text(text.to_owned());
        let cases = [
            ("", vec![text("")]),
            ("awk", vec![text("awk")]),
            ("{x}", vec![placeholder("x", 1..2)]),
            (
                "--in={a.b},{out}!",
                vec![
                    text("--in="),
                    placeholder("a.b", 6..9),
                    text(","),
                    placeholder("out", 12..15),
                    text("!"),
                ],
            ),
            ("{{print é}}", vec![text("{print é}")]),
            (
                "{{{x}}}",
                vec![text("{"), placeholder("x", 3..4), text("}")],
            ),
            ("{}", vec![placeholder("", 1..1)]),
        ];
        for (argument, expected) in cases {
            assert_eq!(parts(argument), Ok(expected), "{argument}");
        }
    }

    #[test]
    fn values_are_read_once() {
        let argv = ["join", "{b}", "{out}", "--with={a.x}+{b}"];
        assert_eq!(reads(argv), ["b", "a.x"]);
    }

    #[test]
    fn braces_come_in_pairs() {
        for (argument, at) in [("a{x", 1..2), ("x}", 1..2), ("{{{", 2..3), ("}", 0..1)] {
            assert_eq!(parts(argument), Err(at), "{argument}");
        }
    }
}
