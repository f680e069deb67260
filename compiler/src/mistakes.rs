//! Diagnostics as they are found.

use std::collections::HashSet;

use haul_ir::diagnostic::{Code, Diagnostic, Severity, Span};

use crate::diagnostics::suggest::did_you_mean;

/// So many names are compared in all: with many of them that takes long.
const COMPARISONS: usize = 500_000;

/// Collects diagnostics, each once: a mistake in a function is met at every use of it.
#[derive(Debug, Default)]
pub(crate) struct Mistakes {
    list: Vec<Diagnostic>,
    seen: HashSet<(Code, Span, String)>,
    /// Names compared so far.
    comparisons: usize,
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
        if self.comparisons > COMPARISONS {
            return self.report(mistake);
        }
        let mut candidates: Vec<_> = candidates.into_iter().collect();
        self.comparisons += candidates.len();
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
