//! Spectra of overlapping frames of a signal.

use std::ops::Mul;

use haul_ir::dtype::{DType, Kind};
use haul_ir::expr::Expr;
use haul_ir::op::{
    Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, KernelCall,
    KernelError, Param, ParamKind, Work,
};
use haul_ir::tensor::{Element, View, ViewMut};
use haul_ir::types::{TensorType, ValueType};
use num_complex::Complex;
use rayon::prelude::*;
use rustfft::FftNum;

use crate::ops::array_op::{ArrayOp, at_least_rank, attribute, check, required, tensor, wrong};
use crate::ops::fft::{Complexes, HalfSpectra, Lines};
use crate::ops::moves::pieces::{Axis, Beyond, MODES, fill};
use crate::ops::windows::MAX;
use crate::strided::{Walk, contiguous};

pub(super) const WINDOW: Param = tensor("window");
pub(super) const HOP_LENGTH: Param = required("hop_length", ParamKind::Int);
pub(super) const CENTER: Param = attribute("center", ParamKind::Bool, "true");
pub(super) const ONESIDED: Param = attribute("onesided", ParamKind::Bool, "true");

pub(super) static STFT: ArrayOp = ArrayOp {
    name: "stft",
    doc: "The short-time Fourier transform, as PyTorch defines it: frames as long as the window, \
          each `hop_length` after the one before, times the window, and their spectra along the \
          last axis but one. With `center` a frame has its middle where the hops end, and before \
          and after the signal lie elements as `pad` makes them in `pad_mode`; else the first \
          frame begins with the signal, and what is left at its end is in none. `onesided` gives \
          the first half of the spectra of real numbers, as `rfft`; else they are whole, as \
          `fft`. `istft` is the inverse.",
    params: &[
        tensor("x"),
        WINDOW,
        HOP_LENGTH,
        CENTER,
        attribute("pad_mode", ParamKind::Word(MODES), "'reflect'"),
        ONESIDED,
    ],
    rule: "[.., n], [w] -> [.., w // 2 + 1, frames], frames = 1 + (n + 2*(w // 2) - w) // hop_length; \
           w bins where not onesided, 1 + (n - w) // hop_length frames where not centered",
    family: Family::Fft,
    infer,
    work,
    work_formula: "w + 2.5*w*log2(w) flops a frame; 2*w + 5*w*log2(w) where not onesided",
    cpu: CpuKernel::Array(stft),
    gpu: GpuKernel::Library("cufft"),
    examples: &[
        Example {
            formula: "stft(x, w, 1, center=false)",
            given: &[("x", "f64[3]", "1 2 4"), ("w", "f64[2]", "1 1")],
            result: ("c128[2, 2]", "3+0j 6+0j -1+0j -2+0j"),
        },
        Example {
            formula: "stft(x, w, 2, pad_mode='constant')",
            given: &[("x", "f64[4]", "1 2 3 4"), ("w", "f64[2]", "1 0.5")],
            result: ("c128[2, 3]", "0.5+0j 3.5+0j 4+0j -0.5+0j 0.5+0j 4+0j"),
        },
    ],
};

/// The step from frame to frame.
pub(super) fn hop(call: &Call<'_>) -> Result<u64, InferError> {
    match call.attrs.int("hop_length") {
        Some(hop @ 1..=MAX) => Ok(hop.unsigned_abs()),
        _ => Err(wrong("hop_length", "is a known whole number of at least 1")),
    }
}

/// The size of the window, a vector of real numbers.
pub(super) fn window_of<'a>(call: &Call<'a>) -> Result<&'a Expr, InferError> {
    let window = call.tensor(1)?;
    if window.rank() != 1 || window.dtype.kind() == Kind::Complex {
        let message = format!("is a vector of real numbers, this is {window}");
        return Err(InferError::new(Fault::Shape, message).on(1));
    }
    match window.shape[0] == Expr::ZERO {
        true => Err(InferError::new(Fault::Shape, "the window is empty").on(1)),
        false => Ok(&window.shape[0]),
    }
}

/// Elements before the signal, and after it, so that frames are centered.
pub(super) fn margin(call: &Call<'_>, window: &Expr) -> Expr {
    match call.attrs.flag("center") {
        true => window.floor_div(&Expr::from(2_u64)),
        false => Expr::ZERO,
    }
}

/// Elements of the spectrum of a frame.
pub(super) fn bins(call: &Call<'_>, window: &Expr) -> Expr {
    match call.attrs.flag("onesided") {
        true => window.floor_div(&Expr::from(2_u64)) + 1,
        false => window.clone(),
    }
}

fn infer(call: &Call<'_>) -> Result<Inferred, InferError> {
    let x = call.tensor(0)?;
    at_least_rank(x, 1, "an axis of time")?;
    let onesided = call.attrs.flag("onesided");
    if onesided && x.dtype.kind() == Kind::Complex {
        let message = format!("`onesided` is for real numbers, this is {}", x.dtype);
        let error = InferError::new(Fault::DType, message).on(0);
        return Err(error.help("add `onesided=false`"));
    }
    let (hop, window) = (hop(call)?, window_of(call)?);
    let (outer, samples) = x.shape.split_at(x.rank() - 1);
    let margin = margin(call, window);
    if samples[0] == Expr::ZERO && margin != Expr::ZERO {
        return Err(InferError::new(Fault::Shape, "the signal is empty").on(0));
    }
    let room = &samples[0] + &margin * 2 - window;
    if room.as_int().is_some_and(|room| room < 0) {
        let message = format!("a frame has {window} elements, the signal {}", samples[0]);
        return Err(InferError::new(Fault::Shape, message).on(1));
    }
    let frames = room.floor_div(&Expr::from(hop)) + 1;
    let complex = x.dtype.complex();
    let shape = [outer, &[bins(call, window), frames]].concat();
    let read = if onesided { complex.real() } else { complex };
    Ok(Inferred::new(
        vec![Some(read), Some(complex.real())],
        vec![TensorType::new(complex, shape).into()],
    ))
}

fn work(call: &Call<'_>, outputs: &[ValueType]) -> Work {
    match outputs.first().and_then(ValueType::tensor) {
        Some(spectra) => frames_work(1, spectra, call, outputs),
        None => Work::Unknown,
    }
}

/// Transforms of all frames, and so many flops for each real element of them.
pub(super) fn frames_work(
    flops: u64,
    spectra: &TensorType,
    call: &Call<'_>,
    outputs: &[ValueType],
) -> Work {
    let Ok(window) = window_of(call) else {
        return Work::Unknown;
    };
    let (bins, others) = (spectra.rank() - 2, spectra.rank() - 1);
    let frames = Expr::product(&spectra.shape[..bins]) * &spectra.shape[others];
    let each = window.log2() * 5 + flops * 2;
    let whole = frames * window * each;
    match call.attrs.flag("onesided") {
        true => Work::of(whole.times_ratio(1, 2), call, outputs),
        false => Work::of(whole, call, outputs),
    }
}

fn stft(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    check(call, infer)?;
    let [x, window] = [&call.inputs[0], &call.inputs[1]];
    let output = &mut call.outputs[0];
    let w = window.shape()[0];
    let frames = Frames {
        hop: usize::try_from(call.attrs.int("hop_length").unwrap_or(1)).unwrap_or(1),
        margin: if call.attrs.flag("center") { w / 2 } else { 0 },
        beyond: Beyond::of(call.attrs.word("pad_mode")),
    };
    match x.dtype {
        DType::F32 => frames.halves::<f32>(x, window, output),
        DType::F64 => frames.halves::<f64>(x, window, output),
        DType::C64 => frames.wholes::<f32>(x, window, output),
        _ => frames.wholes::<f64>(x, window, output),
    }
    Ok(())
}

/// Elements that one task takes.
const TASK: usize = 1 << 14;

/// Where frames lie.
struct Frames {
    hop: usize,
    margin: usize,
    beyond: Beyond,
}

impl Frames {
    fn halves<T>(&self, x: &View<'_>, window: &View<'_>, output: &mut ViewMut<'_>)
    where
        T: FftNum + Element,
        Complex<T>: Element,
    {
        let lines = HalfSpectra::<T>::new(window.shape()[0], 1.0, false);
        self.transform(x, window, output, &|data: &[T], spectra| {
            lines.transform(data, spectra);
        });
    }

    fn wholes<T>(&self, x: &View<'_>, window: &View<'_>, output: &mut ViewMut<'_>)
    where
        T: FftNum + Element,
        Complex<T>: Element,
    {
        let lines = Complexes::new(window.shape()[0], false, 1.0);
        self.transform(x, window, output, &|data, spectra: &mut [Complex<T>]| {
            spectra.copy_from_slice(data);
            lines.transform(spectra);
        });
    }

    fn transform<T: FftNum + Element, S>(
        &self,
        x: &View<'_>,
        window: &View<'_>,
        output: &mut ViewMut<'_>,
        transform: &Lines<'_, S, Complex<T>>,
    ) where
        S: Element + Mul<T, Output = S>,
        Complex<T>: Element,
    {
        let rank = output.shape.len();
        let (bins, count) = (output.shape[rank - 2], output.shape[rank - 1]);
        if output.bytes.is_empty() {
            return;
        }
        let (padded, window) = (self.padded::<S>(x), contiguous::<T>(window));
        let samples = padded.len() / output.shape[..rank - 2].iter().product::<usize>();
        let together = (TASK / window.len()).max(1);
        let signals = output.elements::<Complex<T>>().par_chunks_mut(bins * count);
        let signals = signals.zip(padded.par_chunks(samples));
        signals.for_each(|(output, signal)| {
            let mut spectra = vec![Complex::new(T::zero(), T::zero()); output.len()];
            let tasks = spectra.par_chunks_mut(together * bins).enumerate();
            tasks.for_each_init(Vec::new, |frames, (task, spectra)| {
                let numbers = task * together..;
                frames.clear();
                for number in numbers.take(spectra.len() / bins) {
                    let frame = signal[number * self.hop..].iter().zip(&*window);
                    frames.extend(frame.map(|(sample, weight)| *sample * *weight));
                }
                transform(frames, spectra);
            });
            // Frame after frame becomes bin after bin.
            Walk::new(&[bins, count], &[1, bins as isize]).copy(&spectra, 0, output);
        });
    }

    /// The signals one after another, each with its margins.
    fn padded<S: Element>(&self, x: &View<'_>) -> Vec<S> {
        let mut shape = x.shape().to_vec();
        let mut axes: Vec<_> = shape.iter().map(|size| Axis::whole(*size)).collect();
        if let (Some(axis), Some(size)) = (axes.last_mut(), shape.last_mut()) {
            *size += 2 * self.margin;
            axis.to = *size;
            axis.start = self.margin as i64;
            axis.beyond = self.beyond;
        }
        let mut padded = vec![S::default(); shape.iter().product()];
        let zero = bytemuck::bytes_of(&S::default()).to_vec();
        let mut output = ViewMut {
            dtype: S::DTYPE,
            shape,
            bytes: bytemuck::cast_slice_mut(&mut padded),
        };
        fill(x, &axes, &zero, &mut output);
        padded
    }
}
