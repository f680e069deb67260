//! Runs one call of an op as an executor would, but plainly: infer, cast, allocate, compute.

use haul_ir::dtype::DType;
use haul_ir::expr::Expr;
use haul_ir::op::{
    ArgType, Attrs, BlockKernel, Call, CpuKernel, InferError, Inferred, KernelCall, KernelError,
    Op, Work,
};
use haul_ir::tensor::{Layout, ViewMut};
use haul_ir::types::ValueType;

use super::formula::weak;
use super::tensor::{Bytes, Lie, Tensor, Value, places};

/// An argument of a call.
#[derive(Clone)]
pub(crate) enum Arg {
    Tensor(Tensor),
    Weak(Value),
    Text(String),
    Items(Vec<Tensor>),
}

#[derive(Debug)]
pub(crate) enum Failure {
    Infer(InferError),
    Kernel(KernelError),
}

/// Elements that one block of an elementwise kernel gets; odd, so that blocks end anywhere.
const BLOCK: usize = 301;

/// The results of a call.
pub(crate) fn run(op: &dyn Op, args: &[Arg], attrs: &Attrs) -> Result<Vec<Tensor>, Failure> {
    let types: Vec<_> = args.iter().map(Arg::ty).collect();
    let call = Call {
        inputs: &types,
        attrs,
    };
    let inferred = op.infer(&call).map_err(Failure::Infer)?;
    assert_eq!(inferred.cast.len(), args.len(), "casts of {}", op.name());
    let args: Vec<_> = args
        .iter()
        .zip(&inferred.cast)
        .map(|(arg, to)| arg.cast(*to))
        .collect();
    check_work(op, &args, attrs, &inferred);
    if let (CpuKernel::Parse { measure, fill }, [Arg::Text(text)]) = (op.cpu(), &args[..]) {
        return parse(text, attrs, &inferred, measure, fill).map_err(Failure::Kernel);
    }
    let tensors: Vec<Tensor> = args.into_iter().flat_map(Arg::tensors).collect();
    compute(op, &tensors, attrs, &inferred).map_err(Failure::Kernel)
}

impl Arg {
    pub(crate) fn ty(&self) -> ArgType {
        match self {
            Arg::Tensor(tensor) => ArgType::Value(tensor.ty().into()),
            Arg::Weak(value) => ArgType::Weak(weak(*value)),
            Arg::Text(_) => ArgType::Value(ValueType::Text),
            Arg::Items(items) => {
                ArgType::Items(items[0].ty().into(), Expr::from(items.len() as u64))
            }
        }
    }

    /// The same elements in another layout, where it has a layout.
    pub(crate) fn lying(&self, lie: Lie) -> Arg {
        match self {
            Arg::Tensor(tensor) => Arg::Tensor(tensor.lying(lie)),
            Arg::Items(items) => Arg::Items(items.iter().map(|item| item.lying(lie)).collect()),
            other => other.clone(),
        }
    }

    fn cast(&self, to: Option<DType>) -> Arg {
        match (self, to) {
            (Arg::Weak(value), Some(to)) => {
                Arg::Tensor(Tensor::new(to, &[], &[*value], Lie::Contiguous))
            }
            (Arg::Tensor(tensor), Some(to)) if tensor.dtype != to => Arg::Tensor(cast(tensor, to)),
            (Arg::Items(items), Some(to)) => {
                Arg::Items(items.iter().map(|item| cast(item, to)).collect())
            }
            _ => self.clone(),
        }
    }

    fn tensors(self) -> Vec<Tensor> {
        match self {
            Arg::Tensor(tensor) => vec![tensor],
            Arg::Items(items) => items,
            Arg::Weak(_) | Arg::Text(_) => Vec::new(),
        }
    }
}

fn cast(tensor: &Tensor, to: DType) -> Tensor {
    let op = haul_kernels::catalogue()
        .find(to.name())
        .expect("every dtype has a cast");
    let CpuKernel::Elementwise(kernel) = op.cpu() else {
        panic!("casts are elementwise")
    };
    let kernel = kernel(&[tensor.dtype], to).expect("what was inferred has a kernel");
    let mut output = Tensor::dirty(to, tensor.shape());
    elementwise(kernel, std::slice::from_ref(tensor), &mut output).expect("casts do not fail");
    output
}

fn compute(
    op: &dyn Op,
    inputs: &[Tensor],
    attrs: &Attrs,
    inferred: &Inferred,
) -> Result<Vec<Tensor>, KernelError> {
    let allocate = |ty: &ValueType| {
        let ty = ty.tensor().expect("only tensors come out");
        let shape: Vec<_> = ty
            .shape
            .iter()
            .map(|n| n.as_u64().unwrap() as usize)
            .collect();
        Tensor::dirty(ty.dtype, &shape)
    };
    let mut outputs: Vec<_> = inferred.outputs.iter().map(allocate).collect();
    match op.cpu() {
        CpuKernel::Elementwise(kernel) => {
            let dtypes: Vec<_> = inputs.iter().map(|input| input.dtype).collect();
            let kernel = kernel(&dtypes, outputs[0].dtype);
            let kernel = kernel.unwrap_or_else(|| panic!("{} takes {dtypes:?}", op.name()));
            elementwise(kernel, inputs, &mut outputs[0])?;
        }
        CpuKernel::View(view) => {
            let layout = view(&inputs[0].layout, attrs)?;
            assert_eq!(
                layout.shape,
                outputs[0].shape(),
                "shape of the view of {}",
                op.name()
            );
            outputs[0] = Tensor {
                layout,
                ..inputs[0].clone()
            };
        }
        CpuKernel::Reshape => {
            let shape = outputs[0].shape().to_vec();
            outputs[0] = inputs[0].lying(Lie::Contiguous);
            outputs[0].layout = Layout::contiguous(&shape);
        }
        CpuKernel::Array(kernel) => array(kernel, inputs, attrs, &mut outputs)?,
        CpuKernel::Contiguous(kernel) => {
            let inputs: Vec<_> = inputs.iter().map(|i| i.lying(Lie::Contiguous)).collect();
            array(kernel, &inputs, attrs, &mut outputs)?;
        }
        CpuKernel::Parse { .. } => panic!("{} takes text", op.name()),
    }
    Ok(outputs)
}

fn array(
    kernel: fn(&mut KernelCall<'_, '_>) -> Result<(), KernelError>,
    inputs: &[Tensor],
    attrs: &Attrs,
    outputs: &mut [Tensor],
) -> Result<(), KernelError> {
    let inputs: Vec<_> = inputs.iter().map(Tensor::view).collect();
    let mut outputs: Vec<_> = outputs.iter_mut().map(Tensor::view_mut).collect();
    kernel(&mut KernelCall {
        inputs: &inputs,
        attrs,
        outputs: &mut outputs,
    })
}

fn elementwise(
    kernel: BlockKernel,
    inputs: &[Tensor],
    output: &mut Tensor,
) -> Result<(), KernelError> {
    let shape = output.shape().to_vec();
    let (elements, size) = (output.layout.elements(), output.dtype.size() as usize);
    let layouts = inputs.iter().map(|input| input.layout.broadcast_to(&shape));
    let lie: Vec<Vec<usize>> = layouts.map(|layout| places(&layout).collect()).collect();
    for start in (0..elements).step_by(BLOCK) {
        let end = elements.min(start + BLOCK);
        let blocks: Vec<Bytes> = inputs
            .iter()
            .zip(&lie)
            .map(|(input, lie)| block(input, &lie[start..end]))
            .collect();
        let blocks: Vec<&[u8]> = blocks.iter().map(Bytes::get).collect();
        let mut result = Bytes::dirty((end - start) * size);
        kernel(&blocks, result.get_mut())?;
        output.bytes.get_mut()[start * size..end * size].copy_from_slice(result.get());
    }
    Ok(())
}

fn block(input: &Tensor, lie: &[usize]) -> Bytes {
    let size = input.dtype.size() as usize;
    let mut block = Bytes::dirty(lie.len() * size);
    for (to, at) in block.get_mut().chunks_exact_mut(size).zip(lie) {
        to.copy_from_slice(&input.bytes.get()[at * size..(at + 1) * size]);
    }
    block
}

fn parse(
    text: &str,
    attrs: &Attrs,
    inferred: &Inferred,
    measure: fn(&str, &Attrs) -> Result<Vec<usize>, KernelError>,
    fill: fn(&str, &Attrs, &mut ViewMut<'_>) -> Result<(), KernelError>,
) -> Result<Vec<Tensor>, KernelError> {
    let ty = inferred.outputs[0]
        .tensor()
        .expect("parsing gives a tensor");
    let mut output = Tensor::dirty(ty.dtype, &measure(text, attrs)?);
    fill(text, attrs, &mut output.view_mut())?;
    Ok(vec![output])
}

/// The work of a call of known sizes is known.
fn check_work(op: &dyn Op, args: &[Arg], attrs: &Attrs, inferred: &Inferred) {
    let types: Vec<_> = args.iter().map(Arg::ty).collect();
    let call = Call {
        inputs: &types,
        attrs,
    };
    match op.work(&call, &inferred.outputs) {
        Work::Unknown => assert!(matches!(op.cpu(), CpuKernel::Parse { .. }), "{}", op.name()),
        Work::Known {
            flops,
            read,
            written,
        } => {
            let value = |expr: &Expr| expr.eval(&|_| None);
            for (name, expr) in [("flops", flops), ("read", read), ("written", written)] {
                let value = value(&expr).unwrap_or_else(|error| panic!("{}: {error}", op.name()));
                assert!(value >= 0, "{name} of {} are {value}", op.name());
            }
        }
    }
}
