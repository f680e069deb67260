//! A program and whatever it starts: one process group, which ends as a whole.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::ioctl_fionbio;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::tail::Tail;
use crate::cancel::Stop;

/// How long is waited between two looks at whether it ended or has to.
const TURN: Duration = Duration::from_millis(5);

/// How long it has between being asked to end and being killed: less than a run has after Ctrl-C.
const GRACE: Duration = Duration::from_millis(400);

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

/// Runs a program to its end, or to that of its time or of the run. Nothing of its group is left.
///
/// # Errors
/// It cannot be started or watched.
pub(super) fn run(
    command: &mut Command,
    timeout: Option<Duration>,
    stop: &Stop,
) -> io::Result<Ended> {
    command
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut group = Group::new(command.spawn()?);
    let mut output = Stream::new(group.leader.stdout.take().map(OwnedFd::from))?;
    let mut errors = Stream::new(group.leader.stderr.take().map(OwnedFd::from))?;
    let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    let early = loop {
        drain(&mut [&mut output, &mut errors])?;
        let is_late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
        match () {
            () if group.has_ended()? => break None,
            () if stop.is_set() => break Some(How::Stopped),
            () if is_late => break Some(How::TooLate),
            () => {}
        }
    };
    if early.is_some() {
        group.signal(Signal::TERM);
        let killed = Instant::now() + GRACE;
        while !group.has_ended()? && Instant::now() < killed {
            drain(&mut [&mut output, &mut errors])?;
        }
    }
    let status = group.end()?;
    // What is left in the pipes is there already.
    drain(&mut [&mut output, &mut errors])?;
    Ok(Ended {
        how: early.unwrap_or(How::Alone(status)),
        output: output.tail,
        errors: errors.tail,
    })
}

/// A process group and the process that leads it. Until that is waited for, its number is of no
/// other group, so that signals go to no stranger.
struct Group {
    leader: Child,
    is_over: bool,
}

impl Group {
    fn new(leader: Child) -> Self {
        let is_over = false;
        Self { leader, is_over }
    }

    fn pid(&self) -> Option<Pid> {
        Pid::from_raw(self.leader.id().cast_signed())
    }

    /// Whether the leader has ended; it is not waited for.
    fn has_ended(&self) -> io::Result<bool> {
        let Some(pid) = self.pid() else {
            return Ok(true);
        };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(pid), options)?.is_some())
    }

    /// Sends a signal to all of the group that is left.
    fn signal(&self, signal: Signal) {
        if let Some(pid) = self.pid() {
            // It fails where nobody is left.
            let _ = kill_process_group(pid, signal);
        }
    }

    /// Kills what is left, and waits for the leader.
    fn end(&mut self) -> io::Result<ExitStatus> {
        self.signal(Signal::KILL);
        self.is_over = true;
        self.leader.wait()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.is_over {
            // Watching it failed: there is nobody to tell of another failure.
            let _ = self.end();
        }
    }
}

/// A pipe from the program; nothing once that has closed it.
struct Stream {
    pipe: Option<File>,
    tail: Tail,
}

impl Stream {
    fn new(pipe: Option<OwnedFd>) -> io::Result<Self> {
        let pipe = pipe.map(File::from);
        if let Some(pipe) = &pipe {
            ioctl_fionbio(pipe, true)?;
        }
        let tail = Tail::default();
        Ok(Self { pipe, tail })
    }

    /// Reads what is there, a block at most: who writes without end does not keep haul from looking
    /// at the time.
    fn read(&mut self) -> io::Result<()> {
        let Some(pipe) = &mut self.pipe else {
            return Ok(());
        };
        let mut block = [0; 1 << 14];
        match pipe.read(&mut block) {
            Ok(0) => self.pipe = None,
            Ok(read) => self.tail.push(&block[..read]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

/// Waits a turn for output, and reads some of it.
fn drain(streams: &mut [&mut Stream]) -> io::Result<()> {
    let open = streams.iter().filter_map(|stream| stream.pipe.as_ref());
    let mut polled: Vec<_> = open
        .map(|pipe| PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN))
        .collect();
    let turn = Timespec {
        tv_sec: 0,
        tv_nsec: TURN.subsec_nanos().into(),
    };
    match poll(&mut polled, Some(&turn)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    streams.iter_mut().try_for_each(|stream| stream.read())
}
