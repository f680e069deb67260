//! Whether all are true, or any.

use haul_ir::tensor::Bool;

use super::fold::Fold;

/// Whether any element is true.
pub(super) struct Any;

/// Whether all elements are true.
pub(super) struct All;

impl Fold for Any {
    type In = Bool;
    type Partial = u8;
    type Out = Bool;

    fn empty() -> u8 {
        0
    }

    fn step(found: u8, element: Bool, _: usize) -> u8 {
        found | element.0
    }

    fn merge(early: u8, late: u8) -> u8 {
        early | late
    }

    fn finish(found: u8, _: usize) -> Bool {
        Bool(found)
    }
}

impl Fold for All {
    type In = Bool;
    type Partial = u8;
    type Out = Bool;

    fn empty() -> u8 {
        1
    }

    fn step(found: u8, element: Bool, _: usize) -> u8 {
        found & element.0
    }

    fn merge(early: u8, late: u8) -> u8 {
        early & late
    }

    fn finish(found: u8, _: usize) -> Bool {
        Bool(found)
    }
}
