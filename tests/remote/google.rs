//! Buckets of Google. What its XML interface reads, lists and puts, it does as S3 does
//! (<https://cloud.google.com/storage/docs/xml-api/overview>), so the same server stands for it.

use std::fs;
use std::path::Path;

use super::service::{Service, npy};

#[test]
fn objects_of_google_are_read_listed_and_written() {
    let service = Service::public();
    service.put("in/x y.npy", &npy(&[1.0, 2.0]));
    for (name, number) in [("b", 20.0), ("a", 10.0)] {
        service.put(&format!("in/parts/{name}.npy"), &npy(&[number]));
    }
    service.put("in/parts/deeper/d.npy", &npy(&[99.0]));
    let (status, _, stderr) = service.run(
        r#"inputs: {
            "x": Npy(path: "gs://data/in/x y.npy", type: "f64[n]"),
            "parts": Files(glob: "gs://data/in/parts/*.npy", type: "f64[1]"),
        },
        stages: {
            "each": (each: "parts", do: "parts + 1"),
            "all": (do: "concat(x, concat_all(each, axis=0), axis=0)"),
            "large": (do: "arange(0, 3000000) * 0.5"),
        },
        outputs: {
            "each": Npy(path: "gs://data/out/{item}.npy", from: "each"),
            "all": Csv(path: "gs://data/out/all.csv", from: "all"),
            "large": Npy(path: "gs://data/large.npy", from: "large"),
        }"#,
    );
    assert_eq!(status, 0, "{stderr}");
    let written = fs::read_to_string(service.object("out/all.csv")).expect("an object");
    assert_eq!(written, "1.0\n2.0\n11.0\n21.0\n");
    for (name, number) in [("a", 11.0_f64), ("b", 21.0)] {
        let bytes = fs::read(service.object(&format!("out/{name}.npy"))).expect("an object");
        assert!(bytes.ends_with(&number.to_le_bytes()), "{name}");
    }
    // Put in parts.
    let large = fs::read(service.object("large.npy")).expect("an object");
    assert!(large.ends_with(&1_499_999.5_f64.to_le_bytes()));
    assert_eq!(service.left(), [] as [&Path; 0]);
}

#[test]
fn what_google_has_not_is_told_with_what_to_do() {
    let service = Service::public();
    let (status, _, stderr) = service.run(
        r#"inputs: {"x": Npy(path: "gs://data/nope.npy", type: "f64[1]")}, stages: {"y": (do: "x")}"#,
    );
    assert_eq!(status, 1, "{stderr}");
    for part in [
        "gs://data/nope.npy",
        "there is no such object (404)",
        "look at the key",
    ] {
        assert!(stderr.contains(part), "{part}: {stderr}");
    }
}
