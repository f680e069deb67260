//! How a command ends.

use std::process::ExitCode;

use haul_compiler::diagnostics::suggest::nearest;

/// The exit status; a later one is worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// All is well.
    Fine,
    /// A mistake in a pipeline, or a run that failed.
    Found,
    /// A plan breaks a policy.
    Policy,
    /// There is no evidence where evidence was demanded.
    NoEvidence,
    /// A run went on without what failed.
    Skipped,
    /// The command could not do its work.
    Trouble,
    /// Ctrl-C.
    Interrupted,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(match exit {
            Exit::Fine => 0,
            Exit::Found => 1,
            Exit::Policy => 3,
            Exit::NoEvidence => 5,
            Exit::Skipped => 4,
            Exit::Trouble => 2,
            Exit::Interrupted => 130,
        })
    }
}

/// Why a command could not do its work: what is wrong and what to do, for people.
#[derive(Debug)]
pub(crate) struct Trouble(pub(crate) String);

impl Trouble {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Trouble(message.into())
    }

    /// There is no `what` of that name; tells a near one, and where to find all.
    pub(crate) fn unknown<'n>(
        what: &str,
        name: &str,
        names: impl IntoIterator<Item = &'n str>,
        all: &str,
    ) -> Self {
        let near = nearest(name, names);
        let near = near.map_or_else(String::new, |near| format!(", did you mean `{near}`?"));
        Trouble::new(format!("there is no {what} `{name}`{near}\n{all}"))
    }
}
