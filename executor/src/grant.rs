//! The ledger of what the machine has and running tasks hold, in exact integers.

use haul_ir::graph::Request;

/// A whole GPU, in the ledger's ten-thousandths.
const WHOLE: u32 = 10_000;

/// What nobody holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ledger {
    cpus: u32,
    memory: u64,
    /// Free ten-thousandths of each GPU.
    gpus: Vec<u32>,
    /// Grants that are out.
    grants: usize,
}

/// What a running task holds: all that it requested.
#[derive(Debug)]
#[must_use]
pub(crate) struct Grant {
    cpus: u32,
    memory: u64,
    /// Ten-thousandths, by GPU.
    gpus: Vec<(usize, u32)>,
}

impl Ledger {
    pub(crate) fn new(cpus: u32, memory: u64, gpus: usize) -> Self {
        Self {
            cpus,
            memory,
            gpus: vec![WHOLE; gpus],
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
        let gpus = self.choose_gpus(request.gpus.0).ok_or("gpus")?;
        self.cpus -= request.cpus;
        self.memory -= request.memory;
        for (gpu, share) in &gpus {
            self.gpus[*gpu] -= share;
        }
        self.grants += 1;
        Ok(Grant {
            cpus: request.cpus,
            memory: request.memory,
            gpus,
        })
    }

    pub(crate) fn give_back(&mut self, grant: Grant) {
        self.cpus += grant.cpus;
        self.memory += grant.memory;
        for (gpu, share) in grant.gpus {
            self.gpus[gpu] += share;
        }
        self.grants -= 1;
    }

    /// Whole devices that nobody uses, or the fullest one that still has the share.
    fn choose_gpus(&self, wanted: u32) -> Option<Vec<(usize, u32)>> {
        let devices = self.gpus.iter().copied().enumerate();
        if wanted == 0 {
            return Some(Vec::new());
        }
        if wanted < WHOLE {
            let fullest = devices
                .filter(|(_, free)| *free >= wanted)
                .min_by_key(|(_, free)| *free);
            return fullest.map(|(gpu, _)| vec![(gpu, wanted)]);
        }
        let count = (wanted / WHOLE) as usize;
        let whole = devices.filter(|(_, free)| *free == WHOLE).take(count);
        let whole: Vec<_> = whole.collect();
        (whole.len() == count).then_some(whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use haul_ir::graph::GpuCount;

    fn request(cpus: u32, memory: u64, gpus: u32) -> Request {
        Request {
            cpus,
            memory,
            gpus: GpuCount(gpus),
            gpu_type: None,
            vram: None,
        }
    }

    #[test]
    fn a_request_is_granted_whole_or_not_at_all() {
        let full = Ledger::new(4, 100, 2);
        let mut ledger = full.clone();
        let first = ledger.grant(&request(3, 60, 2500), 0).unwrap();
        assert_eq!(ledger.grant(&request(2, 10, 0), 0).unwrap_err(), "cpus");
        assert_eq!(ledger.grant(&request(1, 41, 0), 0).unwrap_err(), "memory");
        assert_eq!(
            ledger.grant(&request(1, 10, 20_000), 0).unwrap_err(),
            "gpus"
        );
        // A share joins the device that has one taken, so that the other stays whole.
        let second = ledger.grant(&request(1, 40, 7500), 0).unwrap();
        assert_eq!(ledger.gpus, [0, WHOLE]);
        ledger.give_back(first);
        ledger.give_back(second);
        assert_eq!(ledger, full);
    }

    #[test]
    fn stored_values_take_room_beside_others_but_do_not_block_a_task_for_ever() {
        let mut ledger = Ledger::new(4, 100, 0);
        let alone = ledger.grant(&request(1, 90, 0), 50).unwrap();
        assert_eq!(ledger.grant(&request(1, 10, 0), 1).unwrap_err(), "memory");
        let beside = ledger.grant(&request(1, 10, 0), 0).unwrap();
        ledger.give_back(alone);
        ledger.give_back(beside);
    }
}
