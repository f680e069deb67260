//! Tasks on GPUs that are emulated: which devices they get, what they hold there, what crosses.

use std::sync::{Condvar, Mutex};
use std::time::Duration;

use crate::run::options;
use crate::support::{MIB, Pipeline, TestOp, f32, gpu, value};
use haul_executor::{EmulatedGpu, Options, RunError, Silent, run};
use haul_ir::expr::Expr;
use haul_ir::graph::{GpuCount, Source};
use haul_ir::op::{CpuKernel, KernelCall, KernelError};
use haul_ir::plan::{Plan, Side};
use haul_ir::report::Report;
use haul_ir::target::Node;

/// Elements of an item, and its bytes.
const ITEM: u64 = 1024;
const BYTES: u64 = 4 * ITEM;

fn double(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    let input = call.inputs[0].contiguous::<f32>();
    let input = input.ok_or(KernelError::new("gaps"))?;
    let output = call.outputs[0].elements::<f32>();
    for (out, element) in output.iter_mut().zip(input) {
        *out = element * 2.0;
    }
    Ok(())
}

static DOUBLE: TestOp = TestOp {
    name: "double",
    kernel: CpuKernel::Array(double),
};

/// Items that are doubled on a GPU, of which each task requests so much.
fn plan(op: &'static TestOp, items: u64, gpus: u32, vram: Option<u64>, device: u64) -> Plan {
    let mut p = Pipeline::new();
    let (start, stop) = (0.0, (items * ITEM - 1) as f64);
    p.input(
        "all",
        Source::Linspace { start, stop },
        f32(&[items * ITEM]),
    );
    let of = p.graph.inputs.ids().next().unwrap();
    let split = Source::Split {
        of,
        axis: 0,
        size: ITEM,
    };
    let (collection, item) = p.items("items", split, f32(&[ITEM]));
    let stage = p.stage("doubled", Some(collection), 1, MIB);
    let doubled = p.op("doubled", op, vec![value(item)]);
    p.gives(doubled);
    p.npy("out/{item}.npy", doubled);
    let request = &mut p.graph.stages[stage].requests[0];
    request.gpus = GpuCount(gpus);
    request.vram = vram;
    let mut plan = p.plan();
    plan.target.nodes.push(Node {
        name: "node".into(),
        count: 1,
        cpus: 16,
        cpu: haul_ir::target::Cpu {
            name: "cpu".into(),
            peak: gpu("cpu", 0).peak,
            bandwidth: 1,
            node_bandwidth: 1,
            efficiency: gpu("cpu", 0).efficiency,
            launch: 0,
            provenance: gpu("cpu", 0).provenance,
        },
        memory: 64 * MIB,
        gpus: vec![gpu("L4", device)],
        source: None,
        price: None,
    });
    for group in plan.groups.iter_mut() {
        group.placement.side = Side::Gpu;
    }
    plan.stages[stage].gpu = Some(0);
    plan.stages[stage].peak_vram = Expr::from(2 * BYTES);
    plan
}

/// So many devices with so much memory, and cpus.
fn machine(options: Options, cpus: u32, count: usize, vram: u64) -> Options {
    let mut options = options;
    options.machine.cpus = cpus;
    options.machine.emulated = (0..count)
        .map(|_| EmulatedGpu {
            node: 0,
            gpu: gpu("L4", vram),
        })
        .collect();
    options
}

/// Runs a plan, and holds what it wrote against arithmetic.
fn check(plan: &Plan, cpus: u32, count: usize, vram: u64) -> Report {
    let folder = tempfile::tempdir().unwrap();
    let options = machine(options(folder.path(), cpus), cpus, count, vram);
    let report = run(plan, &options, &Silent).unwrap();
    for (item, written) in report.written.iter().enumerate() {
        assert_eq!(written.path, format!("out/{item}.npy"));
        let bytes = std::fs::read(folder.path().join(&written.path)).unwrap();
        let numbers = bytes[bytes.len() - BYTES as usize..].chunks_exact(4);
        let numbers = numbers.map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap()));
        let first = item as u64 * ITEM;
        let expected = (first..first + ITEM).map(|element| element as f32 * 2.0);
        assert!(numbers.eq(expected), "item {item}");
    }
    let tasks: u64 = report.devices.iter().map(|device| device.tasks).sum();
    assert_eq!(tasks, report.written.len() as u64);
    for device in &report.devices {
        assert!(device.emulated && device.name == "emulated L4");
        assert!(device.peak_vram <= device.vram);
        let crossed = device.tasks * BYTES;
        let copies = &device.copies;
        assert_eq!((copies.h2d.bytes, copies.d2h.bytes), (crossed, crossed));
        assert_eq!(
            (copies.h2d.values, copies.d2h.values),
            (device.tasks, device.tasks)
        );
    }
    report
}

fn failure(plan: &Plan, count: usize, vram: u64) -> RunError {
    let folder = tempfile::tempdir().unwrap();
    let options = machine(options(folder.path(), 4), 4, count, vram);
    run(plan, &options, &Silent).unwrap_err()
}

/// Tasks that meet: none ends before so many are there, and it is known how many ever were.
struct Meeting {
    /// Who is there, and the most that ever were.
    there: Mutex<(usize, usize)>,
    changed: Condvar,
}

impl Meeting {
    const fn new() -> Self {
        Self {
            there: Mutex::new((0, 0)),
            changed: Condvar::new(),
        }
    }

    /// Waits until `wanted` have been there at once; fails, rather than to wait for ever.
    fn attend(&self, wanted: usize) -> Result<(), KernelError> {
        let mut there = self.there.lock().unwrap();
        there.0 += 1;
        there.1 = there.1.max(there.0);
        self.changed.notify_all();
        let patience = Duration::from_secs(60);
        let is_short = |there: &mut (usize, usize)| there.1 < wanted;
        let met = self.changed.wait_timeout_while(there, patience, is_short);
        let (mut there, timeout) = met.unwrap();
        there.0 -= 1;
        match timeout.timed_out() {
            true => Err(KernelError::new("the others did not come")),
            false => Ok(()),
        }
    }

    fn most(&self) -> usize {
        self.there.lock().unwrap().1
    }
}

#[test]
fn eight_tasks_compute_on_eight_devices_at_once() {
    static MEETING: Meeting = Meeting::new();
    static MEET: TestOp = TestOp {
        name: "meet",
        kernel: CpuKernel::Array(|call| MEETING.attend(8).and_then(|()| double(call))),
    };
    let report = check(&plan(&MEET, 24, 10_000, None, MIB), 16, 8, MIB);
    assert_eq!(MEETING.most(), 8);
    assert!(report.devices.iter().all(|device| device.tasks > 0));
}

#[test]
fn ten_tenths_of_a_device_compute_at_once() {
    static MEETING: Meeting = Meeting::new();
    static MEET: TestOp = TestOp {
        name: "meet",
        kernel: CpuKernel::Array(|call| MEETING.attend(10).and_then(|()| double(call))),
    };
    let report = check(&plan(&MEET, 20, 1_000, None, MIB), 16, 1, MIB);
    assert_eq!(MEETING.most(), 10);
    assert_eq!(report.devices[0].tasks, 20);
}

#[test]
fn never_more_than_two_halves_compute_at_once() {
    static MEETING: Meeting = Meeting::new();
    static MEET: TestOp = TestOp {
        name: "meet",
        kernel: CpuKernel::Array(|call| MEETING.attend(2).and_then(|()| double(call))),
    };
    check(&plan(&MEET, 12, 5_000, None, MIB), 16, 1, MIB);
    assert_eq!(MEETING.most(), 2);
}

/// Of ten tenths only three have room: each is predicted to hold two items.
#[test]
fn device_memory_ends_sharing_before_the_shares_do() {
    static MEETING: Meeting = Meeting::new();
    static MEET: TestOp = TestOp {
        name: "meet",
        kernel: CpuKernel::Array(|call| MEETING.attend(3).and_then(|()| double(call))),
    };
    let vram = 7 * BYTES;
    let report = check(&plan(&MEET, 20, 1_000, None, vram), 16, 1, vram);
    assert_eq!(MEETING.most(), 3);
    assert!(report.devices[0].peak_vram >= 6 * BYTES);
}

#[test]
fn what_the_next_task_reads_is_copied_while_one_computes() {
    let report = check(&plan(&DOUBLE, 9, 10_000, None, MIB), 1, 1, MIB);
    let device = &report.devices[0];
    assert_eq!((device.copies.ahead, device.unused), (8, 0));
}

/// There is room for one task and its next input, until the task makes its result.
#[test]
fn what_is_copied_in_advance_makes_room() {
    for spare in [0, 1, BYTES - 1] {
        let vram = 2 * BYTES + spare;
        check(&plan(&DOUBLE, 9, 10_000, None, vram), 1, 1, vram);
    }
}

#[test]
fn a_task_that_holds_more_than_it_requested_says_which_request_would_do() {
    let error = failure(&plan(&DOUBLE, 1, 5_000, Some(2 * BYTES - 1), MIB), 1, MIB);
    let message = "`doubled` needs 4 KiB on the emulated L4; the task holds 4 KiB of the 8.00 KiB of its \
                   memory that it requested";
    assert!(error.to_string().contains(message), "{error}");
    assert!(
        error
            .to_string()
            .contains("request `vram: \"1 MiB\"`, or more"),
        "{error}"
    );
}

#[test]
fn a_device_whose_memory_is_full_says_so() {
    let vram = BYTES + 100;
    let error = failure(&plan(&DOUBLE, 1, 10_000, None, vram), 1, vram);
    let message = "`doubled` needs 4 KiB on the emulated L4; of its 4.10 KiB, tasks hold 4 KiB";
    assert!(error.to_string().contains(message), "{error}");
    assert!(
        error.to_string().contains("a GPU with more memory"),
        "{error}"
    );
}

#[test]
fn without_a_device_nothing_runs() {
    let error = failure(&plan(&DOUBLE, 1, 10_000, None, MIB), 0, MIB);
    assert!(error.to_string().contains("--emulate"), "{error}");
}
