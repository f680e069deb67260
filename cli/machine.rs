//! The machines that names stand for, and what a run may use of this one.

use std::path::Path;

use haul_compiler::render::units;
use haul_compiler::syntax::amount;
use haul_compiler::target;
use haul_executor::Machine;
use haul_ir::target::Target;

use crate::exit::Trouble;
use crate::file::text;
use crate::project::Project;

/// The name of the machine that haul runs on.
pub(crate) const LOCAL: &str = "local";

/// The target of that name: `local`, one that comes with haul, or the path of a target file. What
/// its nodes cost, the project may say.
pub(crate) fn target(name: &str) -> Result<Target, Trouble> {
    let mut target = named(name, Path::new(""))?;
    if let Some(project) = Project::find()? {
        project.reprice(&mut target);
    }
    Ok(target)
}

/// The target of that name; the path of a target file is relative to a folder.
pub(crate) fn named(name: &str, folder: &Path) -> Result<Target, Trouble> {
    if name == LOCAL {
        let machine = this()?;
        return Ok(target::local(machine.cpus, machine.memory));
    }
    if let Some(target) = target::find(name) {
        return Ok(target);
    }
    let path = folder.join(name);
    if path.extension().is_none_or(|ending| ending != "ron") {
        let names = target::library().map(|(name, _)| name);
        return Err(Trouble::unknown("target", name, names, &choices()));
    }
    let text = text(&path)?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    target::parse(&stem, &text).map_err(|error| Trouble::new(format!("{}:{error}", path.display())))
}

/// The names there are, for messages.
pub(crate) fn choices() -> String {
    let names: Vec<_> = target::library().map(|(name, _)| name).collect();
    let names = names.join(", ");
    format!("targets are {names}; {LOCAL}, which is this machine; and target files (*.ron)")
}

/// This machine.
pub(crate) fn this() -> Result<Machine, Trouble> {
    Machine::detect().map_err(|error| Trouble::new(error.to_string()))
}

/// What a run may use of this machine; in a rehearsal, cpus may be more than there are.
pub(crate) fn limited(
    cpus: Option<u32>,
    memory: Option<u64>,
    rehearses: bool,
) -> Result<Machine, Trouble> {
    let machine = this()?;
    let limited = Machine {
        cpus: cpus.unwrap_or(machine.cpus),
        memory: memory.unwrap_or(machine.memory),
        cpu: machine.cpu.clone(),
        emulated: Vec::new(),
    };
    if limited.cpus > machine.cpus && !rehearses {
        let (asked, all) = (limited.cpus, machine.cpus);
        return Err(Trouble::new(format!(
            "--cpus {asked}: this machine has {all}"
        )));
    }
    if limited.memory > machine.memory {
        let all = units::bytes(u128::from(machine.memory));
        return Err(Trouble::new(format!("--memory: this machine has {all}")));
    }
    Ok(limited)
}

/// The bytes of an amount such as `4GiB` on the command line.
pub(crate) fn memory(text: &str) -> Result<u64, String> {
    amount(text).ok_or_else(|| "write a number and a unit, such as 4GiB or 500MB".to_owned())
}
