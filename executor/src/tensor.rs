//! What flows at run time: tensors in charged buffers, and text.

use std::fmt;
use std::sync::Arc;

use haul_ir::dtype::DType;
use haul_ir::tensor::{Layout, View};

use crate::memory::{Account, Buffer, Charge};
use crate::strided::Walk;

/// Elements that are read in order at a time.
const BLOCK: usize = 1 << 14;

/// The data of one value, or of one item of it.
#[derive(Clone)]
pub(crate) enum Data {
    Tensor(Tensor),
    Text(Arc<Text>),
}

/// A view of a buffer that others may share.
#[derive(Clone)]
pub(crate) struct Tensor {
    pub(crate) dtype: DType,
    pub(crate) layout: Layout,
    pub(crate) buffer: Arc<Buffer>,
}

/// The contents of a text file, charged.
pub(crate) struct Text {
    pub(crate) text: String,
    pub(crate) charge: Charge,
}

impl Data {
    /// Bytes of its elements, or of the text.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Data::Tensor(tensor) => tensor.layout.elements() as u64 * tensor.dtype.size(),
            Data::Text(text) => text.text.len() as u64,
        }
    }

    /// Charges another account instead of the task that made it.
    pub(crate) fn move_to(&self, account: &Arc<Account>) {
        match self {
            Data::Tensor(tensor) => tensor.buffer.charge().move_to(account),
            Data::Text(text) => text.charge.move_to(account),
        }
    }
}

/// Its type with the sizes that it has: `f32[150, 8]`.
impl fmt::Display for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Data::Tensor(tensor) => write!(f, "{}{:?}", tensor.dtype, tensor.layout.shape),
            Data::Text(_) => f.write_str("text"),
        }
    }
}

impl Tensor {
    /// All of a buffer, row-major.
    pub(crate) fn contiguous(dtype: DType, shape: &[usize], buffer: Buffer) -> Self {
        Self {
            dtype,
            layout: Layout::contiguous(shape),
            buffer: Arc::new(buffer),
        }
    }

    /// Calls `visit` with the elements in row-major order, a block at a time.
    ///
    /// # Errors
    /// The first of `visit`.
    pub(crate) fn for_each_block<E>(
        &self,
        visit: &mut dyn FnMut(&mut [u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let size = self.dtype.size() as usize;
        let walk = Walk::new(&self.layout);
        let mut block = vec![0_u128; BLOCK];
        let block: &mut [u8] = bytemuck::cast_slice_mut(&mut block);
        let elements = self.layout.elements();
        for start in (0..elements).step_by(BLOCK) {
            let part = &mut block[..BLOCK.min(elements - start) * size];
            walk.copy(self.buffer.bytes(), size, start, part);
            visit(part)?;
        }
        Ok(())
    }

    pub(crate) fn view(&self) -> View<'_> {
        View {
            dtype: self.dtype,
            layout: self.layout.clone(),
            bytes: self.buffer.bytes(),
        }
    }
}

/// Bytes of a tensor, or nothing where no memory could hold it. A size of 0 makes no room for
/// others to be huge: the strides of an empty tensor are counted as well.
pub(crate) fn size(dtype: DType, shape: &[usize]) -> Option<usize> {
    let strides = shape.iter().map(|size| *size.max(&1));
    let bytes = strides.fold(Some(dtype.size() as usize), |product, size| {
        product?.checked_mul(size)
    })?;
    isize::try_from(bytes).ok()?;
    Some(if shape.contains(&0) { 0 } else { bytes })
}
