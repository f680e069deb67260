//! The ledger of what the machine has and running tasks hold, in exact integers.

use haul_ir::graph::Request;

/// What nobody holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ledger {
    cpus: u32,
    memory: u64,
    /// Grants that are out.
    grants: usize,
}

/// What a running task holds: all that it requested.
#[derive(Debug)]
#[must_use]
pub(crate) struct Grant {
    cpus: u32,
    memory: u64,
}

impl Ledger {
    pub(crate) fn new(cpus: u32, memory: u64) -> Self {
        Self {
            cpus,
            memory,
            grants: 0,
        }
    }

    pub(crate) fn has_cpus(&self) -> bool {
        self.cpus > 0
    }

    /// Hands out a whole request, or tells the first resource that is lacking. Stored values
    /// take room as well, except that a task which would run alone may have what it requests.
    pub(crate) fn grant(&mut self, request: &Request, stored: u64) -> Result<Grant, &'static str> {
        let stored = if self.grants == 0 { 0 } else { stored };
        if request.cpus > self.cpus {
            return Err("cpus");
        }
        if request
            .memory
            .checked_add(stored)
            .is_none_or(|needed| needed > self.memory)
        {
            return Err("memory");
        }
        self.cpus -= request.cpus;
        self.memory -= request.memory;
        self.grants += 1;
        Ok(Grant {
            cpus: request.cpus,
            memory: request.memory,
        })
    }

    pub(crate) fn give_back(&mut self, grant: Grant) {
        self.cpus += grant.cpus;
        self.memory += grant.memory;
        self.grants -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use haul_ir::graph::GpuCount;

    fn request(cpus: u32, memory: u64) -> Request {
        Request {
            cpus,
            memory,
            gpus: GpuCount::NONE,
            gpu_type: None,
            vram: None,
        }
    }

    #[test]
    fn a_request_is_granted_whole_or_not_at_all() {
        let full = Ledger::new(4, 100);
        let mut ledger = full.clone();
        let first = ledger.grant(&request(3, 60), 0).unwrap();
        assert_eq!(ledger.grant(&request(2, 10), 0).unwrap_err(), "cpus");
        assert_eq!(ledger.grant(&request(1, 41), 0).unwrap_err(), "memory");
        let second = ledger.grant(&request(1, 40), 0).unwrap();
        ledger.give_back(first);
        ledger.give_back(second);
        assert_eq!(ledger, full);
    }

    #[test]
    fn stored_values_take_room_beside_others_but_do_not_block_a_task_for_ever() {
        let mut ledger = Ledger::new(4, 100);
        let alone = ledger.grant(&request(1, 90), 50).unwrap();
        assert_eq!(ledger.grant(&request(1, 10), 1).unwrap_err(), "memory");
        let beside = ledger.grant(&request(1, 10), 0).unwrap();
        ledger.give_back(alone);
        ledger.give_back(beside);
    }
}
