//! What is told to the author: the table of codes, near names, and the printed forms.

pub mod codes;
pub mod suggest;
