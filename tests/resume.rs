//! What later runs take from earlier ones, and what a killed one leaves.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::support;

/// Three files, two stages for each, and two of all.
const PIPELINE: &str = r#"Pipeline(
    version: 1,
    inputs: {
        "files": Files(glob: "data/*.csv", type: "f64[n, 2]"),
    },
    stages: {
        "scaled": (each: "files", do: "files * 2", memory: "16 MiB"),
        "sums": (each: "files", do: "sum(scaled, axis=0)"),
        "all": (do: "gather(sums)"),
        "largest": (do: "max(all)"),
    },
    outputs: {
        "scaled": Npy(path: "out/{item}.npy", from: "scaled"),
        "all": Csv(path: "out/all.csv", from: "all"),
        "largest": Csv(path: "out/largest.csv", from: "largest"),
    },
)
"#;

/// A pipeline in a folder of its own.
struct Project {
    folder: TempDir,
}

impl Project {
    fn new(pipeline: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let project = Self { folder };
        fs::create_dir(project.path("data")).expect("a folder");
        for (name, first) in [("a", 1), ("b", 10), ("c", 100)] {
            project.write(
                &format!("data/{name}.csv"),
                &format!("x,y\n{first},2\n3,4\n"),
            );
        }
        project.write("p.ron", pipeline);
        project
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.path(path), text).expect("room for it");
    }

    fn edit(&self, from: &str, to: &str) {
        let text = support::read(&self.path("p.ron"));
        assert!(text.contains(from), "{from}");
        self.write("p.ron", &text.replace(from, to));
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = support::haul();
        command.arg("run").arg(self.path("p.ron")).args(args);
        command
    }

    /// Runs it, keeps all results, and tells how many tasks of each stage computed and how many
    /// were reused; and what was said.
    fn run(&self, args: &[&str]) -> (Counts, String) {
        let report = self.path("report.json");
        let mut command = self.command(args);
        command
            .args(["--quiet", "--keep", "all", "--report"])
            .arg(&report);
        let output = command.output().expect("the binary starts");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{stderr}");
        (counts(&report), stderr)
    }

    /// As [`Project::run`] of what may take results.
    fn resume(&self) -> Counts {
        self.run(&["--resume"]).0
    }

    /// The entries of its cache.
    fn entries(&self) -> Vec<PathBuf> {
        let all = walk(&self.path(".haul/cache/results"));
        all.into_iter().filter(|path| !is_part(path)).collect()
    }

    /// What its outputs hold, by path.
    fn outputs(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let files = walk(&self.path("out"));
        let files = files.into_iter().filter(|path| !is_part(path));
        files
            .map(|path| (path.clone(), fs::read(path).expect("a file")))
            .collect()
    }
}

/// Tasks of each stage that computed, and that were reused.
type Counts = Vec<(String, u64, u64)>;

fn counts(report: &Path) -> Counts {
    let report: Value = serde_json::from_str(&support::read(report)).expect("JSON");
    let stages = report["stages"].as_array().expect("stages").iter();
    let counts = stages.map(|stage| {
        let number = |field: &str| stage[field].as_u64().expect("a number");
        let name = stage["stage"].as_str().expect("a name").to_owned();
        (name, number("tasks") - number("reused"), number("reused"))
    });
    counts.collect()
}

fn expected(counts: [(&str, u64, u64); 4]) -> Counts {
    let counts = counts.into_iter();
    counts
        .map(|(stage, computed, reused)| (stage.to_owned(), computed, reused))
        .collect()
}

fn walk(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() => files.extend(walk(&path)),
            path => files.push(path),
        }
    }
    files.sort();
    files
}

/// Whether a file is one that was being written.
fn is_part(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "part")
}

#[test]
fn only_what_is_missing_or_changed_computes() {
    let project = Project::new(PIPELINE);
    let all = [
        ("scaled", 3, 0),
        ("sums", 3, 0),
        ("all", 1, 0),
        ("largest", 1, 0),
    ];
    let none = [
        ("scaled", 0, 3),
        ("sums", 0, 3),
        ("all", 0, 1),
        ("largest", 0, 1),
    ];
    let (first, said) = project.run(&["--resume"]);
    assert_eq!((first, said.is_empty()), (expected(all), false), "{said}");
    let undisturbed = project.outputs();
    assert_eq!(undisturbed.len(), 5);

    fs::remove_dir_all(project.path("out")).expect("it is there");
    assert_eq!(project.resume(), expected(none));
    assert_eq!(project.outputs(), undisturbed);
    // Without the flag nothing is taken.
    assert_eq!(project.run(&[]).0, expected(all));

    // What a stage requests, and what it and others are called, changes nothing that it computes.
    project.edit("16 MiB", "32 MiB");
    project.edit("\"largest\"", "\"most\"");
    project.edit("f64[n, 2]", "f64[rows, 2]");
    let renamed = [
        ("scaled", 0, 3),
        ("sums", 0, 3),
        ("all", 0, 1),
        ("most", 0, 1),
    ];
    assert_eq!(project.resume(), expected(renamed));

    // A file is written to: its items compute, and what is made of all.
    project.write("data/b.csv", "x,y\n20,2\n3,4\n");
    let changed = [
        ("scaled", 1, 2),
        ("sums", 1, 2),
        ("all", 1, 0),
        ("most", 1, 0),
    ];
    assert_eq!(project.resume(), expected(changed));
    // It is as it was: so are they.
    project.write("data/b.csv", "x,y\n10,2\n3,4\n");
    assert_eq!(project.resume(), expected(renamed));
    assert_eq!(project.outputs(), undisturbed);

    // A formula is another one: what follows computes, what is before is taken.
    project.edit("sum(scaled", "min(scaled");
    let edited = [
        ("scaled", 0, 3),
        ("sums", 3, 0),
        ("all", 1, 0),
        ("most", 1, 0),
    ];
    assert_eq!(project.resume(), expected(edited));

    // An item more.
    project.edit("min(scaled", "sum(scaled");
    project.write("data/d.csv", "x,y\n7,2\n3,4\n");
    let more = [
        ("scaled", 1, 3),
        ("sums", 1, 3),
        ("all", 1, 0),
        ("most", 1, 0),
    ];
    assert_eq!(project.resume(), expected(more));
}

/// A result that is gone is made again where somebody needs it, and of nothing that nobody needs.
#[test]
fn what_nobody_needs_is_not_made_again() {
    let project = Project::new(PIPELINE);
    project.resume();
    let undisturbed = project.outputs();
    let lose = |stage: &str| {
        let named = format!("\"stage\":\"{stage}\"");
        let of_stage = |path: &PathBuf| {
            let bytes = fs::read(path).expect("an entry");
            String::from_utf8_lossy(&bytes).contains(&named)
        };
        let lost: Vec<_> = project.entries().into_iter().filter(of_stage).collect();
        assert!(!lost.is_empty(), "{stage}");
        lost.iter()
            .for_each(|path| fs::remove_file(path).expect("an entry"));
    };
    lose("sums");
    let none = [
        ("scaled", 0, 3),
        ("sums", 0, 3),
        ("all", 0, 1),
        ("largest", 0, 1),
    ];
    assert_eq!(project.resume(), expected(none));
    lose("all");
    let some = [
        ("scaled", 0, 3),
        ("sums", 3, 0),
        ("all", 1, 0),
        ("largest", 0, 1),
    ];
    assert_eq!(project.resume(), expected(some));
    assert_eq!(project.outputs(), undisturbed);
}

/// A size that a stage computes with is a part of what it depends on, whoever tells it.
#[test]
fn a_size_of_another_input_counts() {
    let pipeline = r#"Pipeline(
        version: 1,
        inputs: {
            "x": Csv(path: "data/a.csv", type: "f64[n, 2]"),
            "y": Csv(path: "data/b.csv", type: "f64[m, 2]"),
        },
        stages: {
            "scaled": (do: "x * m"),
            "sum": (do: "sum(y)"),
        },
        outputs: {
            "scaled": Npy(path: "out/scaled.npy", from: "scaled"),
            "sum": Npy(path: "out/sum.npy", from: "sum"),
        },
    )"#;
    let project = Project::new(pipeline);
    project.resume();
    let computed = || {
        let counts = project.resume().into_iter();
        let computed = counts.filter(|(_, computed, _)| *computed > 0);
        computed.map(|(stage, ..)| stage).collect::<Vec<_>>()
    };
    project.write("data/b.csv", "x,y\n11,2\n3,4\n");
    assert_eq!(computed(), ["sum"]);
    project.write("data/b.csv", "x,y\n11,2\n3,4\n5,6\n");
    assert_eq!(computed(), ["scaled", "sum"]);
}

#[test]
fn a_damaged_result_is_told_and_computed_again() {
    let project = Project::new(PIPELINE);
    project.resume();
    let undisturbed = project.outputs();
    for (at, entry) in project.entries().iter().enumerate() {
        let mut bytes = fs::read(entry).expect("an entry");
        match at % 2 {
            0 => *bytes.last_mut().expect("a hash") ^= 1,
            _ => bytes.truncate(bytes.len() / 2),
        }
        fs::write(entry, bytes).expect("room for it");
    }
    fs::remove_dir_all(project.path("out")).expect("it is there");
    let (counts, said) = project.run(&["--resume"]);
    // Those of `sums` are not needed to see that all others are damaged, but to compute them.
    let reused: u64 = counts.iter().map(|(_, _, reused)| reused).sum();
    assert_eq!(reused, 0, "{said}");
    assert_eq!(
        said.matches("is damaged, and computed again").count(),
        8,
        "{said}"
    );
    assert_eq!(project.outputs(), undisturbed);
    assert_eq!(project.entries().len(), 8);
}

/// Rows that were passed over are told of also by a run that takes what was made of the others.
#[test]
fn skipped_rows_are_told_again() {
    let pipeline = r#"Pipeline(
        version: 1,
        inputs: {
            "x": Csv(path: "data/a.csv", type: "f64[n, 2]", bad_rows: Skip),
        },
        stages: {
            "sums": (do: "sum(x, axis=0)"),
        },
        outputs: {
            "sums": Npy(path: "out/sums.npy", from: "sums"),
        },
    )"#;
    let project = Project::new(pipeline);
    project.write("data/a.csv", "x,y\n1,2\nno,4\n");
    let (_, first) = project.run(&[]);
    let told = "warning: input `x`: 1 rows of `data/a.csv` cannot be read and are skipped\n";
    assert_eq!(first, told);
    let (counts, second) = project.run(&["--resume"]);
    assert_eq!(counts, [("sums".to_owned(), 0, 1)]);
    assert_eq!(second, told);
}

/// A cache that cannot be used fails no run, and is told of.
#[test]
fn a_run_without_a_usable_cache_ends_well() {
    let project = Project::new(PIPELINE);
    let data = project.path("data");
    let data = data.to_str().expect("UTF-8");
    let (_, said) = project.run(&["--cache", data]);
    let told = "results are no longer kept in the cache";
    assert_eq!(said.matches(told).count(), 1, "{said}");
    assert_eq!(project.outputs().len(), 5);
    assert_eq!(walk(&project.path("data")).len(), 3);
}

/// Lists, cleans, limits.
#[test]
fn the_cache_is_listed_and_cleaned() {
    let project = Project::new(PIPELINE);
    project.resume();
    let file = project.path("p.ron");
    let cache = |args: &[&str]| {
        let mut command = support::haul();
        support::stdout(command.arg("cache").arg(&file).args(args))
    };
    let listed = cache(&[]);
    let lines: Vec<_> = listed.lines().collect();
    assert!(lines[0].starts_with("pipeline  stage"), "{listed}");
    assert_eq!(lines.len(), 7, "{listed}");
    assert!(lines[6].contains(" of at most 20.0 GiB in "), "{listed}");
    let limited = cache(&["--limit", "1KiB"]);
    assert!(limited.contains("of at most 1.00 KiB in"), "{limited}");
    let left = project.entries();
    let bytes: u64 = left
        .iter()
        .map(|path| path.metadata().expect("a file").len())
        .sum();
    assert!(!left.is_empty() && bytes <= 1024, "{bytes}");
    assert!(cache(&["--clean"]).starts_with("freed "));
    assert!(project.entries().is_empty());
}

/// Forty tasks that take a while each, and one of all.
const SLOW: &str = r#"Pipeline(
    version: 1,
    inputs: {
        "x": Random(seed: 1, type: "f32[400, 400]"),
        "rows": Split(of: Random(seed: 2, type: "f32[40, 400]"), axis: 0, size: 1),
    },
    stages: {
        "each": (each: "rows", do: "x @ x @ x * rows"),
        "all": (do: "sum(mean(gather(each), axis=0), axis=0)"),
    },
    outputs: {
        "each": Npy(path: "out/{item}.npy", from: "each"),
        "all": Npy(path: "out/all.npy", from: "all"),
    },
)
"#;

/// Killed thirty times at random moments, a run leaves only whole files under final names; the next
/// one takes every result that was kept.
#[cfg(unix)]
#[test]
fn a_killed_run_loses_nothing() {
    let undisturbed = Project::new(SLOW);
    undisturbed.run(&[]);
    let whole: BTreeMap<_, _> = (undisturbed.outputs().into_iter())
        .map(|(path, bytes)| (path.file_name().expect("a name").to_owned(), bytes))
        .collect();
    let check = |project: &Project| {
        for (path, bytes) in project.outputs() {
            let name = path.file_name().expect("a name");
            assert!(
                whole.get(name) == Some(&bytes),
                "{} is not whole",
                path.display()
            );
        }
    };
    let project = Project::new(SLOW);
    // The sequence of Numerical Recipes, so that a failure can be seen again.
    let mut random = 1_u32;
    for _ in 0..30 {
        let mut command = project.command(&["--resume", "--keep", "all", "--quiet"]);
        let command = command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut run = command.spawn().expect("the binary starts");
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        // When so many results are kept, and a little later.
        let enough = (random >> 24) as usize % whole.len();
        while project.entries().len() < enough && run.try_wait().expect("it is ours").is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_micros(u64::from(random & 0xffff)));
        run.kill().expect("it is ours");
        run.wait().expect("it ends");
        check(&project);
        // Half of the time it begins anew.
        if random & (1 << 22) == 0 {
            fs::remove_dir_all(project.path(".haul")).ok();
        }
    }
    let kept = project.entries().len() as u64;
    let counts = project.resume();
    let reused: u64 = counts.iter().map(|(_, _, reused)| reused).sum();
    assert_eq!(reused, kept, "{counts:?}");
    check(&project);
    assert_eq!(project.outputs().len(), whole.len());
    let parts = walk(project.folder.path())
        .into_iter()
        .filter(|path| is_part(path));
    assert_eq!(parts.collect::<Vec<_>>(), [] as [PathBuf; 0]);
}

/// Ctrl-C ends a run with status 130, and what it kept is taken by the next one.
#[cfg(unix)]
#[test]
fn an_interrupted_run_can_be_resumed() {
    let project = Project::new(SLOW);
    let mut command = project.command(&["--keep", "all", "--quiet"]);
    let mut run = command
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts");
    while project.entries().len() < 5 && run.try_wait().expect("it is ours").is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let pid = run.id().to_string();
    let mut kill = Command::new("kill");
    assert!(
        kill.args(["-INT", &pid])
            .status()
            .expect("kill starts")
            .success()
    );
    assert_eq!(run.wait().expect("it ends").code(), Some(130));
    let kept = project.entries().len() as u64;
    let reused: u64 = project.resume().iter().map(|(.., reused)| reused).sum();
    assert!(
        (5..41).contains(&reused) && reused == kept,
        "{reused} of {kept}"
    );
}

/// Of 5,000 files the one that was cut off is named before anything runs.
#[test]
fn one_truncated_file_of_many_is_named() {
    let project = Project::new(
        r#"Pipeline(
            version: 1,
            inputs: {
                "files": Files(glob: "data/*.npy", type: "f32[64]"),
            },
            stages: {
                "sums": (each: "files", do: "sum(files)"),
            },
            outputs: {
                "sums": Npy(path: "out/{item}.npy", from: "sums"),
            },
        )"#,
    );
    let file = whole_npy();
    for number in 0..5000 {
        let end = if number == 3210 {
            file.len() - 1
        } else {
            file.len()
        };
        let path = project.path(&format!("data/{number:04}.npy"));
        fs::write(path, &file[..end]).expect("room for it");
    }
    let output = project
        .command(&["--quiet"])
        .output()
        .expect("the binary starts");
    let stderr = refused(&output);
    assert!(
        stderr.contains("data/3210.npy`: it is truncated"),
        "{stderr}"
    );
    assert!(!project.path("out").exists());
}

/// `numpy.save` of 64 zeros of `f32`.
fn whole_npy() -> Vec<u8> {
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (64,), }";
    let mut file = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    file.extend(format!("{header:<117}\n").as_bytes());
    file.resize(128 + 4 * 64, 0);
    file
}

fn refused(output: &Output) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    stderr
}

/// Outputs stay in the folder of the pipeline, or in the one that the operator names.
#[cfg(unix)]
#[test]
fn outputs_stay_in_their_folder() {
    let project = Project::new(PIPELINE);
    let elsewhere = tempfile::tempdir().expect("a temporary folder");
    std::os::unix::fs::symlink(elsewhere.path(), project.path("out")).expect("a link");
    let refuse = |args: &[&str]| {
        let output = project.command(args).output().expect("the binary starts");
        refused(&output)
    };
    let stderr = refuse(&["--quiet"]);
    assert!(stderr.contains("a link leads outside"), "{stderr}");
    assert_eq!(walk(elsewhere.path()), [] as [PathBuf; 0]);
    let named = elsewhere.path().join("new");
    project.run(&["--out", named.to_str().expect("UTF-8")]);
    assert_eq!(walk(&named).len(), 5);

    fs::remove_file(project.path("out")).expect("the link");
    project.edit("out/{item}.npy", "../{item}.npy");
    assert!(refuse(&[]).contains("error[E0231]"));
}

/// Items of one name, and outputs that would replace an input, are refused before anything runs.
#[test]
fn outputs_take_the_place_of_nothing() {
    let project = Project::new(PIPELINE);
    fs::create_dir(project.path("data/sub")).expect("a folder");
    project.write("data/sub/a.csv", "x,y\n1,2\n3,4\n");
    project.edit("data/*.csv", "data/**/*.csv");
    let refuse = || {
        let output = project
            .command(&["--quiet"])
            .output()
            .expect("the binary starts");
        assert!(!project.path("out").exists());
        refused(&output)
    };
    let stderr = refuse();
    let same = "output `scaled` (`out/a.npy`): another file of output `scaled` has this path";
    assert!(stderr.contains(same), "{stderr}");
    fs::remove_dir_all(project.path("data/sub")).expect("the folder");
    project.edit("Csv(path: \"out/all.csv\"", "Csv(path: \"data/b.csv\"");
    let stderr = refuse();
    let read = "output `all` (`data/b.csv`): input `files` reads this file";
    assert!(stderr.contains(read), "{stderr}");
}
