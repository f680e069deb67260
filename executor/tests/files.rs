//! Files of all formats: oddities read as expected, round trips, broken and hostile files refused.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use crate::paths;
use crate::run::{PASS, options};
use crate::support::{MIB, Pipeline, tensor, value};
use haul_executor::{
    Cancel, ErrorKind, Machine, Options, Paths, RunError, Silent, files, header, run,
};
use haul_ir::dtype::DType;
use haul_ir::expr::{Expr, Symbol};
use haul_ir::format::{CSV, Column, File, Format, IMAGE, NPY, NPZ, SettingValue};
use haul_ir::graph::Source;
use haul_ir::report::Written;
use haul_ir::types::{TensorType, ValueType};

pub(crate) fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases/io")
}

pub(crate) fn npy(path: &str) -> File {
    File::new(&NPY, path)
}

fn npz(path: &str, array: &str) -> File {
    File::new(&NPZ, path).with("array", SettingValue::Text(array.into()))
}

fn csv(path: &str, columns: &[&str]) -> File {
    let columns = columns.iter().map(|name| Column::Name((*name).to_owned()));
    File::new(&CSV, path).with("columns", SettingValue::Columns(columns.collect()))
}

fn image(path: &str) -> File {
    File::new(&IMAGE, path)
}

/// Reads a source and writes it at once.
pub(crate) fn convert(
    source: &Source,
    ty: impl Into<ValueType>,
    sink: File,
    base: &Path,
    out: &Path,
) -> Result<Written, RunError> {
    convert_along(source, ty, sink, paths(base), out)
}

fn convert_along(
    source: &Source,
    ty: impl Into<ValueType>,
    sink: File,
    paths: Paths,
    out: &Path,
) -> Result<Written, RunError> {
    let mut p = Pipeline::new();
    let x = p.input("x", source.clone(), ty);
    p.output("y", sink, x);
    let options = Options {
        paths,
        out: out.to_owned(),
        machine: Machine {
            cpus: 1,
            memory: 64 * MIB,
            cpu: "test cpu".into(),
            emulated: Vec::new(),
        },
        keep_going: false,
        cancel: Cancel::new(),
        caching: None,
    };
    run(&p.plan(), &options, &Silent).map(|mut report| report.written.remove(0))
}

/// Elements and type of a source, through a `.npy` file that is written of it.
pub(crate) fn read(
    source: &File,
    base: &Path,
    dtype: Option<DType>,
) -> Result<(TensorType, Vec<u8>), String> {
    let out = tempfile::tempdir().unwrap();
    let found = header(source, None, &paths(base)).map_err(|error| error.to_string())?;
    let mut ty = found.tensor().unwrap().clone();
    ty.dtype = dtype.unwrap_or(ty.dtype);
    let source = Source::File(source.clone());
    convert(&source, ty.clone(), npy("y.npy"), base, out.path())
        .map_err(|error| error.to_string())?;
    Ok((ty, elements(&out.path().join("y.npy"))))
}

/// What follows the header of a version 1 file.
pub(crate) fn elements(path: &Path) -> Vec<u8> {
    let file = std::fs::read(path).unwrap();
    file[10 + usize::from(u16::from_le_bytes([file[8], file[9]]))..].to_vec()
}

/// A `.npy` file with this header and these elements.
fn npy_file(header: &str, elements: &[u8]) -> Vec<u8> {
    let length = header.len() as u16;
    [
        b"\x93NUMPY\x01\x00",
        &length.to_le_bytes()[..],
        header.as_bytes(),
        elements,
    ]
    .concat()
}

/// `numpy.asfortranarray(numpy.arange(6, dtype='>i2').reshape(2, 3))`: 0 3 1 4 2 5 in the file.
#[test]
fn fortran_order_is_turned() {
    let folder = tempfile::tempdir().unwrap();
    let header = "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }";
    let file = npy_file(header, &[0, 0, 0, 3, 0, 1, 0, 4, 0, 2, 0, 5]);
    std::fs::write(folder.path().join("x.npy"), file).unwrap();
    let (ty, bytes) = read(&npy("x.npy"), folder.path(), None).unwrap();
    assert_eq!(ty, tensor(DType::I16, &[2, 3]));
    assert_eq!(bytes, [0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0]);
}

#[test]
fn what_is_written_reads_back_the_same() {
    let out = tempfile::tempdir().unwrap();
    let random = Source::Random { seed: 7 };
    for dtype in [
        DType::F16,
        DType::Bf16,
        DType::F32,
        DType::F64,
        DType::C64,
        DType::C128,
    ] {
        let ty = tensor(dtype, &[3, 50, 2]);
        convert(&random, ty.clone(), npy("x.npy"), out.path(), out.path()).unwrap();
        let first = std::fs::read(out.path().join("x.npy")).unwrap();
        assert_eq!(
            header(&npy("x.npy"), None, &paths(out.path())),
            Ok(ValueType::Tensor(ty.clone()))
        );
        convert(
            &Source::File(npy("x.npy")),
            ty,
            npy("y.npy"),
            out.path(),
            out.path(),
        )
        .unwrap();
        assert!(
            first == std::fs::read(out.path().join("y.npy")).unwrap(),
            "{dtype}"
        );
    }
    for dtype in [DType::F16, DType::F32, DType::F64] {
        let ty = tensor(dtype, &[1000, 2]);
        convert(&random, ty.clone(), npy("x.npy"), out.path(), out.path()).unwrap();
        let table = csv("x.csv", &["a, \"b\"", "c"]);
        convert(&random, ty.clone(), table.clone(), out.path(), out.path()).unwrap();
        convert(
            &Source::File(table),
            ty,
            npy("y.npy"),
            out.path(),
            out.path(),
        )
        .unwrap();
        let [x, y] = ["x.npy", "y.npy"].map(|path| elements(&out.path().join(path)));
        assert!(x == y, "{dtype}");
    }
}

#[test]
fn images_keep_their_bits_and_channels() {
    let out = tempfile::tempdir().unwrap();
    let numbers: Vec<f64> = (0..24).map(|i| f64::from(i * 2731)).collect();
    for shape in [&[4, 6][..], &[4, 3, 2], &[2, 4, 3], &[2, 3, 4]] {
        for dtype in [DType::U8, DType::U16] {
            let modulus = if dtype == DType::U8 { 256.0 } else { 65536.0 };
            let numbers = numbers.iter().map(|number| number % modulus).collect();
            let source = Source::Constant { numbers };
            let ty = tensor(dtype, shape);
            convert(&source, ty.clone(), image("x.png"), out.path(), out.path()).unwrap();
            convert(&source, ty.clone(), npy("x.npy"), out.path(), out.path()).unwrap();
            let (read_type, bytes) = read(&image("x.png"), out.path(), None).unwrap();
            assert_eq!(
                (read_type, bytes),
                (ty, elements(&out.path().join("x.npy")))
            );
        }
    }
}

#[test]
fn what_a_format_cannot_hold_is_refused_with_help() {
    let out = tempfile::tempdir().unwrap();
    let refused = |dtype: DType, shape: &[u64], sink| {
        let parts = dtype.size() / dtype.real().size();
        let numbers = vec![0.0; parts as usize];
        let source = Source::Constant { numbers };
        let error =
            convert(&source, tensor(dtype, shape), sink, out.path(), out.path()).unwrap_err();
        format!("{}; {}", error.message, error.help.unwrap())
    };
    assert_eq!(
        refused(DType::F32, &[4, 4], image("x.png")),
        "output `y` (`x.png`): f32[4, 4] cannot be written: an image is u8 or u16, not f32; \
         scale and cast it: `u8(clip(x, 0, 1) * 255 + 0.5)`"
    );
    assert_eq!(
        refused(DType::U8, &[4, 4, 5], image("x.png")),
        "output `y` (`x.png`): u8[4, 4, 5] cannot be written: an image has 1 to 4 channels, \
         not 5; give it the shape [h, w] or [h, w, channels]"
    );
    assert!(refused(DType::U8, &[0, 4], image("x.png")).contains("its sides have to be from 1"));
    assert_eq!(
        refused(DType::F32, &[4, 3], csv("x.csv", &["a", "b"])),
        "output `y` (`x.csv`): f32[4, 3] cannot be written: 2 columns are named, there are 3; \
         name as many columns as there are, or none"
    );
    assert!(refused(DType::C64, &[4], csv("x.csv", &[])).contains("a table holds real numbers"));
    assert_eq!(std::fs::read_dir(out.path()).unwrap().count(), 0);
}

#[test]
fn broken_and_hostile_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let f4 =
        |shape: &str| format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}");
    let descr =
        |descr: &str| format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (1,), }}");
    let gray16 = std::fs::read(data().join("image/gray16.png")).unwrap();
    // Width and height are the 8 bytes from 16 on; the checksum of their chunk follows at 29.
    let mut vast = gray16.clone();
    vast[16..24].copy_from_slice(&[0, 1, 0, 0, 0, 1, 0, 0]);
    let mut crc = flate2::Crc::new();
    crc.update(&vast[12..29]);
    vast[29..33].copy_from_slice(&crc.sum().to_be_bytes());
    let npz_file = std::fs::read(data().join("npz/deflated.npz")).unwrap();
    let x = || npz("x.npz", "x");
    let cases: Vec<(File, Vec<u8>, &str)> = vec![
        (npy("x.npy"), vec![], "it is truncated"),
        (
            npy("x.npy"),
            b"PK\x03\x04 is another format".to_vec(),
            "it is not a .npy file",
        ),
        (
            npy("x.npy"),
            b"\x93NUMPY\x09\x00\x00\x00".to_vec(),
            "version 9 of .npy is not known",
        ),
        (
            npy("x.npy"),
            b"\x93NUMPY\x02\x00\xff\xff\xff\xff".to_vec(),
            "its header claims 4294967295 bytes",
        ),
        (
            npy("x.npy"),
            npy_file(&f4("(4,)"), &[0; 15]),
            "it is truncated",
        ),
        (
            npy("x.npy"),
            npy_file(&f4("(4611686018427387904, 2)"), &[]),
            "too large",
        ),
        (
            npy("x.npy"),
            npy_file(&f4("(99999999999999999999,)"), &[]),
            "its header has a size `99999999999999999999`",
        ),
        (
            npy("x.npy"),
            npy_file(&f4("(-1,)"), &[]),
            "its header has a size ``",
        ),
        (
            npy("x.npy"),
            npy_file(&f4(&"(".repeat(9000)), &[]),
            "its header has a size ``",
        ),
        (
            npy("x.npy"),
            npy_file(&f4(&format!("({})", "1,".repeat(65))), &[0; 4]),
            "it has more than 64 axes",
        ),
        (
            npy("x.npy"),
            npy_file(&f4("(1,)").replace("fortran", "cobol"), &[0; 4]),
            "its header has an unknown key",
        ),
        (
            npy("x.npy"),
            npy_file("{'descr': '<f4', }", &[0; 4]),
            "its header has no `shape`",
        ),
        (
            npy("x.npy"),
            npy_file("{'descr': '<f4", &[0; 4]),
            "a string of its header has no end",
        ),
        (
            npy("x.npy"),
            npy_file(&(f4("(1,)") + "exit()"), &[0; 4]),
            "its header goes on after its end",
        ),
        (
            npy("x.npy"),
            npy_file(&descr("'|O'"), &[0; 8]),
            "it holds Python objects, which are never loaded",
        ),
        (
            npy("x.npy"),
            npy_file(&descr("[('a', '<f4')]"), &[0; 4]),
            "it holds records with named fields",
        ),
        (
            npy("x.npy"),
            npy_file(&descr("'<U8'"), &[0; 32]),
            "its dtype `<U8` is no dtype of tensors",
        ),
        (
            npy("x.npy"),
            npy_file(&descr("'é'"), &[0; 4]),
            "its dtype `é` is not known",
        ),
        (x(), vec![], "it is not a readable .npz file"),
        (
            x(),
            npz_file[..npz_file.len() - 30].to_vec(),
            "it is not a readable .npz file",
        ),
        (
            npz("x.npz", "z"),
            npz_file,
            "it has no array `z`, only: x, y",
        ),
        (
            image("x.png"),
            gray16[..gray16.len() - 40].to_vec(),
            "it is not a readable PNG image",
        ),
        (
            image("x.png"),
            b"GIF89a".to_vec(),
            "it is not a PNG, JPEG, BMP or TIFF image",
        ),
        (
            image("x.png"),
            vast,
            "it claims 65536 x 65536 pixels in a file of",
        ),
        (
            csv("x.csv", &["a"]),
            b"a\n\xff\n".to_vec(),
            "line 2: it is not UTF-8 text",
        ),
        (
            csv("x.csv", &["b"]),
            b"a\n1\n".to_vec(),
            "there is no column `b`, only: a",
        ),
        (
            csv("x.csv", &["a"]),
            b"a,a\n1,2\n".to_vec(),
            "several columns are called `a`",
        ),
        (
            csv("x.csv", &[]),
            b"a,b\n1,2\n3\n".to_vec(),
            "line 3: has 1 field, not 2",
        ),
        (
            csv("x.csv.gz", &[]),
            gzipped(b"a\n1\n")[..15].to_vec(),
            "x.csv.gz`: ",
        ),
        // 80 MiB of a row a line, where 64 MiB are allowed.
        (
            csv("x.csv.gz", &[]),
            gzipped(&b"1\n".repeat(40 << 20)),
            "`x` needs",
        ),
        (npy("nothing.npy"), vec![], "No such file or directory"),
    ];
    for (source, bytes, message) in cases {
        let name = match source.path.as_str() {
            "nothing.npy" => "other.npy",
            path => path,
        };
        std::fs::write(folder.path().join(name), bytes).unwrap();
        let error = read(&source, folder.path(), None).unwrap_err();
        assert!(error.contains(message), "{error} should say: {message}");
    }
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// What a file told when it was looked at is remembered, and its data are held to that.
#[test]
fn a_table_that_changes_after_it_was_looked_at_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (file, paths) = (csv("x.csv", &[]), paths(folder.path()));
    let rows = |text: &str| std::fs::write(folder.path().join("x.csv"), text).unwrap();
    rows("a\n1\n2\n");
    header(&file, None, &paths).unwrap();
    rows("a\n1\n");
    let n = Expr::symbol(Symbol::new("n"));
    let ty = TensorType::new(DType::F64, vec![n, Expr::ONE]);
    let source = Source::File(file);
    let error = convert_along(&source, ty, npy("y.npy"), paths, folder.path()).unwrap_err();
    assert!(error.message.contains("`n` is 2 elsewhere"), "{error}");
}

#[test]
fn text_is_packed_where_its_name_says_so() {
    let out = tempfile::tempdir().unwrap();
    let (ty, _) = read(&npy("columns/f64_null.npy"), &data(), None).unwrap();
    let write = |name: &str| {
        let source = Source::File(npy("columns/f64_null.npy"));
        let sink = File::new(Format::of_path(name).unwrap(), name);
        convert(&source, ty.clone(), sink, &data(), out.path()).unwrap();
        std::fs::read(out.path().join(name)).unwrap()
    };
    for name in ["y.csv", "y.jsonl"] {
        let packed = write(&format!("{name}.gz"));
        // RFC 1952: deflate, neither name nor time.
        assert_eq!(packed[..8], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0], "{name}");
        let mut text = Vec::new();
        let mut unpacked = flate2::bufread::GzDecoder::new(&packed[..]);
        unpacked.read_to_end(&mut text).unwrap();
        assert_eq!(text, write(name), "{name}");
        assert_eq!(packed, write(&format!("{name}.gz")), "{name}");
    }
}

#[test]
fn another_dtype_than_declared_is_refused() {
    let out = tempfile::tempdir().unwrap();
    let n = Expr::symbol(Symbol::new("n"));
    let ty = TensorType::new(DType::F32, vec![n, Expr::from(2_u64)]);
    let source = Source::File(npy("npy/dtype_f8.npy"));
    let error = convert(&source, ty, npy("y.npy"), &data(), out.path()).unwrap_err();
    let message = "npy/dtype_f8.npy`: it holds f64, not f32 as declared";
    assert!(error.message.ends_with(message), "{error}");
    assert_eq!(error.help.unwrap(), "declare f64 and cast: `f32(x)`");
}

#[test]
fn patterns_name_files_in_order() {
    let names = |pattern: &str| {
        let found = files(pattern, &paths(&data())).map_err(|error| error.to_string())?;
        Ok(found
            .iter()
            .map(|file| file.display().to_string())
            .collect::<Vec<_>>())
    };
    assert_eq!(
        names("image/*.png"),
        Ok(vec![
            "image/gray16.png".into(),
            "image/gray_alpha.png".into(),
            "image/one_bit.png".into(),
        ])
    );
    assert_eq!(names("*.md"), Ok(vec!["README.md".into()]));
    assert_eq!(
        names("*.none"),
        Err("`*.none`: no file matches this pattern".to_owned())
    );
    assert!(names("a[").unwrap_err().starts_with("`a[`: "));
}

#[test]
fn an_empty_array_with_a_huge_side_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let described =
        "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 4611686018427387904, 4), }\n";
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((described.len() as u16).to_le_bytes());
    file.extend(described.as_bytes());
    std::fs::write(folder.path().join("x.npy"), file).unwrap();
    let error = header(&npy("x.npy"), None, &paths(folder.path())).unwrap_err();
    assert_eq!(
        error.message,
        "its shape is [0, 4611686018427387904, 4]: too large"
    );
}

/// An array of 16 MiB, where a run has 8 MiB: its slices are views of the file.
#[test]
fn a_large_array_is_mapped_and_takes_no_memory() {
    let folder = tempfile::tempdir().unwrap();
    let described = "{'descr': '<f4', 'fortran_order': False, 'shape': (16, 262144), }";
    let header = npy_file(&format!("{described:117}\n"), &[]);
    assert_eq!(header.len(), 128);
    let file = std::fs::File::create(folder.path().join("x.npy")).unwrap();
    (&file).write_all(&header).unwrap();
    file.set_len(128 + (16 << 20)).unwrap();
    let mut p = Pipeline::new();
    p.input(
        "x",
        Source::File(npy("x.npy")),
        tensor(DType::F32, &[16, 262_144]),
    );
    let of = p.graph.inputs.ids().next().unwrap();
    let split = Source::Split {
        of,
        axis: 0,
        size: 1,
    };
    let (parts, part) = p.items("parts", split, tensor(DType::F32, &[1, 262_144]));
    p.stage("s", Some(parts), 1, 3 * MIB);
    let s = p.op("s", &PASS, vec![value(part)]);
    p.gives(s);
    p.output("parts", npy("{item}.npy"), s);
    let mut options = options(folder.path(), 2);
    options.machine.memory = 8 * MIB;
    let report = run(&p.plan(), &options, &Silent).unwrap();
    assert_eq!(report.written.len(), 16);
    assert!(report.peak_memory <= 8 * MIB);
}

#[test]
fn a_cancelled_run_reads_nothing_more() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("x.csv"), "1\n".repeat(1 << 20)).unwrap();
    let mut p = Pipeline::new();
    let table = csv("x.csv", &[]).with("header", SettingValue::Bool(false));
    let x = p.input("x", Source::File(table), tensor(DType::F64, &[1 << 20, 1]));
    p.npy("y.npy", x);
    let options = options(folder.path(), 1);
    options.cancel.cancel();
    let error = run(&p.plan(), &options, &Silent).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Cancelled);
}

/// Opening one would wait for somebody to write to it.
#[cfg(unix)]
#[test]
fn a_pipe_is_no_file_of_data() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.unwrap().success());
    let error = header(&npy("x.npy"), None, &paths(folder.path())).unwrap_err();
    assert_eq!(error.message, "it is not a regular file");
}
