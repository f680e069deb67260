//! Fourier transforms.

mod kernel;
mod lengths;
mod lines;
mod table;

use haul_ir::dtype::{DType, Kind};
use haul_ir::expr::Expr;
use haul_ir::op::{
    Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, KernelCall,
    KernelError, Op, Param, ParamKind, Work,
};
use haul_ir::types::{TensorType, ValueType};

use super::array_op::{attribute, tensor};

pub(super) use lines::{Complexes, HalfSpectra, InverseHalfSpectra, Lines};
pub(super) use table::OPS;

/// A Fourier transform of one kind.
struct Fourier {
    name: &'static str,
    doc: &'static str,
    rule: &'static str,
    direction: Direction,
    sides: Sides,
    axes: Axes,
    kernel: fn(&mut KernelCall<'_, '_>) -> Result<(), KernelError>,
    examples: &'static [Example],
}

/// The sign of the exponent, and which transform is divided by the number of elements.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Forward,
    Inverse,
}

/// What the last axis that is transformed holds before and after.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sides {
    /// Complex numbers.
    Complex,
    /// Real numbers, and then the half of the spectrum that determines the other half.
    FromReal,
    /// That half, and then real numbers.
    ToReal,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Axes {
    /// The attribute `axis`, of length `n`.
    One,
    /// The attribute `axes`, by default the last two, of lengths `s`.
    LastTwo,
    /// The attribute `axes`, by default all, of lengths `s`.
    All,
}

const NORM: Param = attribute(
    "norm",
    ParamKind::Word(&["backward", "ortho", "forward"]),
    "'backward'",
);

impl Op for Fourier {
    fn name(&self) -> &'static str {
        self.name
    }

    fn doc(&self) -> &'static str {
        self.doc
    }

    fn params(&self) -> &'static [Param] {
        const X: Param = tensor("x");
        const S: Param = attribute("s", ParamKind::Ints, "none");
        match self.axes {
            Axes::One => {
                &const {
                    let n = attribute("n", ParamKind::Int, "none");
                    [X, n, attribute("axis", ParamKind::Int, "-1"), NORM]
                }
            }
            Axes::LastTwo => {
                &const { [X, S, attribute("axes", ParamKind::Axes, "[-2, -1]"), NORM] }
            }
            Axes::All => &const { [X, S, attribute("axes", ParamKind::Axes, "none"), NORM] },
        }
    }

    fn rule(&self) -> &'static str {
        self.rule
    }

    fn family(&self) -> Family {
        Family::Fft
    }

    fn infer(&self, call: &Call<'_>) -> Result<Inferred, InferError> {
        let x = call.tensor(0)?;
        if x.dtype.kind() == Kind::Complex && self.sides == Sides::FromReal {
            let message = format!("takes real numbers, this is {}", x.dtype);
            return Err(InferError::new(Fault::DType, message)
                .on(0)
                .help("use `fft`, `ifft` or `fftn`"));
        }
        let mut shape = x.shape.clone();
        for length in self.lengths(call.attrs, &x.shape)? {
            shape[length.axis] = length.output;
        }
        let dtype = match self.sides {
            Sides::ToReal => x.dtype.complex().real(),
            _ => x.dtype.complex(),
        };
        let output = TensorType::new(dtype, shape);
        Ok(Inferred::cast_all(1, self.input_dtype(x.dtype), output))
    }

    fn work(&self, call: &Call<'_>, outputs: &[ValueType]) -> Work {
        let (Ok(x), Some(ValueType::Tensor(output))) = (call.tensor(0), outputs.first()) else {
            return Work::Unknown;
        };
        let Ok(lengths) = self.lengths(call.attrs, &x.shape) else {
            return Work::Unknown;
        };
        // Of the lines along an axis there are as many as elements over the length of one.
        let mut shape = x.shape.clone();
        for length in &lengths {
            shape[length.axis] = length.narrow().clone();
        }
        let flops = lengths.iter().map(|length| {
            let mut lines = shape.clone();
            lines[length.axis] = length.n.clone();
            let whole = Expr::product(&lines) * length.n.log2() * 5;
            match length.is_half {
                true => whole.times_ratio(1, 2),
                false => whole,
            }
        });
        let flops = Expr::sum(&flops.collect::<Vec<_>>());
        let between = TensorType::new(output.dtype.complex(), shape).bytes();
        let between = between * (lengths.len() as u64).saturating_sub(1);
        Work::Known {
            flops,
            read: x.bytes() + &between,
            written: output.bytes() + &between,
        }
    }

    fn work_formula(&self) -> &'static str {
        match (self.sides, self.axes) {
            (Sides::Complex, Axes::One) => "5*N*log2(n) flops of N elements",
            (_, Axes::One) => "2.5*N*log2(n) flops of N real elements",
            (Sides::Complex, _) => {
                "5*N*log2(n) flops of N elements for each axis, bytes once per axis"
            }
            (_, _) => {
                "5*N*log2(n) flops of N elements for each axis, for the last half of it; bytes \
                 once per axis"
            }
        }
    }

    fn cpu(&self) -> CpuKernel {
        CpuKernel::Array(self.kernel)
    }

    fn gpu(&self) -> GpuKernel {
        GpuKernel::Library("cufft")
    }

    fn examples(&self) -> &'static [Example] {
        self.examples
    }
}

impl Fourier {
    /// Real numbers are read as they are and not made complex before: that halves what is read.
    fn input_dtype(&self, dtype: DType) -> DType {
        match (dtype.kind(), self.sides) {
            (Kind::Complex, _) => dtype,
            (_, Sides::ToReal) => dtype.complex(),
            _ => dtype.complex().real(),
        }
    }
}
