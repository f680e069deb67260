//! The heap of the tests of this crate, which counts what each thread holds.
#![expect(
    unsafe_code,
    reason = "an allocator is an unsafe trait; it hands all on to the system's"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

#[global_allocator]
static HEAP: Counting = Counting;

struct Counting;

thread_local! {
    static USED: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

/// Most bytes that this thread took from the heap at once while it did something, beyond what it
/// held before.
pub(super) fn peak<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let before = USED.get();
    PEAK.set(before);
    let done = work();
    (done, (PEAK.get() - before).unsigned_abs() as u64)
}

fn count(bytes: isize) {
    // A thread that ends frees its own thread-locals, and is counted no more.
    let _ = USED.try_with(|used| {
        used.set(used.get() + bytes);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(used.get())));
    });
}

// SAFETY: all is the system's; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: as the caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as isize - layout.size() as isize);
        // SAFETY: as the caller promises.
        unsafe { System.realloc(place, layout, size) }
    }
}
