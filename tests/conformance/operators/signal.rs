//! Fourier transforms and windows.

use super::Rule::Code;
use super::{Converted, Node, Table};

pub(super) const TABLE: Table = &[
    ("BlackmanWindow", Code(|n| window(n, &[0.42, -0.5, 0.08]))),
    ("DFT", Code(dft)),
    (
        "HammingWindow",
        Code(|n| window(n, &[25.0 / 46.0, -21.0 / 46.0])),
    ),
    ("HannWindow", Code(|n| window(n, &[0.5, -0.5]))),
    ("MelWeightMatrix", Code(mel)),
    ("STFT", Code(stft)),
];

/// A sum of cosines.
fn window(n: &mut Node<'_, '_>, weights: &[f64]) -> Converted {
    let size = n.fixed(0)?.to_ints()[0];
    let length = if n.int("periodic", 1) == 1 {
        size
    } else {
        size - 1
    };
    let dtype = n.dtype_attr("output_datatype", haul_ir::dtype::DType::F32)?;
    let angle = n.line(format!("2 * pi * f64(arange({size})) / {length}"));
    let terms = weights
        .iter()
        .enumerate()
        .map(|(at, weight)| format!("{weight} * cos({at} * {angle})"));
    let terms: Vec<_> = terms.collect();
    n.give(format!("{dtype}({})", terms.join(" + ")))
}

/// The last axis holds the real and the imaginary part.
fn dft(n: &mut Node<'_, '_>) -> Converted {
    let axis = match n.has(2) {
        true => n.fixed(2)?.to_ints()[0],
        false => n.int("axis", if n.opset() >= 20 { -2 } else { 1 }),
    };
    let axis = n.front(axis, 0)?;
    let (mut x, shape) = (n.x(0)?, n.shape(0)?);
    let is_real = shape.last() == Some(&1);
    if n.has(1) {
        let length = n.fixed(1)?.to_ints()[0];
        let more = length - shape[axis as usize];
        x = n.line(format!("pad({x}, [0, {more}], axis={axis})"));
    }
    if n.flag("inverse") && n.flag("onesided") {
        return inverse_of_half(n, &x, axis, shape[axis as usize]);
    }
    let name = match (n.flag("inverse"), n.flag("onesided")) {
        (true, _) => "ifft",
        (false, true) => "rfft",
        (false, false) => "fft",
    };
    let a = n.line(format!("{name}({x}[..., 0], axis={axis})"));
    if is_real {
        return n.give(format!("stack(real({a}), imag({a}), axis=-1)"));
    }
    // Transforms are linear: that of a + ib is that of a and i times that of b.
    let b = n.line(format!("{name}({x}[..., 1], axis={axis})"));
    n.give(format!(
        "stack(real({a}) - imag({b}), imag({a}) + real({b}), axis=-1)"
    ))
}

/// The other half is the conjugate of the first in reverse order, without the ends.
fn inverse_of_half(n: &mut Node<'_, '_>, x: &str, axis: i64, size: i64) -> Converted {
    let inner = format!("{}1:{}", ":, ".repeat(axis as usize), size - 1);
    let mut transforms = Vec::new();
    for (part, sign) in [(0, ""), (1, "-")] {
        let half = n.line(format!("{x}[..., {part}]"));
        let other = n.line(format!("{sign}flip({half}[{inner}], axis={axis})"));
        transforms.push(n.line(format!(
            "ifft(concat({half}, {other}, axis={axis}), axis={axis})"
        )));
    }
    let (a, b) = (&transforms[0], &transforms[1]);
    n.give(format!("expand_dims(real({a}) - imag({b}), axis=-1)"))
}

/// Frames side by side, then their transforms.
fn stft(n: &mut Node<'_, '_>) -> Converted {
    let (x, shape) = (n.x(0)?, n.shape(0)?);
    let step = n.fixed(1)?.to_ints()[0];
    let length = match n.has(3) {
        true => n.fixed(3)?.to_ints()[0],
        false => n.shape(2)?[0],
    };
    if shape.last() != Some(&1) {
        return Err("a complex signal".to_owned());
    }
    let frames = (shape[1] - length) / step + 1;
    let places = n.line(format!(
        "arange({frames})[:, newaxis] * {step} + arange({length})"
    ));
    let mut value = n.line(format!("take({x}[:, :, 0], {places}, axis=1)"));
    if n.has(2) {
        let window = n.x(2)?;
        value = n.line(format!("{value} * {window}"));
    }
    let name = if n.int("onesided", 1) == 1 {
        "rfft"
    } else {
        "fft"
    };
    let y = n.line(format!("{name}({value}, axis=-1)"));
    n.give(format!("stack(real({y}), imag({y}), axis=-1)"))
}

/// Triangles between frequencies that are evenly spaced in mels.
fn mel(n: &mut Node<'_, '_>) -> Converted {
    let numbers: Vec<f64> = (0..5)
        .map(|at| Ok(n.fixed(at)?.elements[0].real()))
        .collect::<Result<_, String>>()?;
    let [bins, length, rate, low, high] = numbers[..] else {
        return Err("an input is left out".to_owned());
    };
    let rows = (length / 2.0).floor() + 1.0;
    let mel = |hertz: f64| 2595.0 * (1.0 + hertz / 700.0).log10();
    let (low, high) = (mel(low), mel(high));
    let points = n.line(format!(
        "linspace({low}, {high}, {}, endpoint=false)",
        bins + 2.0
    ));
    let hertz = n.line(format!("700 * (10 ** ({points} / 2595) - 1)"));
    let places = n.line(format!("floor(({} * {hertz}) / {rate})", length + 1.0));
    let [left, centre, right] =
        [0, 1, 2].map(|at| n.line(format!("{places}[{at}:{}]", at as f64 + bins)));
    let row = n.line(format!("f64(arange({rows}))[:, newaxis]"));
    let up = n.line(format!("({row} - {left}) / ({centre} - {left})"));
    let rising = n.line(format!(
        "where({centre} == {left}, f64({row} == {centre}), {up})"
    ));
    let falling = n.line(format!("({right} - {row}) / ({right} - {centre})"));
    let before = n.line(format!("({row} < {right}) | ({row} == {centre})"));
    let inside = n.line(format!("({row} >= {left}) & {before}"));
    let value = n.line(format!("where({row} <= {centre}, {rising}, {falling})"));
    n.give(format!("f32(where({inside}, {value}, 0))"))
}
