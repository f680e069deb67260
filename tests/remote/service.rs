//! A server of this machine that speaks the protocol of S3.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use hyper::Request;
use hyper::body::Incoming;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use s3s_fs::FileSystem;
use tempfile::TempDir;

use crate::support::{self, outcome};

/// Of a service account that proves nothing to anybody, as emulators take it.
const GOOGLE_KEY: &str = r#"{"private_key": "", "private_key_id": "", "client_email": "",
    "disable_oauth": true}"#;

/// A server whose one bucket `data` is a folder, and a folder for pipelines.
pub(super) struct Service {
    buckets: TempDir,
    pub(super) here: TempDir,
    endpoint: String,
}

impl Service {
    /// One that checks signatures.
    pub(super) fn start() -> Self {
        Self::with(Some(SimpleAuth::from_single("key", "secret")))
    }

    /// One that asks nobody who they are.
    pub(super) fn public() -> Self {
        Self::with(None)
    }

    fn with(auth: Option<SimpleAuth>) -> Self {
        let buckets = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir(buckets.path().join("data")).expect("a bucket");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let endpoint = format!("http://{}", listener.local_addr().expect("bound"));
        let root = buckets.path().to_owned();
        thread::spawn(move || serve(listener, &root, auth));
        Self {
            buckets,
            here: tempfile::tempdir().expect("a temporary folder"),
            endpoint,
        }
    }

    /// Writes an object past the server.
    pub(super) fn put(&self, key: &str, bytes: &[u8]) {
        let path = self.object(key);
        fs::create_dir_all(path.parent().expect("a bucket")).expect("a folder");
        fs::write(path, bytes).expect("an object");
    }

    pub(super) fn object(&self, key: &str) -> PathBuf {
        self.buckets.path().join("data").join(key)
    }

    /// Runs a pipeline of these inputs, stages and outputs.
    pub(super) fn run(&self, pipeline: &str) -> (i32, String, String) {
        self.run_as("secret", pipeline)
    }

    pub(super) fn run_as(&self, secret: &str, pipeline: &str) -> (i32, String, String) {
        outcome(&mut self.command(secret, pipeline))
    }

    pub(super) fn command(&self, secret: &str, pipeline: &str) -> Command {
        let file = self.here.path().join("p.ron");
        fs::write(&file, format!("Pipeline(version: 1, {pipeline})")).expect("a pipeline");
        let temporary = self.here.path().join("tmp");
        fs::create_dir_all(&temporary).expect("a folder");
        let mut command = support::haul();
        command
            .arg("run")
            .arg(&file)
            .env("TMPDIR", &temporary)
            .env("AWS_ENDPOINT", &self.endpoint)
            .env("AWS_ALLOW_HTTP", "true")
            .env("AWS_REGION", "us-east-1")
            .env("AWS_ACCESS_KEY_ID", "key")
            .env("AWS_SECRET_ACCESS_KEY", secret)
            .env("GOOGLE_BASE_URL", &self.endpoint)
            .env("GOOGLE_ALLOW_HTTP", "true")
            .env("GOOGLE_SERVICE_ACCOUNT_KEY", GOOGLE_KEY)
            .env("NO_PROXY", "127.0.0.1,localhost");
        command
    }

    /// Names of temporary files that a run left.
    pub(super) fn left(&self) -> Vec<PathBuf> {
        support::files(&self.here.path().join("tmp"), "")
    }
}

fn serve(listener: TcpListener, root: &Path, auth: Option<SimpleAuth>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(async {
        let files = FileSystem::new(root).expect("a folder");
        let mut service = S3ServiceBuilder::new(files);
        let is_public = auth.is_none();
        if let Some(auth) = auth {
            service.set_auth(auth);
        }
        let service = service.build().into_shared();
        listener.set_nonblocking(true).expect("a socket");
        let listener = tokio::net::TcpListener::from_std(listener).expect("a socket");
        loop {
            let (stream, _) = listener.accept().await.expect("a connection");
            let service = service.clone();
            let service = service_fn(move |mut request: Request<Incoming>| {
                if is_public {
                    // That of Google is no signature of S3.
                    request.headers_mut().remove("authorization");
                }
                service.call(request)
            });
            tokio::spawn(async move {
                let server = Builder::new(TokioExecutor::new());
                // The client may be gone.
                let _ = server.serve_connection(TokioIo::new(stream), service).await;
            });
        }
    });
}

pub(super) fn npy(numbers: &[f64]) -> Vec<u8> {
    let header = format!(
        "{{'descr': '<f8', 'fortran_order': False, 'shape': ({},), }}\n",
        numbers.len()
    );
    let length = (header.len() as u16).to_le_bytes();
    let numbers = numbers.iter().flat_map(|number| number.to_le_bytes());
    let numbers: Vec<_> = numbers.collect();
    [
        b"\x93NUMPY\x01\x00",
        &length[..],
        header.as_bytes(),
        &numbers,
    ]
    .concat()
}
