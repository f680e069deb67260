//! Memory: aligned buffers, each charged to the task or the store that holds it.
//!
//! A [`Charge`] is taken before memory is, and ends with it, so the accounts are exact: a task
//! cannot hold more than it requested, what it reads included, and all of them and the store
//! cannot hold more than the machine has. Freed buffers are kept for the next of their size, within
//! a share of the memory. What a device that is emulated holds, it takes of the machine's memory.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use bytemuck::{Pod, Zeroable};

use crate::error::IoError;
use crate::mapping::Mapping;

/// The unit of allocation; it carries the alignment.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
pub(crate) struct Block([u8; 64]);

const BLOCK: usize = size_of::<Block>();

/// Smaller buffers are left to the allocator.
const POOLED_BLOCKS: usize = 1024;

/// The memory of the machine that a run may use, or of a device that is emulated.
pub(crate) struct Memory {
    limit: u64,
    /// The memory of the machine, where this is that of a device.
    machine: Option<Arc<Memory>>,
    state: Mutex<State>,
    spares: Mutex<Vec<Weak<dyn Spare>>>,
}

#[derive(Default)]
struct State {
    used: u64,
    peak: u64,
    idle: BTreeMap<usize, Vec<Box<[Block]>>>,
    idle_bytes: u64,
}

/// Holds memory only as long as nobody else needs it.
pub(crate) trait Spare: Send + Sync {
    /// Frees all that it holds.
    fn give_up(&self);
}

impl Memory {
    pub(crate) fn new(limit: u64) -> Arc<Self> {
        Arc::new(Self {
            limit,
            machine: None,
            state: Mutex::default(),
            spares: Mutex::default(),
        })
    }

    /// The memory of a device that is emulated: what it holds is taken of the machine's as well.
    pub(crate) fn device(machine: &Arc<Memory>, limit: u64) -> Arc<Self> {
        Arc::new(Self {
            limit,
            machine: Some(machine.clone()),
            state: Mutex::default(),
            spares: Mutex::default(),
        })
    }

    /// Names one that gives up what it holds when memory is short.
    pub(crate) fn add_spare(&self, spare: Weak<dyn Spare>) {
        let spares = &self.of_machine().spares;
        let mut spares = spares.lock().unwrap_or_else(PoisonError::into_inner);
        spares.push(spare);
    }

    /// Bytes that are charged now.
    pub(crate) fn used(&self) -> u64 {
        self.state().used
    }

    /// Most bytes that were ever charged at once.
    pub(crate) fn peak(&self) -> u64 {
        self.state().peak
    }

    /// An account that can hold at most `limit` bytes.
    pub(crate) fn account(self: &Arc<Self>, limit: u64) -> Arc<Account> {
        Arc::new(Account {
            limit,
            used: AtomicU64::new(0),
            peak: AtomicU64::new(0),
            memory: self.clone(),
        })
    }

    fn take(&self, bytes: u64) -> Result<(), Shortage> {
        let mut state = self.state();
        let (used, limit) = (state.used, self.limit);
        let holder = match self.machine {
            Some(_) => Holder::Device,
            None => Holder::Machine,
        };
        let total = used.checked_add(bytes).filter(|total| *total <= limit);
        let total = total.ok_or(Shortage::of(bytes, used, limit, holder))?;
        if let Some(machine) = &self.machine {
            machine.take(bytes)?;
        }
        state.used = total;
        state.peak = state.peak.max(total);
        if total + state.idle_bytes > limit {
            state.idle.clear();
            state.idle_bytes = 0;
        }
        Ok(())
    }

    fn give_back(&self, bytes: u64) {
        self.state().used -= bytes;
        if let Some(machine) = &self.machine {
            machine.give_back(bytes);
        }
    }

    /// Frees what is held in case that it is needed.
    fn free_spares(&self) {
        let spares = &self.of_machine().spares;
        let spares = spares
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let spares = spares.iter().filter_map(Weak::upgrade);
        spares.for_each(|spare| spare.give_up());
    }

    fn of_machine(&self) -> &Memory {
        self.machine.as_deref().unwrap_or(self)
    }

    fn reuse(&self, blocks: usize) -> Option<Box<[Block]>> {
        let mut state = self.state();
        let found = state.idle.get_mut(&blocks)?.pop()?;
        state.idle_bytes -= bytes_of(blocks);
        Some(found)
    }

    fn recycle(&self, blocks: Box<[Block]>) {
        let mut state = self.state();
        let idle = state.idle_bytes + bytes_of(blocks.len());
        if blocks.len() >= POOLED_BLOCKS && idle <= (self.limit - state.used).min(self.limit / 8) {
            state.idle_bytes = idle;
            state.idle.entry(blocks.len()).or_default().push(blocks);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What one task, or the store of values between tasks, holds.
pub(crate) struct Account {
    limit: u64,
    used: AtomicU64,
    peak: AtomicU64,
    memory: Arc<Memory>,
}

impl Account {
    /// Bytes that it holds.
    pub(crate) fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Most bytes that it held at once.
    pub(crate) fn peak(&self) -> u64 {
        self.peak.load(Ordering::Relaxed)
    }

    /// Counts bytes that it uses and another account pays for.
    pub(crate) fn hold(self: &Arc<Self>, bytes: u64) -> Result<Hold, Shortage> {
        let account = self.clone();
        self.count(bytes)?;
        Ok(Hold { account, bytes })
    }

    /// Reserves bytes that something else allocates.
    pub(crate) fn charge(self: &Arc<Self>, bytes: u64) -> Result<Charge, Shortage> {
        self.count(bytes)?;
        if let Err(shortage) = self.memory.take(bytes) {
            self.used.fetch_sub(bytes, Ordering::Relaxed);
            return Err(shortage);
        }
        let account = Mutex::new(self.clone());
        Ok(Charge { account, bytes })
    }

    fn count(&self, bytes: u64) -> Result<(), Shortage> {
        let add = |used: u64| used.checked_add(bytes).filter(|total| *total <= self.limit);
        let before = self
            .used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
        let before = before.map_err(|used| Shortage::of(bytes, used, self.limit, Holder::Task))?;
        self.peak.fetch_max(before + bytes, Ordering::Relaxed);
        Ok(())
    }

    /// A buffer of `len` bytes. What it holds is not said.
    pub(crate) fn allocate(self: &Arc<Self>, len: usize) -> Result<Buffer, Shortage> {
        self.allocate_of_free(len).or_else(|shortage| {
            if shortage.holder == Holder::Task {
                return Err(shortage);
            }
            self.memory.free_spares();
            self.allocate_of_free(len)
        })
    }

    /// As [`Account::allocate`], and what is spare stays where it is.
    pub(crate) fn allocate_of_free(self: &Arc<Self>, len: usize) -> Result<Buffer, Shortage> {
        let charge = self.charge(len as u64)?;
        let blocks = size_class(len.div_ceil(BLOCK));
        let refused = || {
            Shortage::of(
                len as u64,
                self.memory.used(),
                self.memory.limit,
                Holder::System,
            )
        };
        let reused = self.memory.of_machine().reuse(blocks);
        let blocks = match reused {
            Some(blocks) => blocks,
            None => bytemuck::allocation::try_zeroed_slice_box(blocks).map_err(|()| refused())?,
        };
        Ok(Buffer {
            space: Space::Own(blocks),
            len,
            charge,
        })
    }
}

/// Memory that is reserved; it ends when dropped.
pub(crate) struct Charge {
    account: Mutex<Arc<Account>>,
    bytes: u64,
}

impl Charge {
    /// Charges another account instead.
    pub(crate) fn move_to(&self, account: &Arc<Account>) {
        account.used.fetch_add(self.bytes, Ordering::Relaxed);
        account.peak.fetch_max(account.used(), Ordering::Relaxed);
        let old = std::mem::replace(&mut *self.account(), account.clone());
        old.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }

    fn account(&self) -> MutexGuard<'_, Arc<Account>> {
        self.account.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        let account = self.account().clone();
        account.used.fetch_sub(self.bytes, Ordering::Relaxed);
        account.memory.give_back(self.bytes);
    }
}

/// Memory of another account that this one uses; it ends when dropped.
pub(crate) struct Hold {
    account: Arc<Account>,
    bytes: u64,
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.account.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Bytes aligned to 64, charged to an account.
pub(crate) struct Buffer {
    space: Space,
    len: usize,
    charge: Charge,
}

enum Space {
    Own(Box<[Block]>),
    /// Of a file: the operating system keeps it in memory or not, as it likes.
    Mapped(Box<Mapping>),
}

impl Buffer {
    /// Bytes of a file that begin at a multiple of 64 in it; nobody pays for them.
    pub(crate) fn of_mapping(mapping: Mapping, account: &Arc<Account>) -> Self {
        Self {
            len: mapping.bytes().len(),
            space: Space::Mapped(Box::new(mapping)),
            charge: Charge {
                account: Mutex::new(account.clone()),
                bytes: 0,
            },
        }
    }

    pub(crate) fn is_mapped(&self) -> bool {
        matches!(self.space, Space::Mapped(_))
    }

    /// Whether its bytes were what they seemed; those of a mapped file may be no longer.
    ///
    /// # Errors
    /// As [`Mapping::check`].
    pub(crate) fn check(&self) -> Result<(), IoError> {
        match &self.space {
            Space::Own(_) => Ok(()),
            Space::Mapped(mapping) => mapping.check(),
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.space {
            Space::Own(blocks) => &bytemuck::cast_slice(blocks)[..self.len],
            Space::Mapped(mapping) => mapping.bytes(),
        }
    }

    /// Its bytes, to fill them; none of a mapped file, which is as it is.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        match &mut self.space {
            Space::Own(blocks) => &mut bytemuck::cast_slice_mut(blocks)[..self.len],
            Space::Mapped(_) => &mut [],
        }
    }

    /// Who pays for it.
    pub(crate) fn charge(&self) -> &Charge {
        &self.charge
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Space::Own(blocks) = &mut self.space {
            let memory = self.charge.account().memory.clone();
            memory.of_machine().recycle(std::mem::take(blocks));
        }
    }
}

/// Aligned space of a thread for blocks of elements; a fixed small amount, not charged.
pub(crate) struct Scratch(Vec<Block>);

impl Scratch {
    pub(crate) fn new(len: usize) -> Self {
        Self(vec![Block::zeroed(); len.div_ceil(BLOCK)])
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.0)
    }
}

/// Rounds up to one of eight sizes an octave, so that freed buffers find a new use.
fn size_class(blocks: usize) -> usize {
    if blocks < POOLED_BLOCKS {
        return blocks;
    }
    let step = 1 << (blocks.ilog2() - 3);
    blocks.next_multiple_of(step)
}

fn bytes_of(blocks: usize) -> u64 {
    (blocks * BLOCK) as u64
}

/// Why memory was not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shortage {
    /// Bytes that were asked for.
    pub(crate) needed: u64,
    /// Bytes that were held already.
    pub(crate) held: u64,
    /// Bytes there may be.
    pub(crate) limit: u64,
    /// Whose limit it is.
    pub(crate) holder: Holder,
}

/// Whose limit was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holder {
    /// What the task requested.
    Task,
    /// What the run may use of the machine.
    Machine,
    /// What a device has.
    Device,
    /// What the operating system gives.
    System,
}

impl Shortage {
    fn of(needed: u64, held: u64, limit: u64, holder: Holder) -> Self {
        Self {
            needed,
            held,
            limit,
            holder,
        }
    }
}

/// Prints bytes for people: `1.5 GiB`.
pub(crate) struct Bytes(pub(crate) u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
        match units.iter().find(|(shift, _)| self.0 >> shift > 0) {
            Some((shift, unit)) if self.0.is_multiple_of(1 << shift) => {
                write!(f, "{} {unit}", self.0 >> shift)
            }
            Some((shift, unit)) => {
                let value = self.0 as f64 / (1_u64 << shift) as f64;
                write!(f, "{value:.2} {unit}")
            }
            None => write!(f, "{} bytes", self.0),
        }
    }
}

#[cfg(test)]
mod tests;
