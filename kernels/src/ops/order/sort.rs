//! Elements in order, and where they were.

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use haul_ir::dtype::DType;
use haul_ir::op::{
    Call, CpuKernel, Example, Family, GpuKernel, InferError, Inferred, KernelCall, KernelError, Op,
    Param, ParamKind, Work, axis_of,
};
use haul_ir::types::{TensorType, ValueType};

use super::keys::{Wanted, order};
use super::{AXIS, X, check, comparisons};
use crate::ops::one_axis;
use crate::slices::each_slice;

/// `sort(x)` or `argsort(x)`.
pub(crate) struct Sort {
    name: &'static str,
    doc: &'static str,
    /// Whether it gives positions, not elements.
    places: bool,
    examples: &'static [Example],
}

pub(crate) static SORT: Sort = Sort {
    name: "sort",
    doc: "The elements along an axis in ascending order, or descending. NaN counts as larger than \
          every number. Equal elements stay in their order. Needs 16 bytes for each element of a \
          slice, or 24 where elements have 64 bits.",
    places: false,
    examples: &[
        Example {
            formula: "sort(x)",
            given: &[("x", "f32[2, 3]", "3 nan 1 -1 5 -inf")],
            result: ("f32[2, 3]", "1 3 nan -inf -1 5"),
        },
        Example {
            formula: "sort(x, axis=0, descending=true)",
            given: &[("x", "i32[2, 3]", "3 2 1 -1 5 6")],
            result: ("i32[2, 3]", "3 5 6 -1 2 1"),
        },
    ],
};

pub(crate) static ARGSORT: Sort = Sort {
    name: "argsort",
    doc: "Where along an axis the elements of `sort` stand: the positions that put them in ascending \
          order, or descending. NaN counts as larger than every number. Equal elements stay in their \
          order. Needs 16 bytes for each element of a slice, or 24 where elements have 64 bits.",
    places: true,
    examples: &[
        Example {
            formula: "argsort(x)",
            given: &[("x", "f32[4]", "3 nan 1 3")],
            result: ("i64[4]", "2 0 3 1"),
        },
        Example {
            formula: "argsort(x, descending=true)",
            given: &[("x", "f32[4]", "3 nan 1 3")],
            result: ("i64[4]", "1 0 3 2"),
        },
    ],
};

impl Op for Sort {
    fn name(&self) -> &'static str {
        self.name
    }

    fn doc(&self) -> &'static str {
        self.doc
    }

    fn params(&self) -> &'static [Param] {
        &[
            X,
            AXIS,
            Param {
                name: "descending",
                kind: ParamKind::Bool,
                default: Some("false"),
            },
        ]
    }

    fn rule(&self) -> &'static str {
        "[..] -> [..]"
    }

    fn family(&self) -> Family {
        Family::Reduce
    }

    fn infer(&self, call: &Call<'_>) -> Result<Inferred, InferError> {
        let input = call.tensor(0)?;
        check(input.dtype, 0)?;
        one_axis(call.attrs, input.rank())?;
        let dtype = if self.places { DType::I64 } else { input.dtype };
        Ok(Inferred::plain(
            1,
            TensorType::new(dtype, input.shape.clone()),
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
        CpuKernel::Array(if self.places { argsort } else { sort })
    }

    fn gpu(&self) -> GpuKernel {
        GpuKernel::Library("cub radix sort")
    }

    fn examples(&self) -> &'static [Example] {
        self.examples
    }
}

fn argsort(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    each_order(call, &|order, _, results| {
        cast_slice_mut::<_, i64>(results).copy_from_slice(order);
    })
}

fn sort(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    match call.inputs[0].dtype.size() {
        1 => each_order(call, &put::<u8>),
        2 => each_order(call, &put::<u16>),
        4 => each_order(call, &put::<u32>),
        _ => each_order(call, &put::<u64>),
    }
}

/// The elements in an order.
fn put<T: Pod>(order: &[i64], elements: &[u8], results: &mut [u8]) {
    let elements: &[T] = cast_slice(elements);
    for (result, at) in cast_slice_mut(results).iter_mut().zip(order) {
        *result = elements[*at as usize];
    }
}

/// What is made of the order and the elements of a slice.
type Turn = dyn Fn(&[i64], &[u8], &mut [u8]) + Sync;

fn each_order(call: &mut KernelCall<'_, '_>, turn: &Turn) -> Result<(), KernelError> {
    let input = &call.inputs[0];
    let axis = axis_of(call.attrs.int("axis").unwrap_or(-1), input.shape().len());
    let axis = axis.map_err(|error| KernelError::new(error.message))?;
    let wanted = Wanted {
        descending: call.attrs.flag("descending"),
        count: usize::MAX,
        sorted: true,
    };
    each_slice(input, axis, &mut call.outputs[0], &|elements, results| {
        turn(&order(input.dtype, elements, wanted), elements, results);
    });
    Ok(())
}
