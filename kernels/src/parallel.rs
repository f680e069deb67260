//! Work shared out to the ambient pool behind plain function pointers: compiled once, not once
//! for each op and dtype.

use rayon::prelude::*;

/// Calls `fill` with every chunk of `chunk` bytes and its position.
pub(crate) fn chunks(bytes: &mut [u8], chunk: usize, fill: &(dyn Fn(usize, &mut [u8]) + Sync)) {
    if bytes.len() <= chunk {
        if !bytes.is_empty() {
            fill(0, bytes);
        }
        return;
    }
    let chunks = bytes.par_chunks_mut(chunk).enumerate();
    chunks.for_each(|(position, bytes)| fill(position, bytes));
}

/// Runs both, at the same time where that is worth it.
pub(crate) fn join(parallel: bool, a: &mut (dyn FnMut() + Send), b: &mut (dyn FnMut() + Send)) {
    if parallel {
        rayon::join(a, b);
    } else {
        a();
        b();
    }
}
