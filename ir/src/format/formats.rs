//! The formats.

use super::{Format, Refusal, Setting, SettingKind, Settings, Typing};
use crate::dtype::{DType, Kind};
use crate::expr::Expr;
use crate::types::{TensorType, ValueType};

/// All formats, each once.
pub static FORMATS: [&Format; 5] = [&NPY, &NPZ, &CSV, &IMAGE, &TEXT];

/// A NumPy array file.
pub static NPY: Format = Format {
    name: "Npy",
    doc: "A NumPy array.",
    endings: &["npy"],
    typing: Typing::Told,
    input: Some(&[]),
    output: Some(&[]),
    check_input: any,
    check_output: tensor,
};

/// One array of a NumPy archive.
pub static NPZ: Format = Format {
    name: "Npz",
    doc: "One array of a NumPy archive.",
    endings: &["npz"],
    typing: Typing::Told,
    input: Some(&[Setting::required("array", SettingKind::Text)]),
    output: None,
    check_input: any,
    check_output: tensor,
};

/// A table of numbers in text.
pub static CSV: Format = Format {
    name: "Csv",
    doc: "A table of numbers in text, as one tensor of rows and columns.",
    endings: &["csv", "csv.gz"],
    typing: Typing::Numbers,
    input: Some(&[
        Setting::optional("columns", SettingKind::Columns),
        Setting::optional("header", SettingKind::Bool),
    ]),
    output: Some(&[Setting::optional("columns", SettingKind::Columns)]),
    check_input: table_to_read,
    check_output: table_to_write,
};

/// An image.
pub static IMAGE: Format = Format {
    name: "Image",
    doc: "An image: `u8` or `u16`, `[h, w]` for grey, `[h, w, channels]` for colour.",
    endings: &["png"],
    typing: Typing::Told,
    input: Some(&[]),
    output: Some(&[]),
    check_input: |ty, _| image(ty),
    check_output: image_to_write,
};

/// A file of text.
pub static TEXT: Format = Format {
    name: "Text",
    doc: "Text in UTF-8.",
    endings: &["txt"],
    typing: Typing::Text,
    input: Some(&[]),
    output: None,
    check_input: any,
    check_output: tensor,
};

fn any(_: &TensorType, _: &Settings) -> Result<(), Refusal> {
    Ok(())
}

fn tensor(ty: &ValueType, _: &Settings) -> Result<(), Refusal> {
    match ty {
        ValueType::Tensor(_) => Ok(()),
        ValueType::Text => Err(Refusal::new("text cannot be written as numbers")),
    }
}

fn table_to_read(ty: &TensorType, settings: &Settings) -> Result<(), Refusal> {
    if ty.rank() != 2 {
        let message = format!("a table has rows and columns, this has {} axes", ty.rank());
        return Err(Refusal::new(message));
    }
    real(ty)?;
    let named = settings.columns("columns").len() as u64;
    match ty.shape[1].as_u64() {
        Some(declared) if named > 0 && declared != named => Err(Refusal::new(format!(
            "{named} columns are named, the type has {declared}"
        ))),
        _ => Ok(()),
    }
}

fn table_to_write(ty: &ValueType, settings: &Settings) -> Result<(), Refusal> {
    tensor(ty, settings)?;
    let Some(ty) = ty.tensor() else { return Ok(()) };
    real(ty)?;
    if ty.rank() > 2 {
        let message = format!("a table has rows and columns, this has {} axes", ty.rank());
        return Err(Refusal::new(message).help("write its slices, or use Npy"));
    }
    let columns = ty.shape.get(1).unwrap_or(&Expr::ONE).as_u64();
    let named = settings.columns("columns").len() as u64;
    match columns {
        Some(columns) if named > 0 && columns != named => {
            let message = format!("{named} columns are named, there are {columns}");
            let refusal = Refusal::new(message).of_setting("columns");
            Err(refusal.help("name as many columns as there are, or none"))
        }
        _ => Ok(()),
    }
}

fn real(ty: &TensorType) -> Result<(), Refusal> {
    match ty.dtype.kind() {
        Kind::Complex => Err(Refusal::new("a table holds real numbers")
            .help("write `real(x)` and `imag(x)`, or use Npy")),
        _ => Ok(()),
    }
}

fn image(ty: &TensorType) -> Result<(), Refusal> {
    if !matches!(ty.dtype, DType::U8 | DType::U16) {
        let message = format!("an image is u8 or u16, not {}", ty.dtype);
        return Err(
            Refusal::new(message).help("scale and cast it: `u8(clip(x, 0, 1) * 255 + 0.5)`")
        );
    }
    let help = "give it the shape [h, w] or [h, w, channels]";
    if !(2..=3).contains(&ty.rank()) {
        let message = format!(
            "an image is [h, w] or [h, w, channels], this has {} axes",
            ty.rank()
        );
        return Err(Refusal::new(message).help(help));
    }
    match ty.shape.get(2).and_then(Expr::as_int) {
        Some(channels) if !(1..=4).contains(&channels) => {
            let message = format!("an image has 1 to 4 channels, not {channels}");
            Err(Refusal::new(message).help(help))
        }
        _ => Ok(()),
    }
}

fn image_to_write(ty: &ValueType, settings: &Settings) -> Result<(), Refusal> {
    tensor(ty, settings)?;
    let Some(ty) = ty.tensor() else { return Ok(()) };
    image(ty)?;
    let is_side = |size: &Expr| (1..1 << 31).contains(&size.as_int().unwrap_or(1));
    match ty.shape[..2].iter().all(is_side) {
        true => Ok(()),
        false => {
            let help = "its sides have to be from 1 to 2^31 - 1";
            Err(Refusal::new("an image has sides of some pixels").help(help))
        }
    }
}
