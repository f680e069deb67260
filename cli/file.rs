//! The pipeline file.

use std::fs;
use std::path::{Path, PathBuf};

use haul_compiler::{Places, Planned};
use haul_ir::diagnostic::Diagnostic;
use haul_ir::graph::Typed;
use haul_ir::target::Target;

use crate::exit::Trouble;

/// A pipeline file and its text.
pub(crate) struct File {
    /// The path as given.
    pub(crate) path: PathBuf,
    /// The text.
    pub(crate) text: String,
}

impl File {
    pub(crate) fn read(path: &Path) -> Result<Self, Trouble> {
        let text = fs::read_to_string(path)
            .map_err(|error| Trouble::new(format!("could not read {}: {error}", path.display())))?;
        Ok(Self {
            path: path.to_owned(),
            text,
        })
    }

    /// The path as given, for messages.
    pub(crate) fn shown(&self) -> String {
        self.path.display().to_string()
    }

    /// The folder that the paths in it are relative to.
    pub(crate) fn folder(&self) -> PathBuf {
        match self.path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
            _ => PathBuf::from("."),
        }
    }

    /// Plans its graph for a target. The plan knows the file by its name without folders.
    pub(crate) fn plan(
        &self,
        typed: Typed,
        target: &Target,
        places: &Places,
    ) -> Result<Planned, Vec<Diagnostic>> {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let pipeline = self.path.file_stem().unwrap_or_default().to_string_lossy();
        haul_compiler::plan(typed, target, &pipeline, &name, places)
    }
}
