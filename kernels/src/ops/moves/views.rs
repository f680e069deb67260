//! Other layouts of the same elements.

use haul_ir::expr::Expr;
use haul_ir::op::{
    Attrs, Call, CpuKernel, Example, Fault, InferError, Inferred, KernelError, ParamKind,
};
use haul_ir::tensor::Layout;
use haul_ir::types::TensorType;

use super::attrs::{X, at_run, axes, axis, int, optional, required};
use super::{Cost, Move};

pub(crate) static SQUEEZE: Move = Move {
    name: "squeeze",
    doc: "Without the axes named, which have size 1; without `axis`, without all axes of size 1. \
          Nothing is moved.",
    params: &[X, optional("axis", ParamKind::Axes, "none")],
    rule: "[.., 1, ..] -> [.., ..]",
    infer: |call| {
        let x = call.tensor(0)?;
        let dropped = match axes(call.attrs, "axis", x.rank())? {
            Some(axes) => axes,
            None => ones(x)?,
        };
        let mut shape = Vec::new();
        for (axis, size) in x.shape.iter().enumerate() {
            if !dropped.contains(&axis) {
                shape.push(size.clone());
            } else if *size != Expr::ONE {
                let message = format!("axis {axis} of {x} has not size 1");
                return Err(InferError::new(Fault::Shape, message).on_attr("axis"));
            }
        }
        Ok(Inferred::plain(1, TensorType::new(x.dtype, shape)))
    },
    cost: Cost::Nothing,
    cpu: CpuKernel::View(|layout, attrs| {
        let named = axes(attrs, "axis", layout.shape.len()).map_err(at_run)?;
        let keeps = |axis: usize| match &named {
            Some(axes) => !axes.contains(&axis),
            None => layout.shape[axis] != 1,
        };
        Ok(picked(
            layout,
            (0..layout.shape.len()).filter(|axis| keeps(*axis)),
        ))
    }),
    examples: &[Example {
        formula: "squeeze(x, axis=0)",
        given: &[("x", "i32[1, 3, 1]", "1 2 3")],
        result: ("i32[3, 1]", "1 2 3"),
    }],
};

pub(crate) static EXPAND_DIMS: Move = Move {
    name: "expand_dims",
    doc: "With new axes of size 1, which stand at these places of the result. Nothing is moved.",
    params: &[X, required("axis", ParamKind::Axes)],
    rule: "[.., ..] -> [.., 1, ..]",
    infer: |call| {
        let x = call.tensor(0)?;
        let added = added(call.attrs, x.rank())?;
        let mut old = x.shape.iter();
        let sizes = (0..x.rank() + added.len()).map(|axis| match added.contains(&axis) {
            true => Expr::ONE,
            false => old.next().cloned().unwrap_or(Expr::ONE),
        });
        Ok(Inferred::plain(
            1,
            TensorType::new(x.dtype, sizes.collect()),
        ))
    },
    cost: Cost::Nothing,
    cpu: CpuKernel::View(|layout, attrs| {
        let mut added = added(attrs, layout.shape.len()).map_err(at_run)?;
        added.sort_unstable();
        let mut result = layout.clone();
        for axis in added {
            result.shape.insert(axis, 1);
            result.strides.insert(axis, 0);
        }
        Ok(result)
    }),
    examples: &[Example {
        formula: "expand_dims(x, axis=[0, -1])",
        given: &[("x", "i32[3]", "1 2 3")],
        result: ("i32[1, 3, 1]", "1 2 3"),
    }],
};

pub(crate) static SWAPAXES: Move = Move {
    name: "swapaxes",
    doc: "Two axes in each other's place. Nothing is moved.",
    params: &[
        X,
        required("axis1", ParamKind::Int),
        required("axis2", ParamKind::Int),
    ],
    rule: "[.., a, .., b, ..] -> [.., b, .., a, ..]",
    infer: |call| permuted(call, swapped),
    cost: Cost::Nothing,
    cpu: CpuKernel::View(|layout, attrs| permute(layout, attrs, swapped)),
    examples: &[Example {
        formula: "swapaxes(x, 0, 2)",
        given: &[("x", "i32[2, 1, 3]", "1 2 3 4 5 6")],
        result: ("i32[3, 1, 2]", "1 4 2 5 3 6"),
    }],
};

pub(crate) static MOVEAXIS: Move = Move {
    name: "moveaxis",
    doc: "Axes at other places; the others stay in order. `source` and `destination` are one axis \
          each, or lists of as many. Nothing is moved in memory.",
    params: &[
        X,
        required("source", ParamKind::Axes),
        required("destination", ParamKind::Axes),
    ],
    rule: "result axis destination[i] is axis source[i] of the input",
    infer: |call| permuted(call, moved),
    cost: Cost::Nothing,
    cpu: CpuKernel::View(|layout, attrs| permute(layout, attrs, moved)),
    examples: &[Example {
        formula: "moveaxis(x, 0, -1)",
        given: &[("x", "i32[2, 1, 3]", "1 2 3 4 5 6")],
        result: ("i32[1, 3, 2]", "1 4 2 5 3 6"),
    }],
};

pub(crate) static FLIP: Move = Move {
    name: "flip",
    doc: "The elements in reverse order along the axes named, or along all. Nothing is moved.",
    params: &[X, optional("axis", ParamKind::Axes, "none")],
    rule: "[..] -> [..]",
    infer: |call| {
        let x = call.tensor(0)?;
        axes(call.attrs, "axis", x.rank())?;
        Ok(Inferred::plain(1, x.clone()))
    },
    cost: Cost::Nothing,
    cpu: CpuKernel::View(|layout, attrs| {
        let rank = layout.shape.len();
        let named = axes(attrs, "axis", rank).map_err(at_run)?;
        let mut result = layout.clone();
        if result.elements() == 0 {
            return Ok(result);
        }
        for axis in named.unwrap_or_else(|| (0..rank).collect()) {
            let last = (result.shape[axis] - 1) as isize * result.strides[axis];
            result.offset = result.offset.wrapping_add_signed(last);
            result.strides[axis] = -result.strides[axis];
        }
        Ok(result)
    }),
    examples: &[Example {
        formula: "flip(x, axis=1)",
        given: &[("x", "i32[2, 3]", "1 2 3 4 5 6")],
        result: ("i32[2, 3]", "3 2 1 6 5 4"),
    }],
};

pub(crate) static DIAGONAL: Move = Move {
    name: "diagonal",
    doc: "A diagonal of the last two axes: the main one, or `offset` above it; below it where that \
          is negative. Nothing is moved.",
    params: &[X, optional("offset", ParamKind::Int, "0")],
    rule: "[.., M, N] -> [.., max(0, min(M + min(offset, 0), N - max(offset, 0)))]",
    infer: |call| {
        let x = call.tensor(0)?;
        let [outer @ .., rows, columns] = &x.shape[..] else {
            let message = format!("needs at least two axes, this is {x}");
            return Err(InferError::new(Fault::Rank, message).on(0));
        };
        let offset = int(call.attrs, "offset")?;
        let [down, right] = [offset.min(0), offset.max(0)].map(|n| Expr::from(i128::from(n)));
        let length = (rows + &down).smaller(&(columns - &right));
        let mut shape = outer.to_vec();
        shape.push(length.larger(&Expr::ZERO));
        Ok(Inferred::plain(1, TensorType::new(x.dtype, shape)))
    },
    cost: Cost::Nothing,
    cpu: CpuKernel::View(|layout, attrs| {
        let offset = int(attrs, "offset").map_err(at_run)?;
        Ok(diagonal(layout, offset))
    }),
    examples: &[Example {
        formula: "diagonal(x, offset=1)",
        given: &[("x", "i32[2, 3]", "1 2 3 4 5 6")],
        result: ("i32[2]", "2 6"),
    }],
};

pub(crate) static FLATTEN: Move = Move {
    name: "flatten",
    doc: "The axes from `start_axis` to `end_axis` as one, in row-major order. A scalar becomes a \
          vector. Nothing is moved, unless the input is a view with gaps.",
    params: &[
        X,
        optional("start_axis", ParamKind::Int, "0"),
        optional("end_axis", ParamKind::Int, "-1"),
    ],
    rule: "[.., a, .., b, ..] -> [.., a * .. * b, ..]",
    infer: |call| {
        let x = call.tensor(0)?;
        if x.rank() == 0 {
            let vector = TensorType::new(x.dtype, vec![Expr::ONE]);
            return Ok(Inferred::plain(1, vector));
        }
        let start = axis(call.attrs, "start_axis", x.rank())?;
        let end = axis(call.attrs, "end_axis", x.rank())?;
        if start > end {
            let message = format!("axis {start} comes after axis {end}");
            return Err(InferError::new(Fault::Axis, message).on_attr("start_axis"));
        }
        let mut shape = x.shape[..start].to_vec();
        shape.push(Expr::product(&x.shape[start..=end]));
        shape.extend(x.shape[end + 1..].iter().cloned());
        Ok(Inferred::plain(1, TensorType::new(x.dtype, shape)))
    },
    cost: Cost::Nothing,
    cpu: CpuKernel::Reshape,
    examples: &[Example {
        formula: "flatten(x, start_axis=1)",
        given: &[("x", "i32[1, 2, 3]", "1 2 3 4 5 6")],
        result: ("i32[1, 6]", "1 2 3 4 5 6"),
    }],
};

/// The layout of a diagonal of the last two axes, of which there must be two.
pub(super) fn diagonal(layout: &Layout, offset: i64) -> Layout {
    let outer = layout.shape.len() - 2;
    let [rows, columns] = [layout.shape[outer], layout.shape[outer + 1]];
    let [row, column] = [layout.strides[outer], layout.strides[outer + 1]];
    let distance = usize::try_from(offset.unsigned_abs()).unwrap_or(usize::MAX);
    let [down, right] = if offset < 0 {
        [distance, 0]
    } else {
        [0, distance]
    };
    let length = rows.saturating_sub(down).min(columns.saturating_sub(right));
    let mut result = picked(layout, 0..outer);
    result.shape.push(length);
    result.strides.push(row.saturating_add(column));
    if result.elements() > 0 {
        let start = down as isize * row + right as isize * column;
        result.offset = result.offset.wrapping_add_signed(start);
    }
    result
}

/// The layout with these axes.
fn picked(layout: &Layout, axes: impl Iterator<Item = usize> + Clone) -> Layout {
    Layout {
        shape: axes.clone().map(|axis| layout.shape[axis]).collect(),
        strides: axes.map(|axis| layout.strides[axis]).collect(),
        offset: layout.offset,
    }
}

/// The axes of size 1.
fn ones(x: &TensorType) -> Result<Vec<usize>, InferError> {
    let open = |size: &&Expr| size.as_int().is_none();
    if let Some(size) = x.shape.iter().find(open) {
        let message = format!("whether {size} is 1 is not known yet");
        let error = InferError::new(Fault::Shape, message).on(0);
        return Err(error.help("name the axes, for example `axis=0`"));
    }
    let sizes = x.shape.iter().enumerate();
    Ok(sizes
        .filter(|(_, size)| **size == Expr::ONE)
        .map(|(axis, _)| axis)
        .collect())
}

/// The places of new axes in the result.
fn added(attrs: &Attrs, rank: usize) -> Result<Vec<usize>, InferError> {
    let count = attrs.ints("axis").map_or(0, |named| named.len());
    Ok(axes(attrs, "axis", rank + count)?.unwrap_or_default())
}

type Order = fn(&Attrs, usize) -> Result<Vec<usize>, InferError>;

fn swapped(attrs: &Attrs, rank: usize) -> Result<Vec<usize>, InferError> {
    let mut order: Vec<usize> = (0..rank).collect();
    order.swap(axis(attrs, "axis1", rank)?, axis(attrs, "axis2", rank)?);
    Ok(order)
}

fn moved(attrs: &Attrs, rank: usize) -> Result<Vec<usize>, InferError> {
    let named = |name| axes(attrs, name, rank).map(Option::unwrap_or_default);
    let (sources, places) = (named("source")?, named("destination")?);
    if sources.len() != places.len() {
        let message = format!("{} axes go to {} places", sources.len(), places.len());
        return Err(InferError::new(Fault::Axis, message).on_attr("destination"));
    }
    let mut others = (0..rank).filter(|axis| !sources.contains(axis));
    let order = (0..rank).map(
        |axis| match places.iter().position(|place| *place == axis) {
            Some(position) => Some(sources[position]),
            None => others.next(),
        },
    );
    Ok(order.flatten().collect())
}

fn permuted(call: &Call<'_>, order: Order) -> Result<Inferred, InferError> {
    let x = call.tensor(0)?;
    let order = order(call.attrs, x.rank())?;
    let shape = order.into_iter().map(|axis| x.shape[axis].clone());
    Ok(Inferred::plain(
        1,
        TensorType::new(x.dtype, shape.collect()),
    ))
}

fn permute(layout: &Layout, attrs: &Attrs, order: Order) -> Result<Layout, KernelError> {
    let order = order(attrs, layout.shape.len()).map_err(at_run)?;
    Ok(picked(layout, order.into_iter()))
}
