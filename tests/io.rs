//! Files of every format, read by `haul run` as other libraries read them.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{files, haul, outcome, root};

/// The cases of each list in `tests/cases/io`, through a pipeline that writes what it reads.
#[test]
fn files_are_read_as_other_libraries_read_them() {
    let cases = root().join("tests/cases/io");
    let folder = tempfile::tempdir().expect("a temporary folder");
    copy(&cases, folder.path());
    let mut wrong = Vec::new();
    let lists = fs::read_dir(&cases).expect("the cases").flatten();
    for list in lists.filter(|file| file.path().extension().is_some_and(|e| e == "json")) {
        let text = fs::read_to_string(list.path()).expect("a list");
        let list: Value = serde_json::from_str(&text).expect("a list of cases");
        for case in list.as_array().expect("a list of cases") {
            if !is_built(case) {
                println!("skipped, without the feature `arrow`: {}", case["source"]);
                continue;
            }
            if let Err(what) = check(case, folder.path()) {
                wrong.push(format!("{}: {what}", case["source"]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What is written is what other libraries write, or what stands here by hand.
#[test]
fn files_are_written_as_other_libraries_write_them() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    copy(&root().join("tests/cases/io"), folder.path());
    let text = r#"Pipeline(
        version: 1,
        inputs: {
            "sound": Wav(path: "made/i16.wav"),
            "numbers": Constant(value: [[1.5, -2], [0.25, 1e300]], type: "f64[2, 2]"),
            "small": Constant(value: [1, -2], type: "i16[2]"),
            "npy": Npy(path: "npy/dtype_f8.npy"),
        },
        stages: {
            "a": (do: "sound"), "b": (do: "numbers"), "c": (do: "small"), "d": (do: "npy"),
        },
        outputs: {
            "sound": Wav(path: "out/x.wav", from: "a", rate: 8000),
            "table": Csv(path: "out/x.csv", from: "b", columns: ["u", "v;w"], delimiter: ";", decimal: ","),
            "raw": Raw(path: "out/x.raw", from: "c", byte_order: Big),
            "stored": Npz(path: "out/x.npz", from: "d"),
            "packed": Npz(path: "out/y.npz", from: "d", array: "a/b", compressed: true),
        },
    )"#;
    fs::write(folder.path().join("case.ron"), text).expect("the pipeline");
    let mut run = haul();
    run.current_dir(folder.path()).args(["run", "case.ron"]);
    let (status, _, stderr) = outcome(&mut run);
    assert_eq!(status, 0, "{stderr}");
    let bytes = |path: &str| fs::read(folder.path().join(path)).expect("a file");
    assert!(
        bytes("out/x.wav") == bytes("made/i16.wav"),
        "what SciPy wrote"
    );
    let table = "u;\"v;w\"\n1,5;-2,0\n0,25;1e300\n";
    assert_eq!(String::from_utf8(bytes("out/x.csv")), Ok(table.to_owned()));
    assert_eq!(bytes("out/x.raw"), [0, 1, 0xff, 0xfe]);
    for (path, member) in [("out/x.npz", "arr_0.npy"), ("out/y.npz", "a/b.npy")] {
        let file = fs::File::open(folder.path().join(path)).expect("an archive");
        let mut archive = zip::ZipArchive::new(file).expect("an archive");
        let mut member = archive.by_name(member).expect("an array");
        let copy = folder.path().join("member.npy");
        let mut out = fs::File::create(&copy).expect("a file");
        std::io::copy(&mut member, &mut out).expect("a copy");
        let expected = folder.path().join("expected/npy__dtype_f8.npy.npy");
        assert_eq!(Npy::read(&copy).agrees(&Npy::read(&expected), 0), Ok(()));
    }
}

/// A pipeline whose types are declared is checked and planned where its data is not.
#[test]
fn declared_types_stand_for_the_data() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let pipeline = pipeline("Npy(path: \"nowhere.npy\", type: \"f32[n, 4]\")");
    fs::write(folder.path().join("case.ron"), pipeline).expect("the pipeline");
    for args in [&["check"][..], &["plan", "--target", "a100"]] {
        let mut command = haul();
        command
            .current_dir(folder.path())
            .args(args)
            .arg("case.ron");
        let (status, _, stderr) = outcome(&mut command);
        assert_eq!(status, 0, "{stderr}");
    }
}

/// Another type than declared is told with the file and both types, and nothing runs.
#[test]
fn declared_types_are_compared_with_headers_before_anything_runs() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = root().join("tests/cases/io/npy/v1.npy");
    fs::copy(file, folder.path().join("x.npy")).expect("a copy");
    let pipeline = pipeline("Npy(path: \"x.npy\", type: \"f64[2, n]\")");
    fs::write(folder.path().join("case.ron"), pipeline).expect("the pipeline");
    let mut run = haul();
    run.current_dir(folder.path()).args(["run", "case.ron"]);
    let (status, stdout, stderr) = outcome(&mut run);
    assert_eq!((status, stdout.as_str()), (1, ""), "{stderr}");
    let told = stderr.contains("`x.npy` has f32[2, 3, 4], declared is f64[2, n]")
        || stderr.contains("`x.npy` has f32[2, 3, 4], declared is f64[2, 3]");
    assert!(told, "{stderr}");
    assert!(!folder.path().join("y.npy").exists());
}

/// Writes its input as it is.
fn pipeline(source: &str) -> String {
    format!(
        "Pipeline(version: 1, inputs: {{\"x\": {source}}}, stages: {{\"y\": (do: \"x\")}}, \
         outputs: {{\"y\": Npy(path: \"y.npy\", from: \"y\")}})"
    )
}

fn is_built(case: &Value) -> bool {
    let source = case["source"].as_str().expect("a source");
    cfg!(feature = "arrow")
        || !["Parquet", "Arrow"]
            .into_iter()
            .any(|name| source.starts_with(name))
}

fn check(case: &Value, folder: &Path) -> Result<(), String> {
    let source = case["source"].as_str().expect("a source");
    fs::write(folder.join("case.ron"), pipeline(source)).expect("the pipeline");
    let mut run = haul();
    run.current_dir(folder).args(["run", "--quiet", "case.ron"]);
    let (status, _, stderr) = outcome(&mut run);
    if let Some(error) = case["error"].as_str() {
        return match status != 0 && stderr.contains(error) {
            true => Ok(()),
            false => Err(format!(
                "{status}, where an error is to say `{error}`: {stderr}"
            )),
        };
    }
    if status != 0 {
        return Err(stderr);
    }
    let expected = case["expected"].as_str().expect("an array");
    let [read, expected] = ["y.npy", expected].map(|path| Npy::read(&folder.join(path)));
    read.agrees(&expected, case["tolerance"].as_u64().unwrap_or(0))
}

/// An array as its header and its bytes.
struct Npy {
    dtype: String,
    shape: String,
    elements: Vec<u8>,
}

impl Npy {
    fn read(path: &Path) -> Self {
        let bytes = fs::read(path).expect("an array");
        let end = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        let header = std::str::from_utf8(&bytes[10..end]).expect("an ASCII header");
        assert!(header.contains("'fortran_order': False"), "{header}");
        let field = |name: &str, end: char| {
            let rest = header.split_once(name).expect("a header of NumPy").1;
            let field = rest.split_once(end).expect("a header of NumPy").0;
            field.replace(' ', "").trim_end_matches(',').to_owned()
        };
        Self {
            dtype: field("'descr': '", '\''),
            shape: field("'shape': (", ')'),
            elements: bytes[end..].to_vec(),
        }
    }

    /// Bit for bit, but that one NaN is as good as another, and levels of an image that its format
    /// leaves open to decoders may differ a little.
    fn agrees(&self, expected: &Self, tolerance: u64) -> Result<(), String> {
        let types = [self, expected].map(|array| format!("{}({})", array.dtype, array.shape));
        if types[0] != types[1] {
            return Err(format!("it is {}, expected is {}", types[0], types[1]));
        }
        let same = match self.dtype.as_str() {
            "<f8" => self.f64s() == expected.f64s(),
            "|u1" => {
                let levels = self.elements.iter().zip(&expected.elements);
                let differ = |(a, b): (&u8, &u8)| u64::from(a.abs_diff(*b)) > tolerance;
                !levels.into_iter().any(differ)
            }
            _ => self.elements == expected.elements,
        };
        match same {
            true => Ok(()),
            false => Err("other elements than expected".to_owned()),
        }
    }

    /// Bits of each number; the same ones for every NaN.
    fn f64s(&self) -> Vec<u64> {
        let (numbers, _) = self.elements.as_chunks();
        let bits = |bytes: &[u8; 8]| {
            let number = f64::from_le_bytes(*bytes);
            if number.is_nan() {
                f64::NAN.to_bits()
            } else {
                number.to_bits()
            }
        };
        numbers.iter().map(bits).collect()
    }
}

fn copy(from: &Path, to: &Path) {
    for file in files(from, "") {
        let copied = to.join(file.strip_prefix(from).expect("it is below"));
        fs::create_dir_all(copied.parent().expect("it has a folder")).expect("a folder");
        fs::copy(file, copied).expect("a copy");
    }
}
