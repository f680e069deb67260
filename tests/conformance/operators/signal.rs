//! Fourier transforms and windows.

use super::Rule::Code;
use super::{Converted, Node, Table};

pub(super) const TABLE: Table = &[
    ("BlackmanWindow", Code(|n| window(n, "blackman_window"))),
    ("DFT", Code(dft)),
    ("HammingWindow", Code(hamming)),
    ("HannWindow", Code(|n| window(n, "hann_window"))),
    ("MelWeightMatrix", Code(mel)),
    ("STFT", Code(stft)),
];

/// The number of elements, and what every window takes.
fn options(n: &mut Node<'_, '_>) -> Result<(i64, String), String> {
    let size = n.fixed(0)?.to_ints()[0];
    let dtype = n.dtype_attr("output_datatype", haul_ir::dtype::DType::F32)?;
    let periodic = n.int("periodic", 1) == 1;
    Ok((size, format!("periodic={periodic}, dtype='{dtype}'")))
}

fn window(n: &mut Node<'_, '_>, name: &str) -> Converted {
    let (size, options) = options(n)?;
    n.give(format!("{name}({size}, {options})"))
}

/// Its weights are others than those of haul's.
fn hamming(n: &mut Node<'_, '_>) -> Converted {
    let (size, options) = options(n)?;
    let share = 21.0 / 46.0 / 0.46;
    n.give(format!(
        "1 - {share} * (1 - hamming_window({size}, {options}))"
    ))
}

/// The last axis holds the real and the imaginary part.
fn dft(n: &mut Node<'_, '_>) -> Converted {
    let axis = match n.has(2) {
        true => n.fixed(2)?.to_ints()[0],
        false => n.int("axis", if n.opset() >= 20 { -2 } else { 1 }),
    };
    let axis = n.front(axis, 0)?;
    let (x, shape) = (n.x(0)?, n.shape(0)?);
    let signal = match shape.last() {
        Some(1) => format!("{x}[..., 0]"),
        _ => format!("complex({x}[..., 0], {x}[..., 1])"),
    };
    let length = match n.has(1) {
        true => format!("{}, ", n.fixed(1)?.to_ints()[0]),
        false => String::new(),
    };
    let name = match (n.flag("inverse"), n.flag("onesided")) {
        (true, true) => "irfft",
        (true, false) => "ifft",
        (false, true) => "rfft",
        (false, false) => "fft",
    };
    let y = n.line(format!("{name}({signal}, {length}axis={axis})"));
    if name == "irfft" {
        return n.give(format!("expand_dims({y}, axis=-1)"));
    }
    n.give(format!("stack(real({y}), imag({y}), axis=-1)"))
}

fn stft(n: &mut Node<'_, '_>) -> Converted {
    let (x, shape) = (n.x(0)?, n.shape(0)?);
    let step = n.fixed(1)?.to_ints()[0];
    if shape.last() != Some(&1) {
        return Err("a complex signal".to_owned());
    }
    let window = match n.has(2) {
        true => n.x(2)?,
        false => format!("ones({}, dtype='f32')", n.fixed(3)?.to_ints()[0]),
    };
    let onesided = n.int("onesided", 1) == 1;
    let y = n.line(format!(
        "swapaxes(stft({x}[:, :, 0], {window}, {step}, center=false, onesided={onesided}), 1, 2)"
    ));
    n.give(format!("stack(real({y}), imag({y}), axis=-1)"))
}

fn mel(n: &mut Node<'_, '_>) -> Converted {
    let numbers: Vec<String> = (0..5)
        .map(|at| Ok(n.fixed(at)?.elements[0].real().to_string()))
        .collect::<Result<_, String>>()?;
    n.give(format!("mel_weights({}, dtype='f32')", numbers.join(", ")))
}
