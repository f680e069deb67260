//! Weights that sum a spectrum in bands as wide as the ear's.

use haul_ir::dtype::Kind;
use haul_ir::expr::Expr;
use haul_ir::op::{
    Attrs, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, KernelCall,
    KernelError, ParamKind,
};
use haul_ir::types::TensorType;

use super::size;
use crate::ops::array_op::{ArrayOp, attribute, required, work_per_element, wrong};
use crate::ops::moves::attrs::{DTYPE, at_run, dtype, number};
use crate::ops::moves::floats;

pub(super) static MEL_WEIGHTS: ArrayOp = ArrayOp {
    name: "mel_weights",
    doc: "Weights of the bins of half a spectrum in bands that are evenly spaced in mels, \
          `2595*log10(1 + f/700)`: `spectrum @ mel_weights(...)`. Each band is a triangle that \
          begins in the middle of the one before and ends in the middle of the next. As ONNX's \
          MelWeightMatrix, frequencies are rounded down to bins, and the mels from the lower edge \
          to the upper are cut into `num_mel_bins + 2` steps. `upper` is half of the sample rate \
          where it is not given; frequencies are in hertz.",
    params: &[
        required("num_mel_bins", ParamKind::Int),
        required("dft_length", ParamKind::Int),
        required("sample_rate", ParamKind::Numbers),
        attribute("lower", ParamKind::Numbers, "0"),
        attribute("upper", ParamKind::Numbers, "none"),
        DTYPE,
    ],
    rule: "-> [dft_length // 2 + 1, num_mel_bins]",
    family: Family::Elementwise,
    infer: |call| {
        let bands = size(call.attrs, "num_mel_bins", 1)?;
        let length = size(call.attrs, "dft_length", 1)?;
        Edges::of(call.attrs)?;
        let dtype = dtype(call.attrs)?;
        if dtype.kind() != Kind::Float {
            let message = format!("weights are real numbers with fractions, not {dtype}");
            return Err(InferError::new(Fault::DType, message).on_attr("dtype"));
        }
        let bins = length.floor_div(&Expr::from(2_u64)) + 1;
        Ok(Inferred::plain(
            0,
            TensorType::new(dtype, vec![bins, bands]),
        ))
    },
    work: |call, outputs| work_per_element(5, call, outputs),
    work_formula: "5 flops an element",
    cpu: CpuKernel::Array(mel_weights),
    gpu: GpuKernel::Own,
    examples: &[Example {
        formula: "mel_weights(2, 8, 8000)",
        given: &[],
        result: ("f64[5, 2]", "1 0 0 1 0 0 0 0 0 0"),
    }],
};

/// The range of frequencies, in mels.
struct Edges {
    rate: f64,
    low: f64,
    high: f64,
}

impl Edges {
    fn of(attrs: &Attrs) -> Result<Self, InferError> {
        let rate = number(attrs, "sample_rate")?;
        if !(rate > 0.0 && rate.is_finite()) {
            return Err(wrong("sample_rate", "is a number above 0"));
        }
        let low = number(attrs, "lower")?;
        let high = match attrs.numbers("upper") {
            None => rate / 2.0,
            Some(_) => number(attrs, "upper")?,
        };
        if !(0.0 <= low && low < high && high <= rate / 2.0) {
            let message = format!(
                "the frequencies go from `lower` up to `upper`, at most {} here",
                rate / 2.0
            );
            return Err(InferError::new(Fault::Value, message).on_attr("upper"));
        }
        let mels = |frequency: f64| 2595.0 * libm::log10(1.0 + frequency / 700.0);
        Ok(Self {
            rate,
            low: mels(low),
            high: mels(high),
        })
    }

    /// The bin in which a band begins.
    fn bin(&self, band: usize, bands: usize, length: usize) -> f64 {
        let step = (self.high - self.low) / (bands + 2) as f64;
        let mels = band as f64 * step + self.low;
        let frequency = 700.0 * (libm::pow(10.0, mels / 2595.0) - 1.0);
        ((length + 1) as f64 * frequency / self.rate).floor()
    }
}

fn mel_weights(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    let edges = Edges::of(call.attrs).map_err(at_run)?;
    let length = call.attrs.int("dft_length");
    let length = length.and_then(|length| usize::try_from(length).ok());
    let length = length.ok_or_else(|| KernelError::new("`dft_length` is not known"))?;
    let output = &mut call.outputs[0];
    let bands = output.shape[1];
    let bins: Vec<_> = (0..bands + 2)
        .map(|band| edges.bin(band, bands, length))
        .collect();
    floats(output, &|index| {
        let (bin, band) = ((index / bands) as f64, index % bands);
        triangle(bin, [bins[band], bins[band + 1], bins[band + 2]])
    });
    Ok(())
}

/// From 0 at the left up to 1 in the middle, and down to 0 at the right.
fn triangle(at: f64, [left, middle, right]: [f64; 3]) -> f64 {
    match at {
        _ if at == middle => 1.0,
        _ if left <= at && at < middle => (at - left) / (middle - left),
        _ if middle < at && at < right => (right - at) / (right - middle),
        _ => 0.0,
    }
}
