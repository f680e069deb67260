//! Everything known about one decision, for people.

mod crossing;
mod op;
mod run;
mod stage;
mod tried;

use super::Colour;
use super::values::Values;
use crate::plan::why::Why;

pub use run::run;

/// Why a stage or an op is where it is: both candidates with their terms, what crosses, what the
/// other choice would cost and move, and what would change the answer. Ends in a newline.
pub fn why(why: &Why, colour: Colour) -> String {
    let values = Values::of(&why.plan);
    match why.group {
        None => stage::of_stage(why, &values, colour),
        Some(group) => op::of_op(why, group, &values, colour),
    }
}
