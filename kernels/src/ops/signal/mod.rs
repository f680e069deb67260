//! Signals: windows, spectrograms, frequencies.

mod frequencies;
mod istft;
mod mel;
mod stft;
mod window_table;
mod windows;

use haul_ir::expr::Expr;
use haul_ir::op::{Attr, Attrs, InferError, Op};

use super::array_op::wrong;

#[rustfmt::skip]
pub(super) static OPS: &[&dyn Op] = &[
    &stft::STFT, &istft::ISTFT,
    &window_table::HANN, &window_table::HAMMING, &window_table::BLACKMAN,
    &window_table::BLACKMAN_HARRIS, &window_table::NUTTALL, &window_table::FLAT_TOP,
    &window_table::BARTLETT, &window_table::TUKEY, &window_table::GAUSSIAN, &window_table::KAISER,
    &frequencies::FFTFREQ, &frequencies::RFFTFREQ,
    &mel::MEL_WEIGHTS,
];

/// The attribute as a size of at least `least`, perhaps in dims.
fn size(attrs: &Attrs, name: &'static str, least: i128) -> Result<Expr, InferError> {
    match attrs.get(name) {
        Attr::Int(size) if size.as_int().is_none_or(|size| size >= least) => Ok(size.clone()),
        _ => Err(wrong(
            name,
            &format!("is a whole number of at least {least}"),
        )),
    }
}
