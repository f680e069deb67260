//! Constants of graphs that compute with their own shapes. In haul sizes, axes and the like are
//! options, known when a pipeline is compiled: what a graph computes of shapes is computed here.

use haul_ir::dtype::{DType, Kind};
use serde_json::Value as Json;

use super::archive::NodeDef;
use super::array::{Array, Element, named, numbered};
use super::graph::Graph;
use super::node::Node;

/// More elements are data.
const MOST: usize = 1 << 12;

/// The result of a node whose inputs are all known; nothing where one is data, or where the operator
/// is not one of those that graphs use on shapes.
pub(crate) fn fold(graph: &mut Graph<'_>, node: &NodeDef) -> Result<Option<Array>, String> {
    match node.op.as_str() {
        "Constant" => return Ok(constant(node)),
        "Shape" | "Size" => return shape(graph, node).map(Some),
        "CastLike" => return cast_like(graph, node),
        _ => {}
    }
    let given = node.inputs.iter().filter(|name| !name.is_empty());
    let known: Option<Vec<Array>> = given.map(|name| graph.fixed(name).cloned()).collect();
    let known = known.filter(|known| !known.is_empty());
    let Some(inputs) = known.filter(|known| known.iter().all(|x| x.elements.len() <= MOST)) else {
        return Ok(None);
    };
    Ok(compute(node, &inputs).filter(|array| array.elements.len() <= MOST))
}

/// Of the second input only the dtype counts.
fn cast_like(graph: &mut Graph<'_>, node: &NodeDef) -> Result<Option<Array>, String> {
    let Some(x) = graph.fixed(&node.inputs[0]).cloned() else {
        return Ok(None);
    };
    let dtype = Node::new(graph, node).dtype(1)?;
    Ok(Some(cast(&x, dtype)).filter(|x| x.elements.len() <= MOST))
}

fn constant(node: &NodeDef) -> Option<Array> {
    let (name, value) = node.attrs.iter().next()?;
    match name.as_str() {
        "value" => tensor(value),
        "value_float" => Some(Array::new(
            DType::F32,
            &[],
            vec![Element::Real(value.as_f64()?)],
        )),
        "value_int" => Some(Array::new(
            DType::I64,
            &[],
            vec![Element::Int(value.as_i64()?.into())],
        )),
        "value_ints" => {
            let ints: Option<Vec<_>> = value.as_array()?.iter().map(Json::as_i64).collect();
            Some(Array::ints(&ints?))
        }
        _ => None,
    }
}

/// A tensor of an attribute.
pub(crate) fn tensor(json: &Json) -> Option<Array> {
    let dtype = named(json["dtype"].as_str()?)?;
    let shape: Vec<usize> = json["shape"]
        .as_array()?
        .iter()
        .map(|s| s.as_u64().unwrap_or(0) as usize)
        .collect();
    let mut elements = Vec::new();
    flat(&json["tensor"], &mut elements);
    Some(Array::new(dtype, &shape, elements))
}

/// The numbers of a list of lists.
fn flat(json: &Json, into: &mut Vec<Element>) {
    match json {
        Json::Array(items) => items.iter().for_each(|item| flat(item, into)),
        Json::Bool(truth) => into.push(Element::Int((*truth).into())),
        Json::String(word) => into.push(Element::Real(word.parse().unwrap_or(f64::NAN))),
        number => into.push(match number.as_i64() {
            Some(int) => Element::Int(int.into()),
            None => Element::Real(number.as_f64().unwrap_or(f64::NAN)),
        }),
    }
}

fn shape(graph: &mut Graph<'_>, node: &NodeDef) -> Result<Array, String> {
    let mut node_of = Node::new(graph, node);
    let sizes = node_of.shape(0)?;
    if node.op == "Size" {
        return Ok(Array::new(
            DType::I64,
            &[],
            vec![Element::Int(sizes.iter().product::<i64>().into())],
        ));
    }
    let (start, end) = bounds(&node_of, sizes.len());
    Ok(Array::ints(sizes.get(start..end).unwrap_or_default()))
}

/// The axes that `Shape` tells of.
pub(crate) fn bounds(node: &Node<'_, '_>, rank: usize) -> (usize, usize) {
    let clamp =
        |at: i64| (if at < 0 { at + rank as i64 } else { at }).clamp(0, rank as i64) as usize;
    (
        clamp(node.int("start", 0)),
        clamp(node.int("end", rank as i64)),
    )
}

fn compute(node: &NodeDef, x: &[Array]) -> Option<Array> {
    let int = |name: &str, default: i64| {
        node.attrs
            .get(name)
            .and_then(Json::as_i64)
            .unwrap_or(default)
    };
    let first = x.first()?;
    let axis = || {
        let axis = int("axis", 0);
        (if axis < 0 {
            axis + first.shape.len() as i64
        } else {
            axis
        }) as usize
    };
    let ints = |at: usize| x.get(at).map(Array::to_ints);
    match node.op.as_str() {
        "Cast" => Some(cast(first, numbered(int("to", 0))?)),
        "Reshape" => reshape(first, &ints(1)?),
        "Flatten" => {
            let outer = first.shape[..axis()].iter().product::<usize>() as i64;
            reshape(first, &[outer, first.elements.len() as i64 / outer.max(1)])
        }
        "Squeeze" => squeeze(first, ints(1)),
        "Unsqueeze" => unsqueeze(first, &ints(1)?),
        "Concat" => concat(x, axis()),
        "Gather" => gather(first, x.get(1)?, axis()),
        "Slice" => slice(first, &ints(1)?, &ints(2)?, ints(3), ints(4)),
        "Range" => range(x),
        "ConstantOfShape" => {
            let value = match node.attrs.get("value") {
                Some(json) => tensor(json)?,
                None => Array::new(DType::F32, &[1], vec![Element::Real(0.0)]),
            };
            expand(&reshape(&value, &[])?, &ints(0)?)
        }
        "Expand" => expand(first, &ints(1)?),
        "ReduceProd" | "ReduceSum" | "ReduceMax" if x.len() == 1 => {
            let fold: fn(f64, f64) -> f64 = match node.op.as_str() {
                "ReduceProd" => |a, b| a * b,
                "ReduceSum" => |a, b| a + b,
                _ => f64::max,
            };
            let whole = first.elements.iter().map(|e| e.real()).reduce(fold)?;
            let ones = if int("keepdims", 1) == 1 {
                vec![1; first.shape.len()]
            } else {
                vec![]
            };
            Some(Array::new(first.dtype, &ones, vec![Element::Real(whole)]))
        }
        "Where" => {
            let (condition, shape) = (first, joint(&[first, x.get(1)?, x.get(2)?])?);
            let [condition, a, b] = [condition, &x[1], &x[2]].map(|x| expand(x, &shape));
            let (condition, a, b) = (condition?, a?, b?);
            let pairs = condition
                .elements
                .iter()
                .zip(a.elements.iter().zip(&b.elements));
            let elements = pairs.map(|(c, (a, b))| if c.real() != 0.0 { *a } else { *b });
            Some(Array::new(a.dtype, &a.shape, elements.collect()))
        }
        op if x.len() == 1 => unary(op, first),
        op if x.len() == 2 => binary(op, first, &x[1]),
        _ => None,
    }
}

fn cast(x: &Array, dtype: DType) -> Array {
    Array::new(dtype, &x.shape, x.elements.clone())
}

fn unary(op: &str, x: &Array) -> Option<Array> {
    let function: fn(f64) -> f64 = match op {
        "Neg" => |x| -x,
        "Abs" => f64::abs,
        "Sqrt" => f64::sqrt,
        "Floor" => f64::floor,
        "Ceil" => f64::ceil,
        "Reciprocal" => |x| 1.0 / x,
        "Not" => |x| f64::from(x == 0.0),
        _ => return None,
    };
    let elements = x.elements.iter().map(|e| Element::Real(function(e.real())));
    Some(Array::new(x.dtype, &x.shape, elements.collect()))
}

fn binary(op: &str, a: &Array, b: &Array) -> Option<Array> {
    let whole = a.dtype.kind() == Kind::Int;
    let function: fn(f64, f64) -> f64 = match op {
        "Add" => |a, b| a + b,
        "Sub" => |a, b| a - b,
        "Mul" => |a, b| a * b,
        "Div" if whole => |a, b| (a / b).trunc(),
        "Div" => |a, b| a / b,
        "Mod" => |a, b| a - (a / b).floor() * b,
        "Pow" => f64::powf,
        "Min" => f64::min,
        "Max" => f64::max,
        "Equal" => |a, b| f64::from(a == b),
        "Less" => |a, b| f64::from(a < b),
        "LessOrEqual" => |a, b| f64::from(a <= b),
        "Greater" => |a, b| f64::from(a > b),
        "GreaterOrEqual" => |a, b| f64::from(a >= b),
        "And" => |a, b| f64::from(a != 0.0 && b != 0.0),
        "Or" => |a, b| f64::from(a != 0.0 || b != 0.0),
        _ => return None,
    };
    let compares = matches!(
        op,
        "Equal" | "Less" | "LessOrEqual" | "Greater" | "GreaterOrEqual"
    );
    let shape = joint(&[a, b])?;
    let (a, b) = (expand(a, &shape)?, expand(b, &shape)?);
    let pairs = a.elements.iter().zip(&b.elements);
    let elements = pairs.map(|(a, b)| Element::Real(function(a.real(), b.real())));
    let dtype = if compares { DType::Bool } else { a.dtype };
    Some(Array::new(dtype, &a.shape, elements.collect()))
}

/// The shape that all broadcast to.
fn joint(arrays: &[&Array]) -> Option<Vec<i64>> {
    let rank = arrays.iter().map(|x| x.shape.len()).max()?;
    let size = |axis: usize| {
        let sizes = arrays
            .iter()
            .filter_map(|x| x.shape.get((axis + x.shape.len()).checked_sub(rank)?));
        sizes.copied().find(|size| *size != 1).unwrap_or(1) as i64
    };
    Some((0..rank).map(size).collect())
}

fn expand(x: &Array, shape: &[i64]) -> Option<Array> {
    let rank = shape.len().max(x.shape.len());
    let own = |axis: usize| {
        (axis + x.shape.len())
            .checked_sub(rank)
            .map_or(1, |axis| x.shape[axis])
    };
    let wanted = |axis: usize| {
        (axis + shape.len())
            .checked_sub(rank)
            .map_or(1, |axis| shape[axis] as usize)
    };
    let sizes: Vec<usize> = (0..rank)
        .map(|axis| {
            if own(axis) == 1 {
                wanted(axis)
            } else {
                own(axis)
            }
        })
        .collect();
    let count: usize = sizes.iter().product();
    if count > MOST {
        return None;
    }
    let elements = (0..count).map(|position| {
        let (mut rest, mut at, mut step) = (position, 0, 1);
        for axis in (0..rank).rev() {
            at += if own(axis) == 1 {
                0
            } else {
                rest % sizes[axis] * step
            };
            rest /= sizes[axis];
            step *= own(axis);
        }
        x.elements[at]
    });
    Some(Array::new(x.dtype, &sizes, elements.collect()))
}

fn reshape(x: &Array, shape: &[i64]) -> Option<Array> {
    let kept = |(axis, size): (usize, &i64)| {
        if *size == 0 {
            x.shape.get(axis).map(|s| *s as i64)
        } else {
            Some(*size)
        }
    };
    let shape: Vec<i64> = shape.iter().enumerate().map(kept).collect::<Option<_>>()?;
    let named: i64 = shape.iter().filter(|size| **size != -1).product();
    let fill = |size: &i64| {
        (if *size == -1 {
            x.elements.len() as i64 / named.max(1)
        } else {
            *size
        }) as usize
    };
    let sizes: Vec<usize> = shape.iter().map(fill).collect();
    (sizes.iter().product::<usize>() == x.elements.len())
        .then(|| Array::new(x.dtype, &sizes, x.elements.clone()))
}

fn squeeze(x: &Array, axes: Option<Vec<i64>>) -> Option<Array> {
    let rank = x.shape.len() as i64;
    let dropped = |axis: usize| match &axes {
        Some(axes) => axes.iter().any(|a| (a + rank) % rank == axis as i64),
        None => x.shape[axis] == 1,
    };
    let sizes: Vec<usize> = (0..x.shape.len())
        .filter(|axis| !dropped(*axis))
        .map(|axis| x.shape[axis])
        .collect();
    Some(Array::new(x.dtype, &sizes, x.elements.clone()))
}

fn unsqueeze(x: &Array, axes: &[i64]) -> Option<Array> {
    let rank = (x.shape.len() + axes.len()) as i64;
    let mut axes: Vec<i64> = axes.iter().map(|axis| (axis + rank) % rank).collect();
    axes.sort_unstable();
    let mut sizes = x.shape.clone();
    for axis in axes {
        sizes.insert(axis as usize, 1);
    }
    Some(Array::new(x.dtype, &sizes, x.elements.clone()))
}

fn concat(x: &[Array], axis: usize) -> Option<Array> {
    let first = x.first()?;
    if axis != 0 {
        return None;
    }
    let mut sizes = first.shape.clone();
    *sizes.first_mut()? = x.iter().map(|x| x.shape[0]).sum();
    let elements = x.iter().flat_map(|x| x.elements.iter().copied()).collect();
    Some(Array::new(first.dtype, &sizes, elements))
}

fn gather(x: &Array, indices: &Array, axis: usize) -> Option<Array> {
    let [size] = x.shape[..] else { return None };
    if axis != 0 {
        return None;
    }
    let pick = |index: i64| {
        x.elements
            .get(
                (if index < 0 {
                    index + size as i64
                } else {
                    index
                }) as usize,
            )
            .copied()
    };
    let elements: Vec<_> = indices
        .to_ints()
        .into_iter()
        .map(pick)
        .collect::<Option<_>>()?;
    Some(Array::new(x.dtype, &indices.shape, elements))
}

fn slice(
    x: &Array,
    starts: &[i64],
    ends: &[i64],
    axes: Option<Vec<i64>>,
    steps: Option<Vec<i64>>,
) -> Option<Array> {
    let [size] = x.shape[..] else { return None };
    if steps.is_some_and(|steps| steps != [1])
        || axes.is_some_and(|axes| axes != [0] && axes != [-1])
    {
        return None;
    }
    let size = size as i64;
    let clamp = |at: i64| (if at < 0 { at + size } else { at }).clamp(0, size) as usize;
    let elements = x
        .elements
        .get(clamp(*starts.first()?)..clamp(*ends.first()?))
        .unwrap_or_default();
    Some(Array::new(x.dtype, &[elements.len()], elements.to_vec()))
}

fn range(x: &[Array]) -> Option<Array> {
    let [start, limit, delta] = x else {
        return None;
    };
    let [from, to, step] = [start, limit, delta].map(|x| x.elements.first().map(|e| e.real()));
    let (from, to, step) = (from?, to?, step?);
    let count = ((to - from) / step).ceil().max(0.0) as usize;
    let elements = (0..count.min(MOST + 1)).map(|at| Element::Real(from + at as f64 * step));
    Some(Array::new(
        start.dtype,
        &[count.min(MOST + 1)],
        elements.collect(),
    ))
}
