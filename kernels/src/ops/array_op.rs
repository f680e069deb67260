//! Ops that are rows of a table: all that an [`Op`] says, as fields.

use haul_ir::dtype::{DType, Kind};
use haul_ir::expr::Expr;
use haul_ir::op::{
    ArgType, Attrs, Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred,
    KernelCall, KernelError, Op, Param, ParamKind, Work, broadcast,
};
use haul_ir::tensor::View;
use haul_ir::types::{Axes, TensorType, ValueType};

/// See the methods of [`Op`] for its fields.
pub(super) struct ArrayOp {
    pub(super) name: &'static str,
    pub(super) doc: &'static str,
    pub(super) params: &'static [Param],
    pub(super) rule: &'static str,
    pub(super) family: Family,
    pub(super) infer: fn(&Call<'_>) -> Result<Inferred, InferError>,
    pub(super) work: fn(&Call<'_>, &[ValueType]) -> Work,
    pub(super) work_formula: &'static str,
    pub(super) cpu: CpuKernel,
    pub(super) gpu: GpuKernel,
    pub(super) examples: &'static [Example],
}

impl Op for ArrayOp {
    fn name(&self) -> &'static str {
        self.name
    }

    fn doc(&self) -> &'static str {
        self.doc
    }

    fn params(&self) -> &'static [Param] {
        self.params
    }

    fn rule(&self) -> &'static str {
        self.rule
    }

    fn family(&self) -> Family {
        self.family
    }

    fn infer(&self, call: &Call<'_>) -> Result<Inferred, InferError> {
        (self.infer)(call)
    }

    fn work(&self, call: &Call<'_>, outputs: &[ValueType]) -> Work {
        (self.work)(call, outputs)
    }

    fn work_formula(&self) -> &'static str {
        self.work_formula
    }

    fn cpu(&self) -> CpuKernel {
        self.cpu
    }

    fn gpu(&self) -> GpuKernel {
        self.gpu
    }

    fn examples(&self) -> &'static [Example] {
        self.examples
    }
}

/// A tensor that must be given.
pub(super) const fn tensor(name: &'static str) -> Param {
    Param {
        name,
        kind: ParamKind::Tensor,
        default: None,
    }
}

/// A tensor that may be left out.
pub(super) const fn optional(name: &'static str) -> Param {
    scalar(name, "none")
}

/// A tensor, mostly a number, with a default.
pub(super) const fn scalar(name: &'static str, default: &'static str) -> Param {
    Param {
        name,
        kind: ParamKind::Tensor,
        default: Some(default),
    }
}

/// An attribute with a default.
pub(super) const fn attribute(name: &'static str, kind: ParamKind, default: &'static str) -> Param {
    Param {
        name,
        kind,
        default: Some(default),
    }
}

/// An attribute that must be given.
pub(super) const fn required(name: &'static str, kind: ParamKind) -> Param {
    Param {
        name,
        kind,
        default: None,
    }
}

/// Where a value stands among the inputs of a call, where it is given.
pub(super) fn position(params: &[Param], attrs: &Attrs, name: &str) -> Option<usize> {
    let values = params.iter().filter(|param| param.kind.is_value());
    let mut given = values.filter(|param| !param.is_optional_tensor() || attrs.flag(param.name));
    given.position(|param| param.name == name)
}

/// The input of that name, where it is given.
pub(super) fn input<'a, 'b>(
    params: &[Param],
    call: &KernelCall<'a, 'b>,
    name: &str,
) -> Option<&'a View<'b>> {
    position(params, call.attrs, name).and_then(|position| call.inputs.get(position))
}

/// The float dtype in which the inputs at some positions meet and are computed; integers in `f64`.
///
/// # Errors
/// One is no tensor of real numbers, or they meet nowhere.
pub(super) fn float_dtype(call: &Call<'_>, positions: &[usize]) -> Result<DType, InferError> {
    let inputs: Vec<ArgType> = positions
        .iter()
        .map(|at| call.inputs[*at].clone())
        .collect();
    let dtype = promoted(call, positions, &inputs)?;
    if matches!(dtype.kind(), Kind::Bool | Kind::Complex) {
        let message = format!("is not defined for {dtype}");
        return Err(InferError::new(Fault::DType, message).on(positions[0]));
    }
    Ok(dtype.float())
}

fn promoted(call: &Call<'_>, positions: &[usize], inputs: &[ArgType]) -> Result<DType, InferError> {
    let of_some = Call {
        inputs,
        attrs: call.attrs,
    };
    of_some.promoted().map_err(|mut error| {
        error.argument = error.argument.map(|argument| positions[argument]);
        error
    })
}

/// The dtype in which numbers that steer an op of a float dtype are given to it.
pub(super) fn precise(dtype: DType) -> DType {
    match dtype {
        DType::F64 => DType::F64,
        _ => DType::F32,
    }
}

/// That the input at a position is one real number.
///
/// # Errors
/// It is something else.
pub(super) fn one_number(call: &Call<'_>, position: usize) -> Result<(), InferError> {
    let real = match &call.inputs[position] {
        ArgType::Weak(_) => true,
        given => given.tensor().is_some_and(|tensor| {
            tensor.rank() == 0 && !matches!(tensor.dtype.kind(), Kind::Bool | Kind::Complex)
        }),
    };
    if real {
        return Ok(());
    }
    let message = format!("is one real number, this is {}", call.inputs[position]);
    Err(InferError::new(Fault::Type, message).on(position))
}

/// That the input at a position broadcasts to a shape.
///
/// # Errors
/// It does not.
pub(super) fn broadcasts_to(
    call: &Call<'_>,
    position: usize,
    shape: &[Expr],
) -> Result<(), InferError> {
    let given = call.inputs[position].shape();
    if broadcast(&[shape, given]).is_ok_and(|result| result == shape) {
        return Ok(());
    }
    let message = format!("{} does not broadcast to {}", Axes(given), Axes(shape));
    Err(InferError::new(Fault::Shape, message).on(position))
}

/// That the input at a position has a shape.
///
/// # Errors
/// It has another one.
pub(super) fn has_shape(
    call: &Call<'_>,
    position: usize,
    shape: &[Expr],
) -> Result<(), InferError> {
    let given = call.inputs[position].shape();
    if given == shape {
        return Ok(());
    }
    let message = format!("needs the shape {}, this has {}", Axes(shape), Axes(given));
    Err(InferError::new(Fault::Shape, message).on(position))
}

/// That a tensor has at least so many axes.
///
/// # Errors
/// It has fewer.
pub(super) fn at_least_rank(ty: &TensorType, rank: usize, wanted: &str) -> Result<(), InferError> {
    if ty.rank() >= rank {
        return Ok(());
    }
    let message = format!("needs {wanted}, this is {ty}");
    Err(InferError::new(Fault::Rank, message).on(0))
}

/// An attribute with a value that the op does not take: `axis` is a whole number.
pub(super) fn wrong(attribute: &'static str, rule: &str) -> InferError {
    InferError::new(Fault::Value, format!("`{attribute}` {rule}")).on_attr(attribute)
}

/// So many flops for each element of the first result.
pub(super) fn work_per_element(flops: u64, call: &Call<'_>, outputs: &[ValueType]) -> Work {
    match outputs.first().and_then(ValueType::tensor) {
        Some(output) => Work::of(output.elements() * flops, call, outputs),
        None => Work::Unknown,
    }
}

/// So many flops for each element of the first input.
pub(super) fn work_per_input(flops: u64, call: &Call<'_>, outputs: &[ValueType]) -> Work {
    match call.inputs.first().and_then(ArgType::tensor) {
        Some(input) => Work::of(input.elements() * flops, call, outputs),
        None => Work::Unknown,
    }
}

/// Infers again with the sizes that the data has: they may not suit each other where only the
/// data shows them.
///
/// # Errors
/// The call does not fit, or gives other shapes than were planned.
pub(super) fn check(
    call: &KernelCall<'_, '_>,
    infer: impl Fn(&Call<'_>) -> Result<Inferred, InferError>,
) -> Result<(), KernelError> {
    let inputs: Vec<_> = call.inputs.iter().map(type_of).collect();
    let inferred = infer(&Call {
        inputs: &inputs,
        attrs: call.attrs,
    });
    let inferred = inferred.map_err(|error| KernelError::new(error.message))?;
    for (output, planned) in inferred.outputs.iter().zip(&*call.outputs) {
        let shape = output.tensor().map_or(&[][..], |tensor| &tensor.shape);
        let sizes = planned.shape.iter().map(|size| Expr::from(*size as u64));
        if !sizes.eq(shape.iter().cloned()) {
            let planned = &planned.shape;
            let message = format!(
                "the result has the shape {}, not {planned:?} as planned",
                Axes(shape)
            );
            return Err(KernelError::new(message));
        }
    }
    Ok(())
}

fn type_of(view: &View<'_>) -> ArgType {
    let sizes = view.shape().iter().map(|size| Expr::from(*size as u64));
    ArgType::Value(TensorType::new(view.dtype, sizes.collect()).into())
}
