//! Which warnings are errors, and which are not told at all.

use std::collections::BTreeMap;
use std::fmt;

use haul_ir::diagnostic::{Code, Diagnostic, Severity};

use super::codes::{codes, explain};
use super::suggest::nearest;

/// Every warning, where a code may stand.
const ALL: &str = "all";

/// What becomes of warnings: by default they are told.
///
/// What is said of a code goes before what is said of all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Levels {
    all: Option<Level>,
    codes: BTreeMap<Code, Level>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Deny,
    Allow,
}

impl Levels {
    /// From lists of codes, or `all`, of warnings that are errors and of those that are not told;
    /// case does not matter.
    ///
    /// # Errors
    /// A name that is no code of a warning, one that is in both lists.
    pub fn new<S: AsRef<str>>(deny: &[S], allow: &[S]) -> Result<Levels, LevelError> {
        let mut levels = Levels::default();
        let named = |names: &[S], level| {
            let names = names
                .iter()
                .map(move |name| (name.as_ref().to_owned(), level));
            names.collect::<Vec<_>>()
        };
        for (name, level) in named(deny, Level::Deny)
            .into_iter()
            .chain(named(allow, Level::Allow))
        {
            let before = if name.eq_ignore_ascii_case(ALL) {
                levels.all.replace(level)
            } else {
                levels.codes.insert(warning(&name)?, level)
            };
            if before.is_some_and(|before| before != level) {
                return Err(LevelError::Both(name));
            }
        }
        Ok(levels)
    }

    /// These, and where they say nothing of a code, what `self` says: `over` is the flags, `self`
    /// what the project says.
    #[must_use]
    pub fn overridden_by(&self, over: &Levels) -> Levels {
        let mut levels = over.clone();
        if over.all.is_none() {
            levels.all = self.all;
            for (code, level) in &self.codes {
                levels.codes.entry(*code).or_insert(*level);
            }
        }
        levels
    }

    /// The diagnostics with denied warnings as errors, and without those that are allowed. Errors
    /// stay as they are.
    #[must_use]
    pub fn apply(&self, diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
        let apply = |mut diagnostic: Diagnostic| {
            if diagnostic.severity == Severity::Warning {
                match self.codes.get(&diagnostic.code).copied().or(self.all) {
                    Some(Level::Allow) => return None,
                    Some(Level::Deny) => diagnostic.severity = Severity::Error,
                    None => {}
                }
            }
            Some(diagnostic)
        };
        diagnostics.into_iter().filter_map(apply).collect()
    }
}

/// Why a name cannot be allowed or denied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LevelError {
    /// No code has that name; a near one.
    #[expect(missing_docs, reason = "the variant says it")]
    Unknown {
        name: String,
        near: Option<&'static str>,
    },
    /// It is an error, which cannot be allowed.
    NoWarning(Code),
    /// It is both denied and allowed.
    Both(String),
}

impl fmt::Display for LevelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LevelError::Unknown { name, near } => {
                write!(f, "there is no warning `{name}`")?;
                match near {
                    Some(near) => write!(f, ", did you mean `{near}`?"),
                    None => write!(f, ": `haul explain` lists all codes"),
                }
            }
            LevelError::NoWarning(code) => {
                write!(
                    f,
                    "`{code}` is an error: only warnings are allowed or denied"
                )
            }
            LevelError::Both(name) => write!(f, "`{name}` is both allowed and denied"),
        }
    }
}

impl std::error::Error for LevelError {}

fn is_warning(code: Code) -> bool {
    code.0.starts_with('W')
}

fn warning(name: &str) -> Result<Code, LevelError> {
    let Some(info) = explain(name) else {
        let warnings = codes()
            .map(|info| info.code)
            .filter(|code| is_warning(*code));
        let near = nearest(name, warnings.map(|code| code.0));
        let name = name.to_owned();
        return Err(LevelError::Unknown { name, near });
    };
    match is_warning(info.code) {
        true => Ok(info.code),
        false => Err(LevelError::NoWarning(info.code)),
    }
}

#[cfg(test)]
mod tests {
    use super::{LevelError, Levels};
    use crate::diagnostics::codes::{IDLE_GPU, IMPOSSIBLE, NO_GPU_REQUESTED, SOONER_ON_CPUS};
    use haul_ir::diagnostic::{Diagnostic, Severity, Span};

    /// Code and severity of what is left of one error and two warnings.
    fn left(levels: &Levels) -> Vec<(&'static str, Severity)> {
        let span = Span::default();
        let diagnostics = vec![
            Diagnostic::error(IMPOSSIBLE, span, ""),
            Diagnostic::warning(IDLE_GPU, span, ""),
            Diagnostic::warning(NO_GPU_REQUESTED, span, ""),
        ];
        let left = levels.apply(diagnostics).into_iter();
        left.map(|d| (d.code.0, d.severity)).collect()
    }

    #[test]
    fn denied_and_allowed() {
        use Severity::{Error, Warning};
        let told = left(&Levels::default());
        assert_eq!(told[1..], [("W0301", Warning), ("W0302", Warning)]);
        let denied = Levels::new(&["w0301"], &[]).expect("a warning");
        assert_eq!(left(&denied)[1..], [("W0301", Error), ("W0302", Warning)]);
        let one_allowed = Levels::new(&["all"], &["W0302"]).expect("warnings");
        assert_eq!(left(&one_allowed), [("E0310", Error), ("W0301", Error)]);
        let none_told = Levels::new(&[], &["all"]).expect("all");
        assert_eq!(left(&none_told), [("E0310", Error)]);
    }

    #[test]
    fn flags_go_before_the_project() {
        let project = Levels::new(&["W0301"], &["W0302"]).expect("warnings");
        let flags = Levels::new(&["W0302"], &[]).expect("a warning");
        let both = project.overridden_by(&flags);
        assert_eq!(both, Levels::new(&["W0301", "W0302"], &[]).expect("both"));
        let all = Levels::new(&[], &["all"]).expect("all");
        assert_eq!(project.overridden_by(&all), all);
        assert_eq!(project.overridden_by(&Levels::default()), project);
    }

    #[test]
    fn what_is_no_warning() {
        let error = |names: &[&str]| Levels::new(names, &["W0303"]).expect_err("refused");
        let unknown = error(&["W03O1"]).to_string();
        assert_eq!(
            unknown,
            "there is no warning `W03O1`, did you mean `W0301`?"
        );
        assert_eq!(error(&["E0310"]), LevelError::NoWarning(IMPOSSIBLE));
        let both = SOONER_ON_CPUS.0.to_owned();
        assert_eq!(error(&["W0303"]), LevelError::Both(both));
    }
}
