//! The formats.

use super::{Format, Refusal, Setting, SettingKind, Settings, Typing};
use crate::dtype::{DType, Kind};
use crate::expr::Expr;
use crate::types::{CellKind, CellType, TensorType, ValueType};

/// All formats, each once.
pub static FORMATS: &[&Format] = &[
    &NPY, //
    &NPZ, &CSV, &JSONL, &PARQUET, &ARROW, &IMAGE, &WAV, &RAW, &TEXT,
];

/// A NumPy array file.
pub static NPY: Format = Format {
    name: "Npy",
    doc: "A NumPy array.",
    endings: &["npy"],
    written_as: &[],
    typing: Typing::Told,
    input: Some(&[]),
    output: Some(&[]),
    check_input: tensor,
    check_output: tensor,
};

/// One array of a NumPy archive.
pub static NPZ: Format = Format {
    name: "Npz",
    doc: "One array of a NumPy archive.",
    endings: &["npz"],
    written_as: &[],
    typing: Typing::Told,
    input: Some(&[Setting::required("array", SettingKind::Text)]),
    output: Some(&[
        Setting::optional("array", SettingKind::Text),
        Setting::optional("compressed", SettingKind::Bool),
    ]),
    check_input: tensor,
    check_output: tensor,
};

/// Comma-separated values.
pub static CSV: Format = Format {
    name: "Csv",
    doc: "Comma-separated values: numbers as one tensor of rows and columns, or a table as \
          declared.",
    endings: &["csv", "csv.gz"],
    written_as: &[],
    typing: Typing::Numbers,
    input: Some(&[
        Setting::optional("column", SettingKind::Text),
        Setting::optional("columns", SettingKind::Columns),
        Setting::optional("header", SettingKind::Bool),
        Setting::optional("delimiter", SettingKind::Char),
        Setting::optional("decimal", SettingKind::Char),
        Setting::optional("missing", SettingKind::Number),
        Setting::optional("na", SettingKind::Text),
        Setting::optional("bad_rows", SettingKind::Word(&["Fail", "Skip"])),
    ]),
    output: Some(&[
        Setting::optional("columns", SettingKind::Columns),
        Setting::optional("delimiter", SettingKind::Char),
        Setting::optional("decimal", SettingKind::Char),
    ]),
    check_input: table_to_read,
    check_output: table_to_write,
};

/// A Parquet file.
pub static PARQUET: Format = Format {
    name: "Parquet",
    doc: "Columns of a Parquet file: numbers as one tensor, or a table as declared.",
    endings: &["parquet"],
    written_as: &[],
    typing: Typing::Numbers,
    input: Some(COLUMNAR),
    output: Some(&[Setting::optional("columns", SettingKind::Columns)]),
    check_input: columns_to_read,
    check_output: columns_to_write,
};

/// An Arrow file or stream.
pub static ARROW: Format = Format {
    name: "Arrow",
    doc: "Columns of an Arrow IPC file or stream (Feather version 2): numbers as one tensor, or a \
          table as declared.",
    endings: &["arrow", "arrows", "feather", "ipc"],
    written_as: &["arrow", "feather", "ipc"],
    ..PARQUET
};

/// The settings of columns that are read.
const COLUMNAR: &[Setting] = &[
    Setting::optional("column", SettingKind::Text),
    Setting::optional("columns", SettingKind::Columns),
    Setting::optional("missing", SettingKind::Number),
];

/// Lines of JSON.
pub static JSONL: Format = Format {
    name: "Jsonl",
    doc: "Lines of JSON: a number each, a list of numbers each, or the objects of a table as \
          declared.",
    endings: &["jsonl", "jsonl.gz", "ndjson", "ndjson.gz"],
    written_as: &["jsonl", "jsonl.gz", "ndjson", "ndjson.gz"],
    typing: Typing::Numbers,
    input: Some(&[]),
    output: Some(&[]),
    check_input: lines_to_read,
    check_output: lines_to_write,
};

/// An image.
pub static IMAGE: Format = Format {
    name: "Image",
    doc: "An image: `u8` or `u16`, `[h, w]` for grey, `[h, w, channels]` for colour.",
    endings: &["png", "jpg", "jpeg", "bmp", "tif", "tiff"],
    written_as: &["png"],
    typing: Typing::Told,
    input: Some(&[]),
    output: Some(&[]),
    check_input: |ty, _| image(one_tensor(ty)?),
    check_output: image_to_write,
};

/// Audio.
pub static WAV: Format = Format {
    name: "Wav",
    doc: "WAV audio: `[frames]` or `[frames, channels]` of `u8`, `i16`, `i32` or `f32`.",
    endings: &["wav"],
    written_as: &[],
    typing: Typing::Told,
    input: Some(&[Setting::optional("rate", SettingKind::Count)]),
    output: Some(&[Setting::required("rate", SettingKind::Count)]),
    check_input: |ty, _| audio(one_tensor(ty)?),
    check_output: audio_to_write,
};

/// Elements without a header.
pub static RAW: Format = Format {
    name: "Raw",
    doc: "Elements one after the other, without a header.",
    endings: &[],
    written_as: &[],
    typing: Typing::Declared,
    input: Some(&[
        Setting::optional("offset", SettingKind::Count),
        Setting::optional("byte_order", BYTE_ORDER),
    ]),
    output: Some(&[Setting::optional("byte_order", BYTE_ORDER)]),
    check_input: tensor,
    check_output: tensor,
};

const BYTE_ORDER: SettingKind = SettingKind::Word(&["Little", "Big"]);

/// A file of text.
pub static TEXT: Format = Format {
    name: "Text",
    doc: "Text in UTF-8, or in UTF-16 that says so.",
    endings: &["txt"],
    written_as: &[],
    typing: Typing::Text,
    input: Some(&[]),
    output: Some(&[]),
    check_input: |_, _| Ok(()),
    check_output: text,
};

fn tensor(ty: &ValueType, _: &Settings) -> Result<(), Refusal> {
    one_tensor(ty).map(drop)
}

fn one_tensor(ty: &ValueType) -> Result<&TensorType, Refusal> {
    match ty {
        ValueType::Tensor(tensor) => Ok(tensor),
        ValueType::Text => Err(Refusal::new("text cannot be written as numbers")),
        ValueType::Column(_) => Err(Refusal::new("it holds numbers, of which none is missing")),
        ValueType::Table(_) => Err(Refusal::new("it holds a tensor, not a table")),
    }
}

fn text(ty: &ValueType, _: &Settings) -> Result<(), Refusal> {
    match ty {
        ValueType::Text => Ok(()),
        _ => Err(Refusal::new("numbers are no text").help("use Csv, or another format")),
    }
}

fn lines_to_read(ty: &ValueType, _: &Settings) -> Result<(), Refusal> {
    if let ValueType::Table(_) = ty {
        return Ok(());
    }
    let ty = one_tensor(ty)?;
    real(ty)?;
    match ty.rank() {
        1 | 2 => Ok(()),
        axes => Err(Refusal::new(format!(
            "lines are numbers or lists of numbers, this has {axes} axes"
        ))),
    }
}

fn lines_to_write(ty: &ValueType, _: &Settings) -> Result<(), Refusal> {
    match ty {
        ValueType::Table(_) | ValueType::Column(_) => Ok(()),
        ValueType::Tensor(_) | ValueType::Text => real(one_tensor(ty)?),
    }
}

/// The settings of a table whose type names and types its columns.
fn typed_columns(settings: &Settings) -> Result<(), Refusal> {
    let of_numbers = ["column", "columns", "decimal", "missing", "bad_rows"];
    let mut given = settings.0.iter().map(|(name, _)| *name);
    match given.find(|name| of_numbers.contains(name)) {
        None => check_dialect(settings),
        Some(name) => {
            let message = format!("the type of a table says what is read; leave `{name}` out");
            Err(Refusal::new(message).of_setting(name))
        }
    }
}

fn table_to_read(ty: &ValueType, settings: &Settings) -> Result<(), Refusal> {
    if let ValueType::Table(_) = ty {
        return typed_columns(settings);
    }
    let ty = one_tensor(ty)?;
    real(ty)?;
    check_dialect(settings)?;
    let named = settings.columns("columns").len() as u64;
    let is_alone = settings.text("column").is_some();
    if is_alone && named > 0 {
        return Err(Refusal::new(
            "`column` is one column, `columns` are several",
        ));
    }
    let axes = if is_alone { 1 } else { 2 };
    if ty.rank() != axes {
        let what = ["a column has rows only", "a table has rows and columns"][axes - 1];
        let message = format!("{what}, this has {} axes", ty.rank());
        return Err(match axes {
            1 => Refusal::new(message),
            _ => Refusal::new(message).help("name one column alone, as `column: \"x\"`"),
        });
    }
    match ty.shape.get(1).and_then(Expr::as_u64) {
        Some(declared) if named > 0 && declared != named => Err(Refusal::new(format!(
            "{named} columns are named, the type has {declared}"
        ))),
        _ => Ok(()),
    }
}

/// Whether fields and numbers can be told apart.
fn check_dialect(settings: &Settings) -> Result<(), Refusal> {
    let delimiter = settings.char("delimiter").unwrap_or(b',');
    let decimal = settings.char("decimal").unwrap_or(b'.');
    let in_numbers = |byte: u8| byte.is_ascii_alphanumeric() || b"+-\"\r\n".contains(&byte);
    if in_numbers(delimiter) || delimiter == decimal {
        return Err(Refusal::new("this cannot stand between numbers").of_setting("delimiter"));
    }
    match in_numbers(decimal) || decimal == b' ' {
        true => Err(Refusal::new("this cannot stand in numbers").of_setting("decimal")),
        false => Ok(()),
    }
}

fn columns_to_read(ty: &ValueType, settings: &Settings) -> Result<(), Refusal> {
    if let ValueType::Table(_) = ty {
        return typed_columns(settings);
    }
    let ty = one_tensor(ty)?;
    real(ty)?;
    let named = settings.columns("columns").len() as u64;
    let message = match (settings.text("column"), ty.shape.get(1)) {
        (Some(_), _) if named > 0 => "`column` is one column, `columns` are several".to_owned(),
        (Some(_), _) if ty.rank() == 0 => "a column has rows, this has no axis".to_owned(),
        (Some(_), _) => return Ok(()),
        (None, None) => {
            let message = format!("columns make rows and columns, this has {} axes", ty.rank());
            return Err(Refusal::new(message).help("name one alone, as `column: \"x\"`"));
        }
        (None, Some(columns)) => match columns.as_u64() {
            Some(declared) if named > 0 && declared != named => {
                format!("{named} columns are named, the type has {declared}")
            }
            _ => return Ok(()),
        },
    };
    Err(Refusal::new(message))
}

fn columns_to_write(ty: &ValueType, settings: &Settings) -> Result<(), Refusal> {
    table_to_write(ty, settings)?;
    let has_bf16 = match ty {
        ValueType::Tensor(tensor) => tensor.dtype == DType::Bf16,
        ValueType::Column(column) => is_bf16(&column.cell),
        ValueType::Table(table) => table.columns.values().any(is_bf16),
        ValueType::Text => false,
    };
    match has_bf16 {
        true => Err(Refusal::new("columns hold no bf16").help("cast it: `f32(x)`")),
        false => Ok(()),
    }
}

fn is_bf16(cell: &CellType) -> bool {
    cell.kind == CellKind::Element(DType::Bf16)
}

fn table_to_write(ty: &ValueType, settings: &Settings) -> Result<(), Refusal> {
    check_dialect(settings)?;
    let named = settings.columns("columns").len();
    let of_columns = |message: &str| Err(Refusal::new(message).of_setting("columns"));
    match ty {
        ValueType::Table(_) if named > 0 => {
            return of_columns("the columns of a table have names already");
        }
        ValueType::Column(_) if named > 1 => return of_columns("there is one column"),
        ValueType::Table(_) | ValueType::Column(_) => return Ok(()),
        ValueType::Tensor(_) | ValueType::Text => {}
    }
    let ty = one_tensor(ty)?;
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

fn audio(ty: &TensorType) -> Result<(), Refusal> {
    if !matches!(ty.dtype, DType::U8 | DType::I16 | DType::I32 | DType::F32) {
        let message = format!("samples are u8, i16, i32 or f32, not {}", ty.dtype);
        return Err(
            Refusal::new(message).help("scale and cast them: `i16(clip(x, -1, 1) * 32767)`")
        );
    }
    match ty.rank() {
        1 | 2 => Ok(()),
        axes => {
            let message = format!("audio is [frames] or [frames, channels], this has {axes} axes");
            Err(Refusal::new(message))
        }
    }
}

fn audio_to_write(ty: &ValueType, settings: &Settings) -> Result<(), Refusal> {
    tensor(ty, settings)?;
    if !(1..=u64::from(u32::MAX)).contains(&settings.count("rate").unwrap_or(0)) {
        let message = "this is no number of samples a second";
        return Err(Refusal::new(message).of_setting("rate"));
    }
    let Some(ty) = ty.tensor() else { return Ok(()) };
    audio(ty)?;
    match ty.shape.get(1).and_then(Expr::as_u64) {
        Some(channels) if !(1..=u64::from(u16::MAX)).contains(&channels) => Err(Refusal::new(
            format!("audio has 1 to 65535 channels, not {channels}"),
        )),
        _ => Ok(()),
    }
}
