//! Missing values: neither NaN, nor zero, nor empty.

use std::sync::Arc;

use haul_ir::column::{ColumnView, DataMut, DataView, Extent, Heap, Measured};
use haul_ir::dtype::DType;
use haul_ir::expr::Expr;
use haul_ir::op::{
    ArgType, Attr, Attrs, Call, CpuKernel, DataCall, Example, Family, Fault, GpuKernel, InferError,
    Inferred, KernelError, ParamKind, Work,
};
use haul_ir::rows::parse;
use haul_ir::tensor::Bool;
use haul_ir::types::{CellKind, CellType, ColumnType, TableType, TensorType, ValueType};

use super::filter::{count, places};
use super::rows::{measured, take};
use super::{SIZE, WHY, value};
use crate::ops::array_op::{ArrayOp, required};

pub(crate) static IS_MISSING: ArrayOp = ArrayOp {
    name: "is_missing",
    doc: "Whether each row of a column is missing. NaN, zero and an empty text are not.",
    params: &[value("x")],
    rule: "type?[n] -> bool[n]",
    family: Family::Move,
    infer: |call| {
        let column = optional(call)?;
        let shape = vec![column.rows.clone()];
        Ok(Inferred::plain(1, TensorType::new(DType::Bool, shape)))
    },
    work: |call, outputs| Work::of(Expr::ZERO, call, outputs),
    work_formula: "0 flops",
    cpu: CpuKernel::Measured {
        measure: |call| Ok(vec![Measured::plain(vec![valid(call)?.len()])]),
        fill: |call, outputs| {
            let DataMut::Tensor(output) = &mut outputs[0] else {
                return Err(KernelError::new("there is no space for a tensor"));
            };
            for (to, is_there) in output.elements::<Bool>().iter_mut().zip(valid(call)?) {
                *to = (is_there.0 == 0).into();
            }
            Ok(())
        },
    },
    gpu: GpuKernel::None(WHY),
    examples: &[Example {
        formula: "is_missing(x)",
        given: &[("x", "f64?[3]", "1.5 missing nan")],
        result: ("bool[3]", "false true false"),
    }],
};

pub(crate) static FILL_MISSING: ArrayOp = ArrayOp {
    name: "fill_missing",
    doc: "A column with a value in place of what is missing: a number, which has to fit the dtype, \
          or a quoted text.",
    params: &[value("x"), required("value", ParamKind::Literal)],
    rule: "type?[n] -> type[n]",
    family: Family::Move,
    infer: |call| {
        let column = optional(call)?;
        fitting(column.cell.kind, call.attrs)?;
        let cell = CellType::new(column.cell.kind);
        Ok(Inferred::plain(
            1,
            ValueType::of_cells(cell, column.rows.clone()),
        ))
    },
    work: |call, outputs| Work::of(Expr::ZERO, call, outputs),
    work_formula: "0 flops",
    cpu: CpuKernel::Measured {
        measure: measure_filled,
        fill: fill_filled,
    },
    gpu: GpuKernel::None(WHY),
    examples: &[
        Example {
            formula: "fill_missing(x, 0)",
            given: &[("x", "i32?[3]", "7 missing -1")],
            result: ("i32[3]", "7 0 -1"),
        },
        Example {
            formula: "fill_missing(x, 'none')",
            given: &[("x", "text?[3]", "'a' missing ''")],
            result: ("text[3]", "'a' 'none' ''"),
        },
    ],
};

pub(crate) static DROP_MISSING: ArrayOp = ArrayOp {
    name: "drop_missing",
    doc: "The rows of a table, or of a column, in which nothing is missing. Only the data knows \
          how many there are: plans count with all of them, unless `size` names a size of `dims`.",
    params: &[value("x"), SIZE],
    rule: "table[n]{a: type?, ..} -> table[size]{a: type, ..}",
    family: Family::Move,
    infer: infer_dropped,
    work: |call, outputs| Work::of(Expr::ZERO, call, outputs),
    work_formula: "0 flops",
    cpu: CpuKernel::Measured {
        measure: |call| {
            let rows = count(&complete(&call.inputs[0]));
            Ok(vec![measured(&call.inputs[0], 0, rows)])
        },
        fill: |call, outputs| {
            let rows = places(&complete(&call.inputs[0]));
            take(&call.inputs[0], &rows, &mut outputs[0])
        },
    },
    gpu: GpuKernel::None(WHY),
    examples: &[Example {
        formula: "drop_missing(t)",
        given: &[(
            "t",
            "table[3]{name: text?, age: i64?}",
            "'Ada' missing 'Bo'; 31 45 missing",
        )],
        result: ("table[1]{name: text, age: i64}", "'Ada'; 31"),
    }],
};

/// The argument, where its rows may be missing.
fn optional<'a>(call: &Call<'a>) -> Result<&'a ColumnType, InferError> {
    match &call.inputs[0] {
        ArgType::Value(ValueType::Column(column)) if column.cell.is_optional => Ok(column),
        other => {
            let message = format!("needs a column with `?` in its type, this is {other}");
            let error = InferError::new(Fault::Type, message).on(0);
            Err(error.help("nothing can be missing in other values"))
        }
    }
}

fn column<'b>(call: &DataCall<'_, 'b>) -> Result<ColumnView<'b>, KernelError> {
    match &call.inputs[0] {
        DataView::Column(column) => Ok(*column),
        _ => Err(KernelError::new("the input is no column")),
    }
}

fn valid<'b>(call: &DataCall<'_, 'b>) -> Result<&'b [Bool], KernelError> {
    Ok(column(call)?.valid.unwrap_or_default())
}

/// The value that takes the place of what is missing, as it would be written in text.
fn fitting(kind: CellKind, attrs: &Attrs) -> Result<String, InferError> {
    let wrong = |message: String| InferError::new(Fault::Value, message).on_attr("value");
    let number = match (kind, attrs.get("value")) {
        (CellKind::Text, Attr::Quoted(text)) => return Ok(text.to_string()),
        (CellKind::Element(_), Attr::Numbers(numbers)) => numbers[0].0,
        (CellKind::Text, _) => return Err(wrong("the column holds text".into())),
        (CellKind::Element(dtype), _) => return Err(wrong(format!("the column holds {dtype}"))),
    };
    let written = match number {
        nan if nan.is_nan() => "nan".to_owned(),
        number => format!("{number}"),
    };
    if let CellKind::Element(dtype) = kind {
        let mut space = [0_u64; 2];
        let space: &mut [u8] = bytemuck::cast_slice_mut(&mut space);
        let size = dtype.size() as usize;
        parse(dtype, written.as_bytes(), &mut space[..size], 0).map_err(wrong)?;
    }
    Ok(written)
}

fn measure_filled(call: &DataCall<'_, '_>) -> Result<Vec<Measured>, KernelError> {
    let column = column(call)?;
    let mut measured = Measured::plain(vec![valid(call)?.len()]);
    if column.cell.kind == CellKind::Text {
        let filler = call.attrs.quoted("value").unwrap_or_default().len();
        measured.heaps = vec![Heap::New(column.heap.len() + filler)];
    }
    Ok(vec![measured])
}

fn fill_filled(call: &DataCall<'_, '_>, outputs: &mut [DataMut<'_>]) -> Result<(), KernelError> {
    let column = column(call)?;
    let filler = fitting(column.cell.kind, call.attrs);
    let filler = filler.map_err(|error| KernelError::new(error.message))?;
    let missing = valid(call)?.iter().enumerate();
    let missing = missing
        .filter(|(_, is_there)| is_there.0 == 0)
        .map(|(row, _)| row);
    match (column.cell.kind, &mut outputs[0]) {
        (CellKind::Element(dtype), DataMut::Tensor(output)) => {
            output
                .bytes
                .copy_from_slice(&column.cells[..output.bytes.len()]);
            for row in missing {
                parse(dtype, filler.as_bytes(), output.bytes, row).map_err(KernelError::new)?;
            }
        }
        (CellKind::Text, DataMut::Column(output)) => {
            let (letters, rest) = output.heap.split_at_mut(column.heap.len());
            letters.copy_from_slice(column.heap);
            rest.copy_from_slice(filler.as_bytes());
            let filler = Extent {
                start: column.heap.len() as u64,
                len: filler.len() as u64,
            };
            let extents = output.extents();
            extents.copy_from_slice(column.extents());
            missing.for_each(|row| extents[row] = filler);
        }
        _ => return Err(KernelError::new("the result is of another kind")),
    }
    Ok(())
}

fn infer_dropped(call: &Call<'_>) -> Result<Inferred, InferError> {
    let size = call.attrs.size("size")?;
    let (rows, dropped) = match &call.inputs[0] {
        ArgType::Value(ValueType::Table(table)) => {
            let cells = table.columns.iter();
            let cells = cells.map(|(name, cell)| (name.clone(), CellType::new(cell.kind)));
            let dropped = TableType {
                rows: size.clone(),
                columns: Arc::new(cells.collect()),
            };
            (table.rows.clone(), ValueType::Table(dropped))
        }
        _ => {
            let column = optional(call)?;
            let cell = CellType::new(column.cell.kind);
            (column.rows.clone(), ValueType::of_cells(cell, size.clone()))
        }
    };
    Ok(Inferred::plain(1, dropped).bounded(&size, rows))
}

/// The rows in which nothing is missing.
fn complete(data: &DataView<'_>) -> Vec<Bool> {
    let columns = match data {
        DataView::Table(columns) => columns.as_slice(),
        DataView::Column(column) => std::slice::from_ref(column),
        DataView::Tensor(_) | DataView::Text(_) => &[],
    };
    let rows = columns.first().map_or(0, ColumnView::rows);
    let mut complete = vec![Bool::from(true); rows];
    for valid in columns.iter().filter_map(|column| column.valid) {
        for (complete, is_there) in complete.iter_mut().zip(valid) {
            complete.0 &= is_there.0;
        }
    }
    complete
}
