//! The distinct elements of a tensor, or texts of a column.

use haul_ir::column::{DataMut, DataView, Measured};
use haul_ir::dtype::{DType, Kind};
use haul_ir::expr::Expr;
use haul_ir::op::{
    ArgType, Call, CpuKernel, DataCall, Example, Family, Fault, GpuKernel, InferError, Inferred,
    KernelError, Param, ParamKind, Work,
};
use haul_ir::types::{CellKind, CellType, TensorType, ValueType};
use rayon::prelude::*;

use super::SIZE;
use crate::ops::array_op::{ArrayOp, required};
use crate::ops::order::keys;
use crate::ops::tables::{as_column, measured, take};

/// What is told of the distinct elements.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Values,
    /// Where each is first.
    Indices,
    /// For each element of the input, which of the distinct ones it is.
    Inverse,
    /// How often each is there.
    Counts,
}

pub(crate) static UNIQUE_VALUES: ArrayOp = unique(
    "unique_values",
    "The distinct elements of a tensor in ascending order, or the distinct texts of a column by \
     their code points. All NaN are one, the last, as in NumPy. Only the data knows how many there \
     are: plans count with all elements, unless `size` names a size of `dims`.",
    "[..] -> [size]",
    |call| infer(call, &[Part::Values]),
    CpuKernel::Measured {
        measure: |call| measure(call, &[Part::Values]),
        fill: |call, outputs| fill(call, outputs, &[Part::Values]),
    },
    &[
        Example {
            formula: "unique_values(x)",
            given: &[("x", "f32[5]", "2 nan -1 2 nan")],
            result: ("f32[3]", "-1 2 nan"),
        },
        Example {
            formula: "unique_values(x)",
            given: &[("x", "text[3]", "'b' 'a' 'b'")],
            result: ("text[2]", "'a' 'b'"),
        },
    ],
);

pub(crate) static UNIQUE_COUNTS: ArrayOp = unique(
    "unique_counts",
    "As `unique_values`, and how often each is there.",
    "[..] -> [size], i64[size]",
    |call| infer(call, &[Part::Values, Part::Counts]),
    CpuKernel::Measured {
        measure: |call| measure(call, &[Part::Values, Part::Counts]),
        fill: |call, outputs| fill(call, outputs, &[Part::Values, Part::Counts]),
    },
    &[Example {
        formula: "values, counts = unique_counts(x)",
        given: &[("x", "i64[5]", "2 3 -1 2 2")],
        result: ("i64[3]", "-1 2 3"),
    }],
);

pub(crate) static UNIQUE_INVERSE: ArrayOp = unique(
    "unique_inverse",
    "As `unique_values`, and for each element which of them it is: with `size='k'`, \
     `segment_sum(v, inverse, k)` adds up `v` by the elements of `x`.",
    "[..] -> [size], i64[..]",
    |call| infer(call, &[Part::Values, Part::Inverse]),
    CpuKernel::Measured {
        measure: |call| measure(call, &[Part::Values, Part::Inverse]),
        fill: |call, outputs| fill(call, outputs, &[Part::Values, Part::Inverse]),
    },
    &[Example {
        formula: "values, inverse = unique_inverse(x)",
        given: &[("x", "i64[5]", "2 3 -1 2 2")],
        result: ("i64[3]", "-1 2 3"),
    }],
);

pub(crate) static UNIQUE_ALL: ArrayOp = unique(
    "unique_all",
    "As `unique_values`; where each is first in `x`, counted in row-major order; for each element \
     which of them it is; how often each is there.",
    "[..] -> [size], i64[size], i64[..], i64[size]",
    |call| infer(call, &ALL),
    CpuKernel::Measured {
        measure: |call| measure(call, &ALL),
        fill: |call, outputs| fill(call, outputs, &ALL),
    },
    &[Example {
        formula: "values, indices, inverse, counts = unique_all(x)",
        given: &[("x", "i64[5]", "2 3 -1 2 2")],
        result: ("i64[3]", "-1 2 3"),
    }],
);

const PARAMS: &[Param] = &[required("x", ParamKind::Value), SIZE];

const ALL: [Part; 4] = [Part::Values, Part::Indices, Part::Inverse, Part::Counts];

const fn unique(
    name: &'static str,
    doc: &'static str,
    rule: &'static str,
    infer: fn(&Call<'_>) -> Result<Inferred, InferError>,
    cpu: CpuKernel,
    examples: &'static [Example],
) -> ArrayOp {
    ArrayOp {
        name,
        doc,
        params: PARAMS,
        rule,
        family: Family::Reduce,
        infer,
        work,
        work_formula: "N*log2(N) flops of N elements",
        cpu,
        gpu: GpuKernel::None("how many there are is known when they are counted, in host memory"),
        examples,
    }
}

fn work(call: &Call<'_>, outputs: &[ValueType]) -> Work {
    let elements = match &call.inputs[0] {
        ArgType::Value(value) => Expr::product(value.sizes()),
        _ => Expr::ZERO,
    };
    Work::of(&elements * &elements.log2(), call, outputs)
}

fn infer(call: &Call<'_>, parts: &[Part]) -> Result<Inferred, InferError> {
    let size = call.attrs.size("size")?;
    let (values, shape): (ValueType, _) = match &call.inputs[0] {
        ArgType::Value(ValueType::Tensor(x)) if x.dtype.kind() != Kind::Complex => {
            let values = TensorType::new(x.dtype, vec![size.clone()]);
            (values.into(), x.shape.clone())
        }
        ArgType::Value(ValueType::Column(x)) if x.cell == CellType::TEXT => {
            let values = ValueType::of_cells(x.cell, size.clone());
            (values, vec![x.rows.clone()])
        }
        other => {
            let message =
                format!("needs real numbers or text, none of it missing, this is {other}");
            return Err(InferError::new(Fault::Type, message).on(0));
        }
    };
    let part = |part: &Part| match part {
        Part::Values => values.clone(),
        Part::Inverse => TensorType::new(DType::I64, shape.clone()).into(),
        Part::Indices | Part::Counts => TensorType::new(DType::I64, vec![size.clone()]).into(),
    };
    let inferred = Inferred::new(vec![None], parts.iter().map(part).collect());
    Ok(inferred.bounded(&size, Expr::product(&shape)))
}

fn measure(call: &DataCall<'_, '_>, parts: &[Part]) -> Result<Vec<Measured>, KernelError> {
    let data = &call.inputs[0];
    let groups = Groups::of(data)?;
    let shape = match data {
        DataView::Tensor(x) => x.shape().to_vec(),
        _ => vec![groups.rows.len()],
    };
    let size = groups.count();
    let part = |part: &Part| match part {
        Part::Values => measured(data, 0, size),
        Part::Inverse => Measured::plain(shape.clone()),
        Part::Indices | Part::Counts => Measured::plain(vec![size]),
    };
    Ok(parts.iter().map(part).collect())
}

fn fill(
    call: &DataCall<'_, '_>,
    outputs: &mut [DataMut<'_>],
    parts: &[Part],
) -> Result<(), KernelError> {
    let data = &call.inputs[0];
    let groups = Groups::of(data)?;
    for (part, output) in parts.iter().zip(outputs) {
        if *part == Part::Values {
            take(data, &groups.firsts(), output)?;
            continue;
        }
        let DataMut::Tensor(output) = output else {
            return Err(KernelError::new("there is no space for a tensor"));
        };
        let output = output.elements::<i64>();
        for (at, group) in groups.iter().enumerate() {
            match part {
                Part::Inverse => group.iter().for_each(|row| output[*row] = at as i64),
                Part::Indices => output[at] = group[0] as i64,
                _ => output[at] = group.len() as i64,
            }
        }
    }
    Ok(())
}

/// Equal elements side by side; missing ones are in no group.
pub(crate) struct Groups {
    /// Positions in the order of their elements, equal ones in order.
    rows: Vec<usize>,
    /// Where in `rows` each group begins.
    starts: Vec<usize>,
}

impl Groups {
    /// The groups of a tensor or column.
    pub(crate) fn of(data: &DataView<'_>) -> Result<Self, KernelError> {
        let column = as_column(data)?;
        let rows = (0..column.rows()).filter(|row| column.is_valid(*row));
        let rows = rows.collect();
        Ok(match column.cell.kind {
            CellKind::Text => Self::of_keys(rows, &column.texts().collect::<Vec<_>>()),
            CellKind::Element(dtype) => Self::of_keys(rows, &keys(dtype, column.cells)),
        })
    }

    fn of_keys<T: Ord + Sync>(mut rows: Vec<usize>, keys: &[T]) -> Self {
        // No two are equal, so the order does not depend on the threads.
        rows.par_sort_unstable_by(|a, b| keys[*a].cmp(&keys[*b]).then(a.cmp(b)));
        let is_start = |at: &usize| *at == 0 || keys[rows[*at]] != keys[rows[*at - 1]];
        let starts = (0..rows.len()).filter(is_start).collect();
        Self { rows, starts }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.starts.len()
    }

    /// The positions of each group.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[usize]> {
        let ends = self.starts.iter().skip(1).copied().chain([self.rows.len()]);
        let ranges = self.starts.iter().zip(ends);
        ranges.map(|(start, end)| &self.rows[*start..end])
    }

    /// The first position of each group.
    pub(crate) fn firsts(&self) -> Vec<usize> {
        self.iter().map(|group| group[0]).collect()
    }
}
