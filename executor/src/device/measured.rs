//! Kernels that take or give text, columns or tables, or give what only the data knows the size of:
//! they measure, space is made, they fill.

use std::sync::Arc;

use haul_ir::column::{DataMut, DataView, Heap as HeapOf, Measured};
use haul_ir::dtype::DType;
use haul_ir::graph::{Arg, OpNode};
use haul_ir::id::ValueId;
use haul_ir::op::{DataCall, Fill, KernelError, Measure};
use haul_ir::tensor::ViewMut;
use haul_ir::types::{CellKind, CellType, ValueType};
use indexmap::IndexMap;

use super::cpu::{Cpu, scalars};
use super::{Held, Task, fault};
use crate::error::RunError;
use crate::memory::{Buffer, Charge};
use crate::table::{ColumnSpace, Heap, HeapSpace, Table};
use crate::tensor::{Data, Tensor, Text};

/// Space for a result.
enum Space {
    Tensor(DType, Vec<usize>, Buffer),
    Column(ColumnSpace),
    Table(Arc<IndexMap<String, CellType>>, usize, Vec<ColumnSpace>),
    Text(Vec<u8>, Charge),
}

impl Cpu {
    /// Measures the results, learns their sizes, and fills them.
    pub(super) fn measured(
        &self,
        measure: Measure,
        fill: Fill,
        node: &OpNode,
        task: &mut Task<'_>,
    ) -> Result<Vec<Data>, RunError> {
        let failed = |error: KernelError| RunError::new(error.to_string());
        let inputs = inputs(node, task)?;
        let views: Vec<_> = inputs.iter().map(view).collect();
        let attrs = node.attrs.bind(&|symbol| task.dims.replace(symbol));
        let call = DataCall {
            inputs: &views,
            attrs: &attrs,
        };
        let measured = measure(&call).map_err(failed)?;
        for (value, size) in node.results.iter().zip(&measured) {
            let ty = &task.graph.values[*value].ty;
            task.dims.unify(ty, &size.shape).map_err(RunError::new)?;
        }
        let spaces = node.results.iter().zip(&measured);
        let spaces = spaces.map(|(value, size)| self.space_for(*value, size, &inputs, task));
        let mut spaces = spaces.collect::<Result<Vec<_>, _>>()?;
        let attrs = node.attrs.bind(&|symbol| task.dims.replace(symbol));
        let call = DataCall {
            inputs: &views,
            attrs: &attrs,
        };
        let mut outputs: Vec<_> = spaces.iter_mut().map(Space::output).collect();
        fill(&call, &mut outputs).map_err(failed)?;
        spaces.into_iter().map(Space::filled).collect()
    }

    fn space_for(
        &self,
        value: ValueId,
        size: &Measured,
        inputs: &[Data],
        task: &Task<'_>,
    ) -> Result<Space, RunError> {
        let value_name = &task.graph.values[value].name;
        let mut heaps = size.heaps.iter();
        let mut column = |cell: CellType| {
            let heap = match cell.kind {
                CellKind::Text => heaps.next().copied(),
                CellKind::Element(_) => None,
            };
            let heap = self.heap(heap, value_name, inputs, task)?;
            let allocate = |bytes| task.account.allocate(bytes);
            ColumnSpace::new(cell, rows(size), heap, &allocate)
                .map_err(|shortage| task.shortage(value_name, shortage))
        };
        Ok(match &task.graph.values[value].ty {
            ValueType::Tensor(ty) => {
                let buffer = self.space(value, ty, &size.shape, task)?;
                Space::Tensor(ty.dtype, size.shape.clone(), buffer)
            }
            ValueType::Column(ty) => Space::Column(column(ty.cell)?),
            ValueType::Table(ty) => {
                let columns = ty.columns.values().map(|cell| column(*cell));
                let columns = columns.collect::<Result<_, _>>()?;
                Space::Table(ty.columns.clone(), rows(size), columns)
            }
            ValueType::Text => {
                let Some(HeapOf::New(bytes)) = size.heaps.first() else {
                    return Err(fault(format!("{value:?} is a text without a length")));
                };
                let charge = task.account.charge(*bytes as u64);
                let charge = charge.map_err(|shortage| task.shortage(value_name, shortage))?;
                Space::Text(vec![0; *bytes], charge)
            }
        })
    }

    /// Where the letters of a column are to lie.
    fn heap(
        &self,
        heap: Option<HeapOf>,
        name: &str,
        inputs: &[Data],
        task: &Task<'_>,
    ) -> Result<HeapSpace, RunError> {
        let shared = |heap: Option<&Heap>| match heap {
            Some(heap) => Ok(HeapSpace::Shared(heap.clone())),
            None => Err(fault(format!(
                "`{name}` shares the letters of what has none"
            ))),
        };
        match heap {
            None => Ok(HeapSpace::None),
            Some(HeapOf::New(bytes)) => {
                let buffer = task.account.allocate(bytes);
                let buffer = buffer.map_err(|shortage| task.shortage(name, shortage))?;
                Ok(HeapSpace::New(buffer))
            }
            Some(HeapOf::Of { input, column }) => match inputs.get(input) {
                Some(Data::Column(column)) => shared(column.heap()),
                Some(Data::Table(table)) => {
                    shared(table.columns.get(column).and_then(|column| column.heap()))
                }
                Some(Data::Text(text)) => Ok(HeapSpace::Shared(Heap::Text(text.clone()))),
                _ => shared(None),
            },
        }
    }
}

impl Space {
    fn output(&mut self) -> DataMut<'_> {
        match self {
            Space::Tensor(dtype, shape, buffer) => DataMut::Tensor(ViewMut {
                dtype: *dtype,
                shape: shape.clone(),
                bytes: buffer.bytes_mut(),
            }),
            Space::Column(column) => DataMut::Column(column.space()),
            Space::Table(.., columns) => {
                DataMut::Table(columns.iter_mut().map(ColumnSpace::space).collect())
            }
            Space::Text(bytes, _) => DataMut::Text(bytes),
        }
    }

    fn filled(self) -> Result<Data, RunError> {
        Ok(match self {
            Space::Tensor(dtype, shape, buffer) => {
                Data::Tensor(Tensor::contiguous(dtype, &shape, buffer))
            }
            Space::Column(column) => column.filled().into_data(),
            Space::Table(cells, rows, columns) => Data::Table(Table {
                cells,
                rows,
                columns: columns.into_iter().map(ColumnSpace::filled).collect(),
            }),
            Space::Text(bytes, charge) => {
                let text = String::from_utf8(bytes);
                let text = text.map_err(|_| fault("a kernel made a text that is none".into()))?;
                Data::Text(Text::new(text, charge))
            }
        })
    }
}

/// The arguments of an op; the items of a collection one by one.
fn inputs(node: &OpNode, task: &Task<'_>) -> Result<Vec<Data>, RunError> {
    let mut inputs = Vec::new();
    for (arg, scalar) in node.args.iter().zip(scalars(node, task)?) {
        match (arg, scalar) {
            (_, Some(scalar)) => inputs.push(Data::Tensor(scalar)),
            (Arg::Items(value), _) => match task.values.get(value) {
                Some(Held::Items(items)) => inputs.extend(items.iter().cloned()),
                _ => return Err(fault(format!("{value:?} is not held as items"))),
            },
            (Arg::Value(value), _) => inputs.push(task.one(*value)?.clone()),
            (Arg::Scalar(..), None) => {}
        }
    }
    Ok(inputs)
}

fn view(data: &Data) -> DataView<'_> {
    match data {
        Data::Tensor(tensor) => DataView::Tensor(tensor.view()),
        Data::Column(column) => DataView::Column(column.view()),
        Data::Table(table) => {
            DataView::Table(table.columns.iter().map(|column| column.view()).collect())
        }
        Data::Text(text) => DataView::Text(text.as_str()),
    }
}

fn rows(size: &Measured) -> usize {
    size.shape.first().copied().unwrap_or(0)
}
