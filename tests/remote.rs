//! Inputs and outputs in buckets, on a server of this machine that speaks the protocol of S3 and
//! checks signatures.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::thread;

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use s3s_fs::FileSystem;
use tempfile::TempDir;

use crate::support::{self, outcome};

/// A server whose one bucket `data` is a folder, and a folder for pipelines.
struct Service {
    buckets: TempDir,
    here: TempDir,
    endpoint: String,
}

impl Service {
    fn start() -> Self {
        let buckets = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir(buckets.path().join("data")).expect("a bucket");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let endpoint = format!("http://{}", listener.local_addr().expect("bound"));
        let root = buckets.path().to_owned();
        thread::spawn(move || serve(listener, &root));
        Self {
            buckets,
            here: tempfile::tempdir().expect("a temporary folder"),
            endpoint,
        }
    }

    /// Writes an object past the server.
    fn put(&self, key: &str, bytes: &[u8]) {
        let path = self.object(key);
        fs::create_dir_all(path.parent().expect("a bucket")).expect("a folder");
        fs::write(path, bytes).expect("an object");
    }

    fn object(&self, key: &str) -> std::path::PathBuf {
        self.buckets.path().join("data").join(key)
    }

    /// Runs a pipeline of these inputs, stages and outputs.
    fn run(&self, pipeline: &str) -> (i32, String, String) {
        self.run_as("secret", pipeline)
    }

    fn run_as(&self, secret: &str, pipeline: &str) -> (i32, String, String) {
        outcome(&mut self.command(secret, pipeline))
    }

    fn command(&self, secret: &str, pipeline: &str) -> Command {
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
            .env("AWS_SECRET_ACCESS_KEY", secret);
        command
    }

    /// Names of temporary files that a run left.
    fn left(&self) -> Vec<std::path::PathBuf> {
        support::files(&self.here.path().join("tmp"), "")
    }
}

fn serve(listener: TcpListener, root: &Path) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(async {
        let files = FileSystem::new(root).expect("a folder");
        let mut service = S3ServiceBuilder::new(files);
        service.set_auth(SimpleAuth::from_single("key", "secret"));
        let service = service.build();
        listener.set_nonblocking(true).expect("a socket");
        let listener = tokio::net::TcpListener::from_std(listener).expect("a socket");
        loop {
            let (stream, _) = listener.accept().await.expect("a connection");
            let service = service.clone();
            tokio::spawn(async move {
                let server = Builder::new(TokioExecutor::new());
                // The client may be gone.
                let _ = server.serve_connection(TokioIo::new(stream), service).await;
            });
        }
    });
}

fn npy(numbers: &[f64]) -> Vec<u8> {
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

#[test]
fn objects_are_read_listed_and_written() {
    let service = Service::start();
    service.put("in/x y.npy", &npy(&[1.0, 2.0]));
    for (name, number) in [("c", 30.0), ("a", 10.0), ("b", 20.0), (".hidden", 99.0)] {
        service.put(&format!("in/parts/{name}.npy"), &npy(&[number]));
    }
    service.put("in/parts/deeper/d.npy", &npy(&[99.0]));
    service.put("in/parts/notes.txt", b"no numbers");
    let (status, _, stderr) = service.run(
        r#"inputs: {
            "x": Npy(path: "s3://data/in/x y.npy", type: "f64[n]"),
            "again": Npy(path: "s3://data/in/x y.npy", type: "f64[n]"),
            "parts": Files(glob: "s3://data/in/parts/*.npy", type: "f64[1]"),
        },
        stages: {
            "each": (each: "parts", do: "parts + 1"),
            "all": (do: "concat(x + again, concat_all(each, axis=0), axis=0)"),
        },
        outputs: {
            "each": Npy(path: "s3://data/out/{item}.npy", from: "each"),
            "all": Csv(path: "s3://data/out/all.csv", from: "all"),
            "here": Csv(path: "all.csv", from: "all"),
        }"#,
    );
    assert_eq!(status, 0, "{stderr}");
    let fetched = stderr.matches("fetching s3://data/in/x y.npy").count();
    assert_eq!(fetched, 1, "{stderr}");
    let written = fs::read_to_string(service.object("out/all.csv")).expect("an object");
    assert_eq!(written, "2.0\n4.0\n11.0\n21.0\n31.0\n");
    let here = fs::read_to_string(service.here.path().join("all.csv")).expect("a file");
    assert_eq!(here, written);
    for (name, number) in [("a", 11.0_f64), ("b", 21.0), ("c", 31.0)] {
        let bytes = fs::read(service.object(&format!("out/{name}.npy"))).expect("an object");
        assert!(bytes.ends_with(&number.to_le_bytes()), "{name}");
    }
    assert_eq!(service.left(), [] as [&Path; 0]);
}

/// More than one part of an upload.
#[test]
fn a_large_object_is_put_in_parts_and_reads_back() {
    let service = Service::start();
    let write = r#"stages: {"x": (do: "arange(0, 3000000) * 0.5")},
        outputs: {"x": Npy(path: "s3://data/large.npy", from: "x")}"#;
    let (status, _, stderr) = service.run(write);
    assert_eq!(status, 0, "{stderr}");
    let (status, _, stderr) = service.run(
        r#"inputs: {"x": Npy(path: "s3://data/large.npy", type: "f64[3000000]")},
        stages: {"sum": (do: "stack(sum(x), x[2999999])")},
        outputs: {"sum": Csv(path: "sum.csv", from: "sum")}"#,
    );
    assert_eq!(status, 0, "{stderr}");
    let sum = fs::read_to_string(service.here.path().join("sum.csv")).expect("a file");
    // Half the sum of 0 to 2999999; both are exact in f64.
    assert_eq!(sum, "2249999250000.0\n1499999.5\n");
}

#[test]
fn what_is_missing_or_denied_is_told_with_what_to_do() {
    let service = Service::start();
    service.put("x.npy", &npy(&[1.0]));
    let pipeline = |path: &str| {
        format!(
            r#"inputs: {{"x": Npy(path: "{path}", type: "f64[1]")}}, stages: {{"y": (do: "x")}}"#
        )
    };
    let cases = [
        (
            "secret",
            "s3://data/nope.npy",
            "there is no such object (404)",
            "look at the key",
        ),
        (
            "secret",
            "s3://nope/x.npy",
            "there is no such object (404)",
            "AWS_ENDPOINT",
        ),
        (
            "wrong",
            "s3://data/x.npy",
            "access is denied (403)",
            "AWS_SECRET_ACCESS_KEY",
        ),
    ];
    for (secret, path, message, help) in cases {
        let (status, _, stderr) = service.run_as(secret, &pipeline(path));
        assert_eq!(status, 1, "{stderr}");
        for part in [path, message, help] {
            assert!(stderr.contains(part), "{part}: {stderr}");
        }
    }
    let (status, _, stderr) = service.run(
        r#"inputs: {"x": Files(glob: "s3://data/nope/*.npy", type: "f64[1]")},
        stages: {"y": (each: "x", do: "x")}"#,
    );
    assert_eq!(status, 1, "{stderr}");
    assert!(stderr.contains("no file matches this pattern"), "{stderr}");
    assert_eq!(service.left(), [] as [&Path; 0]);
}

#[test]
fn an_output_that_is_denied_leaves_nothing() {
    let service = Service::start();
    let (status, _, stderr) = service.run_as(
        "wrong",
        r#"stages: {"x": (do: "1.5")}, outputs: {"x": Npy(path: "s3://data/x.npy", from: "x")}"#,
    );
    assert_eq!(status, 1, "{stderr}");
    assert!(
        stderr.contains("output `x` (`s3://data/x.npy`): access is denied"),
        "{stderr}"
    );
    assert!(!service.object("x.npy").exists());
    assert_eq!(service.left(), [] as [&Path; 0]);
}
