//! The CPUs of this machine, as many as the task was granted: kernels run in its pool.

use haul_ir::graph::{Arg, OpNode};
use haul_ir::id::ValueId;
use haul_ir::op::{Attrs, CpuKernel, KernelCall, KernelError};
use haul_ir::tensor::{Layout, View, ViewMut};
use haul_ir::types::{TableType, TensorType, ValueType};

use super::{Device, GroupCall, Held, Task, fault};
use crate::command;
use crate::error::RunError;
use crate::fused;
use crate::memory::Buffer;
use crate::scalar;
use crate::table::Table;
use crate::tensor::{Data, Tensor, size};

/// The CPUs of this machine.
pub(crate) struct Cpu {
    name: String,
}

impl Cpu {
    pub(crate) fn new(name: String) -> Self {
        Self { name }
    }
}

impl Device for Cpu {
    fn name(&self) -> &str {
        &self.name
    }

    fn upload(&self, _: ValueId, data: &Data, _: &Task<'_>) -> Result<Data, RunError> {
        Ok(data.clone())
    }

    fn download(&self, _: ValueId, data: &Data, _: &Task<'_>) -> Result<Data, RunError> {
        Ok(data.clone())
    }

    fn run(&self, group: &GroupCall<'_>, task: &mut Task<'_>) -> Result<Vec<Data>, RunError> {
        let graph = task.graph;
        let node = &graph.ops[group.ops[0]];
        let results = match node.op.cpu() {
            CpuKernel::Elementwise(_) => return fused::run(self, group, task),
            CpuKernel::View(view) => change_layout(view, node, task),
            CpuKernel::Reshape => reshape(node, task),
            CpuKernel::Array(kernel) => self.compute(kernel, node, task),
            CpuKernel::Contiguous(kernel) => {
                check_contiguous(node, task).and_then(|()| self.compute(kernel, node, task))
            }
            CpuKernel::Program => command::run(node, task),
            CpuKernel::Columns(columns) => take_columns(columns, node, task),
            CpuKernel::Measured { measure, fill } => {
                check_contiguous(node, task).and_then(|()| self.measured(measure, fill, node, task))
            }
        };
        let results = results.map_err(|error| task.at_op(node, error))?;
        let made = node.results.iter().zip(results);
        let leaving = made.filter(|(value, _)| group.leaving.contains(value));
        Ok(leaving.map(|(_, data)| data).collect())
    }
}

type Compute = fn(&mut KernelCall<'_, '_>) -> Result<(), KernelError>;

impl Cpu {
    fn compute(
        &self,
        kernel: Compute,
        node: &OpNode,
        task: &Task<'_>,
    ) -> Result<Vec<Data>, RunError> {
        let scalars = scalars(node, task)?;
        let inputs = inputs(node, task, &scalars)?;
        let mut buffers = Vec::new();
        for value in &node.results {
            let ty = tensor_type(*value, task)?;
            let shape = task
                .dims
                .shape(&ty.shape)
                .map_err(|e| in_value(*value, task, e))?;
            buffers.push((ty.dtype, self.space(*value, ty, &shape, task)?, shape));
        }
        let views = buffers.iter_mut().map(|(dtype, buffer, shape)| ViewMut {
            dtype: *dtype,
            shape: shape.clone(),
            bytes: buffer.bytes_mut(),
        });
        let attrs = node.attrs.bind(&|symbol| task.dims.replace(symbol));
        kernel(&mut KernelCall {
            inputs: &inputs,
            attrs: &attrs,
            outputs: &mut views.collect::<Vec<_>>(),
        })
        .map_err(|error| RunError::new(error.to_string()))?;
        let tensors = buffers.into_iter();
        Ok(tensors
            .map(|(dtype, buffer, shape)| Data::Tensor(Tensor::contiguous(dtype, &shape, buffer)))
            .collect())
    }

    /// Memory for a value of the graph.
    pub(crate) fn space(
        &self,
        value: ValueId,
        ty: &TensorType,
        shape: &[usize],
        task: &Task<'_>,
    ) -> Result<Buffer, RunError> {
        let name = &task.graph.values[value].name;
        let bytes = size(ty.dtype, shape).ok_or_else(|| {
            RunError::new(format!("`{name}` of {}{shape:?} is too large", ty.dtype))
        })?;
        task.account
            .allocate(bytes)
            .map_err(|shortage| task.shortage(name, shortage))
    }
}

fn change_layout(
    view: fn(&Layout, &Attrs) -> Result<Layout, KernelError>,
    node: &OpNode,
    task: &Task<'_>,
) -> Result<Vec<Data>, RunError> {
    let input = task.tensor(argument(node)?)?;
    let attrs = node.attrs.bind(&|symbol| task.dims.replace(symbol));
    let layout = view(&input.layout, &attrs).map_err(|error| RunError::new(error.to_string()))?;
    check_shape(node.results[0], &layout, task)?;
    Ok(vec![Data::Tensor(input.with_layout(layout))])
}

/// Holds a view against its type, which was inferred before all sizes were known.
fn check_shape(value: ValueId, view: &Layout, task: &Task<'_>) -> Result<(), RunError> {
    let ty = tensor_type(value, task)?;
    let planned = task.dims.shape(&ty.shape);
    let planned = planned.map_err(|reason| in_value(value, task, reason))?;
    if size(ty.dtype, &planned).is_none() {
        let reason = format!("{}{planned:?} is too large", ty.dtype);
        return Err(in_value(value, task, reason));
    }
    if planned == view.shape {
        return Ok(());
    }
    let (found, planned) = (&view.shape, &planned);
    let reason = format!("that is {planned:?}, and the data gives {found:?}");
    let help = "a bound or a size in the formula is out of range for the sizes of this data";
    Err(in_value(value, task, reason).help(help))
}

fn reshape(node: &OpNode, task: &Task<'_>) -> Result<Vec<Data>, RunError> {
    check_contiguous(node, task)?;
    let input = task.tensor(argument(node)?)?;
    let result = node.results[0];
    let ty = tensor_type(result, task)?;
    let shape = task
        .dims
        .shape(&ty.shape)
        .map_err(|e| in_value(result, task, e))?;
    let layout = Layout {
        offset: input.layout.offset,
        ..Layout::contiguous(&shape)
    };
    if layout.elements() != input.layout.elements() {
        let (from, to) = (&input.layout.shape, &shape);
        return Err(RunError::new(format!(
            "{from:?} cannot take the shape {to:?}"
        )));
    }
    Ok(vec![Data::Tensor(input.with_layout(layout))])
}

fn take_columns(
    columns: fn(&TableType, &Attrs) -> Vec<usize>,
    node: &OpNode,
    task: &Task<'_>,
) -> Result<Vec<Data>, RunError> {
    let source = argument(node)?;
    let (ValueType::Table(ty), Data::Table(table)) =
        (&task.graph.values[source].ty, task.one(source)?)
    else {
        return Err(fault(format!("`{}` takes what is no table", node.name)));
    };
    let taken = columns(ty, &node.attrs);
    let result = &task.graph.values[node.results[0]].ty;
    let data = match (result, &taken[..]) {
        (ValueType::Table(ty), _) => Data::Table(Table {
            cells: ty.columns.clone(),
            rows: table.rows,
            columns: taken.iter().map(|at| table.columns[*at].clone()).collect(),
        }),
        (_, [column]) => table.columns[*column].clone().into_data(),
        _ => {
            return Err(fault(format!(
                "`{}` takes several columns as one",
                node.name
            )));
        }
    };
    Ok(vec![data])
}

fn check_contiguous(node: &OpNode, task: &Task<'_>) -> Result<(), RunError> {
    for value in node.args.iter().filter_map(Arg::value) {
        let whole = |data: &Data| match data {
            Data::Tensor(tensor) => tensor.layout.is_contiguous(),
            _ => true,
        };
        let fine = match task.values.get(&value) {
            Some(Held::One(data)) => whole(data),
            Some(Held::Items(items)) => items.iter().all(whole),
            None => true,
        };
        if !fine {
            let message = format!("`{}` needs {value:?} without gaps", node.name);
            return Err(fault(message));
        }
    }
    Ok(())
}

/// Space for the scalar arguments of an op, as tensors without axes.
pub(super) fn scalars(node: &OpNode, task: &Task<'_>) -> Result<Vec<Option<Tensor>>, RunError> {
    let one = |arg: &Arg| {
        let Arg::Scalar(scalar, dtype) = arg else {
            return Ok(None);
        };
        let bytes = scalar::bytes(scalar, *dtype, &task.dims).map_err(RunError::new)?;
        let mut buffer = task
            .scalars
            .allocate(bytes.len())
            .map_err(|shortage| task.shortage(&node.name, shortage))?;
        buffer.bytes_mut().copy_from_slice(&bytes);
        Ok(Some(Tensor::contiguous(*dtype, &[], buffer)))
    };
    node.args.iter().map(one).collect()
}

fn inputs<'a>(
    node: &OpNode,
    task: &'a Task<'_>,
    scalars: &'a [Option<Tensor>],
) -> Result<Vec<View<'a>>, RunError> {
    let mut views = Vec::new();
    for (arg, scalar) in node.args.iter().zip(scalars) {
        match (arg, scalar) {
            (_, Some(scalar)) => views.push(scalar.view()),
            (Arg::Items(value), _) => match task.values.get(value) {
                Some(Held::Items(items)) => views.extend(items.iter().filter_map(tensor_view)),
                _ => return Err(fault(format!("{value:?} is not held as items"))),
            },
            (Arg::Value(value), _) => views.push(task.tensor(*value)?.view()),
            (Arg::Scalar(..), None) => {}
        }
    }
    Ok(views)
}

fn tensor_view(data: &Data) -> Option<View<'_>> {
    match data {
        Data::Tensor(tensor) => Some(tensor.view()),
        _ => None,
    }
}

fn argument(node: &OpNode) -> Result<ValueId, RunError> {
    let first = node.args.first().and_then(Arg::value);
    first.ok_or_else(|| fault(format!("`{}` has no value to read", node.name)))
}

/// The type of a value that is a tensor.
pub(crate) fn tensor_type<'a>(value: ValueId, task: &Task<'a>) -> Result<&'a TensorType, RunError> {
    let graph = task.graph;
    let ty = graph.values[value].ty.tensor();
    ty.ok_or_else(|| fault(format!("{value:?} is no tensor where one is computed")))
}

/// Names the value whose size is at fault.
pub(crate) fn in_value(value: ValueId, task: &Task<'_>, reason: String) -> RunError {
    let value = &task.graph.values[value];
    RunError::new(format!("`{}` is {}: {reason}", value.name, value.ty))
}
