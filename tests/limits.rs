//! What a run takes of the machine, read from the operating system.

#![cfg(target_os = "linux")]

use std::fs;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::support;

/// What a process took.
struct Taken {
    stdout: String,
    wall: Duration,
    /// Of all its threads.
    processor: Duration,
    /// Most bytes that were in memory at once.
    resident: u64,
}

/// Runs a pipeline of `tests/cases/run`.
fn run(pipeline: &str, options: &[&str]) -> Taken {
    let mut run = support::haul();
    run.args(["run", "--quiet"]).args(options);
    run.arg(format!("tests/cases/run/{pipeline}"));
    let start = Instant::now();
    let mut child = run
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let (resident, processor) = watch(&child);
    let wall = start.elapsed();
    let stdout = std::io::read_to_string(child.stdout.take().expect("a pipe")).expect("UTF-8");
    assert!(child.wait().expect("it ends").success(), "{stdout}");
    Taken {
        stdout,
        wall,
        processor,
        resident,
    }
}

/// The most memory that a process was seen to have, and the time of processors that it took.
fn watch(child: &Child) -> (u64, Duration) {
    let read = |name: &str| {
        let path = format!("/proc/{}/{name}", child.id());
        fs::read_to_string(path).expect("it is not waited for yet")
    };
    let mut resident = 0;
    loop {
        let status = read("status");
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        if let Some(peak) = peak.and_then(|peak| peak.trim().strip_suffix(" kB")) {
            resident = peak.trim().parse().expect("a number");
        }
        // The name of the program, in parentheses, may hold spaces.
        let stat = read("stat");
        let (_, fields) = stat.rsplit_once(") ").expect("a name");
        let fields: Vec<_> = fields.split(' ').collect();
        if fields[0] == "Z" {
            let ticks = |at: usize| fields[at].parse::<u64>().expect("a number");
            // `utime` and `stime`, in hundredths of a second: proc_pid_stat(5).
            let processor = Duration::from_millis(10 * (ticks(11) + ticks(12)));
            return (resident * 1024, processor);
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// 16 GiB of arrays go through 1 GiB of memory, and their sum is exact.
#[test]
fn a_fan_out_stays_within_its_memory() {
    let taken = run("wide.ron", &["--memory", "1GiB"]);
    // 2,000 times the sum of 0..2^20, and 2^20 times that of 0..2,000.
    let sum: u64 = 2000 * ((1 << 20) * ((1 << 20) - 1) / 2) + (1 << 20) * (2000 * 1999 / 2);
    assert!(taken.stdout.contains(&sum.to_string()), "{}", taken.stdout);
    let most = 11 * (1 << 30) / 10;
    assert!(taken.resident < most, "{} bytes", taken.resident);
}

/// Runs end, always with the same bits, and never on more processors than they were given.
#[test]
fn a_run_keeps_to_its_cpus() {
    let mut outputs = Vec::new();
    for cpus in [1, 2] {
        for _ in 0..50 {
            let taken = run("narrow.ron", &["--cpus", &cpus.to_string()]);
            // The two clocks are read at different moments, one of them in ticks of 10 ms.
            let most = cpus * taken.wall + Duration::from_millis(20);
            assert!(
                taken.processor <= most,
                "{:?} in {:?}",
                taken.processor,
                taken.wall
            );
            outputs.push(taken.stdout);
        }
    }
    outputs.dedup();
    assert_eq!(outputs.len(), 1, "{outputs:?}");
}
