//! Files as they were at a revision of git.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Output, Stdio};

use haul_compiler::{syntax, undeclared};
use tempfile::TempDir;

use crate::exit::Trouble;
use crate::file::File;
use crate::project::shown;

/// A revision, of which the files that plans are made of are laid out in a temporary folder.
pub(crate) struct Revision {
    /// As it was named.
    name: String,
    /// The top folder of the repository.
    top: PathBuf,
    /// Where its files are laid out.
    folder: TempDir,
}

impl Revision {
    /// Lays out the pipelines, targets and plans of a revision of the repository that the current
    /// folder is in. Neither the repository nor its working tree is touched.
    pub(crate) fn open(name: &str) -> Result<Self, Trouble> {
        let top = git(Command::new("git").args(["rev-parse", "--show-toplevel"]))?;
        let mut verify = Command::new("git");
        verify.args(["rev-parse", "--verify", "--quiet", "--end-of-options"]);
        let commit = git(verify.arg(format!("{name}^{{commit}}")));
        let commit = commit.map_err(|_| Trouble::new(format!("git knows no revision `{name}`")))?;
        let folder = tempfile::Builder::new().prefix("haul-").tempdir();
        let trouble = |error| Trouble::new(format!("could not make a temporary folder: {error}"));
        let revision = Self {
            name: name.to_owned(),
            top: PathBuf::from(top.trim_end_matches(['\n', '\r'])),
            folder: folder.map_err(trouble)?,
        };
        git(revision.git().args(["read-tree", commit.trim()]))?;
        revision.lay_out(&["*.ron", "*.plan"])?;
        Ok(revision)
    }

    /// The top folder of the repository, as it was.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The top folder of the repository, as it is.
    pub(crate) fn top(&self) -> &Path {
        &self.top
    }

    /// A message about files of the revision, which calls them `REV:path`.
    pub(crate) fn renamed(&self, message: &str) -> String {
        let folder = format!("{}/", shown(self.folder()));
        message.replace(&folder, &format!("{}:", self.name))
    }

    /// Where a file is laid out that git calls by this path: from the top folder, or with `./` from
    /// the current one.
    pub(crate) fn path(&self, path: &str) -> Result<PathBuf, Trouble> {
        let mut inside = PathBuf::new();
        if path.starts_with("./") || path.starts_with("../") {
            let prefix = git(Command::new("git").args(["rev-parse", "--show-prefix"]))?;
            inside.push(prefix.trim_end_matches(['\n', '\r']));
        }
        let laid_out = within(&inside.join(path)).map(|inside| self.folder().join(inside));
        match laid_out.filter(|path| path.is_file()) {
            Some(path) => Ok(path),
            None => {
                let name = &self.name;
                Err(Trouble::new(format!(
                    "{name}:{path} is not there: paths are from the top of the repository, or with \
                    `{name}:./` from here"
                )))
            }
        }
    }

    /// Lays out the data of a pipeline too, as far as its types stand nowhere else.
    pub(crate) fn lay_out_data(&self, pipeline: &File) -> Result<(), Trouble> {
        let folder = pipeline.folder();
        let folder = folder.strip_prefix(self.folder()).unwrap_or(&folder);
        let (ast, _) = syntax::parse(&pipeline.text);
        let inputs = ast.as_ref().map(undeclared).unwrap_or_default();
        let paths = inputs.iter();
        let paths = paths.filter_map(|(_, file)| within(&folder.join(&file.path)));
        let literal: Vec<_> = paths
            .map(|path| format!(":(literal){}", shown(&path)))
            .collect();
        match literal.is_empty() {
            true => Ok(()),
            false => self.lay_out(&literal.iter().map(String::as_str).collect::<Vec<_>>()),
        }
    }

    /// Lays out the files that match any of git's patterns.
    fn lay_out(&self, patterns: &[&str]) -> Result<(), Trouble> {
        let mut list = self.git();
        list.args(["ls-files", "-z", "--"]).args(patterns);
        let files = run(&mut list)?.stdout;
        let mut prefix = OsString::from("--prefix=");
        prefix.push(self.folder());
        prefix.push("/");
        let mut checkout = self.git();
        checkout.args(["checkout-index", "-z", "--stdin", "--force"]);
        let mut child = checkout
            .arg(prefix)
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(no_git)?;
        let stdin = child.stdin.take();
        // Where git ends early, its status says why.
        drop(stdin.map(|mut stdin| stdin.write_all(&files)));
        let output = child.wait_with_output().map_err(no_git)?;
        succeeded(output).map(drop)
    }

    /// Git in the top folder, with an index of our own.
    fn git(&self) -> Command {
        let mut git = Command::new("git");
        git.current_dir(&self.top);
        git.env("GIT_INDEX_FILE", self.folder().join(".haul-index"));
        git
    }
}

/// A path without steps up, where it does not lead out of the folder that it begins in.
fn within(path: &Path) -> Option<PathBuf> {
    let mut inside = PathBuf::new();
    for step in path.components() {
        match step {
            Component::Normal(name) => inside.push(name),
            Component::CurDir => {}
            Component::ParentDir if inside.pop() => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(inside)
}

fn git(command: &mut Command) -> Result<String, Trouble> {
    let output = run(command)?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn run(command: &mut Command) -> Result<Output, Trouble> {
    succeeded(command.output().map_err(no_git)?)
}

fn no_git(error: std::io::Error) -> Trouble {
    Trouble::new(format!("could not run git: {error}"))
}

fn succeeded(output: Output) -> Result<Output, Trouble> {
    if output.status.success() {
        return Ok(output);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Trouble::new(format!("git failed: {}", said.trim())))
}
