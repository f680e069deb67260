//! What is told to the author: the table of codes, near names, and the printed forms.

pub mod codes;
mod edits;
mod json;
mod levels;
mod lines;
mod render;
pub mod suggest;

pub use self::edits::{Edited, edited};
pub use self::json::render_json;
pub use self::levels::{LevelError, Levels};
pub(crate) use self::lines::Lines;
pub use self::render::render;
