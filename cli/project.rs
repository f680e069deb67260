//! The project: the `haul.ron` of the current folder, or of the nearest folder above.

use std::env;
use std::path::{Path, PathBuf};

use haul_compiler::diagnostics::Levels;
use haul_compiler::policy::Policies;
use haul_compiler::project::{Placed, Snapshots};
use haul_compiler::{FileError, target};
use haul_ir::target::Target;

use crate::exit::Trouble;
use crate::file::text;
use crate::machine;

/// The name of the file.
pub(crate) const FILE: &str = "haul.ron";

/// A project and where it is.
pub(crate) struct Project {
    /// The folder of its file, that paths in it are relative to.
    pub(crate) folder: PathBuf,
    declared: haul_compiler::Project,
}

impl Project {
    /// The project that the current folder belongs to, where it belongs to one.
    pub(crate) fn find() -> Result<Option<Self>, Trouble> {
        let trouble = |error| Trouble::new(format!("could not tell the current folder: {error}"));
        let here = env::current_dir().map_err(trouble)?;
        let mut folder = PathBuf::new();
        for above in here.ancestors() {
            if above.join(FILE).is_file() {
                return Self::at(&folder);
            }
            folder.push("..");
        }
        Ok(None)
    }

    /// The project of a folder, where it has one.
    pub(crate) fn at(folder: &Path) -> Result<Option<Self>, Trouble> {
        match folder.join(FILE).is_file() {
            true => Self::read(folder.to_owned()).map(Some),
            false => Ok(None),
        }
    }

    /// What plans have to keep to that no entry declares.
    pub(crate) fn policies(&self) -> &Policies {
        &self.declared.policies
    }

    /// The target of that name which the file names.
    pub(crate) fn target_called(&self, name: &str) -> Option<Target> {
        let snapshots = self.declared.snapshots.iter();
        let kept = snapshots.flat_map(|snapshots| &snapshots.targets);
        let named = self.declared.targets.iter().chain(kept);
        let is_called = |target: &Target| target.name == name;
        let mut targets = named.filter_map(|name| self.target(name).ok());
        targets.find(is_called)
    }

    /// What becomes of warnings.
    pub(crate) fn lints(&self) -> &Levels {
        &self.declared.lints
    }

    /// Which pipelines have their plans kept.
    pub(crate) fn snapshots(&self) -> &[Snapshots] {
        &self.declared.snapshots
    }

    /// A target that the file names, with the prices of the project.
    pub(crate) fn target(&self, name: &Placed) -> Result<Target, Trouble> {
        let mut target = self.unpriced(name)?;
        self.reprice(&mut target);
        Ok(target)
    }

    /// Gives a target's nodes the prices of the project.
    pub(crate) fn reprice(&self, target: &mut Target) {
        self.declared.reprice(target);
    }

    /// A mistake about a text of the file.
    pub(crate) fn trouble(&self, at: &Placed, message: impl Into<String>) -> Trouble {
        self.at_place(&self.declared.error(at, message))
    }

    fn read(folder: PathBuf) -> Result<Self, Trouble> {
        let file = folder.join(FILE);
        let declared = haul_compiler::Project::parse(&text(&file)?)
            .map_err(|error| Trouble::new(format!("{}:{error}", file.display())))?;
        let project = Self { folder, declared };
        if project.declared.has_prices() {
            project.check_prices()?;
        }
        Ok(project)
    }

    /// Prices are for nodes of targets that haul has or the file names.
    fn check_prices(&self) -> Result<(), Trouble> {
        let snapshots = self.declared.snapshots.iter();
        let kept = snapshots.flat_map(|snapshots| &snapshots.targets);
        let named = self.declared.targets.iter().chain(kept);
        let mut targets: Vec<_> = target::library().map(|(_, target)| target).collect();
        for name in named {
            // Whoever asks for a target that is not there is told; others need not know.
            let Ok(target) = self.unpriced(name) else {
                return Ok(());
            };
            targets.push(target);
        }
        let checked = self.declared.check_prices(&targets);
        checked.map_err(|error| self.at_place(&error))
    }

    fn unpriced(&self, name: &Placed) -> Result<Target, Trouble> {
        let target = machine::named(&name.text, &self.folder);
        target.map_err(|Trouble(message)| self.trouble(name, message))
    }

    fn at_place(&self, error: &FileError) -> Trouble {
        Trouble::new(format!("{}:{error}", self.folder.join(FILE).display()))
    }
}

/// The targets of these names; where there are none, those that the project declares: at least one.
pub(crate) fn targets(names: &[String]) -> Result<Vec<Target>, Trouble> {
    if names.is_empty() {
        return default_targets();
    }
    names.iter().map(|name| machine::target(name)).collect()
}

/// The targets that plans are made for when none is named: at least one.
pub(crate) fn default_targets() -> Result<Vec<Target>, Trouble> {
    let targets = declared_targets()?;
    if targets.is_empty() {
        let choices = machine::choices();
        let message =
            format!("which machines? Add --target NAME, or `targets` to {FILE}\n{choices}");
        return Err(Trouble::new(message));
    }
    Ok(targets)
}

/// The targets that the project declares.
pub(crate) fn declared_targets() -> Result<Vec<Target>, Trouble> {
    let project = Project::find()?;
    let declared = project.iter().flat_map(|project| {
        let names = project.declared.targets.iter();
        names.map(|name| project.target(name))
    });
    declared.collect()
}

/// The path as it is shown and written in files: with `/`.
pub(crate) fn shown(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}
