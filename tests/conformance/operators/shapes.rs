//! Shapes, layouts, indices.

use super::super::fold::{bounds, tensor};
use super::Rule::{Code, Without};
use super::{Converted, Node, Table, list};

const DATA_DEPENDENT: &str = "how many results there are depends on the data";

pub(super) const TABLE: Table = &[
    ("CenterCropPad", Code(center_crop_pad)),
    ("Compress", Code(compress)),
    ("Concat", Code(concat)),
    ("Constant", Code(constant)),
    ("ConstantOfShape", Code(constant_of_shape)),
    ("DepthToSpace", Code(|n| blocks(n, "depth_to_space"))),
    ("Expand", Code(expand)),
    ("EyeLike", Code(eye_like)),
    ("Flatten", Code(flatten)),
    ("Gather", Code(gather)),
    ("GatherElements", Code(gather_elements)),
    ("GatherND", Code(gather_nd)),
    ("NonMaxSuppression", Without(DATA_DEPENDENT)),
    ("NonZero", Code(nonzero)),
    ("OneHot", Code(one_hot)),
    ("Pad", Code(pad)),
    ("Range", Code(range)),
    ("Reshape", Code(reshape)),
    ("ReverseSequence", Code(reverse_sequence)),
    ("Scatter", Code(scatter)),
    ("ScatterElements", Code(scatter)),
    ("ScatterND", Code(scatter_nd)),
    ("Shape", Code(shape)),
    ("Size", Code(size)),
    ("Slice", Code(slice)),
    ("SpaceToDepth", Code(space_to_depth)),
    ("Split", Code(split)),
    ("Squeeze", Code(squeeze)),
    ("TensorScatter", Code(tensor_scatter)),
    ("Tile", Code(tile)),
    ("Transpose", Code(transpose)),
    ("Trilu", Code(trilu)),
    ("Unique", Code(unique)),
    ("Unsqueeze", Code(unsqueeze)),
];

/// Sizes are part of types in haul: they are written as the dims that they are.
fn shape(n: &mut Node<'_, '_>) -> Converted {
    let sizes = n.shape(0)?;
    let (start, end) = bounds(n, sizes.len());
    match sizes.get(start..end).filter(|sizes| !sizes.is_empty()) {
        Some([size]) => n.give(format!("full([1], {size}, dtype='i64')")),
        Some(sizes) => {
            let sizes: Vec<_> = sizes.iter().map(i64::to_string).collect();
            n.give(format!("stack({})", sizes.join(", ")))
        }
        None => n.give("zeros([0], dtype='i64')"),
    }
}

fn size(n: &mut Node<'_, '_>) -> Converted {
    let size: i64 = n.shape(0)?.iter().product();
    n.give(format!("full([], {size}, dtype='i64')"))
}

/// The condition may be shorter than the axis: what is behind it is left out.
fn compress(n: &mut Node<'_, '_>) -> Converted {
    let (mut x, condition) = (n.x(0)?, n.x(1)?);
    let kept = n.shape(1)?[0];
    let axis = match n.attr("axis") {
        Some(_) => n.front(n.int("axis", 0), 0)?,
        None => {
            x = n.line(format!("reshape({x}, [-1])"));
            0
        }
    };
    let before = ":, ".repeat(axis as usize);
    n.give(format!(
        "filter({x}[{before}:{kept}], {condition}, axis={axis})"
    ))
}

fn nonzero(n: &mut Node<'_, '_>) -> Converted {
    let x = n.x(0)?;
    n.give(format!("nonzero({x})"))
}

fn unique(n: &mut Node<'_, '_>) -> Converted {
    if n.attr("axis").is_some() || n.int("sorted", 1) == 0 {
        return Err("slices are compared, or elements stay in their order".into());
    }
    let x = n.x(0)?;
    let mut parts = n.results(format!("unique_all({x})"), 4);
    parts[2] = n.line(format!("reshape({}, [-1])", parts[2]));
    parts.truncate(n.outputs());
    Ok(parts)
}

/// A graph that is a constant only.
fn constant(n: &mut Node<'_, '_>) -> Converted {
    let value = n
        .attr("value")
        .and_then(tensor)
        .ok_or("it is no tensor of numbers")?;
    let numbers: Vec<_> = value
        .elements
        .iter()
        .map(|e| e.real().to_string())
        .collect();
    let line = n.line(format!("stack({})", numbers.join(", ")));
    let dtype = value.dtype;
    n.give(format!("{dtype}(reshape({line}, {:?}))", value.shape))
}

fn constant_of_shape(n: &mut Node<'_, '_>) -> Converted {
    let shape = n.fixed_ints(0)?.unwrap_or_default();
    match n.attr("value").and_then(tensor) {
        Some(value) => {
            let (number, dtype) = (value.elements[0].real(), value.dtype);
            n.give(format!("full({shape:?}, {number}, dtype='{dtype}')"))
        }
        None => n.give(format!("zeros({shape:?}, dtype='f32')")),
    }
}

/// `linspace` for what is not whole.
fn range(n: &mut Node<'_, '_>) -> Converted {
    let numbers = [n.fixed(0)?, n.fixed(1)?, n.fixed(2)?];
    let dtype = numbers[0].dtype;
    let [start, limit, delta] = numbers.map(|x| x.elements[0].real());
    if [start, limit, delta]
        .iter()
        .all(|number| number.fract() == 0.0)
    {
        return n.give(format!(
            "arange({start}, {limit}, {delta}, dtype='{dtype}')"
        ));
    }
    let count = ((limit - start) / delta).ceil().max(0.0);
    let stop = start + count * delta;
    n.give(format!(
        "linspace({start}, {stop}, {count}, endpoint=false, dtype='{dtype}')"
    ))
}

fn eye_like(n: &mut Node<'_, '_>) -> Converted {
    let (shape, own) = (n.shape(0)?, n.dtype(0)?);
    let dtype = n.dtype_attr("dtype", own)?;
    let k = n.int("k", 0);
    n.give(format!(
        "eye({}, {}, k={k}, dtype='{dtype}')",
        shape[0], shape[1]
    ))
}

/// Axes of an attribute or, since version 13, of an input.
fn axes(n: &Node<'_, '_>) -> Result<Option<Vec<i64>>, String> {
    match n.ints("axes") {
        Some(axes) => Ok(Some(axes)),
        None => n.fixed_ints(1),
    }
}

fn squeeze(n: &mut Node<'_, '_>) -> Converted {
    let (x, axes) = (n.x(0)?, axes(n)?);
    match axes {
        Some(axes) => n.give(format!("squeeze({x}, axis={axes:?})")),
        None => n.give(format!("squeeze({x})")),
    }
}

fn unsqueeze(n: &mut Node<'_, '_>) -> Converted {
    let (x, axes) = (n.x(0)?, axes(n)?.ok_or("the axes are left out")?);
    n.give(format!("expand_dims({x}, axis={axes:?})"))
}

fn concat(n: &mut Node<'_, '_>) -> Converted {
    let names: Vec<_> = (0..n.inputs())
        .map(|at| n.x(at))
        .collect::<Result<_, _>>()?;
    let axis = n.int("axis", 1);
    n.give(format!("concat({}, axis={axis})", names.join(", ")))
}

fn transpose(n: &mut Node<'_, '_>) -> Converted {
    let x = n.x(0)?;
    match n.ints("perm") {
        Some(order) => n.give(format!("transpose({x}, axes={order:?})")),
        None => n.give(format!("{x}.T")),
    }
}

/// A size of 0 is that of the input, unless `allowzero` is set.
fn reshape(n: &mut Node<'_, '_>) -> Converted {
    let shape = match n.ints("shape") {
        Some(shape) => shape,
        None => n.fixed_ints(1)?.ok_or("the shape is left out")?,
    };
    let (x, old, allows) = (n.x(0)?, n.shape(0)?, n.flag("allowzero"));
    let kept = |(axis, size): (usize, &i64)| match size {
        0 if !allows => old.get(axis).copied().unwrap_or(0),
        size => *size,
    };
    let shape: Vec<i64> = shape.iter().enumerate().map(kept).collect();
    n.give(format!("reshape({x}, {shape:?})"))
}

fn flatten(n: &mut Node<'_, '_>) -> Converted {
    let (x, shape) = (n.x(0)?, n.shape(0)?);
    let axis = n.front(n.int("axis", 1), 0)? as usize;
    let outer: i64 = shape[..axis].iter().product();
    let inner: i64 = shape[axis..].iter().product();
    n.give(format!("reshape({x}, [{outer}, {inner}])"))
}

/// Both ways: sizes of 1 in the shape keep what is there.
fn expand(n: &mut Node<'_, '_>) -> Converted {
    let wanted = n.fixed_ints(1)?.ok_or("the shape is left out")?;
    let (x, shape) = (n.x(0)?, n.shape(0)?);
    let rank = wanted.len().max(shape.len());
    let size = |sizes: &[i64], axis: usize| {
        (axis + sizes.len())
            .checked_sub(rank)
            .map_or(1, |at| sizes[at])
    };
    let sizes = (0..rank).map(|axis| match size(&wanted, axis) {
        1 => size(&shape, axis),
        wanted => wanted,
    });
    let sizes: Vec<i64> = sizes.collect();
    n.give(format!("broadcast_to({x}, {sizes:?})"))
}

fn slice(n: &mut Node<'_, '_>) -> Converted {
    let either = |n: &Node<'_, '_>, name: &str, at: usize| match n.ints(name) {
        Some(ints) => Ok(Some(ints)),
        None => n.fixed_ints(at),
    };
    let starts = either(n, "starts", 1)?.ok_or("the starts are left out")?;
    let ends = either(n, "ends", 2)?.ok_or("the ends are left out")?;
    let axes = either(n, "axes", 3)?.unwrap_or_else(|| (0..starts.len() as i64).collect());
    let steps = n.fixed_ints(4)?.unwrap_or_else(|| vec![1; starts.len()]);
    let (x, shape) = (n.x(0)?, n.shape(0)?);
    let mut items = vec![":".to_owned(); shape.len()];
    for (((axis, start), end), step) in axes.iter().zip(starts).zip(ends).zip(steps) {
        let axis = n.front(*axis, 0)? as usize;
        // Beyond the start, going backwards, there is nothing to stop at.
        let stop = match end < -shape[axis] && step < 0 {
            true => String::new(),
            false => end.to_string(),
        };
        items[axis] = format!("{start}:{stop}:{step}");
    }
    n.give(format!("{x}[{}]", items.join(", ")))
}

/// Since version 18, the last part may be smaller.
fn split(n: &mut Node<'_, '_>) -> Converted {
    let (x, shape) = (n.x(0)?, n.shape(0)?);
    let axis = n.front(n.int("axis", 0), 0)?;
    let (size, count) = (shape[axis as usize], n.outputs() as i64);
    let given = match n.ints("split") {
        Some(sizes) => Some(sizes),
        None => n.fixed_ints(1)?,
    };
    let each = (size + count - 1) / count;
    let even = || (0..count).map(|at| each.min(size - at * each)).collect();
    let sizes: Vec<i64> = given.unwrap_or_else(even);
    match sizes[..] {
        [_] => n.give(format!("copy({x})")),
        _ => Ok(n.results(format!("split({x}, {sizes:?}, axis={axis})"), sizes.len())),
    }
}

/// Widths stand as all those before and then all those after; `pad` has them so, too.
fn pad(n: &mut Node<'_, '_>) -> Converted {
    let widths = match n.ints("pads") {
        Some(widths) => widths,
        None => n.fixed_ints(1)?.ok_or("the widths are left out")?,
    };
    let x = n.x(0)?;
    let value = match n.has(2) {
        true => n.fixed(2)?.elements[0].real(),
        false => n.float("value", 0.0),
    };
    let axes = n
        .fixed_ints(3)?
        .map_or_else(|| "none".to_owned(), |axes| list(&axes));
    let mode = n.word("mode", "constant");
    n.give(format!(
        "pad({x}, {widths:?}, mode='{mode}', value={value}, axis={axes})"
    ))
}

fn center_crop_pad(n: &mut Node<'_, '_>) -> Converted {
    let wanted = n.fixed_ints(1)?.ok_or("the shape is left out")?;
    let (x, shape) = (n.x(0)?, n.shape(0)?);
    let axes = n
        .ints("axes")
        .unwrap_or_else(|| (0..shape.len() as i64).collect());
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for (axis, wanted) in axes.iter().zip(wanted) {
        let more = wanted - shape[n.front(*axis, 0)? as usize];
        // What is odd goes after when padding, and is taken off after when cropping.
        let first = if more < 0 { -(-more / 2) } else { more / 2 };
        before.push(first);
        after.push(more - first);
    }
    before.extend(after);
    n.give(format!("pad({x}, {before:?}, axis={axes:?})"))
}

fn tile(n: &mut Node<'_, '_>) -> Converted {
    let repeats = n.fixed_ints(1)?.ok_or("the repeats are left out")?;
    let x = n.x(0)?;
    n.give(format!("tile({x}, {repeats:?})"))
}

fn trilu(n: &mut Node<'_, '_>) -> Converted {
    let x = n.x(0)?;
    let k = n.fixed_ints(1)?.map_or(0, |k| k[0]);
    let name = if n.int("upper", 1) == 1 {
        "triu"
    } else {
        "tril"
    };
    n.give(format!("{name}({x}, k={k})"))
}

fn gather(n: &mut Node<'_, '_>) -> Converted {
    let (x, indices, axis) = (n.x(0)?, n.x(1)?, n.int("axis", 0));
    n.give(format!("take({x}, {indices}, axis={axis})"))
}

/// The input may be larger than the indices along other axes.
fn gather_elements(n: &mut Node<'_, '_>) -> Converted {
    let (mut x, indices) = (n.x(0)?, n.x(1)?);
    let axis = n.front(n.int("axis", 0), 0)?;
    let (whole, wanted) = (n.shape(0)?, n.shape(1)?);
    let items = whole
        .iter()
        .zip(&wanted)
        .enumerate()
        .map(
            |(at, (size, wanted))| match size == wanted || at as i64 == axis {
                true => ":".to_owned(),
                false => format!(":{wanted}"),
            },
        );
    let items: Vec<_> = items.collect();
    if items.iter().any(|item| item != ":") {
        x = n.line(format!("{x}[{}]", items.join(", ")));
    }
    n.give(format!("take_along_axis({x}, {indices}, axis={axis})"))
}

fn gather_nd(n: &mut Node<'_, '_>) -> Converted {
    let (x, indices, batch) = (n.x(0)?, n.x(1)?, n.int("batch_dims", 0));
    n.give(format!("gather_nd({x}, {indices}, batch_axes={batch})"))
}

fn scatter(n: &mut Node<'_, '_>) -> Converted {
    let (x, indices, updates) = (n.x(0)?, n.x(1)?, n.x(2)?);
    let (axis, reduction) = (n.int("axis", 0), n.word("reduction", "none"));
    n.give(format!(
        "scatter({x}, {indices}, {updates}, axis={axis}, reduction='{reduction}')"
    ))
}

fn scatter_nd(n: &mut Node<'_, '_>) -> Converted {
    let (x, indices, updates) = (n.x(0)?, n.x(1)?, n.x(2)?);
    let reduction = n.word("reduction", "none");
    n.give(format!(
        "scatter_nd({x}, {indices}, {updates}, reduction='{reduction}')"
    ))
}

/// Each batch is written from an index of its own on, along one axis.
fn tensor_scatter(n: &mut Node<'_, '_>) -> Converted {
    let (x, updates) = (n.x(0)?, n.x(1)?);
    let (whole, part) = (n.shape(0)?, n.shape(1)?);
    let axis = n.front(n.int("axis", -2), 0)?;
    let mut sizes = vec![1; whole.len()];
    sizes[axis as usize] = part[axis as usize];
    let steps = n.line(format!(
        "reshape(arange({}), {sizes:?})",
        part[axis as usize]
    ));
    let mut places = steps;
    if n.has(2) {
        let first = n.x(2)?;
        let mut sizes = vec![1; whole.len()];
        sizes[0] = whole[0];
        places = n.line(format!("reshape({first}, {sizes:?}) + {places}"));
    }
    if n.word("mode", "linear") == "circular" {
        places = n.line(format!("{places} % {}", whole[axis as usize]));
    }
    let places = n.line(format!("broadcast_to({places}, {part:?})"));
    n.give(format!("scatter({x}, {places}, {updates}, axis={axis})"))
}

fn reverse_sequence(n: &mut Node<'_, '_>) -> Converted {
    let (x, lengths) = (n.x(0)?, n.x(1)?);
    let (time, batch) = (n.int("time_axis", 0), n.int("batch_axis", 1));
    n.give(format!(
        "reverse_sequence({x}, {lengths}, axis={time}, batch_axis={batch})"
    ))
}

fn one_hot(n: &mut Node<'_, '_>) -> Converted {
    let (i, values) = (n.x(0)?, n.x(2)?);
    let depth = n.fixed(1)?.elements[0].int();
    let axis = n.int("axis", -1);
    n.give(format!(
        "one_hot(i64({i}), on={values}[1], off={values}[0], classes={depth}, axis={axis})"
    ))
}

fn blocks(n: &mut Node<'_, '_>, name: &str) -> Converted {
    let (x, block) = (n.x(0)?, n.int("blocksize", 1));
    let mode = n.word("mode", "DCR").to_lowercase();
    n.give(format!("{name}({x}, {block}, mode='{mode}')"))
}

fn space_to_depth(n: &mut Node<'_, '_>) -> Converted {
    blocks(n, "space_to_depth")
}
