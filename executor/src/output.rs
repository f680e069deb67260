//! Outputs: where they go, and writing them so that they are there whole or not at all.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Component, Path, PathBuf};

use haul_ir::format::File;
use haul_ir::graph::{Graph, Output};
use haul_ir::id::{CollectionId, IdVec, ValueId};
use haul_ir::location::{Location, Object};
use haul_ir::report::Written;
use tempfile::NamedTempFile;

use crate::cancel::{Stop, Stoppable};
use crate::error::{IoError, RunError};
use crate::inputs::{Items, files_of};
use crate::io;
use crate::paths::{Paths, parse};
use crate::stamp::local;
use crate::tensor::Data;
use crate::whole;

/// Bytes that are written at a time.
const BLOCK: usize = 1 << 18;

/// Positions of an output and of an item: the order in which files are told of.
pub(crate) type FilePlace = (usize, usize);

/// The files that a run is to write.
pub(crate) struct Outputs<'a> {
    graph: &'a Graph,
    folder: PathBuf,
    remote: &'a Paths,
    /// For each output, the path of each item.
    paths: Vec<Vec<String>>,
    /// The outputs that take a value, by position.
    takers: HashMap<ValueId, Vec<usize>>,
}

impl<'a> Outputs<'a> {
    /// Settles the path of every file.
    ///
    /// # Errors
    /// A path leaves the folder, two files would have one path, or a file is also an input.
    pub(crate) fn plan(
        graph: &'a Graph,
        folder: &Path,
        remote: &'a Paths,
        collections: &IdVec<CollectionId, Items>,
    ) -> Result<Self, RunError> {
        let named = if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        };
        let made = fs::create_dir_all(named).and_then(|()| named.canonicalize());
        let folder = made.map_err(|error| IoError::new(named, error))?;
        let read = files_read(graph, remote, collections);
        let mut owners: HashMap<PathBuf, String> = HashMap::new();
        let mut paths = Vec::new();
        for output in &graph.outputs {
            let items = paths_of(output, graph, collections);
            for path in &items {
                let normal = normal(path).map_err(|reason| of_output(output, path, &reason))?;
                if let Some(input) = read.get(&folder.join(&normal)) {
                    let reason = format!("input `{input}` reads this file: write to another one");
                    return Err(of_output(output, path, &reason));
                }
                if let Some(other) = owners.insert(normal, output.name.clone()) {
                    let reason = format!("another file of output `{other}` has this path as well");
                    return Err(of_output(output, path, &reason));
                }
            }
            paths.push(items);
        }
        let mut takers: HashMap<ValueId, Vec<usize>> = HashMap::new();
        for (at, output) in graph.outputs.iter().enumerate() {
            takers.entry(output.value).or_default().push(at);
        }
        Ok(Self {
            graph,
            folder,
            remote,
            paths,
            takers,
        })
    }

    /// Removes what runs that were killed left in the folders that outputs go to.
    pub(crate) fn sweep(&self) {
        let paths = self.paths.iter().flatten();
        let files = paths.filter(|path| !Location::is_remote(path));
        let folders: HashSet<_> = files.filter_map(|path| Path::new(path).parent()).collect();
        for folder in folders {
            let folder = self.folder.join(folder);
            if self.check_inside(&folder).is_ok() {
                whole::sweep(&folder);
            }
        }
    }

    /// Whether a value is written.
    pub(crate) fn is_written(&self, value: ValueId) -> bool {
        self.takers.contains_key(&value)
    }

    /// Writes a value to each output that takes it; tells of each file with its place among all.
    ///
    /// # Errors
    /// As [`Outputs::write`].
    pub(crate) fn write_all(
        &self,
        value: ValueId,
        item: Option<usize>,
        data: &Data,
        stop: &Stop,
        written: &mut Vec<(FilePlace, Written)>,
    ) -> Result<(), RunError> {
        let item = item.unwrap_or(0);
        for at in self.takers.get(&value).into_iter().flatten() {
            written.push(((*at, item), self.write(*at, item, data, stop)?));
        }
        Ok(())
    }

    /// Writes one file under a temporary name, then renames it, or puts it into its bucket.
    ///
    /// # Errors
    /// The value does not suit the format; the file cannot be written; the path leads outside;
    /// the run is stopped.
    fn write(&self, at: usize, item: usize, data: &Data, stop: &Stop) -> Result<Written, RunError> {
        let output = &self.graph.outputs[at];
        let path = &self.paths[at][item];
        let (format, settings) = (output.sink.format, &output.sink.settings);
        (format.check_output)(&data.ty(), settings).map_err(|refusal| {
            let reason = format!("{data} cannot be written: {}", refusal.message);
            let error = of_output(output, path, &reason);
            match refusal.help {
                Some(help) => error.help(help),
                None => error,
            }
        })?;
        let bytes = match parse(path)? {
            Location::Object(object) => self.put(&object, data, &output.sink, stop),
            _ => self.write_whole(Path::new(path), data, &output.sink, stop),
        };
        let bytes = bytes.map_err(|error| match stop.is_set() {
            true => RunError::cancelled(),
            false => error.of_output(output, path),
        })?;
        Ok(Written {
            output: output.name.clone(),
            path: path.clone(),
            bytes,
        })
    }

    fn write_whole(
        &self,
        path: &Path,
        data: &Data,
        sink: &File,
        stop: &Stop,
    ) -> Result<u64, WriteError> {
        stop.check()?;
        let target = self.folder.join(path);
        let parent = target.parent().unwrap_or(&self.folder);
        self.check_inside(parent)?;
        fs::create_dir_all(parent)?;
        let (file, bytes) = write_to(whole::begin(parent)?, data, sink, stop)?;
        file.as_file().sync_all()?;
        stop.check()?;
        file.persist(&target).map_err(|error| error.error)?;
        Ok(bytes)
    }

    fn put(
        &self,
        object: &Object,
        data: &Data,
        sink: &File,
        stop: &Stop,
    ) -> Result<u64, WriteError> {
        stop.check()?;
        let (mut file, bytes) = write_to(NamedTempFile::new()?, data, sink, stop)?;
        self.remote.put(object, file.as_file_mut(), stop)?;
        Ok(bytes)
    }

    /// A link in the path may lead outside of the folder.
    fn check_inside(&self, parent: &Path) -> std::io::Result<()> {
        let there = parent
            .ancestors()
            .find(|folder| folder.symlink_metadata().is_ok());
        let real = there.unwrap_or(&self.folder).canonicalize()?;
        match real.starts_with(&self.folder) {
            true => Ok(()),
            false => Err(std::io::Error::other(
                "a link leads outside of the folder that outputs stay in",
            )),
        }
    }
}

/// Writes a value to a temporary file, and counts its bytes.
fn write_to(
    file: NamedTempFile,
    data: &Data,
    sink: &File,
    stop: &Stop,
) -> Result<(NamedTempFile, u64), WriteError> {
    let mut file = BufWriter::with_capacity(BLOCK, Stoppable::new(file, stop));
    io::write(sink, data, &mut file)?;
    file.flush()?;
    data.check().map_err(WriteError::Input)?;
    let file = file
        .into_inner()
        .map_err(std::io::IntoInnerError::into_error)?
        .inner;
    let bytes = file.as_file().metadata()?.len();
    Ok((file, bytes))
}

/// Why an output was not written.
enum WriteError {
    File(std::io::Error),
    Object(IoError),
    /// What was to be written is a file that is no longer what it was.
    Input(IoError),
}

impl WriteError {
    fn of_output(self, output: &Output, path: &str) -> RunError {
        match self {
            Self::File(error) => of_output(output, path, &error.to_string()),
            Self::Object(error) => RunError {
                help: error.help,
                ..of_output(output, path, &error.message)
            },
            Self::Input(error) => error.into(),
        }
    }
}

impl From<std::io::Error> for WriteError {
    fn from(error: std::io::Error) -> Self {
        Self::File(error)
    }
}

impl From<IoError> for WriteError {
    fn from(error: IoError) -> Self {
        Self::Object(error)
    }
}

/// The files of this machine that inputs read, with the names of the inputs.
fn files_read<'a>(
    graph: &'a Graph,
    paths: &Paths,
    collections: &IdVec<CollectionId, Items>,
) -> HashMap<PathBuf, &'a str> {
    let mut read = HashMap::new();
    for input in graph.inputs.iter() {
        for file in files_of(input, collections) {
            let file = local(file, paths).and_then(|file| file.canonicalize().ok());
            read.extend(file.map(|file| (file, input.name.as_str())));
        }
    }
    read
}

fn paths_of(
    output: &Output,
    graph: &Graph,
    collections: &IdVec<CollectionId, Items>,
) -> Vec<String> {
    let path = &output.sink.path;
    match graph.values[output.value].over {
        Some(over) => {
            let names = collections[over].names.iter();
            names.map(|name| path.replace("{item}", name)).collect()
        }
        None => vec![path.clone()],
    }
}

/// The path without detours, where it is an object or stays inside its folder.
fn normal(path: &str) -> Result<PathBuf, String> {
    match Location::parse(path).map_err(|nowhere| nowhere.message)? {
        Location::Object(_) => Ok(path.into()),
        Location::Web(_) => Err("a web server takes no files".into()),
        Location::File(_) => inside(path).map_err(str::to_owned),
    }
}

/// The path without detours, where it stays inside its folder.
fn inside(path: &str) -> Result<PathBuf, &'static str> {
    let mut normal = PathBuf::new();
    for component in Path::new(path).components() {
        match component {
            Component::Normal(part) => normal.push(part),
            Component::CurDir => {}
            Component::ParentDir => return Err("a path must not go up with `..`"),
            Component::RootDir | Component::Prefix(_) => {
                return Err("a path must be relative to the folder that outputs stay in");
            }
        }
    }
    match normal.file_name() {
        Some(_) if !path.ends_with(std::path::is_separator) => Ok(normal),
        _ => Err("the path names no file"),
    }
}

fn of_output(output: &Output, path: &str, reason: &str) -> RunError {
    RunError::new(format!("output `{}` (`{path}`): {reason}", output.name))
}
