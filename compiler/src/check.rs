//! The road from text to a checked graph.

use haul_ir::diagnostic::{Diagnostic, Span};
use haul_ir::format::{File, Typing};
use haul_ir::graph::{Graph, Group, Typed};
use haul_ir::id::IdVec;
use haul_ir::location::Location;
use haul_ir::op::Catalogue;

use crate::diagnostics::codes::INTERNAL;
use crate::facts::Facts;
use crate::infer::infer;
use crate::mistakes::Mistakes;
use crate::ops::Ops;
use crate::pins::pin;
use crate::places::Places;
use crate::resolve::{inner_name, plain, resolve};
use crate::simplify::simplify;
use crate::syntax::ast::{self, SourceKind, SplitOf};
use crate::syntax::{self, Ast};

/// What checking a pipeline yields.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The graph; nothing where there is an error among the diagnostics.
    pub typed: Option<Typed>,
    /// Where its parts are written.
    pub places: Places,
    /// All that is to be said about the file, sorted by place.
    pub diagnostics: Vec<Diagnostic>,
    /// Names among [`Facts::pins`] that no stage, line or op has.
    pub unknown_pins: Vec<String>,
}

/// Compiles a pipeline file to a graph that is checked and simplified.
pub fn check(text: &str, catalogue: Catalogue, facts: &Facts) -> Checked {
    let (ast, diagnostics) = syntax::parse(text);
    let mut mistakes = Mistakes::new(diagnostics);
    let mut unknown_pins = Vec::new();
    let compiled =
        ast.and_then(|ast| compile(&ast, catalogue, facts, &mut mistakes, &mut unknown_pins));
    let (typed, places) = match compiled {
        Some((typed, places)) => (Some(typed), places),
        None => (None, Places::default()),
    };
    Checked {
        typed,
        places,
        diagnostics: mistakes.sorted(),
        unknown_pins,
    }
}

/// The passes in order.
fn compile(
    ast: &Ast,
    catalogue: Catalogue,
    facts: &Facts,
    mistakes: &mut Mistakes,
    unknown_pins: &mut Vec<String>,
) -> Option<(Typed, Places)> {
    let ops = Ops::new(catalogue);
    let mut resolved = resolve(ast, &ops, facts, mistakes);
    let unused = std::mem::take(&mut resolved.unused);
    let (mut graph, mut places) = infer(resolved, &ops, mistakes)?;
    *unknown_pins = pin(&mut graph, &mut places, &facts.pins);
    for warning in unused {
        mistakes.report(warning);
    }
    let groups = one_by_one(&graph);
    let typed = checked(Typed::check(graph, groups), mistakes)?;
    let (graph, groups, places) = simplify(typed.into_graph(), places, &ops);
    let typed = checked(Typed::check(graph, groups), mistakes)?;
    Some((typed, places))
}

/// A graph as a pass left it; a mistake of the pass is told as one of haul.
fn checked(typed: Result<Typed, String>, mistakes: &mut Mistakes) -> Option<Typed> {
    typed
        .inspect_err(|problem| {
            let message = format!("haul made a mistake: {problem}");
            let mistake = Diagnostic::error(INTERNAL, Span::default(), message);
            mistakes.report(mistake.help("please report it, with the pipeline"));
        })
        .ok()
}

/// Every op in a group of its own.
fn one_by_one(graph: &Graph) -> IdVec<haul_ir::id::GroupId, Group> {
    graph.ops.ids().map(|op| Group { ops: vec![op] }).collect()
}

/// Inputs whose type only the header of their file tells, by the name under which
/// [`Facts::headers`] takes it. Files of other machines are none of them: plans are made without.
pub fn undeclared(ast: &Ast) -> Vec<(String, File)> {
    let inputs = ast.inputs.iter().filter_map(|input| {
        let source = input.source.as_ref()?;
        match &source.kind {
            SourceKind::Split {
                of: SplitOf::Source(inner),
                ..
            } => Some((inner_name(&input.name.value), in_file(inner)?)),
            _ => Some((input.name.value.clone(), in_file(source)?)),
        }
    });
    inputs.collect()
}

/// The file of a source, where it has a header and no type is declared.
fn in_file(source: &ast::Source) -> Option<File> {
    if source.ty.is_some() {
        return None;
    }
    match &source.kind {
        SourceKind::File(file) => Some(plain(file))
            .filter(|file| file.format.typing != Typing::Text && !Location::is_remote(&file.path)),
        _ => None,
    }
}
