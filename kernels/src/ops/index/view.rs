use haul_ir::expr::Expr;
use haul_ir::op::{Attr, Attrs, IndexItem, KernelError};
use haul_ir::tensor::Layout;

use super::rule::without_ellipsis;

pub(super) fn index(layout: &Layout, attrs: &Attrs) -> Result<Layout, KernelError> {
    let Attr::Index(items) = attrs.get("index") else {
        return Err(KernelError::new("needs an index"));
    };
    let items = without_ellipsis(items, layout.shape.len())
        .map_err(|error| KernelError::new(error.message))?;
    let mut axes = layout.shape.iter().zip(&layout.strides);
    let mut result = Layout {
        shape: Vec::new(),
        strides: Vec::new(),
        offset: layout.offset,
    };
    for item in &items {
        if let IndexItem::NewAxis = item {
            result.shape.push(1);
            result.strides.push(0);
            continue;
        }
        let Some((&size, &stride)) = axes.next() else {
            break;
        };
        match item {
            IndexItem::At(at) => {
                let at = position(value(at)?, size)?;
                result.offset = result.offset.wrapping_add_signed(at as isize * stride);
            }
            IndexItem::Slice { start, stop, step } => {
                let start = start.as_ref().map(value).transpose()?;
                let stop = stop.as_ref().map(value).transpose()?;
                let (first, length) = taken(size, start, stop, *step);
                result.offset = result.offset.wrapping_add_signed(first as isize * stride);
                result.shape.push(length);
                result.strides.push(stride.saturating_mul(*step as isize));
            }
            IndexItem::NewAxis | IndexItem::Ellipsis => {}
        }
    }
    for (&size, &stride) in axes {
        result.shape.push(size);
        result.strides.push(stride);
    }
    if result.elements() == 0 {
        // Nothing lies anywhere; the start must still be within the buffer.
        result.offset = layout.offset;
    }
    Ok(result)
}

fn value(expr: &Expr) -> Result<i128, KernelError> {
    expr.as_int()
        .ok_or_else(|| KernelError::new(format!("the size `{expr}` in an index is not known")))
}

fn position(at: i128, size: usize) -> Result<usize, KernelError> {
    let from_front = if at < 0 { at + size as i128 } else { at };
    let inside = usize::try_from(from_front).ok().filter(|at| *at < size);
    inside.ok_or_else(|| {
        let message = format!("index {at} is out of bounds for an axis of size {size}");
        KernelError::new(message)
    })
}

/// The first index that a slice takes and how many, as `slice.indices` of Python has it.
fn taken(size: usize, start: Option<i128>, stop: Option<i128>, step: i64) -> (usize, usize) {
    let size = size as i128;
    let step = i128::from(step);
    let (lowest, highest) = if step > 0 { (0, size) } else { (-1, size - 1) };
    let clamp = |bound: i128| {
        let from_front = if bound < 0 {
            bound.saturating_add(size)
        } else {
            bound
        };
        from_front.clamp(lowest, highest)
    };
    let (first, last) = if step > 0 {
        (lowest, highest)
    } else {
        (highest, lowest)
    };
    let start = start.map_or(first, clamp);
    let stop = stop.map_or(last, clamp);
    let distance = if step > 0 { stop - start } else { start - stop };
    if distance <= 0 {
        return (0, 0);
    }
    let steps = step.abs().max(1);
    (start as usize, ((distance + steps - 1) / steps) as usize)
}
