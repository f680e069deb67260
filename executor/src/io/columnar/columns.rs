//! Columns of Arrow arrays as one tensor.

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Schema};
use haul_ir::dtype::{DType, Kind};
use haul_ir::format::Column;
use haul_ir::types::ValueType;

use super::element::{Element, Number, Truth, is_readable, with_element};
use super::leaf::Leaf;
use super::{Source, visit};
use crate::error::IoError;
use crate::io::open::{Header, OpenError, Opened, Opening};
use crate::tensor::Data;

/// Names of columns that an error lists.
const MOST_NAMED: usize = 20;

/// Columns of a file that make a tensor: `[rows, columns, ...]`, or `[rows, ...]` of one column that
/// is named alone.
pub(super) struct TensorFile<'a> {
    opening: &'a Opening<'a>,
    source: Box<dyn Source + 'a>,
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

impl<'a> TensorFile<'a> {
    /// The columns that the settings name; all, where they name none.
    ///
    /// # Errors
    /// A column is not there, holds no numbers, or others than declared.
    pub(super) fn choose(
        opening: &'a Opening<'a>,
        source: Box<dyn Source + 'a>,
    ) -> Result<Self, IoError> {
        let schema = source.schema();
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
        let mut shape = vec![source.rows()];
        if alone.is_none() {
            shape.push(positions.len());
        }
        shape.extend(&inner);
        Ok(Self {
            opening,
            source,
            header: Header { dtype, shape },
            names,
            read: in_order(&positions),
            positions,
            length: inner.iter().product(),
            missing: missing(opening, dtype)?,
        })
    }

    /// Bytes of a row.
    fn row_bytes(&self) -> usize {
        self.positions.len() * self.length * self.header.dtype.size() as usize
    }

    /// Fills the rows of a batch, of which the first is `first` in the file.
    fn fill(&self, batch: &RecordBatch, first: usize, out: &mut [u8]) -> Result<(), IoError> {
        with_element!(
            self.header.dtype,
            D => self.fill_as::<D>(batch, first, out),
            Err(self.opening.error("a table holds real numbers"))
        )
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
            let failed = |row: usize, what: &str| {
                in_cell(self.opening, first + row, &self.names[column], what)
            };
            let array = column_at(batch, &self.read, *position);
            let array = array.map_err(|message| self.opening.error(message))?;
            let leaf = Leaf::of(array).map_err(|error| self.opening.error(error))?;
            if leaf.len() != array.len() * self.length || out.len() != array.len() * width {
                return Err(self.opening.error("a batch has another size than it says"));
            }
            let start = column * self.length;
            leaf.each(|index, number| {
                let (row, place) = (index / self.length, index % self.length);
                let Some(number) = number.or(self.missing) else {
                    let what = "there is nothing; say what to take in its place, as `missing: 0`";
                    return Err(failed(row, what));
                };
                let element = D::of(number);
                let element = element
                    .ok_or_else(|| failed(row, &format!("{number} is no {}", self.header.dtype)))?;
                out[row * width + start + place] = element;
                Ok(())
            })?;
        }
        Ok(())
    }
}

impl Opened for TensorFile<'_> {
    fn header(&self) -> ValueType {
        self.header.ty()
    }

    fn read(self: Box<Self>) -> Result<Data, OpenError> {
        let bytes = self.row_bytes();
        self.opening.tensor(&self.header, |out| {
            let columns = (&self.read[..], bytes);
            visit(self.opening, &*self.source, columns, &mut |batch, first| {
                let out = &mut out[first * bytes..][..batch.num_rows() * bytes];
                self.fill(batch, first, out)
            })
        })
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

/// The positions that a file has to be read at, each once.
pub(super) fn in_order(positions: &[usize]) -> Vec<usize> {
    let mut read = positions.to_vec();
    read.sort_unstable();
    read.dedup();
    read
}

/// The column of a batch that stands at a position in the file, of which `read` were read.
pub(super) fn column_at<'b>(
    batch: &'b RecordBatch,
    read: &[usize],
    position: usize,
) -> Result<&'b ArrayRef, &'static str> {
    let at = read.binary_search(&position).ok();
    let array = at.and_then(|at| batch.columns().get(at));
    array.ok_or("a batch lacks a column")
}

/// Says what is wrong with a cell.
pub(super) fn in_cell(opening: &Opening<'_>, row: usize, name: &str, what: &str) -> IoError {
    opening.error(format!(
        "row {row} of column `{name}`, counted from 0: {what}"
    ))
}

/// Says that a column holds something else than its type says.
pub(super) fn not_as_declared(
    opening: &Opening<'_>,
    name: &str,
    found: DType,
    declared: DType,
) -> IoError {
    let message = format!("column `{name}` holds {found}, not {declared} as declared");
    let help = format!("declare {found} and cast: `{declared}(x)`");
    opening.error(message).help(help)
}

/// The position of a column.
pub(super) fn find(schema: &Schema, name: &str) -> Result<usize, String> {
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
                return Err(not_as_declared(opening, name, *dtype, declared));
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
pub(super) fn numbers_of(ty: &DataType) -> Result<(DType, Vec<usize>), (String, &'static str)> {
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
