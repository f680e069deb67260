//! Convolutions over two axes.

mod geometry;
mod kernel;

use haul_ir::dtype::Kind;
use haul_ir::expr::Expr;
use haul_ir::op::{
    Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, Op, Param, ParamKind,
    Work,
};
use haul_ir::types::{TensorType, ValueType};

use self::geometry::Geometry;
use super::matmul::flops_of_multiply_add;

/// `conv2d(x, w, stride=1, padding=0, dilation=1, groups=1)`.
pub(crate) struct Conv2d;

impl Op for Conv2d {
    fn name(&self) -> &'static str {
        "conv2d"
    }

    fn doc(&self) -> &'static str {
        "Slides the filters `w` over the last two axes of `x` and sums products, as neural \
         networks do it: the filters are not flipped. `stride` and `dilation` are one number or \
         [rows, columns]; `padding` adds zeros: a number, [rows, columns], [top, left, bottom, \
         right], 'valid' for none, or 'same' for so many that each output axis has \
         ceil(input / stride) elements, an odd one at the end. With `groups`, each group of \
         filters sees its share of the channels. f16 and bf16 accumulate in f32."
    }

    fn params(&self) -> &'static [Param] {
        const fn param(
            name: &'static str,
            kind: ParamKind,
            default: Option<&'static str>,
        ) -> Param {
            Param {
                name,
                kind,
                default,
            }
        }
        &const {
            [
                param("x", ParamKind::Tensor, None),
                param("w", ParamKind::Tensor, None),
                param("stride", ParamKind::Ints, Some("1")),
                param(
                    "padding",
                    ParamKind::IntsOrWord(&["same", "valid"]),
                    Some("0"),
                ),
                param("dilation", ParamKind::Ints, Some("1")),
                param("groups", ParamKind::Int, Some("1")),
            ]
        }
    }

    fn rule(&self) -> &'static str {
        "[N, C, H, W], [O, C/groups, h, w] -> [N, O, H', W'], \
         H' = (H + padding - dilation*(h - 1) - 1) // stride + 1"
    }

    fn family(&self) -> Family {
        Family::Conv
    }

    fn infer(&self, call: &Call<'_>) -> Result<Inferred, InferError> {
        let dtype = call.promoted()?;
        if dtype.kind() == Kind::Bool {
            let error = InferError::new(Fault::DType, "there is no convolution of bools");
            return Err(error.help("cast them, for example `f32(x)`"));
        }
        let shape = output_shape(call)?;
        Ok(Inferred::cast_all(2, dtype, TensorType::new(dtype, shape)))
    }

    fn work(&self, call: &Call<'_>, outputs: &[ValueType]) -> Work {
        let (Some(ValueType::Tensor(output)), Ok(w)) = (outputs.first(), call.tensor(1)) else {
            return Work::Unknown;
        };
        let taps = Expr::product(w.shape.iter().skip(1));
        let flops = output.elements() * taps * flops_of_multiply_add(Some(output.dtype));
        Work::of(flops, call, outputs)
    }

    fn work_formula(&self) -> &'static str {
        "2*N*O*H'*W'*(C/groups)*h*w flops, taps on padding counted"
    }

    fn cpu(&self) -> CpuKernel {
        CpuKernel::Contiguous(kernel::conv2d)
    }

    fn gpu(&self) -> GpuKernel {
        GpuKernel::Own
    }

    fn examples(&self) -> &'static [Example] {
        &[
            Example {
                formula: "conv2d(x, w)",
                given: &[
                    ("x", "f32[1, 1, 3, 3]", "1 2 3 4 5 6 7 8 9"),
                    ("w", "f32[1, 1, 2, 2]", "1 0 0 -1"),
                ],
                result: ("f32[1, 1, 2, 2]", "-4 -4 -4 -4"),
            },
            Example {
                formula: "conv2d(x, w, padding='same')",
                given: &[
                    ("x", "f32[1, 1, 2, 2]", "1 2 3 4"),
                    ("w", "f32[1, 1, 3, 3]", "0 0 0 0 1 1 0 0 0"),
                ],
                result: ("f32[1, 1, 2, 2]", "3 2 7 4"),
            },
        ]
    }
}

fn output_shape(call: &Call<'_>) -> Result<Vec<Expr>, InferError> {
    let [x, w] = [call.tensor(0)?, call.tensor(1)?];
    let [count, channels, height, width] = &x.shape[..] else {
        return Err(wrong_rank("[N, C, H, W]", x).on(0));
    };
    let [filters, filter_channels, filter_height, filter_width] = &w.shape[..] else {
        return Err(wrong_rank("[O, C/groups, h, w]", w).on(1));
    };
    let geometry = Geometry::of(call.attrs)?;
    let groups = Expr::from(geometry.groups as u64);
    if filter_channels * &groups != *channels {
        let message = format!(
            "the input has {channels} channels, the filters take {}",
            match geometry.groups {
                1 => filter_channels.to_string(),
                groups => format!("{filter_channels} in each of {groups} groups"),
            }
        );
        return Err(InferError::new(Fault::Shape, message).on(1));
    }
    if filters
        .modulo(&groups)
        .as_int()
        .is_some_and(|rest| rest != 0)
    {
        let message = format!("{filters} filters do not divide into {groups} groups");
        return Err(InferError::new(Fault::Shape, message).on_attr("groups"));
    }
    let rows = geometry.rows.output(height, filter_height)?;
    let cols = geometry.cols.output(width, filter_width)?;
    Ok(vec![count.clone(), filters.clone(), rows, cols])
}

fn wrong_rank(wanted: &str, given: &TensorType) -> InferError {
    let message = format!("needs {wanted}, this is {given}");
    InferError::new(Fault::Rank, message)
}
