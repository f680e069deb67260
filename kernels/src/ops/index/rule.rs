use haul_ir::expr::Expr;
use haul_ir::op::{Fault, IndexItem, InferError};
use haul_ir::types::Shape;

/// The shape of `x[items]`.
pub(super) fn shape(x: &[Expr], items: &[IndexItem]) -> Result<Shape, InferError> {
    let items = without_ellipsis(items, x.len())?;
    let mut sizes = x.iter();
    let mut shape = Shape::new();
    for item in &items {
        if let IndexItem::NewAxis = item {
            shape.push(Expr::ONE);
            continue;
        }
        let Some(size) = sizes.next() else { break };
        match item {
            IndexItem::At(at) => check_bounds(at, size)?,
            IndexItem::Slice { start, stop, step } => {
                shape.push(length(size, start.as_ref(), stop.as_ref(), *step)?);
            }
            IndexItem::NewAxis | IndexItem::Ellipsis => {}
        }
    }
    shape.extend(sizes.cloned());
    Ok(shape)
}

/// The items with full slices in place of the ellipsis.
///
/// # Errors
/// There are more items than axes, or two ellipses.
pub(super) fn without_ellipsis(
    items: &[IndexItem],
    rank: usize,
) -> Result<Vec<IndexItem>, InferError> {
    let is_ellipsis = |item: &IndexItem| matches!(item, IndexItem::Ellipsis);
    let takes_axis = |item: &&IndexItem| matches!(item, IndexItem::At(_) | IndexItem::Slice { .. });
    let named = items.iter().filter(takes_axis).count();
    if named > rank {
        let message = format!("{named} indices into a tensor with {rank} axes");
        return Err(InferError::new(Fault::Rank, message));
    }
    if items.iter().filter(|item| is_ellipsis(item)).count() > 1 {
        return Err(InferError::new(
            Fault::Value,
            "only one `...` can stand in an index",
        ));
    }
    let all = IndexItem::Slice {
        start: None,
        stop: None,
        step: 1,
    };
    let mut result = Vec::with_capacity(items.len() + rank);
    for item in items {
        if is_ellipsis(item) {
            result.extend(std::iter::repeat_n(all.clone(), rank - named));
        } else {
            result.push(item.clone());
        }
    }
    Ok(result)
}

fn check_bounds(at: &Expr, size: &Expr) -> Result<(), InferError> {
    let (Some(index), Some(known)) = (at.as_int(), size.as_int()) else {
        return Ok(());
    };
    if -known <= index && index < known {
        return Ok(());
    }
    let message = format!("index {index} is out of bounds for an axis of size {size}");
    Err(InferError::new(Fault::Value, message))
}

/// How many indices a slice takes: the distance from the last of its lower bounds to the first
/// of its upper bounds, in steps, rounded up.
fn length(
    size: &Expr,
    start: Option<&Expr>,
    stop: Option<&Expr>,
    step: i64,
) -> Result<Expr, InferError> {
    if step == 0 {
        return Err(InferError::new(
            Fault::Value,
            "the step of a slice is not 0",
        ));
    }
    let from_end = |bound: &Expr| size + bound;
    let is_from_end = |bound: &Expr| bound.as_int().is_some_and(|value| value < 0);
    let minus_one = Expr::from(-1_i128);
    let (lower, upper) = if step > 0 {
        let lower = match start {
            None => vec![Expr::ZERO],
            Some(start) if is_from_end(start) => vec![from_end(start), Expr::ZERO],
            Some(start) => vec![start.clone()],
        };
        let upper = match stop {
            None => vec![size.clone()],
            Some(stop) if is_from_end(stop) => vec![from_end(stop)],
            Some(stop) => vec![stop.clone(), size.clone()],
        };
        (lower, upper)
    } else {
        let upper = match start {
            None => vec![size + &minus_one],
            Some(start) if is_from_end(start) => vec![from_end(start)],
            Some(start) => vec![start.clone(), size + &minus_one],
        };
        let lower = match stop {
            None => vec![minus_one],
            Some(stop) if is_from_end(stop) => vec![from_end(stop), minus_one],
            Some(stop) => vec![stop.clone()],
        };
        (lower, upper)
    };
    let distances = upper
        .iter()
        .flat_map(|upper| lower.iter().map(move |lower| upper - lower));
    let distance = distances.reduce(|a, b| a.smaller(&b)).unwrap_or(Expr::ZERO);
    let steps = Expr::from(step.unsigned_abs());
    Ok(distance.larger(&Expr::ZERO).ceil_div(&steps))
}
