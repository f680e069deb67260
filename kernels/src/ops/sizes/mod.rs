//! Ops whose results are as long as only the data knows.

mod nonzero;
mod unique;

pub(crate) use self::nonzero::NONZERO;
pub(crate) use self::unique::{Groups, UNIQUE_ALL, UNIQUE_COUNTS, UNIQUE_INVERSE, UNIQUE_VALUES};

use haul_ir::op::{Param, ParamKind};

/// The name of the size of the result.
const SIZE: Param = Param {
    name: "size",
    kind: ParamKind::Size,
    default: Some("none"),
};
