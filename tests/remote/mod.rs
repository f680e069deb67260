//! Files on other machines: buckets of Amazon and of Google, and web servers, all of them on this one.

mod google;
mod service;
mod web;

use std::fs;
use std::path::Path;

use self::service::{Service, npy};

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
