//! What takes the place of `watch` where the operating system keeps mapped files from being cut.

use std::fs::Metadata;
use std::path::Path;

pub(super) struct Watch;

impl Watch {
    pub(super) fn new(_: &[u8], _: &Metadata) -> Self {
        Self
    }

    pub(super) fn check(&self, _: &Path) -> Result<(), &'static str> {
        Ok(())
    }
}
