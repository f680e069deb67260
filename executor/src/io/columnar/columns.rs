//! Columns of Arrow arrays as one tensor.

use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Schema};
use half::{bf16, f16};
use haul_ir::dtype::{DType, Kind};
use haul_ir::format::Column;

use super::element::{Element, Number, Truth, is_readable};
use super::leaf::Leaf;
use crate::error::IoError;
use crate::io::open::{Header, Opening};

/// Names of columns that an error lists.
const MOST_NAMED: usize = 20;

/// Columns of a file, and the tensor that they make: `[rows, columns, ...]`, or `[rows, ...]` of
/// one column that is named alone.
pub(super) struct Columns<'a> {
    opening: &'a Opening<'a>,
    header: Header,
    names: Vec<String>,
    /// Their positions in the file.
    positions: Vec<usize>,
    /// Positions in the file that have to be read, in order.
    read: Vec<usize>,
    /// Numbers in a row of a column.
    length: usize,
    /// What stands where there is nothing.
    missing: Option<Number>,
}

impl<'a> Columns<'a> {
    /// The columns that the settings name; all, where they name none.
    ///
    /// # Errors
    /// A column is not there, holds no numbers, or others than declared.
    pub(super) fn choose(
        schema: &Schema,
        rows: usize,
        opening: &'a Opening<'a>,
    ) -> Result<Self, IoError> {
        let alone = opening.settings.text("column");
        let positions = positions(schema, alone, opening.settings.columns("columns"));
        let positions = positions.map_err(|message| opening.error(message))?;
        let names = positions.iter().map(|at| schema.field(*at).name().clone());
        let names: Vec<_> = names.collect();
        let mut kinds = Vec::new();
        for (at, name) in positions.iter().zip(&names) {
            let kind = numbers_of(schema.field(*at).data_type());
            kinds.push(kind.map_err(|(what, help)| {
                let error = opening.error(format!("column `{name}` holds {what}"));
                error.help(help)
            })?);
        }
        let (dtype, inner) = common(&kinds, &names, opening)?;
        let mut shape = vec![rows];
        if alone.is_none() {
            shape.push(positions.len());
        }
        shape.extend(&inner);
        let mut read = positions.clone();
        read.sort_unstable();
        read.dedup();
        Ok(Self {
            opening,
            header: Header { dtype, shape },
            names,
            positions,
            read,
            length: inner.iter().product(),
            missing: missing(opening, dtype)?,
        })
    }

    /// The tensor.
    pub(super) fn header(&self) -> &Header {
        &self.header
    }

    /// Positions in the file of the columns that a batch has to have, in order.
    pub(super) fn read(&self) -> &[usize] {
        &self.read
    }

    /// Bytes of a row.
    pub(super) fn row_bytes(&self) -> usize {
        self.positions.len() * self.length * self.header.dtype.size() as usize
    }

    /// Fills the rows of a batch, of which the first is `first` in the file.
    ///
    /// # Errors
    /// Something is missing, or is no number of the dtype.
    pub(super) fn fill(
        &self,
        batch: &RecordBatch,
        first: usize,
        out: &mut [u8],
    ) -> Result<(), IoError> {
        match self.header.dtype {
            DType::Bool => self.fill_as::<Truth>(batch, first, out),
            DType::U8 => self.fill_as::<u8>(batch, first, out),
            DType::U16 => self.fill_as::<u16>(batch, first, out),
            DType::U32 => self.fill_as::<u32>(batch, first, out),
            DType::U64 => self.fill_as::<u64>(batch, first, out),
            DType::I8 => self.fill_as::<i8>(batch, first, out),
            DType::I16 => self.fill_as::<i16>(batch, first, out),
            DType::I32 => self.fill_as::<i32>(batch, first, out),
            DType::I64 => self.fill_as::<i64>(batch, first, out),
            DType::F16 => self.fill_as::<f16>(batch, first, out),
            DType::Bf16 => self.fill_as::<bf16>(batch, first, out),
            DType::F32 => self.fill_as::<f32>(batch, first, out),
            DType::F64 => self.fill_as::<f64>(batch, first, out),
            DType::C64 | DType::C128 => Err(self.opening.error("a table holds real numbers")),
        }
    }

    fn fill_as<D: Element>(
        &self,
        batch: &RecordBatch,
        first: usize,
        out: &mut [u8],
    ) -> Result<(), IoError> {
        let out: &mut [D] = bytemuck::cast_slice_mut(out);
        let width = self.positions.len() * self.length;
        for (column, position) in self.positions.iter().enumerate() {
            let failed = |row: usize, what: String| {
                let (row, name) = (first + row, &self.names[column]);
                self.opening.error(format!(
                    "row {row} of column `{name}`, counted from 0: {what}"
                ))
            };
            let array = self.read.binary_search(position).ok();
            let array = array.and_then(|at| batch.columns().get(at));
            let array = array.ok_or_else(|| self.opening.error("a batch lacks a column"))?;
            let leaf = Leaf::of(array).map_err(|error| self.opening.error(error))?;
            if leaf.len() != array.len() * self.length || out.len() != array.len() * width {
                return Err(self.opening.error("a batch has another size than it says"));
            }
            let start = column * self.length;
            leaf.each(|index, number| {
                let (row, place) = (index / self.length, index % self.length);
                let Some(number) = number.or(self.missing) else {
                    let what = "there is nothing; say what to take in its place, as `missing: 0`";
                    return Err(failed(row, what.into()));
                };
                let element = D::of(number);
                let element = element
                    .ok_or_else(|| failed(row, format!("{number} is no {}", self.header.dtype)))?;
                out[row * width + start + place] = element;
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// Positions of the columns that are taken.
fn positions(
    schema: &Schema,
    alone: Option<&str>,
    columns: &[Column],
) -> Result<Vec<usize>, String> {
    if let Some(name) = alone {
        return Ok(vec![find(schema, name)?]);
    }
    if columns.is_empty() {
        return Ok((0..schema.fields().len()).collect());
    }
    let position = |column: &Column| match column {
        Column::Name(name) => find(schema, name),
        Column::Position(at) => {
            let count = schema.fields().len();
            let at = usize::try_from(*at).ok().filter(|at| *at < count);
            at.ok_or_else(|| format!("there is no column {column}, only {count} from 0"))
        }
    };
    columns.iter().map(position).collect()
}

fn find(schema: &Schema, name: &str) -> Result<usize, String> {
    let fields = schema.fields();
    let mut named = (0..fields.len()).filter(|at| fields[*at].name() == name);
    match (named.next(), named.next()) {
        (Some(at), None) => Ok(at),
        (Some(_), Some(_)) => Err(format!("several columns are called `{name}`")),
        (None, _) => {
            let names = fields
                .iter()
                .take(MOST_NAMED)
                .map(|field| field.name().as_str());
            let names = names.collect::<Vec<_>>().join(", ");
            Err(format!("there is no column `{name}`, only: {names}"))
        }
    }
}

/// The dtype of the tensor, and the sizes of what each column holds in a row.
fn common(
    kinds: &[(DType, Vec<usize>)],
    names: &[String],
    opening: &Opening<'_>,
) -> Result<(DType, Vec<usize>), IoError> {
    let Some((first, inner)) = kinds.first() else {
        return Err(opening.error("it has no columns"));
    };
    let declared = opening.declared.map(|ty| ty.dtype);
    for ((dtype, sizes), name) in kinds.iter().zip(names) {
        if sizes != inner {
            let message = format!(
                "columns `{}` and `{name}` hold lists that differ in length",
                names[0]
            );
            return Err(opening
                .error(message)
                .help("read each by itself, with `column`"));
        }
        match declared {
            Some(declared) if !is_readable(*dtype, declared) => {
                let message = format!("column `{name}` holds {dtype}, not {declared} as declared");
                let help = format!("declare {dtype} and cast: `{declared}(x)`");
                return Err(opening.error(message).help(help));
            }
            None if dtype != first => {
                let message = format!(
                    "column `{}` holds {first}, `{name}` holds {dtype}",
                    names[0]
                );
                let help = "declare the type to read them as, or read each by itself";
                return Err(opening.error(message).help(help));
            }
            _ => {}
        }
    }
    Ok((declared.unwrap_or(*first), inner.clone()))
}

/// What a column holds in each row: the dtype of its numbers, and the sizes of the list that they
/// are in.
fn numbers_of(ty: &DataType) -> Result<(DType, Vec<usize>), (String, &'static str)> {
    let dtype = match ty {
        DataType::FixedSizeList(item, size) => {
            let (dtype, mut sizes) = numbers_of(item.data_type())?;
            let size = usize::try_from(*size).map_err(|_| ("lists of no length".into(), ""))?;
            sizes.insert(0, size);
            return Ok((dtype, sizes));
        }
        DataType::Dictionary(_, values) => return numbers_of(values),
        DataType::Boolean => DType::Bool,
        DataType::UInt8 => DType::U8,
        DataType::UInt16 => DType::U16,
        DataType::UInt32 => DType::U32,
        DataType::UInt64 => DType::U64,
        DataType::Int8 => DType::I8,
        DataType::Int16 => DType::I16,
        DataType::Int32 | DataType::Date32 | DataType::Time32(_) => DType::I32,
        DataType::Int64
        | DataType::Timestamp(..)
        | DataType::Date64
        | DataType::Time64(_)
        | DataType::Duration(_) => DType::I64,
        DataType::Float16 => DType::F16,
        DataType::Float32 => DType::F32,
        DataType::Float64 => DType::F64,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            return Err(("text".into(), "name the columns that hold numbers"));
        }
        DataType::List(_) | DataType::LargeList(_) => {
            let help = "write it as lists of a fixed size, or each number as a column";
            return Err(("lists of any length".into(), help));
        }
        other => return Err((format!("{other}"), "name the columns that hold numbers")),
    };
    Ok((dtype, Vec::new()))
}

/// What stands where there is nothing: what the author says; NaN among floats.
fn missing(opening: &Opening<'_>, dtype: DType) -> Result<Option<Number>, IoError> {
    let Some(text) = opening.settings.text("missing") else {
        return Ok((dtype.kind() == Kind::Float).then_some(Number::Float(f64::NAN)));
    };
    let number = text.parse().map(Number::Int).ok();
    let number = number.or_else(|| text.parse().map(Number::Float).ok());
    match number {
        Some(number) => Ok(Some(number)),
        None => Err(opening.error(format!("`missing: {text}` is no number"))),
    }
}
