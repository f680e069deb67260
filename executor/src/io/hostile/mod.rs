//! Broken and hostile files of every format: read or refused, never a panic, and never more memory
//! than is charged and a few times the file.

mod checksums;
mod heap;

use std::fs;
use std::path::{Path, PathBuf};

use haul_ir::dtype::DType;
use haul_ir::expr::{Expr, Symbol};
use haul_ir::format::{File, Format, NPZ, RAW, SettingValue, Typing};
use haul_ir::philox::block;
use haul_ir::types::{TensorType, ValueType};
use rayon::ThreadPoolBuilder;

use super::{Access, CODECS, OpenError, peek, read};
use crate::cancel::{Cancel, Stop};
use crate::memory::Memory;
use crate::paths::Paths;

/// What a reader may hold.
const MEMORY: u64 = 48 << 20;

/// How many ways each file is broken in; in every other one its checksums are right.
const WAYS: u64 = 200;

/// What a reader may take beside what it charges: so many times the file, and so many bytes for
/// tables of its decoder and blocks that it reads at a time.
const TIMES_THE_FILE: u64 = 40;
const TABLES: u64 = 4 << 20;

/// Good files of every format, changed in ways that repeat.
#[test]
fn changed_files_are_read_or_refused() {
    let files = good_files();
    for codec in CODECS.iter().filter(|codec| codec.open.is_some()) {
        let has_file = |(format, _): &(&Format, PathBuf)| *format == codec.format;
        let name = codec.format.name;
        assert!(
            files.iter().any(has_file),
            "no file of {name} in tests/cases/io"
        );
    }
    // What readers share among threads is counted at this one.
    let alone = ThreadPoolBuilder::new().num_threads(1).use_current_thread();
    let _alone = alone.build().unwrap();
    for (at, (format, path)) in files.iter().enumerate() {
        let whole = fs::read(path).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        for way in 0..WAYS {
            let mut changed = change(&whole, at as u64 * WAYS + way);
            if way % 2 == 1 {
                checksums::repair(&mut changed);
            }
            fs::write(folder.path().join(name), &changed).unwrap();
            let read = || read_or_refuse(format, name, folder.path());
            let (charged, held) = heap::peak(read);
            let most = 2 * charged + TIMES_THE_FILE * changed.len() as u64 + TABLES;
            assert!(
                held <= most,
                "{name}, way {way}: {held} bytes of the heap, {charged} charged"
            );
        }
    }
}

/// The test data, by their endings.
fn good_files() -> Vec<(&'static Format, PathBuf)> {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases/io");
    let files = walkdir::WalkDir::new(cases)
        .sort_by_file_name()
        .into_iter()
        .flatten();
    let files = files.filter(|file| file.file_type().is_file());
    let with_format = |file: walkdir::DirEntry| {
        let path = file.into_path();
        let name = path.file_name()?.to_str()?;
        let format = match path.extension()?.to_str()? {
            "raw" => &RAW,
            "md" => &haul_ir::format::TEXT,
            _ => Format::of_path(name)?,
        };
        Some((format, path))
    };
    files.filter_map(with_format).collect()
}

/// Tells how many bytes were charged at most.
fn read_or_refuse(format: &'static Format, name: &str, base: &Path) -> u64 {
    let mut file = File::new(format, name);
    if *format == NPZ {
        file = file.with("array", SettingValue::Text("x".into()));
    }
    let memory = Memory::new(MEMORY);
    let (account, stop) = (&memory.account(MEMORY), &Stop::default());
    let paths = &Paths::new(base.to_owned(), Cancel::new());
    let access = Access {
        paths,
        account,
        stop,
    };
    let n = Expr::symbol(Symbol::new("n"));
    let raw: ValueType = TensorType::new(DType::I16, vec![n, Expr::from(3_u64)]).into();
    let declared = Some(&raw).filter(|_| format.typing == Typing::Declared);
    let outcome = peek(&file, declared, access).and_then(|found| {
        let ty = declared.cloned().unwrap_or(found);
        read(&file, &ty, access)
    });
    match outcome {
        Ok(read) => drop(read),
        Err(OpenError::Memory(_)) => {}
        Err(OpenError::Io(error)) => assert!(error.path.ends_with(name), "{error}"),
    }
    assert_eq!(memory.used(), 0, "{name} leaves memory charged");
    memory.peak()
}

/// The bytes with some of them changed, left out, repeated, or made extreme numbers.
fn change(whole: &[u8], seed: u64) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    for round in 0..=seed % 3 {
        let [kind, at, other, len] = block(seed, round).map(|number| number as usize);
        if bytes.is_empty() {
            return bytes;
        }
        // Headers are at the beginning, or at the end.
        let places = match kind / 8 % 3 {
            0 => 0..bytes.len(),
            1 => 0..bytes.len().min(64),
            _ => bytes.len().saturating_sub(64)..bytes.len(),
        };
        let at = places.start + at % places.len();
        let len = 1 + len % (bytes.len() - at).min(16);
        match kind % 8 {
            0 | 1 => bytes[at] ^= 1 << (other % 8),
            2 => bytes.truncate(at),
            3 => drop(bytes.drain(at..at + len)),
            4 => {
                let from = other % bytes.len();
                let part = bytes[from..bytes.len().min(from + len)].to_vec();
                bytes.splice(at..at, part);
            }
            kind => {
                let extreme = [[0x00; 8], [0xff; 8], *b"\xff\xff\xff\xff\xff\xff\xff\x7f"];
                let extreme = &extreme[kind - 5][..1 << (other % 4)];
                let end = bytes.len().min(at + extreme.len());
                bytes[at..end].copy_from_slice(&extreme[..end - at]);
            }
        }
    }
    bytes
}
