use proptest::prelude::*;
use proptest::sample::Index;

use super::*;
use crate::support::gpu;

const GB: u64 = 1_000_000_000;

fn request(cpus: u32, memory: u64) -> Request {
    Request {
        cpus,
        memory,
        gpus: GpuCount::NONE,
        gpu_type: None,
        vram: None,
    }
}

/// A request for GPUs in ten-thousandths.
fn gpus(gpus: u32, gpu_type: Option<&str>, vram: Option<u64>) -> Request {
    Request {
        gpus: GpuCount(gpus),
        gpu_type: gpu_type.map(str::to_owned),
        vram,
        ..request(1, 1)
    }
}

/// A ledger with many cpus and these devices.
fn with(devices: &[(usize, &Gpu)]) -> Ledger {
    Ledger::new(1000, 1000).with_gpus(devices.iter().copied())
}

/// Asks until it is refused.
fn fill(ledger: &mut Ledger, request: &Request) -> (Vec<Grant>, Lack) {
    let mut grants = Vec::new();
    loop {
        match ledger.grant(request, 0) {
            Ok(grant) => grants.push(grant),
            Err(lack) => return (grants, lack),
        }
    }
}

#[test]
fn a_request_is_granted_whole_or_not_at_all() {
    let full = Ledger::new(4, 100);
    let mut ledger = full.clone();
    let first = ledger.grant(&request(3, 60), 0).unwrap();
    assert_eq!(ledger.grant(&request(2, 10), 0).unwrap_err(), Lack::Cpus);
    assert_eq!(ledger.grant(&request(1, 41), 0).unwrap_err(), Lack::Memory);
    let second = ledger.grant(&request(1, 40), 0).unwrap();
    ledger.give_back(first);
    ledger.give_back(second);
    assert_eq!(ledger, full);
}

#[test]
fn stored_values_take_room_beside_others_but_do_not_block_a_task_for_ever() {
    let mut ledger = Ledger::new(4, 100);
    let alone = ledger.grant(&request(1, 90), 50).unwrap();
    assert_eq!(ledger.grant(&request(1, 10), 1).unwrap_err(), Lack::Memory);
    let beside = ledger.grant(&request(1, 10), 0).unwrap();
    ledger.give_back(alone);
    ledger.give_back(beside);
}

#[test]
fn shares_add_up_to_one_device_and_no_more() {
    let l4 = gpu("L4", 24 * GB);
    let tenths = gpus(1_000, None, Some(GB));
    let (grants, lack) = fill(&mut with(&[(0, &l4)]), &tenths);
    assert_eq!((grants.len(), lack), (10, Lack::Gpus));
    let halves = gpus(5_000, None, Some(GB));
    let (grants, lack) = fill(&mut with(&[(0, &l4)]), &halves);
    assert_eq!((grants.len(), lack), (2, Lack::Gpus));
    // Three of 0.3333 leave 0.0001, which is a share like another.
    let mut ledger = with(&[(0, &l4)]);
    let (thirds, _) = fill(&mut ledger, &gpus(3_333, None, Some(GB)));
    assert_eq!(thirds.len(), 3);
    assert!(ledger.grant(&gpus(1, None, Some(GB)), 0).is_ok());
}

#[test]
fn device_memory_ends_sharing_before_the_shares_do() {
    let l4 = gpu("L4", 24 * GB);
    let (grants, lack) = fill(&mut with(&[(0, &l4)]), &gpus(1_000, None, Some(7 * GB)));
    assert_eq!((grants.len(), lack), (3, Lack::Vram));
    // What nobody knows may be all of it.
    let (grants, lack) = fill(&mut with(&[(0, &l4)]), &gpus(1_000, None, None));
    assert_eq!((grants.len(), lack), (1, Lack::Vram));
    let (grants, lack) = fill(&mut with(&[(0, &l4)]), &gpus(1_000, None, Some(25 * GB)));
    assert_eq!((grants.len(), lack), (0, Lack::Vram));
}

#[test]
fn several_devices_are_of_one_node_and_type() {
    let (l4, t4) = (gpu("L4", 24 * GB), gpu("T4", 16 * GB));
    let devices = [(0, &l4), (0, &t4), (1, &l4), (1, &l4), (1, &l4)];
    let mut ledger = with(&devices);
    let two = gpus(20_000, None, None);
    // One of the first node is left for who asks for one.
    let pair = ledger.grant(&two, 0).unwrap();
    assert_eq!(pair.devices, [2, 3]);
    assert_eq!(ledger.grant(&two, 0).unwrap_err(), Lack::Gpus);
    let one = ledger.grant(&gpus(10_000, Some("L4"), None), 0).unwrap();
    assert_eq!(one.devices, [0]);
    let other = ledger.grant(&gpus(10_000, Some("L4"), None), 0).unwrap();
    assert_eq!(other.devices, [4]);
    let t4 = ledger.grant(&gpus(1_000, Some("T4"), Some(GB)), 0).unwrap();
    assert_eq!(t4.devices, [1]);
    assert_eq!(
        ledger.grant(&gpus(1, Some("V100"), None), 0).unwrap_err(),
        Lack::Gpus
    );
    for grant in [pair, one, other, t4] {
        ledger.give_back(grant);
    }
    assert_eq!(ledger, with(&devices));
}

#[test]
fn shares_are_packed_so_that_whole_devices_stay_free() {
    let l4 = gpu("L4", 24 * GB);
    let mut ledger = with(&[(0, &l4), (0, &l4)]);
    let share = gpus(2_500, None, Some(GB));
    let shares: Vec<_> = (0..4).map(|_| ledger.grant(&share, 0).unwrap()).collect();
    assert!(shares.iter().all(|share| share.devices == [0]));
    let whole = ledger.grant(&gpus(10_000, None, None), 0).unwrap();
    assert_eq!(whole.devices, [1]);
    // A whole device has all its memory, whatever part of it was asked for.
    assert_eq!(ledger.grant(&share, 0).unwrap_err(), Lack::Gpus);
}

/// What the tests hold grants against: for each device what is held of it, added up anew.
struct Model {
    cpus: u64,
    memory: u64,
    devices: Vec<(usize, &'static str, u64)>,
}

const MODEL: [(usize, &str, u64); 6] = [
    (0, "A", 10),
    (0, "A", 10),
    (0, "B", 6),
    (1, "A", 10),
    (1, "B", 6),
    (1, "B", 6),
];

impl Model {
    fn new() -> Self {
        Self {
            cpus: 8,
            memory: 40,
            devices: MODEL.to_vec(),
        }
    }

    fn ledger(&self) -> Ledger {
        let gpus: Vec<_> = self
            .devices
            .iter()
            .map(|(node, name, vram)| (*node, gpu(name, *vram)))
            .collect();
        let gpus = gpus.iter().map(|(node, gpu)| (*node, gpu));
        Ledger::new(self.cpus as u32, self.memory).with_gpus(gpus)
    }

    /// Ten-thousandths and bytes of a device that one task has.
    fn part(&self, request: &Request, device: usize) -> (u64, u64) {
        let gpus = u64::from(request.gpus.0).min(10_000);
        (gpus, request.vram.unwrap_or(self.devices[device].2))
    }

    /// Whether what is held, on such devices, is within the machine.
    fn holds(&self, held: &[(Request, Vec<usize>)], stored: u64) -> bool {
        let cpus: u64 = held
            .iter()
            .map(|(request, _)| u64::from(request.cpus))
            .sum();
        let memory: u64 = held.iter().map(|(request, _)| request.memory).sum();
        let fits = |device: usize| {
            let on_it = held.iter().filter(|(_, on)| on.contains(&device));
            let parts = on_it.map(|(request, _)| self.part(request, device));
            let (gpus, vram) = parts.fold((0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
            gpus <= 10_000 && vram <= self.devices[device].2
        };
        let stored = if held.len() > 1 { stored } else { 0 };
        cpus <= self.cpus && memory + stored <= self.memory && (0..self.devices.len()).all(fits)
    }

    /// All sets of devices that are as a request asks for, whoever holds them.
    fn sets(&self, request: &Request) -> Vec<Vec<usize>> {
        let count = request.gpus.0.div_ceil(10_000);
        let all = 0..1_u32 << self.devices.len();
        let sets = all.filter(|set| set.count_ones() == count).map(|set| {
            let devices = 0..self.devices.len();
            devices.filter(|device| set >> device & 1 == 1).collect()
        });
        let is_asked_for = |set: &Vec<usize>| {
            let kind = |device: &usize| (self.devices[*device].0, self.devices[*device].1);
            let of_type = |device: &usize| match &request.gpu_type {
                Some(name) => self.devices[*device].1 == name,
                None => true,
            };
            set.windows(2).all(|pair| kind(&pair[0]) == kind(&pair[1])) && set.iter().all(of_type)
        };
        sets.filter(is_asked_for).collect()
    }
}

fn requests() -> impl Strategy<Value = Request> {
    let shares = prop_oneof![
        Just(0),
        1..10_000_u32,
        Just(2_500),
        Just(5_000),
        (1..4_u32).prop_map(|whole| whole * 10_000)
    ];
    let names = prop_oneof![
        Just(None),
        Just(Some("A".to_owned())),
        Just(Some("B".to_owned()))
    ];
    let vram = prop::option::of(0..12_u64);
    (1..5_u32, 0..30_u64, shares, names, vram).prop_map(|(cpus, memory, gpus, gpu_type, vram)| {
        Request {
            cpus,
            memory,
            gpus: GpuCount(gpus),
            gpu_type,
            vram,
        }
    })
}

proptest! {
    /// A request is granted exactly when some set of devices would do, within the machine, and
    /// all is there again in the end.
    #[test]
    fn grants_are_those_of_brute_force(
        turns in prop::collection::vec((requests(), any::<bool>(), any::<Index>(), 0..20_u64), 1..60),
    ) {
        let model = Model::new();
        let mut ledger = model.ledger();
        let mut held: Vec<(Request, Vec<usize>)> = Vec::new();
        let mut grants: Vec<Grant> = Vec::new();
        for (request, ends, which, stored) in turns {
            if ends && !grants.is_empty() {
                let which = which.index(grants.len());
                held.swap_remove(which);
                ledger.give_back(grants.swap_remove(which));
                continue;
            }
            let with = |set: Vec<usize>| {
                let mut held = held.clone();
                held.push((request.clone(), set));
                held
            };
            let mut sets = model.sets(&request).into_iter();
            let fits = sets.any(|set| model.holds(&with(set), stored));
            let granted = ledger.grant(&request, stored);
            prop_assert_eq!(granted.is_ok(), fits, "{:?} beside {:?}", request, held);
            let Ok(grant) = granted else { continue };
            let devices = grant.devices.clone();
            prop_assert!(model.sets(&request).contains(&devices));
            held = with(devices);
            prop_assert!(model.holds(&held, stored));
            grants.push(grant);
        }
        grants.into_iter().for_each(|grant| ledger.give_back(grant));
        prop_assert_eq!(ledger, model.ledger());
    }
}
