//! Notices that a mapped file was cut short or changed.
//!
//! Who reads a page that the file no longer has gets SIGBUS, which would end the process. The
//! handler here lays zeros over the rest of the map and notes it, so that the reader goes on, and
//! is told when it asks. It touches nothing but atomics, since it may come at any instruction.
#![expect(
    unsafe_code,
    reason = "signal handlers and fixed maps are calls of the C library; each says why it is sound"
)]

use std::fs::Metadata;
use std::mem;
use std::path::Path;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

use crate::stamp::Stamp;

/// Looks after one map until it is dropped.
pub(super) struct Watch {
    slot: &'static Slot,
    stamp: Stamp,
}

impl Watch {
    /// Looks after the map of a file, of which `metadata` tells.
    pub(super) fn new(map: &[u8], metadata: &Metadata) -> Self {
        PREVIOUS.get_or_init(install);
        let start = map.as_ptr() as usize;
        let mut slot = &FIRST;
        while !slot.claim(start, start + map.len()) {
            slot = slot.next.get_or_init(|| Box::new(Slot::free()));
        }
        Self {
            slot,
            stamp: Stamp::of(metadata),
        }
    }

    /// Whether the file is as it was.
    ///
    /// # Errors
    /// What happened to it.
    pub(super) fn check(&self, path: &Path) -> Result<(), &'static str> {
        if self.slot.is_cut.load(SeqCst) {
            return Err("it was cut short, or could no longer be read,");
        }
        // Of a page that is cut in its middle, the rest reads as zeros without a signal. Another
        // file may have taken the path: the mapped one lives on.
        match Stamp::at(path) {
            Ok(now) if now.is_of_same_file(&self.stamp) && !now.agrees(&self.stamp) => {
                Err("it was changed")
            }
            _ => Ok(()),
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.slot.release();
    }
}

/// Addresses of a map, in a list that grows and never shrinks: the handler may be in it.
struct Slot {
    /// Where the map begins; 0 where the slot is free.
    start: AtomicUsize,
    end: AtomicUsize,
    is_cut: AtomicBool,
    next: OnceLock<Box<Slot>>,
}

static FIRST: Slot = Slot::free();

/// What handled the signal before.
static PREVIOUS: OnceLock<libc::sigaction> = OnceLock::new();

impl Slot {
    const fn free() -> Self {
        Self {
            start: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            is_cut: AtomicBool::new(false),
            next: OnceLock::new(),
        }
    }

    fn claim(&self, start: usize, end: usize) -> bool {
        let is_free = self.start.compare_exchange(0, start, SeqCst, SeqCst);
        if is_free.is_ok() {
            self.is_cut.store(false, SeqCst);
            self.end.store(end, SeqCst);
        }
        is_free.is_ok()
    }

    fn release(&self) {
        self.end.store(0, SeqCst);
        self.start.store(0, SeqCst);
    }

    fn holds(&self, address: usize) -> bool {
        (self.start.load(SeqCst)..self.end.load(SeqCst)).contains(&address)
    }

    /// Lays zeros over the map from the page of an address on.
    fn cut(&self, address: usize) -> bool {
        self.is_cut.store(true, SeqCst);
        // SAFETY: it only asks for a number.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        let start = address & !(page - 1);
        let length = self.end.load(SeqCst).saturating_sub(start);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANON | libc::MAP_FIXED;
        let start = ptr::with_exposed_provenance_mut(start);
        // SAFETY: the pages are of a map that lives, because somebody reads it; they stay readable.
        let zeros = unsafe { libc::mmap(start, length, libc::PROT_READ, flags, -1, 0) };
        zeros != libc::MAP_FAILED
    }
}

fn install() -> libc::sigaction {
    // SAFETY: all zeros are a `sigaction`: the default one.
    let (mut ours, mut previous): (libc::sigaction, libc::sigaction) = unsafe { mem::zeroed() };
    ours.sa_sigaction = handle as *const () as usize;
    ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    // SAFETY: both live through the call, and `handle` is what `SA_SIGINFO` asks for. A failure
    // leaves all as it was.
    unsafe { libc::sigaction(libc::SIGBUS, &ours, &mut previous) };
    previous
}

extern "C" fn handle(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the system gives what it tells of the signal.
    let address = unsafe { (*info).si_addr() } as usize;
    let mut slots = std::iter::successors(Some(&FIRST), |slot| slot.next.get().map(Box::as_ref));
    let slot = slots.find(|slot| slot.holds(address));
    if slot.is_some_and(|slot| slot.cut(address)) {
        return;
    }
    // None of ours: the instruction is tried again, and whoever was here before gets the signal.
    // SAFETY: it is what the system gave, or all zeros, which is the default.
    unsafe {
        let default = mem::zeroed();
        libc::sigaction(signal, PREVIOUS.get().unwrap_or(&default), ptr::null_mut());
    }
}
