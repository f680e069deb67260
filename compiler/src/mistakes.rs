//! Diagnostics as they are found.

use std::collections::HashSet;

use haul_ir::diagnostic::{Code, Diagnostic, Severity, Span};

use crate::diagnostics::suggest::did_you_mean;

/// For so many mistakes near names are looked for: with many names that takes long.
const SUGGESTIONS: usize = 100;

/// Collects diagnostics, each once: a mistake in a function is met at every use of it.
#[derive(Debug, Default)]
pub(crate) struct Mistakes {
    list: Vec<Diagnostic>,
    seen: HashSet<(Code, Span, String)>,
    suggestions: usize,
}

impl Mistakes {
    pub(crate) fn new(list: Vec<Diagnostic>) -> Self {
        Self {
            list,
            ..Self::default()
        }
    }

    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        let key = (
            diagnostic.code,
            diagnostic.primary.span,
            diagnostic.message.clone(),
        );
        if self.seen.insert(key) {
            self.list.push(diagnostic);
        }
    }

    /// Reports that `name` does not exist among the candidates, which may come in any order.
    pub(crate) fn report_unknown<'n>(
        &mut self,
        mistake: Diagnostic,
        name: &str,
        candidates: impl IntoIterator<Item = &'n str>,
    ) {
        if self.suggestions == SUGGESTIONS {
            return self.report(mistake);
        }
        self.suggestions += 1;
        let mut candidates: Vec<_> = candidates.into_iter().collect();
        candidates.sort_unstable();
        candidates.dedup();
        let span = mistake.primary.span;
        self.report(did_you_mean(mistake, span, name, candidates));
    }

    /// Whether the pipeline is refused.
    pub(crate) fn any_error(&self) -> bool {
        self.list
            .iter()
            .any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// All of them, sorted by place.
    pub(crate) fn sorted(mut self) -> Vec<Diagnostic> {
        self.list
            .sort_by_key(|diagnostic| (diagnostic.primary.span, diagnostic.code));
        self.list
    }
}
