//! Predicted times, with the terms they are made of.

/// A time in nanoseconds.
pub type Nanos = u64;

/// The predicted time of one kernel on one device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Starting it.
    pub launch: Nanos,
    /// Its arithmetic at the rate that its family reaches.
    pub compute: Nanos,
    /// Its bytes at the bandwidth of memory.
    pub memory: Nanos,
}

impl Cost {
    /// Arithmetic and memory overlap; the start does not.
    pub fn total(&self) -> Nanos {
        self.launch.saturating_add(self.compute.max(self.memory))
    }

    /// Whether memory, not arithmetic, sets its time.
    pub fn is_memory_bound(&self) -> bool {
        self.memory >= self.compute
    }
}
