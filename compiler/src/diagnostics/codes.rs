//! The one closed list of what can be wrong. A code never changes its meaning.

mod data;
mod infer;
mod lints;
mod machines;
mod requests;
mod resolve;
mod syntax;

use haul_ir::diagnostic::Code;

pub use self::data::*;
pub use self::infer::*;
pub use self::lints::*;
pub use self::machines::*;
pub use self::requests::*;
pub use self::resolve::*;
pub use self::syntax::*;

/// All there is to say about a code.
#[derive(Clone, Copy, Debug)]
pub struct CodeInfo {
    /// The code.
    pub code: Code,
    /// What is wrong, in a few words.
    pub title: &'static str,
    /// Why it is wrong and what to do, in a few sentences.
    pub explanation: &'static str,
    /// A pipeline with the mistake.
    pub wrong: &'static str,
    /// The same without it.
    pub right: &'static str,
}

/// All codes, group by group.
const GROUPS: [&[CodeInfo]; 9] = [
    syntax::CODES,
    resolve::NAMES,
    infer::CODES,
    resolve::CODES,
    requests::CODES,
    machines::CODES,
    data::CODES,
    resolve::WARNINGS,
    lints::WARNINGS,
];

/// All codes in ascending order.
pub fn codes() -> impl Iterator<Item = &'static CodeInfo> {
    GROUPS.into_iter().flatten()
}

/// The code of that name, such as `E0101`; case does not matter.
pub fn explain(name: &str) -> Option<&'static CodeInfo> {
    codes().find(|info| info.code.0.eq_ignore_ascii_case(name))
}
