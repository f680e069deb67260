//! Inputs of a fused group, read a block at a time.

use super::{BLOCK, JOB};
use crate::memory::Scratch;
use crate::strided::Walk;
use crate::tensor::Tensor;

/// An input of the group.
pub(super) struct Source<'a> {
    size: usize,
    kind: SourceKind<'a>,
}

enum SourceKind<'a> {
    /// The same element for all: a block of it.
    Splat(Scratch),
    /// All elements in order.
    Slice(&'a [u8]),
    /// Elements here and there.
    Strided(Walk, &'a [u8]),
}

impl<'a> Source<'a> {
    /// The elements of a tensor, broadcast to the shape of the group.
    pub(super) fn new(tensor: &'a Tensor, shape: &[usize]) -> Self {
        let size = tensor.dtype.size() as usize;
        let bytes = tensor.buffer.bytes();
        let walk = Walk::new(&tensor.layout.broadcast_to(shape));
        if shape.contains(&0) {
            return Self::splat(&vec![0; size]);
        }
        if walk.is_one_element() {
            let first = tensor.layout.offset * size;
            return Self::splat(&bytes[first..first + size]);
        }
        let kind = match walk.contiguous() {
            Some(range) => SourceKind::Slice(&bytes[range.start * size..range.end * size]),
            None => SourceKind::Strided(walk, bytes),
        };
        Self { size, kind }
    }

    /// The same element everywhere.
    pub(super) fn splat(element: &[u8]) -> Self {
        let mut block = Scratch::new(BLOCK * element.len());
        for space in block.bytes_mut().chunks_exact_mut(element.len()) {
            space.copy_from_slice(element);
        }
        Self {
            size: element.len(),
            kind: SourceKind::Splat(block),
        }
    }

    /// Space that [`Source::load`] may need.
    pub(super) fn scratch(&self) -> Scratch {
        match self.kind {
            SourceKind::Splat(_) => Scratch::new(0),
            SourceKind::Slice(_) | SourceKind::Strided(..) => Scratch::new(JOB * self.size),
        }
    }

    /// Reads the elements of a job into scratch, where they cannot be used where they lie.
    pub(super) fn load(&self, start: usize, len: usize, scratch: &mut Scratch) {
        let out = &mut scratch.bytes_mut()[..];
        match &self.kind {
            SourceKind::Strided(walk, bytes) => {
                walk.copy(bytes, self.size, start, &mut out[..len * self.size]);
            }
            SourceKind::Slice(bytes) if !is_aligned(bytes) => {
                let range = start * self.size..(start + len) * self.size;
                out[..len * self.size].copy_from_slice(&bytes[range]);
            }
            SourceKind::Slice(_) | SourceKind::Splat(_) => {}
        }
    }

    /// A block of a job that was loaded: `len` elements, `from` the start of the job.
    pub(super) fn block<'b>(
        &'b self,
        job: usize,
        from: usize,
        len: usize,
        scratch: &'b Scratch,
    ) -> &'b [u8] {
        let range = |start: usize| start * self.size..(start + len) * self.size;
        match &self.kind {
            SourceKind::Splat(block) => &block.bytes()[..len * self.size],
            SourceKind::Slice(bytes) if is_aligned(bytes) => &bytes[range(job + from)],
            SourceKind::Slice(_) | SourceKind::Strided(..) => &scratch.bytes()[range(from)],
        }
    }
}

/// Whether each block of a slice is aligned as kernels are promised.
fn is_aligned(bytes: &[u8]) -> bool {
    bytes.as_ptr().addr().is_multiple_of(64)
}
