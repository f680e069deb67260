//! The largest elements, and where they were.

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use haul_ir::dtype::DType;
use haul_ir::op::{
    Attr, Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, KernelCall,
    KernelError, Op, Param, ParamKind, Work, axis_of,
};
use haul_ir::tensor::View;
use haul_ir::types::{TensorType, ValueType};

use super::keys::{Wanted, order};
use super::{AXIS, X, check, comparisons};
use crate::ops::one_axis;
use crate::parallel;
use crate::slices::{Slices, each_slice};

/// `topk(x, k)`.
pub(crate) struct TopK;

const fn flag(name: &'static str) -> Param {
    Param {
        name,
        kind: ParamKind::Bool,
        default: Some("true"),
    }
}

impl Op for TopK {
    fn name(&self) -> &'static str {
        "topk"
    }

    fn doc(&self) -> &'static str {
        "The `k` largest elements along an axis, or the smallest, and as a second result their \
         positions: `values, places = topk(x, 3)`. The most wanted comes first, or without `sorted` \
         they come as they stood. NaN counts as larger than every number; of equal elements the \
         earlier is taken. Needs 16 bytes for each element of a slice, or 24 where elements have \
         64 bits."
    }

    fn params(&self) -> &'static [Param] {
        const {
            &[
                X,
                Param {
                    name: "k",
                    kind: ParamKind::Int,
                    default: None,
                },
                AXIS,
                flag("largest"),
                flag("sorted"),
            ]
        }
    }

    fn rule(&self) -> &'static str {
        "[.., n, ..] -> [.., k, ..], [.., k, ..]"
    }

    fn family(&self) -> Family {
        Family::Reduce
    }

    fn infer(&self, call: &Call<'_>) -> Result<Inferred, InferError> {
        let input = call.tensor(0)?;
        check(input.dtype, 0)?;
        let axis = one_axis(call.attrs, input.rank())?;
        let Attr::Int(k) = call.attrs.get("k") else {
            let error = InferError::new(Fault::Value, "`k` is a whole number");
            return Err(error.on_attr("k"));
        };
        let size = &input.shape[axis];
        let too_many = k
            .as_int()
            .zip(size.as_int())
            .is_some_and(|(k, size)| k > size);
        if too_many || k.as_int().is_some_and(|k| k < 0) {
            let message = format!("cannot take {k} elements of {size}");
            return Err(InferError::new(Fault::Value, message).on_attr("k"));
        }
        let mut shape = input.shape.clone();
        shape[axis] = k.clone();
        Ok(Inferred::new(
            vec![None],
            vec![
                TensorType::new(input.dtype, shape.clone()).into(),
                TensorType::new(DType::I64, shape).into(),
            ],
        ))
    }

    fn work(&self, call: &Call<'_>, outputs: &[ValueType]) -> Work {
        let input = call.tensor(0);
        let axis = input
            .clone()
            .and_then(|input| one_axis(call.attrs, input.rank()));
        match (input, axis) {
            (Ok(input), Ok(axis)) => Work::of(comparisons(input, axis), call, outputs),
            _ => Work::Unknown,
        }
    }

    fn work_formula(&self) -> &'static str {
        "N*log2(n) flops of N elements, n along the axis"
    }

    fn cpu(&self) -> CpuKernel {
        CpuKernel::Array(topk)
    }

    fn gpu(&self) -> GpuKernel {
        GpuKernel::Own
    }

    fn examples(&self) -> &'static [Example] {
        &[
            Example {
                formula: "values, indices = topk(x, 2)",
                given: &[("x", "f32[2, 4]", "1 4 2 3 5 nan 7 6")],
                result: ("f32[2, 2]", "4 3 nan 7"),
            },
            Example {
                formula: "values, indices = topk(x, 2, axis=0, largest=false)",
                given: &[("x", "i32[3, 2]", "1 4 2 3 0 6")],
                result: ("i32[2, 2]", "0 3 1 4"),
            },
        ]
    }
}

fn topk(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    let input = &call.inputs[0];
    let axis = axis_of(call.attrs.int("axis").unwrap_or(-1), input.shape().len());
    let axis = axis.map_err(|error| KernelError::new(error.message))?;
    let [values, places] = call.outputs else {
        return Err(KernelError::new("has two results"));
    };
    let (count, size) = (places.shape[axis], input.shape()[axis]);
    if count > size {
        return Err(KernelError::new(format!(
            "cannot take {count} elements of {size}"
        )));
    }
    let wanted = Wanted {
        descending: call.attrs.flag("largest"),
        count,
        sorted: call.attrs.flag("sorted"),
    };
    each_slice(input, axis, places, &|elements, results| {
        let order = order(input.dtype, elements, wanted);
        cast_slice_mut::<_, i64>(results).copy_from_slice(&order);
    });
    let places = places.elements::<i64>();
    match input.dtype.size() {
        1 => take::<u8>(input, axis, count, places, values.bytes),
        2 => take::<u16>(input, axis, count, places, values.bytes),
        4 => take::<u32>(input, axis, count, places, values.bytes),
        _ => take::<u64>(input, axis, count, places, values.bytes),
    }
    Ok(())
}

/// Elements that are worth a task.
const TASK: usize = 1 << 14;

/// The elements at places along the axis, `count` of each slice.
fn take<T: Pod + Sync>(
    input: &View<'_>,
    axis: usize,
    count: usize,
    places: &[i64],
    values: &mut [u8],
) {
    let slices = Slices::new(input, axis);
    let data: &[T] = cast_slice(input.bytes);
    let inner: usize = input.shape()[axis + 1..].iter().product();
    parallel::chunks(values, TASK * size_of::<T>(), &|chunk, values| {
        let values: &mut [T] = cast_slice_mut(values);
        let first = chunk * TASK;
        for (value, at) in values.iter_mut().zip(first..) {
            let outer = at / (count * inner);
            *value = data[slices.place(outer, places[at] as usize, at % inner)];
        }
    });
}
