//! A program, where there are no process groups: it alone is killed.

use std::io::{self, Read};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::tail::Tail;
use crate::cancel::Stop;

/// How long is waited between two looks at whether it ended or has to.
const TURN: Duration = Duration::from_millis(5);

/// A program that ended.
pub(super) struct Ended {
    pub(super) how: How,
    /// The end of what it wrote to stdout and to stderr.
    pub(super) output: Tail,
    pub(super) errors: Tail,
}

/// Why a program ended.
pub(super) enum How {
    /// By itself.
    Alone(ExitStatus),
    /// It was killed, as its time was up.
    TooLate,
    /// It was killed, as the run is to stop.
    Stopped,
}

/// Runs a program to its end, or to that of its time or of the run.
///
/// # Errors
/// It cannot be started or watched.
pub(super) fn run(
    command: &mut Command,
    timeout: Option<Duration>,
    stop: &Stop,
) -> io::Result<Ended> {
    let piped = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = piped.spawn()?;
    let (output, errors) = (child.stdout.take(), child.stderr.take());
    let (output, errors) = (
        thread::spawn(|| tail(output)),
        thread::spawn(|| tail(errors)),
    );
    let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    let how = loop {
        if let Some(status) = child.try_wait()? {
            break How::Alone(status);
        }
        let is_late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if stop.is_set() || is_late {
            child.kill()?;
            child.wait()?;
            break if is_late { How::TooLate } else { How::Stopped };
        }
        thread::sleep(TURN);
    };
    Ok(Ended {
        how,
        output: output.join().unwrap_or_default(),
        errors: errors.join().unwrap_or_default(),
    })
}

fn tail(pipe: Option<impl Read>) -> Tail {
    let mut tail = Tail::default();
    let mut block = [0; 1 << 14];
    let Some(mut pipe) = pipe else { return tail };
    while let Ok(read @ 1..) = pipe.read(&mut block) {
        tail.push(&block[..read]);
    }
    tail
}
