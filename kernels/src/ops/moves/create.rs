//! Tensors made of nothing but their sizes.

use half::{bf16, f16};
use haul_ir::dtype::{DType, Kind};
use haul_ir::expr::Expr;
use haul_ir::op::{
    Attr, Attrs, Call, CpuKernel, Example, Fault, InferError, Inferred, KernelCall, KernelError,
    Param, ParamKind,
};
use haul_ir::tensor::{Element, ViewMut};
use haul_ir::types::{Shape, TensorType};
use num_complex::Complex;

use super::attrs::{DTYPE, at_run, dtype, element, int, integer, number, optional, required};
use super::{Cost, Move};
use crate::parallel;

const SHAPE: Param = required("shape", ParamKind::Shape);

pub(crate) static FULL: Move = Move {
    name: "full",
    doc: "The same number everywhere. It must be one that the dtype has; floats round it.",
    params: &[SHAPE, required("value", ParamKind::Numbers), DTYPE],
    rule: "-> shape",
    infer: |call| filled(call, number(call.attrs, "value")?),
    cost: Cost::All,
    cpu: CpuKernel::Array(|call| fill(call, number(call.attrs, "value").map_err(at_run)?)),
    examples: &[Example {
        formula: "full([2, 2], 7.5, dtype='f32')",
        given: &[],
        result: ("f32[2, 2]", "7.5 7.5 7.5 7.5"),
    }],
};

pub(crate) static ZEROS: Move = Move {
    name: "zeros",
    doc: "0 everywhere.",
    params: &[SHAPE, DTYPE],
    rule: "-> shape",
    infer: |call| filled(call, 0.0),
    cost: Cost::All,
    cpu: CpuKernel::Array(|call| fill(call, 0.0)),
    examples: &[Example {
        formula: "zeros([3], dtype='i32')",
        given: &[],
        result: ("i32[3]", "0 0 0"),
    }],
};

pub(crate) static ONES: Move = Move {
    name: "ones",
    doc: "1 everywhere.",
    params: &[SHAPE, DTYPE],
    rule: "-> shape",
    infer: |call| filled(call, 1.0),
    cost: Cost::All,
    cpu: CpuKernel::Array(|call| fill(call, 1.0)),
    examples: &[Example {
        formula: "ones([2, 1])",
        given: &[],
        result: ("f64[2, 1]", "1 1"),
    }],
};

pub(crate) static EYE: Move = Move {
    name: "eye",
    doc: "1 on a diagonal and 0 elsewhere: the main one, or `k` above it; below it where that is \
          negative. Without `m`, the matrix is square.",
    params: &[
        required("n", ParamKind::Int),
        optional("m", ParamKind::Int, "none"),
        optional("k", ParamKind::Int, "0"),
        DTYPE,
    ],
    rule: "-> [n, m]",
    infer: |call| {
        int(call.attrs, "k")?;
        let Attr::Int(rows) = call.attrs.get("n") else {
            return Err(InferError::new(Fault::Value, "needs a size").on_attr("n"));
        };
        let columns = match call.attrs.get("m") {
            Attr::Int(columns) => columns,
            _ => rows,
        };
        check_sizes([rows, columns]).map_err(|error| error.on_attr("n"))?;
        made(call, vec![rows.clone(), columns.clone()])
    },
    cost: Cost::All,
    cpu: CpuKernel::Array(eye),
    examples: &[
        Example {
            formula: "eye(2)",
            given: &[],
            result: ("f64[2, 2]", "1 0 0 1"),
        },
        Example {
            formula: "eye(2, 3, k=1, dtype='i32')",
            given: &[],
            result: ("i32[2, 3]", "0 1 0 0 0 1"),
        },
    ],
};

pub(crate) static ARANGE: Move = Move {
    name: "arange",
    doc: "Whole numbers from `start` up to but not including `stop`; with one number, from 0 up to \
          it. `linspace` spaces numbers with fractions.",
    params: &[
        required("start", ParamKind::Int),
        optional("stop", ParamKind::Int, "none"),
        optional("step", ParamKind::Int, "1"),
        optional("dtype", ParamKind::Word(&DType::NAMES), "'i64'"),
    ],
    rule: "-> [max(0, ceil((stop - start) / step))]",
    infer: |call| {
        let step = int(call.attrs, "step")?;
        if step == 0 {
            return Err(InferError::new(Fault::Value, "the step is not 0").on_attr("step"));
        }
        if dtype(call.attrs)? == DType::Bool {
            let message = "truth values do not count";
            return Err(InferError::new(Fault::DType, message).on_attr("dtype"));
        }
        let (start, stop) = bounds(call.attrs)?;
        let distance = if step > 0 {
            &stop - &start
        } else {
            &start - &stop
        };
        let steps = Expr::from(step.unsigned_abs());
        made(call, vec![distance.larger(&Expr::ZERO).ceil_div(&steps)])
    },
    cost: Cost::Spaced,
    cpu: CpuKernel::Array(arange),
    examples: &[
        Example {
            formula: "arange(4)",
            given: &[],
            result: ("i64[4]", "0 1 2 3"),
        },
        Example {
            formula: "arange(7, 0, step=-3, dtype='f32')",
            given: &[],
            result: ("f32[3]", "7 4 1"),
        },
    ],
};

pub(crate) static LINSPACE: Move = Move {
    name: "linspace",
    doc: "Numbers evenly spaced from `start` to `stop`, computed in `f64`; with `endpoint`, the \
          last is exactly `stop`, without, they stop a step before.",
    params: &[
        required("start", ParamKind::Numbers),
        required("stop", ParamKind::Numbers),
        optional("num", ParamKind::Int, "50"),
        optional("endpoint", ParamKind::Bool, "true"),
        DTYPE,
    ],
    rule: "-> [num]",
    infer: |call| {
        number(call.attrs, "start")?;
        number(call.attrs, "stop")?;
        if dtype(call.attrs)?.kind() < Kind::Float {
            let message = "spaces floats; `arange` counts in whole numbers";
            return Err(InferError::new(Fault::DType, message).on_attr("dtype"));
        }
        let Attr::Int(count) = call.attrs.get("num") else {
            return Err(InferError::new(Fault::Value, "needs a size").on_attr("num"));
        };
        check_sizes([count]).map_err(|error| error.on_attr("num"))?;
        made(call, vec![count.clone()])
    },
    cost: Cost::Spaced,
    cpu: CpuKernel::Array(linspace),
    examples: &[Example {
        formula: "linspace(0, 1, 5)",
        given: &[],
        result: ("f64[5]", "0 0.25 0.5 0.75 1"),
    }],
};

fn made(call: &Call<'_>, shape: Shape) -> Result<Inferred, InferError> {
    let dtype = dtype(call.attrs)?;
    Ok(Inferred::plain(0, TensorType::new(dtype, shape)))
}

fn filled(call: &Call<'_>, number: f64) -> Result<Inferred, InferError> {
    let Attr::Ints(shape) = call.attrs.get("shape") else {
        let error = InferError::new(Fault::Value, "needs the sizes of the axes");
        return Err(error.on_attr("shape"));
    };
    check_sizes(shape).map_err(|error| error.on_attr("shape"))?;
    element(number, dtype(call.attrs)?)
        .map_err(|message| InferError::new(Fault::Value, message).on_attr("value"))?;
    made(call, shape.clone())
}

fn check_sizes<'a>(sizes: impl IntoIterator<Item = &'a Expr>) -> Result<(), InferError> {
    let negative = |size: &&Expr| size.as_int().is_some_and(|size| size < 0);
    match sizes.into_iter().find(negative) {
        Some(size) => {
            let message = format!("{size} is no size: sizes are 0 or more");
            Err(InferError::new(Fault::Value, message))
        }
        None => Ok(()),
    }
}

/// Elements that one task fills.
const CHUNK: usize = 1 << 14;

fn fill(call: &mut KernelCall<'_, '_>, number: f64) -> Result<(), KernelError> {
    let output = &mut call.outputs[0];
    let element = element(number, output.dtype).map_err(KernelError::new)?;
    parallel::chunks(output.bytes, CHUNK * element.len(), &|_, bytes| {
        for space in bytes.chunks_exact_mut(element.len()) {
            space.copy_from_slice(&element);
        }
    });
    Ok(())
}

fn eye(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    let diagonal = int(call.attrs, "k").map_err(at_run)?;
    let output = &mut call.outputs[0];
    let one = element(1.0, output.dtype).map_err(KernelError::new)?;
    let columns = output.shape[1];
    let row = columns * one.len();
    if row == 0 {
        return Ok(());
    }
    let rows = (CHUNK / columns).max(1);
    parallel::chunks(output.bytes, rows * row, &|chunk, bytes| {
        bytes.fill(0);
        for (at, space) in bytes.chunks_exact_mut(row).enumerate() {
            let column = diagonal.checked_add_unsigned((chunk * rows + at) as u64);
            let column = column.and_then(|column| usize::try_from(column).ok());
            if let Some(column) = column.filter(|column| *column < columns) {
                space[column * one.len()..][..one.len()].copy_from_slice(&one);
            }
        }
    });
    Ok(())
}

/// Where a range starts and stops.
fn bounds(attrs: &Attrs) -> Result<(Expr, Expr), InferError> {
    let Attr::Int(first) = attrs.get("start") else {
        return Err(InferError::new(Fault::Value, "needs a whole number").on_attr("start"));
    };
    Ok(match attrs.get("stop") {
        Attr::Int(stop) => (first.clone(), stop.clone()),
        _ => (Expr::ZERO, first.clone()),
    })
}

fn arange(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    let step = i128::from(int(call.attrs, "step").map_err(at_run)?);
    let (start, _) = bounds(call.attrs).map_err(at_run)?;
    let start = start
        .as_int()
        .filter(|start| start.unsigned_abs() < 1 << 64);
    let start = start.ok_or_else(|| KernelError::new("the start is not known, or too large"))?;
    let output = &mut call.outputs[0];
    let count = output.shape[0];
    if count == 0 {
        return Ok(());
    }
    if output.dtype.kind() == Kind::Int {
        for end in [start, start + (count - 1) as i128 * step] {
            if integer(end, output.dtype).is_none() {
                let message = format!("{end} does not fit {}", output.dtype);
                return Err(KernelError::new(message));
            }
        }
    }
    let at = |index: usize| start + index as i128 * step;
    match output.dtype {
        DType::Bool => {}
        DType::U8 => each::<u8>(output, &|index| at(index) as u8),
        DType::U16 => each::<u16>(output, &|index| at(index) as u16),
        DType::U32 => each::<u32>(output, &|index| at(index) as u32),
        DType::U64 => each::<u64>(output, &|index| at(index) as u64),
        DType::I8 => each::<i8>(output, &|index| at(index) as i8),
        DType::I16 => each::<i16>(output, &|index| at(index) as i16),
        DType::I32 => each::<i32>(output, &|index| at(index) as i32),
        DType::I64 => each::<i64>(output, &|index| at(index) as i64),
        _ => floats(output, &|index| at(index) as f64),
    }
    Ok(())
}

fn linspace(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    let start = number(call.attrs, "start").map_err(at_run)?;
    let stop = number(call.attrs, "stop").map_err(at_run)?;
    let endpoint = call.attrs.flag("endpoint");
    let output = &mut call.outputs[0];
    let count = output.shape[0];
    let last = if endpoint {
        count.saturating_sub(1)
    } else {
        count
    };
    let step = (stop - start) / last.max(1) as f64;
    floats(output, &|index| match index {
        0 => start,
        _ if endpoint && index == last => stop,
        _ => start + index as f64 * step,
    });
    Ok(())
}

/// Fills floats or complex numbers.
pub(in crate::ops) fn floats(output: &mut ViewMut<'_>, at: &(dyn Fn(usize) -> f64 + Sync)) {
    match output.dtype {
        DType::F16 => each::<f16>(output, &|index| f16::from_f64(at(index))),
        DType::Bf16 => each::<bf16>(output, &|index| bf16::from_f64(at(index))),
        DType::F32 => each::<f32>(output, &|index| at(index) as f32),
        DType::C64 => each::<Complex<f32>>(output, &|index| Complex::new(at(index) as f32, 0.0)),
        DType::C128 => each::<Complex<f64>>(output, &|index| Complex::new(at(index), 0.0)),
        _ => each::<f64>(output, at),
    }
}

fn each<T: Element>(output: &mut ViewMut<'_>, at: &(dyn Fn(usize) -> T + Sync)) {
    parallel::chunks(output.bytes, CHUNK * size_of::<T>(), &|chunk, bytes| {
        let elements: &mut [T] = bytemuck::cast_slice_mut(bytes);
        for (index, element) in elements.iter_mut().enumerate() {
            *element = at(chunk * CHUNK + index);
        }
    });
}
