//! Programs of the author's: a program gets its values as files in a folder of its own, which is
//! removed afterwards, and writes its result to another file there.
//!
//! It runs without a shell, in the folder of the pipeline, with little of the environment, in a
//! process group of its own: whatever is left of the group when the program ends, or has to, is
//! killed. What it wrote is checked as any other file is, and charged to the task before it is read.

mod files;
#[cfg_attr(not(unix), path = "group_elsewhere.rs")]
mod group;
mod tail;

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Duration;

use haul_ir::graph::OpNode;
use haul_ir::op::{Attrs, CpuKernel};
use haul_ir::plan::Plan;

use self::files::Files;
use self::group::{Ended, How};
use crate::device::{Task, fault};
use crate::error::{IoError, RunError};
use crate::paths::Paths;
use crate::tensor::Data;

/// What of the environment a program keeps.
const KEPT: [&str; 3] = ["PATH", "HOME", "LANG"];

/// Why a program gave no result.
enum Failed {
    /// The program is at fault: it can be tried again.
    Program(RunError),
    /// Trying again would not help.
    Other(RunError),
}

impl From<RunError> for Failed {
    fn from(error: RunError) -> Self {
        Failed::Other(error)
    }
}

/// The folder of the pipeline, where programs run.
///
/// # Errors
/// It is not there.
pub(crate) fn folder(paths: &Paths) -> Result<PathBuf, RunError> {
    let folder = Path::new(".").join(paths.folder());
    let found = folder.canonicalize();
    Ok(found.map_err(|error| IoError::new(&folder, error))?)
}

/// Looks for the programs of all stages.
///
/// # Errors
/// One of them is not there.
pub(crate) fn check(plan: &Plan, folder: &Path) -> Result<(), RunError> {
    let graph = plan.typed.graph();
    let programs = graph.ops.iter();
    for node in programs.filter(|node| matches!(node.op.cpu(), CpuKernel::Program)) {
        let stage = &graph.stages[node.stage].name;
        let found = program(&node.attrs).and_then(|name| find(name, folder));
        found.map_err(|error| error.in_task(stage, None))?;
    }
    Ok(())
}

/// Runs the program of an op until it succeeds, as often as its stage says.
///
/// # Errors
/// It failed or took too long each time, its result is not what the stage declares, there is no
/// memory for that, or the run is stopped.
pub(crate) fn run(node: &OpNode, task: &mut Task<'_>) -> Result<Vec<Data>, RunError> {
    let failure = task.graph.stages[node.stage].failure;
    for _ in 0..failure.retries {
        match attempt(node, task) {
            Ok(data) => return Ok(vec![data]),
            Err(Failed::Other(error)) => return Err(error),
            Err(Failed::Program(_)) => task.retries += 1,
        }
    }
    attempt(node, task)
        .map(|data| vec![data])
        .map_err(|failed| match failed {
            Failed::Program(error) if failure.retries > 0 => {
                let attempts = u64::from(failure.retries) + 1;
                let message = format!("the last of {attempts} attempts: {}", error.message);
                RunError { message, ..error }
            }
            Failed::Program(error) | Failed::Other(error) => error,
        })
}

fn attempt(node: &OpNode, task: &mut Task<'_>) -> Result<Data, Failed> {
    let files = Files::new(node, task)?;
    let name = program(&node.attrs)?;
    let mut command = Command::new(find(name, task.folder)?);
    command
        .args(files.arguments(node)?)
        .current_dir(task.folder)
        .env_clear()
        .envs(
            KEPT.iter()
                .filter_map(|name| Some((name, env::var_os(name)?))),
        )
        .env("TMPDIR", files.folder())
        .env("OMP_NUM_THREADS", rayon::current_num_threads().to_string());
    let timeout = task.graph.stages[node.stage].failure.timeout;
    let timeout = timeout.map(Duration::from_nanos);
    let ended = group::run(&mut command, timeout, task.stop)
        .map_err(|error| RunError::new(format!("`{name}` cannot be run: {error}")))?;
    succeeded(name, &ended, timeout)?;
    files.result(node, task)
}

/// Whether a program ended well.
fn succeeded(name: &str, ended: &Ended, timeout: Option<Duration>) -> Result<(), Failed> {
    let what = match ended.how {
        How::Alone(status) if status.success() => return Ok(()),
        How::Alone(status) => format!("`{name}` {}", told(status)),
        How::TooLate => {
            let timeout = timeout.unwrap_or_default();
            format!("`{name}` took longer than its timeout of {timeout:?} and was killed")
        }
        How::Stopped => return Err(RunError::cancelled().into()),
    };
    let message = what + &ended.errors.told("stderr") + &ended.output.told("stdout");
    Err(Failed::Program(RunError::new(message)))
}

/// How a program ended, in words.
fn told(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("was killed by signal {signal}");
    }
    match status.code() {
        Some(code) => format!("ended with exit status {code}"),
        None => "ended without an exit status".to_owned(),
    }
}

fn program(attrs: &Attrs) -> Result<&str, RunError> {
    let program = attrs.words("argv").first();
    program
        .map(AsRef::as_ref)
        .ok_or_else(|| fault("a command has no program".into()))
}

/// The file of a program: its name is looked for in the folders of `PATH`, a path leads from the
/// folder of the pipeline.
fn find(program: &str, folder: &Path) -> Result<PathBuf, RunError> {
    which::which_in(program, env::var_os("PATH"), folder).map_err(|_| {
        let message = format!("there is no program `{program}` that can be run");
        let help = "a name is looked for in the folders of `PATH`, a path such as `./score.sh` in \
                    the folder of the pipeline";
        RunError::new(message).help(help)
    })
}
