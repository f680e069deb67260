//! What all requests of a run share.

use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

use super::bucket::Buckets;
use super::web::Web;

/// The thread that talks to servers, and the clients that it talks for.
pub(super) struct Connection {
    pub(super) buckets: Buckets,
    pub(super) web: Web,
    runtime: Option<Runtime>,
}

impl Connection {
    /// Starts the thread; nothing is sent yet.
    pub(super) fn open(patience: Duration) -> Result<Self, Box<dyn std::error::Error>> {
        // Fails where somebody chose the cryptography of this process before.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("haul-remote")
            .enable_all()
            .build()?;
        Ok(Self {
            buckets: Buckets::new(patience),
            web: Web::new(patience)?,
            runtime: Some(runtime),
        })
    }

    pub(super) fn runtime(&self) -> &Runtime {
        self.runtime.as_ref().expect("it is taken by drop only")
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // Looking up a server's name may hang for long, and cannot be stopped.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
