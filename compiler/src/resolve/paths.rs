//! Where the paths of inputs and outputs lead.

use haul_ir::diagnostic::Diagnostic;
use haul_ir::location::{Location, Nowhere};

use super::Resolver;
use crate::diagnostics::codes::NOWHERE;
use crate::syntax::ast::{self, Name, SourceKind};

impl Resolver<'_> {
    /// Whether something can be read where a source says.
    pub(super) fn check_source_path(&mut self, source: &ast::Source) -> Option<()> {
        match &source.kind {
            SourceKind::File(file) => self.location(&file.path).map(drop),
            SourceKind::Files { glob, .. } => match self.location(glob)? {
                Location::Web(_) => {
                    let message = "a web server does not list what it has";
                    let mistake = Diagnostic::error(NOWHERE, glob.span, message);
                    self.mistakes
                        .report(mistake.help("name each URL as an input by itself"));
                    None
                }
                _ => Some(()),
            },
            _ => Some(()),
        }
    }

    /// Where a path leads.
    pub(super) fn location(&mut self, path: &Name) -> Option<Location> {
        let location = Location::parse(&path.value);
        location
            .map_err(|Nowhere { message, help }| {
                let mistake = Diagnostic::error(NOWHERE, path.span, message);
                self.mistakes.report(mistake.help(help));
            })
            .ok()
    }
}
