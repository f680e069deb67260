//! The files of one attempt at a program: its values, and its result.

use std::collections::HashMap;
use std::fs;
use std::io::{BufWriter, Write};
use std::path::Path;

use haul_ir::command::{OUT, Part, parts, reads};
use haul_ir::format::{File, Format, NPY, Settings, TEXT};
use haul_ir::graph::{Arg, OpNode};
use haul_ir::types::ValueType;
use tempfile::TempDir;

use super::Failed;
use crate::cancel::Stoppable;
use crate::device::{Task, fault};
use crate::error::RunError;
use crate::io::{self, Access, OpenError};
use crate::paths::Paths;
use crate::scalar;
use crate::strided;
use crate::tensor::{Data, Tensor};

/// A folder that only this user can look into, removed when it is dropped.
pub(super) struct Files {
    folder: TempDir,
    /// What placeholders stand for.
    named: HashMap<String, String>,
    /// What the program has to write, in the folder.
    out: File,
}

impl Files {
    /// Writes the values that a program reads.
    ///
    /// # Errors
    /// A file cannot be written, or the run is stopped.
    pub(super) fn new(node: &OpNode, task: &Task<'_>) -> Result<Self, RunError> {
        let mut builder = tempfile::Builder::new();
        builder.prefix("haul-");
        #[cfg(unix)]
        builder
            .permissions(<fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o700));
        let folder = builder.tempdir().map_err(|error| no_folder(&error))?;
        let result = &task.graph.values[node.results[0]].ty;
        let mut files = Self {
            out: file(OUT, format_of(result)),
            named: HashMap::new(),
            folder,
        };
        let out = files.path(&files.out)?;
        files.named.insert(OUT.to_owned(), out);
        let names = reads(node.attrs.words("argv").iter().map(AsRef::as_ref));
        for (name, arg) in names.into_iter().zip(&node.args) {
            let text = match arg {
                Arg::Scalar(scalar, dtype) => {
                    let bytes = scalar::bytes(scalar, *dtype, &task.dims).map_err(RunError::new)?;
                    io::element(*dtype, &bytes)
                }
                Arg::Value(value) => files.write(&name, task.one(*value)?, task)?,
                Arg::Items(value) => {
                    return Err(fault(format!("a program is given all {value:?}")));
                }
            };
            files.named.insert(name, text);
        }
        Ok(files)
    }

    /// Where they are.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The arguments after the program, with what placeholders stand for.
    ///
    /// # Errors
    /// One of them stands for nothing: the plan is at fault.
    pub(super) fn arguments(&self, node: &OpNode) -> Result<Vec<String>, RunError> {
        let arguments = node.attrs.words("argv").iter().skip(1);
        arguments.map(|argument| self.argument(argument)).collect()
    }

    fn argument(&self, argument: &str) -> Result<String, RunError> {
        let mut text = String::new();
        for part in parts(argument).map_err(|at| fault(format!("a brace at {at:?}")))? {
            match part {
                Part::Text(part) => text += &part,
                Part::Placeholder(name, _) => {
                    let named = self.named.get(&name);
                    text += named.ok_or_else(|| fault(format!("`{{{name}}}` is nothing")))?;
                }
            }
        }
        Ok(text)
    }

    fn path(&self, file: &File) -> Result<String, RunError> {
        let path = self.folder.path().join(&file.path);
        let text = path.to_str().map(str::to_owned);
        text.ok_or_else(|| RunError::new("the path of the folder for temporary files is not UTF-8"))
    }

    /// Writes a value; tells the path.
    fn write(&self, name: &str, data: &Data, task: &Task<'_>) -> Result<String, RunError> {
        let file = file(name, format_of(&data.ty()));
        let path = self.path(&file)?;
        let written = fs::File::create_new(&path).and_then(|created| {
            let mut out = BufWriter::new(Stoppable::new(created, task.stop));
            io::write(&file, data, &mut out)?;
            out.flush()
        });
        written.map_err(|error| match task.stop.is_set() {
            true => RunError::cancelled(),
            false => RunError::new(format!("`{name}` cannot be written to `{path}`: {error}")),
        })?;
        Ok(path)
    }

    /// What the program wrote, in memory of the task; binds the sizes that this shows.
    pub(super) fn result(&self, node: &OpNode, task: &mut Task<'_>) -> Result<Data, Failed> {
        let value = &task.graph.values[node.results[0]];
        let refused = |reason: &str| {
            let message = format!("the program ended well, but its `{{out}}`: {reason}");
            Failed::Program(RunError::new(message))
        };
        if !self.folder.path().join(&self.out.path).exists() {
            return Err(refused("it was not written"));
        }
        let access = Access {
            paths: &Paths::of_files(self.folder.path().to_owned()),
            account: &task.account,
            stop: task.stop,
        };
        let read = io::read(&self.out, &value.ty, access).map_err(|error| match error {
            _ if task.stop.is_set() => RunError::cancelled().into(),
            OpenError::Io(error) => refused(&error.message),
            OpenError::Memory(shortage) => Failed::Other(task.shortage(&value.name, shortage)),
        })?;
        let mut dims = task.dims.clone();
        dims.unify(&value.ty, read.data.sizes())
            .map_err(|reason| refused(&reason))?;
        task.dims = dims;
        Ok(own(read.data, &value.name, task)?)
    }
}

/// The data in memory of the task, where it is still in the file.
fn own(data: Data, name: &str, task: &Task<'_>) -> Result<Data, RunError> {
    let tensor = match data {
        Data::Tensor(tensor) if tensor.buffer.is_mapped() => tensor,
        data => return Ok(data),
    };
    let buffer = task.account.allocate(tensor.buffer.bytes().len());
    let mut buffer = buffer.map_err(|shortage| task.shortage(name, shortage))?;
    strided::copy(&tensor.view(), buffer.bytes_mut());
    tensor.buffer.check()?;
    let shape = &tensor.layout.shape;
    Ok(Data::Tensor(Tensor::contiguous(
        tensor.dtype,
        shape,
        buffer,
    )))
}

/// How a program is given a value, or gives one.
fn format_of(ty: &ValueType) -> &'static Format {
    match ty {
        ValueType::Text => &TEXT,
        _ => &NPY,
    }
}

fn file(name: &str, format: &'static Format) -> File {
    let ending = if *format == TEXT { "txt" } else { "npy" };
    File {
        format,
        path: format!("{name}.{ending}"),
        settings: Settings::default(),
    }
}

fn no_folder(error: &std::io::Error) -> RunError {
    RunError::new(format!(
        "no folder for the files of a program can be made: {error}"
    ))
    .help("`TMPDIR` says where temporary files go")
}
