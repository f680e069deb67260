//! What takes the place of [`super`] in a build that reaches no other machine.

use std::convert::Infallible;
use std::fs::File;
use std::path::Path;
use std::time::Duration;

use haul_ir::location::{Location, Object};

use crate::cancel::Stop;
use crate::error::IoError;

pub(crate) type Fetched = Infallible;

pub(crate) struct Remote;

impl Remote {
    pub(crate) fn new(_: Duration) -> Self {
        Self
    }

    pub(crate) fn fetch(
        &self,
        url: &str,
        _: &Location,
        _: &Stop,
        _: &dyn Fn(Option<u64>),
    ) -> Result<Fetched, IoError> {
        Err(refused(url))
    }

    pub(crate) fn forget(&self, _: &str) {}

    pub(crate) fn list(&self, folder: &Object, _: bool, _: &Stop) -> Result<Vec<String>, IoError> {
        Err(refused(&folder.to_string()))
    }

    pub(crate) fn put(&self, object: &Object, _: &mut File, _: &Stop) -> Result<(), IoError> {
        Err(refused(&object.to_string()))
    }
}

fn refused(url: &str) -> IoError {
    IoError::new(
        Path::new(url),
        "this build of haul reaches no other machine",
    )
    .help("build it with `--features remote`")
}
