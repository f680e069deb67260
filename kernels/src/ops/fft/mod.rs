//! Fourier transforms.

mod kernel;

use haul_ir::dtype::{DType, Kind};
use haul_ir::expr::Expr;
use haul_ir::op::{
    Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, KernelCall,
    KernelError, Op, Param, ParamKind, Work, axis_of,
};
use haul_ir::types::{TensorType, ValueType};

/// A Fourier transform of one kind.
pub(crate) struct Fourier {
    name: &'static str,
    doc: &'static str,
    rule: &'static str,
    transform: Transform,
    axes: Axes,
    kernel: fn(&mut KernelCall<'_, '_>) -> Result<(), KernelError>,
    examples: &'static [Example],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Transform {
    Forward,
    /// Divided by the number of elements.
    Inverse,
    /// Of real numbers: the half of the spectrum that determines the other half.
    Real,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Axes {
    /// The attribute `axis`.
    Named,
    LastTwo,
}

macro_rules! kernel {
    ($fourier:ident) => {
        |call| kernel::fourier(&$fourier, call)
    };
}

pub(crate) static FFT: Fourier = Fourier {
    name: "fft",
    doc: "The discrete Fourier transform along one axis, not normalised. Of f16, bf16 and f32 \
          it gives c64, of f64 and integers c128.",
    rule: "[.., n, ..] -> [.., n, ..]",
    transform: Transform::Forward,
    axes: Axes::Named,
    kernel: kernel!(FFT),
    examples: &[Example {
        formula: "fft(x)",
        given: &[("x", "f32[4]", "1 2 3 4")],
        result: ("c64[4]", "10+0j -2+2j -2+0j -2-2j"),
    }],
};

pub(crate) static IFFT: Fourier = Fourier {
    name: "ifft",
    doc: "The inverse of `fft` along one axis: divided by the number of elements, so that \
          `ifft(fft(x))` is `x`.",
    rule: "[.., n, ..] -> [.., n, ..]",
    transform: Transform::Inverse,
    axes: Axes::Named,
    kernel: kernel!(IFFT),
    examples: &[Example {
        formula: "ifft(x)",
        given: &[("x", "c128[2]", "3+0j -1+0j")],
        result: ("c128[2]", "1+0j 2+0j"),
    }],
};

pub(crate) static RFFT: Fourier = Fourier {
    name: "rfft",
    doc: "The first `n // 2 + 1` elements of `fft` of real numbers along one axis; the others \
          are their mirrored conjugates.",
    rule: "[.., n, ..] -> [.., n // 2 + 1, ..]",
    transform: Transform::Real,
    axes: Axes::Named,
    kernel: kernel!(RFFT),
    examples: &[Example {
        formula: "rfft(x)",
        given: &[("x", "f64[4]", "1 2 3 4")],
        result: ("c128[3]", "10+0j -2+2j -2+0j"),
    }],
};

pub(crate) static FFT2: Fourier = Fourier {
    name: "fft2",
    doc: "The discrete Fourier transform along the last two axes, not normalised.",
    rule: "[.., m, n] -> [.., m, n]",
    transform: Transform::Forward,
    axes: Axes::LastTwo,
    kernel: kernel!(FFT2),
    examples: &[Example {
        formula: "fft2(x)",
        given: &[("x", "f32[2, 2]", "1 2 3 4")],
        result: ("c64[2, 2]", "10+0j -2+0j -4+0j 0+0j"),
    }],
};

pub(crate) static IFFT2: Fourier = Fourier {
    name: "ifft2",
    doc: "The inverse of `fft2` along the last two axes, divided by the number of elements in \
          them.",
    rule: "[.., m, n] -> [.., m, n]",
    transform: Transform::Inverse,
    axes: Axes::LastTwo,
    kernel: kernel!(IFFT2),
    examples: &[Example {
        formula: "ifft2(x)",
        given: &[("x", "c64[2, 2]", "10+0j -2+0j -4+0j 0+0j")],
        result: ("c64[2, 2]", "1+0j 2+0j 3+0j 4+0j"),
    }],
};

const X: Param = Param {
    name: "x",
    kind: ParamKind::Tensor,
    default: None,
};

const AXIS: Param = Param {
    name: "axis",
    kind: ParamKind::Int,
    default: Some("-1"),
};

impl Op for Fourier {
    fn name(&self) -> &'static str {
        self.name
    }

    fn doc(&self) -> &'static str {
        self.doc
    }

    fn params(&self) -> &'static [Param] {
        match self.axes {
            Axes::Named => &[X, AXIS],
            Axes::LastTwo => &[X],
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
        let complex = x.dtype.kind() == Kind::Complex;
        if complex && self.transform == Transform::Real {
            let message = format!("takes real numbers, this is {}", x.dtype);
            return Err(InferError::new(Fault::DType, message)
                .on(0)
                .help("use `fft`"));
        }
        let mut shape = x.shape.clone();
        for axis in self.axes_of(call, x.rank())? {
            if shape[axis] == Expr::ZERO {
                let message = format!("axis {axis} is empty, a transform needs an element");
                return Err(InferError::new(Fault::Shape, message).on(0));
            }
            if self.transform == Transform::Real {
                shape[axis] = shape[axis].floor_div(&Expr::from(2_u64)) + 1;
            }
        }
        let result = TensorType::new(x.dtype.complex(), shape);
        Ok(Inferred::cast_all(1, input_dtype(x.dtype), result))
    }

    fn work(&self, call: &Call<'_>, outputs: &[ValueType]) -> Work {
        let (Ok(x), Some(ValueType::Tensor(output))) = (call.tensor(0), outputs.first()) else {
            return Work::Unknown;
        };
        let Ok(axes) = self.axes_of(call, x.rank()) else {
            return Work::Unknown;
        };
        let halves: Vec<Expr> = axes.iter().map(|axis| x.shape[*axis].log2()).collect();
        let flops = x.elements() * Expr::sum(&halves) * 5;
        let flops = match self.transform {
            Transform::Real => flops.times_ratio(1, 2),
            _ => flops,
        };
        let between = output.bytes() * (axes.len() as u64 - 1);
        Work::Known {
            flops,
            read: x.bytes() + &between,
            written: output.bytes() + &between,
        }
    }

    fn work_formula(&self) -> &'static str {
        match (self.transform, self.axes) {
            (Transform::Real, _) => "2.5*N*log2(n) flops of N elements",
            (_, Axes::Named) => "5*N*log2(n) flops of N elements",
            (_, Axes::LastTwo) => {
                "5*N*(log2(m) + log2(n)) flops of N elements, bytes once per axis"
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
    /// The axes in the order in which they are transformed.
    fn axes_of(&self, call: &Call<'_>, rank: usize) -> Result<Vec<usize>, InferError> {
        match self.axes {
            Axes::Named => {
                let axis = call.attrs.int("axis").ok_or_else(|| {
                    InferError::new(Fault::Value, "the axis is a whole number").on_attr("axis")
                })?;
                let axis = axis_of(axis, rank).map_err(|error| error.on_attr("axis"))?;
                Ok(vec![axis])
            }
            Axes::LastTwo if rank >= 2 => Ok(vec![rank - 1, rank - 2]),
            Axes::LastTwo => {
                let message = format!("transforms two axes, this has {rank}");
                Err(InferError::new(Fault::Rank, message).on(0))
            }
        }
    }
}

/// Real numbers are read as they are and not made complex before: that halves what is read.
fn input_dtype(dtype: DType) -> DType {
    match dtype.kind() {
        Kind::Complex => dtype,
        _ => dtype.complex().real(),
    }
}
