//! Runs one call of an op as an executor would, but plainly: infer, cast, allocate, compute.

use haul_ir::column::{DataMut, DataView, Heap, Measured};
use haul_ir::dtype::DType;
use haul_ir::expr::{Expr, Symbol};
use haul_ir::op::{
    ArgType, Attrs, BlockKernel, Call, CpuKernel, DataCall, Fill, InferError, Inferred, KernelCall,
    KernelError, Measure, Op, Work,
};
use haul_ir::tensor::Layout;
use haul_ir::types::{CellKind, CellType, TableType, ValueType};

use super::formula::weak;
use super::rows::{Column, Rows, with_rows};
use super::tensor::{Bytes, Lie, Tensor, Value, places};

/// An argument of a call.
#[derive(Clone)]
pub(crate) enum Arg {
    Tensor(Tensor),
    Weak(Value),
    Text(String),
    Rows(Rows),
    Items(Vec<Tensor>),
}

/// A result of a call.
#[derive(Clone)]
pub(crate) enum Output {
    Tensor(Tensor),
    Rows(Rows),
    Text(String),
}

#[derive(Debug)]
pub(crate) enum Failure {
    Infer(InferError),
    Kernel(KernelError),
}

/// Elements that one block of an elementwise kernel gets; odd, so that blocks end anywhere.
const BLOCK: usize = 301;

/// The results of a call that gives tensors.
pub(crate) fn run(op: &dyn Op, args: &[Arg], attrs: &Attrs) -> Result<Vec<Tensor>, Failure> {
    let outputs = run_any(op, args, attrs)?.into_iter();
    let tensor = |output| match output {
        Output::Tensor(tensor) => tensor,
        _ => panic!("{} gives no tensor", op.name()),
    };
    Ok(outputs.map(tensor).collect())
}

/// The results of a call.
pub(crate) fn run_any(op: &dyn Op, args: &[Arg], attrs: &Attrs) -> Result<Vec<Output>, Failure> {
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
    match (op.cpu(), &args[..]) {
        (CpuKernel::Measured { measure, fill }, _) => {
            return measured(&args, attrs, &inferred, measure, fill).map_err(Failure::Kernel);
        }
        (CpuKernel::Columns(columns), [Arg::Rows(rows)]) => {
            return Ok(vec![columns_of(columns, rows, attrs, &inferred)]);
        }
        _ => {}
    }
    let tensors: Vec<Tensor> = args.into_iter().flat_map(Arg::tensors).collect();
    let outputs = compute(op, &tensors, attrs, &inferred).map_err(Failure::Kernel)?;
    Ok(outputs.into_iter().map(Output::Tensor).collect())
}

impl Arg {
    pub(crate) fn ty(&self) -> ArgType {
        match self {
            Arg::Tensor(tensor) => ArgType::Value(tensor.ty().into()),
            Arg::Weak(value) => ArgType::Weak(weak(*value)),
            Arg::Text(_) => ArgType::Value(ValueType::Text),
            Arg::Rows(rows) => ArgType::Value(rows.ty.clone()),
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
            Arg::Weak(_) | Arg::Text(_) | Arg::Rows(_) => Vec::new(),
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
        CpuKernel::Measured { .. } | CpuKernel::Columns(_) | CpuKernel::Program => {
            panic!("{} takes no tensors only", op.name())
        }
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

fn measured(
    args: &[Arg],
    attrs: &Attrs,
    inferred: &Inferred,
    measure: Measure,
    fill: Fill,
) -> Result<Vec<Output>, KernelError> {
    let whole: Vec<_> = args.iter().map(|arg| arg.lying(Lie::Contiguous)).collect();
    let inputs: Vec<_> = whole.iter().map(view).collect();
    let call = DataCall {
        inputs: &inputs,
        attrs,
    };
    let sizes = measure(&call)?;
    assert_eq!(sizes.len(), inferred.outputs.len(), "sizes of all results");
    let outputs = inferred.outputs.iter().zip(&sizes);
    let mut outputs: Vec<_> = outputs.map(|(ty, size)| space(ty, size, &inputs)).collect();
    let mut texts: Vec<Vec<u8>> = sizes.iter().map(text_space).collect();
    let spaces = outputs.iter_mut().zip(&mut texts).zip(&inferred.outputs);
    let mut spaces: Vec<_> = spaces
        .map(|((output, text), ty)| match output {
            Output::Tensor(tensor) => DataMut::Tensor(tensor.view_mut()),
            Output::Rows(rows) => match ty {
                ValueType::Table(_) => {
                    DataMut::Table(rows.columns.iter_mut().map(Column::view_mut).collect())
                }
                _ => DataMut::Column(rows.columns[0].view_mut()),
            },
            Output::Text(_) => DataMut::Text(text),
        })
        .collect();
    fill(&call, &mut spaces)?;
    drop(spaces);
    for (output, text) in outputs.iter_mut().zip(texts) {
        if let Output::Text(into) = output {
            *into = String::from_utf8(text).expect("a text is UTF-8");
        }
    }
    Ok(outputs)
}

fn view(arg: &Arg) -> DataView<'_> {
    match arg {
        Arg::Tensor(tensor) => DataView::Tensor(tensor.view()),
        Arg::Text(text) => DataView::Text(text),
        Arg::Rows(rows) => match &rows.ty {
            ValueType::Table(_) => DataView::Table(rows.columns.iter().map(Column::view).collect()),
            _ => DataView::Column(rows.columns[0].view()),
        },
        Arg::Weak(_) | Arg::Items(_) => panic!("no such argument is measured"),
    }
}

/// Space for a result; a heap that it shares is copied.
fn space(ty: &ValueType, size: &Measured, inputs: &[DataView<'_>]) -> Output {
    let cells: Vec<CellType> = match ty {
        ValueType::Tensor(tensor) => {
            return Output::Tensor(Tensor::dirty(tensor.dtype, &size.shape));
        }
        ValueType::Text => return Output::Text(String::new()),
        ValueType::Column(column) => vec![column.cell],
        ValueType::Table(table) => table.columns.values().copied().collect(),
    };
    let mut heaps = size.heaps.iter();
    let columns = cells.into_iter().map(|cell| {
        let heap = match cell.kind {
            CellKind::Text => heap(heaps.next().expect("each text has a heap"), inputs),
            CellKind::Element(_) => Vec::new(),
        };
        Column::dirty(cell, size.shape[0], heap)
    });
    Output::Rows(Rows {
        ty: with_rows(ty, size.shape[0]),
        columns: columns.collect(),
    })
}

fn heap(heap: &Heap, inputs: &[DataView<'_>]) -> Vec<u8> {
    match *heap {
        Heap::New(bytes) => vec![0xAB; bytes],
        Heap::Of { input, column } => match &inputs[input] {
            DataView::Column(view) => view.heap.to_vec(),
            DataView::Table(columns) => columns[column].heap.to_vec(),
            DataView::Text(text) => text.as_bytes().to_vec(),
            DataView::Tensor(_) => panic!("a tensor has no heap"),
        },
    }
}

fn text_space(size: &Measured) -> Vec<u8> {
    match size.heaps.first() {
        Some(Heap::New(bytes)) => vec![0xAB; *bytes],
        _ => Vec::new(),
    }
}

fn columns_of(
    columns: fn(&TableType, &Attrs) -> Vec<usize>,
    rows: &Rows,
    attrs: &Attrs,
    inferred: &Inferred,
) -> Output {
    let ValueType::Table(table) = &rows.ty else {
        panic!("columns are taken of {}", rows.ty);
    };
    let taken = columns(table, attrs);
    let ty = inferred.outputs[0].clone();
    if let ValueType::Tensor(tensor) = &ty {
        let view = rows.columns[taken[0]].view();
        let mut output = Tensor::dirty(tensor.dtype, &[view.rows()]);
        output.bytes.get_mut()[..view.cells.len()].copy_from_slice(view.cells);
        return Output::Tensor(output);
    }
    let columns = taken.iter().map(|at| rows.columns[*at].clone()).collect();
    Output::Rows(Rows { ty, columns })
}

/// The work of a call of known sizes is known.
fn check_work(op: &dyn Op, args: &[Arg], attrs: &Attrs, inferred: &Inferred) {
    let types: Vec<_> = args.iter().map(Arg::ty).collect();
    let call = Call {
        inputs: &types,
        attrs,
    };
    match op.work(&call, &inferred.outputs) {
        Work::Unknown => {
            assert!(
                matches!(op.cpu(), CpuKernel::Measured { .. }),
                "{}",
                op.name()
            );
        }
        Work::Known {
            flops,
            read,
            written,
        } => {
            // Sizes that only the data tells are planned at their largest.
            let most = |symbol: &Symbol| {
                let mut bounds = inferred.bounds.iter();
                bounds.find(|(bound, _)| bound == symbol)?.1.as_int()
            };
            let value = |expr: &Expr| expr.eval(&most);
            for (name, expr) in [("flops", flops), ("read", read), ("written", written)] {
                let value = value(&expr).unwrap_or_else(|error| panic!("{}: {error}", op.name()));
                assert!(value >= 0, "{name} of {} are {value}", op.name());
            }
        }
    }
}
