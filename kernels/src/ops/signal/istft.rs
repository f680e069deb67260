//! A signal of the spectra of its frames.

use std::ops::{AddAssign, Div, Mul};

use haul_ir::dtype::DType;
use haul_ir::expr::Expr;
use haul_ir::op::{
    Attr, Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, KernelCall,
    KernelError, ParamKind, Work,
};
use haul_ir::tensor::{Element, View, ViewMut};
use haul_ir::types::TensorType;
use num_complex::Complex;
use num_traits::AsPrimitive;
use rayon::prelude::*;
use rustfft::FftNum;

use super::stft::{
    CENTER, HOP_LENGTH, ONESIDED, WINDOW, bins, frames_work, hop, margin, window_of,
};
use crate::ops::array_op::{ArrayOp, at_least_rank, attribute, check, tensor, wrong};
use crate::ops::fft::{Complexes, InverseHalfSpectra, Lines};
use crate::strided::{Walk, contiguous};

pub(super) static ISTFT: ArrayOp = ArrayOp {
    name: "istft",
    doc: "The inverse of `stft` with the same window, hop and attributes: the frames of the \
          spectra, times the window, added up and divided by the sum of the squares of the \
          weights there. `length` is that of the signal, by default as far as whole hops go. An \
          element on which no weight lies is an error when it runs: a Hann window, which begins \
          with 0, needs `center`.",
    params: &[
        tensor("x"),
        WINDOW,
        HOP_LENGTH,
        attribute("length", ParamKind::Int, "none"),
        CENTER,
        ONESIDED,
    ],
    rule: "[.., w // 2 + 1, frames], [w] -> [.., length], w + (frames - 1)*hop_length by default, \
           2*(w // 2) less where centered; w bins where not onesided",
    family: Family::Fft,
    infer,
    work: |call, outputs| match call.tensor(0) {
        Ok(spectra) => frames_work(2, spectra, call, outputs),
        Err(_) => Work::Unknown,
    },
    work_formula: "2*w + 2.5*w*log2(w) flops a frame; 4*w + 5*w*log2(w) where not onesided",
    cpu: CpuKernel::Array(istft),
    gpu: GpuKernel::Library("cufft"),
    examples: &[Example {
        formula: "istft(x, w, 1, center=false)",
        given: &[
            ("x", "c128[2, 2]", "3+0j 6+0j -1+0j -2+0j"),
            ("w", "f64[2]", "1 1"),
        ],
        result: ("f64[3]", "1 2 4"),
    }],
};

fn infer(call: &Call<'_>) -> Result<Inferred, InferError> {
    let x = call.tensor(0)?;
    at_least_rank(x, 2, "axes of frequency and of time")?;
    let (hop, window) = (hop(call)?, window_of(call)?);
    let (outer, spectra) = x.shape.split_at(x.rank() - 2);
    let bins = bins(call, window);
    if spectra[0] != bins {
        let message = format!(
            "a frame of {window} elements has {bins} bins, these are {}",
            spectra[0]
        );
        return Err(InferError::new(Fault::Shape, message).on(0));
    }
    if spectra[1] == Expr::ZERO {
        return Err(InferError::new(Fault::Shape, "there is no frame").on(0));
    }
    let margin = margin(call, window);
    let reach = window + (&spectra[1] - Expr::ONE) * hop;
    let length = match call.attrs.get("length") {
        Attr::Int(length) => length.clone(),
        _ => &reach - &margin * 2,
    };
    let left = &reach - &margin - &length;
    if length.as_int().is_some_and(|length| length < 0) {
        return Err(wrong("length", "is a whole number of at least 0"));
    }
    if left.as_int().is_some_and(|left| left < 0) {
        let most = &reach - &margin;
        let message = format!("the frames reach over {most} elements, `length` is {length}");
        return Err(InferError::new(Fault::Value, message).on_attr("length"));
    }
    let complex = x.dtype.complex();
    let dtype = match call.attrs.flag("onesided") {
        true => complex.real(),
        false => complex,
    };
    let shape = [outer, &[length]].concat();
    Ok(Inferred::new(
        vec![Some(complex), Some(complex.real())],
        vec![TensorType::new(dtype, shape).into()],
    ))
}

fn istft(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    check(call, infer)?;
    let [x, window] = [&call.inputs[0], &call.inputs[1]];
    let (onesided, output) = (call.attrs.flag("onesided"), &mut call.outputs[0]);
    let w = window.shape()[0];
    let frames = Frames {
        window: w,
        hop: usize::try_from(call.attrs.int("hop_length").unwrap_or(1)).unwrap_or(1),
        count: x.shape()[x.shape().len() - 1],
        margin: if call.attrs.flag("center") { w / 2 } else { 0 },
    };
    match (x.dtype, onesided) {
        (DType::C64, true) => frames.halves::<f32>(x, window, output),
        (_, true) => frames.halves::<f64>(x, window, output),
        (DType::C64, false) => frames.wholes::<f32>(x, window, output),
        (_, false) => frames.wholes::<f64>(x, window, output),
    }
}

/// Elements that one task adds up.
const TASK: usize = 1 << 14;

/// Weights below this are none: a division by them would give noise.
const LEAST: f64 = 1e-11;

/// Where frames lie.
struct Frames {
    window: usize,
    hop: usize,
    count: usize,
    margin: usize,
}

impl Frames {
    fn halves<T>(
        &self,
        x: &View<'_>,
        window: &View<'_>,
        output: &mut ViewMut<'_>,
    ) -> Result<(), KernelError>
    where
        T: FftNum + Element + AddAssign + AsPrimitive<f64>,
        Complex<T>: Element,
    {
        let lines = InverseHalfSpectra::new(self.window, 1.0 / self.window as f64, false);
        self.add_up(x, window, output, &|spectra, frames: &mut [T]| {
            lines.transform(spectra, frames);
        })
    }

    fn wholes<T>(
        &self,
        x: &View<'_>,
        window: &View<'_>,
        output: &mut ViewMut<'_>,
    ) -> Result<(), KernelError>
    where
        T: FftNum + Element + AddAssign + AsPrimitive<f64>,
        Complex<T>: Element + AddAssign,
    {
        let lines = Complexes::new(self.window, true, 1.0 / self.window as f64);
        self.add_up(x, window, output, &|spectra, frames: &mut [Complex<T>]| {
            frames.copy_from_slice(spectra);
            lines.transform(frames);
        })
    }

    fn add_up<T, S>(
        &self,
        x: &View<'_>,
        window: &View<'_>,
        output: &mut ViewMut<'_>,
        transform: &Lines<'_, Complex<T>, S>,
    ) -> Result<(), KernelError>
    where
        T: FftNum + Element + AddAssign + AsPrimitive<f64>,
        S: Element + Mul<T, Output = S> + Div<T, Output = S> + AddAssign,
        Complex<T>: Element,
    {
        if output.bytes.is_empty() {
            return Ok(());
        }
        let length = output.shape[output.shape.len() - 1];
        let (spectra, window) = (contiguous::<Complex<T>>(x), contiguous::<T>(window));
        let weights = self.weights(&window, length)?;
        let bins = x.shape()[x.shape().len() - 2];
        let signals = output.elements::<S>().par_chunks_mut(length);
        let signals = signals.zip(spectra.par_chunks(bins * self.count));
        signals.for_each(|(signal, spectra)| {
            // Bin after bin becomes frame after frame.
            let mut lines = vec![Complex::new(T::zero(), T::zero()); spectra.len()];
            let walk = Walk::new(&[self.count, bins], &[1, self.count as isize]);
            walk.copy(spectra, 0, &mut lines);
            let mut frames = vec![S::default(); self.count * self.window];
            transform(&lines, &mut frames);
            let tasks = signal.par_chunks_mut(TASK).zip(weights.par_chunks(TASK));
            tasks.enumerate().for_each(|(task, (signal, weights))| {
                signal.fill(S::default());
                self.add(task * TASK, signal, |sum: &mut S, frame, at| {
                    *sum += frames[frame * self.window + at] * window[at];
                });
                for (sum, weight) in signal.iter_mut().zip(weights) {
                    *sum = *sum / *weight;
                }
            });
        });
        Ok(())
    }

    /// The sum of the squares of the weights on each element of the signal.
    fn weights<T>(&self, window: &[T], length: usize) -> Result<Vec<T>, KernelError>
    where
        T: FftNum + Element + AddAssign + AsPrimitive<f64>,
    {
        let mut weights = vec![T::zero(); length];
        let tasks = weights.par_chunks_mut(TASK).enumerate();
        tasks.for_each(|(task, weights)| {
            self.add(task * TASK, weights, |sum, _, at| {
                *sum += window[at] * window[at];
            });
        });
        let none = weights
            .iter()
            .position(|weight| AsPrimitive::<f64>::as_(*weight) < LEAST);
        match none {
            None => Ok(weights),
            Some(at) => Err(KernelError::new(format!(
                "no weight of the windows lies on element {at} of the signal: it cannot be told"
            ))),
        }
    }

    /// Calls `add` for each of some elements of the signal, from `start` on, and each frame that
    /// it lies in, in order: with the frame and the place in it.
    fn add<E>(&self, start: usize, signal: &mut [E], add: impl Fn(&mut E, usize, usize)) {
        let (from, to) = (start + self.margin, start + self.margin + signal.len());
        let first = (from + 1).saturating_sub(self.window).div_ceil(self.hop);
        let frames = (first..self.count).take_while(|frame| frame * self.hop < to);
        for frame in frames {
            let begin = frame * self.hop;
            let (low, high) = (from.max(begin), to.min(begin + self.window));
            for place in low..high {
                add(&mut signal[place - from], frame, place - begin);
            }
        }
    }
}
