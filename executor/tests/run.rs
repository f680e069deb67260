//! Whole runs of small pipelines: results, order, failures.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::paths;
use crate::support::{MIB, Pipeline, TestOp, f32, files, op, tensor, value};
use haul_executor::{Cancel, ErrorKind, Event, Machine, Observer, Options, RunError, Silent, run};
use haul_ir::dtype::DType;
use haul_ir::expr::{Expr, Symbol};
use haul_ir::format::{CSV, File, NPY, SettingValue};
use haul_ir::graph::{Arg, Dim, Scalar, Source};
use haul_ir::op::{Attr, CpuKernel, KernelError};
use haul_ir::plan::{Plan, Side};
use haul_ir::report::Report;
use haul_ir::types::{TensorType, ValueType};

/// Gives its first input back.
pub(crate) static PASS: TestOp = TestOp {
    name: "pass",
    kernel: CpuKernel::Array(|call| {
        let input = call.inputs[0]
            .contiguous::<f32>()
            .ok_or(KernelError::new("gaps"))?;
        call.outputs[0].elements::<f32>().copy_from_slice(input);
        Ok(())
    }),
};

static FAIL: TestOp = TestOp {
    name: "fail",
    kernel: CpuKernel::Array(|_| Err(KernelError::new("it was told to").at_line(7))),
};

static PANIC: TestOp = TestOp {
    name: "panic",
    kernel: CpuKernel::Array(|_| panic!("a test wants it")),
};

/// On how many threads it computes.
static THREADS: TestOp = TestOp {
    name: "threads",
    kernel: CpuKernel::Array(|call| {
        call.outputs[0].elements::<f32>()[0] = rayon::current_num_threads() as f32;
        Ok(())
    }),
};

pub(crate) fn options(folder: &Path, cpus: u32) -> Options {
    Options {
        paths: paths(folder),
        out: folder.to_owned(),
        machine: Machine {
            cpus,
            memory: 64 * MIB,
            cpu: "test cpu".into(),
            emulated: Vec::new(),
        },
        keep_going: false,
        cancel: Cancel::new(),
        caching: None,
    }
}

pub(crate) fn execute(plan: &Plan, folder: &Path) -> Result<Report, RunError> {
    run(plan, &options(folder, 2), &Silent)
}

pub(crate) fn constant(numbers: &[f64]) -> Source {
    let numbers = numbers.to_vec();
    Source::Constant { numbers }
}

pub(crate) fn text(folder: &Path, path: &str) -> String {
    std::fs::read_to_string(folder.join(path)).unwrap()
}

fn csv(path: &str) -> File {
    File::new(&CSV, path)
}

/// Whatever ran on a worker before, a task has the threads that it was granted.
#[test]
fn a_task_computes_on_as_many_threads_as_it_was_granted_cpus() {
    let folder = tempfile::tempdir().unwrap();
    let mut p = Pipeline::new();
    let x = p.input("x", constant(&[0.0]), f32(&[1]));
    for (name, cpus) in [("one", 1), ("three", 3), ("two", 2), ("one again", 1)] {
        p.stage(name, None, cpus, MIB);
        let threads = p.op(name, &THREADS, vec![value(x)]);
        p.gives(threads);
        p.output(name, csv(&format!("{name}.csv")), threads);
    }
    run(&p.plan(), &options(folder.path(), 3), &Silent).unwrap();
    for (name, threads) in [("one", 1), ("three", 3), ("two", 2), ("one again", 1)] {
        let written = text(folder.path(), &format!("{name}.csv"));
        assert_eq!(written, format!("{threads}.0\n"), "{name}");
    }
}

/// Three files, each with a size of its own, are parsed, summed by column and gathered.
#[test]
fn a_fan_out_is_gathered_in_the_order_of_its_items() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("data")).unwrap();
    let tables = [
        ("b.csv", "x,y\n1,2\n3,4\n"),
        ("a.csv", "x,y\n10,20\n"),
        ("c.csv", "x,y\n"),
    ];
    for (name, text) in tables {
        std::fs::write(folder.path().join("data").join(name), text).unwrap();
    }
    let mut p = Pipeline::new();
    let (files, item) = p.items("files", files("data/*.csv"), ValueType::Text);
    let n = Symbol::new("n");
    let dim = Dim {
        plan: None,
        max: Some(2),
        per_item: Some(files),
    };
    p.graph.dims.insert(n.clone(), dim);
    p.stage("parsed", Some(files), 1, MIB);
    let ty = TensorType::new(DType::F32, vec![Expr::symbol(n), Expr::from(2_u64)]);
    let attrs = [
        ("type", Attr::Type(ty.into())),
        ("header", Attr::Bool(true)),
    ];
    let parsed = p.op_with("parsed", op("parse_csv"), vec![value(item)], &attrs);
    p.gives(parsed);
    p.stage("sums", Some(files), 1, MIB);
    let axis = ("axis", Attr::Ints(vec![Expr::ZERO]));
    let keepdims = ("keepdims", Attr::Bool(false));
    let sums = p.op_with("sums", op("sum"), vec![value(parsed)], &[axis, keepdims]);
    p.gives(sums);
    p.output("each", csv("out/{item}.csv"), sums);
    p.stage("all", None, 1, MIB);
    let all = p.op("all", op("gather"), vec![Arg::Items(sums)]);
    p.gives(all);
    p.output("all", csv("out/all.csv"), all);
    let report = execute(&p.plan(), folder.path()).unwrap();
    assert_eq!(
        text(folder.path(), "out/all.csv"),
        "10.0,20.0\n4.0,6.0\n0.0,0.0\n"
    );
    assert_eq!(text(folder.path(), "out/b.csv"), "4.0\n6.0\n");
    let written: Vec<_> = report
        .written
        .iter()
        .map(|file| file.path.as_str())
        .collect();
    assert_eq!(
        written,
        ["out/a.csv", "out/b.csv", "out/c.csv", "out/all.csv"]
    );
    let tasks: Vec<_> = report.stages.iter().map(|stage| stage.tasks).collect();
    assert_eq!(tasks, [3, 3, 1]);
    assert_eq!(report.stages.iter().next().unwrap().device, "test cpu");
}

#[test]
fn a_failure_names_its_place_and_stops_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let mut p = Pipeline::new();
    let x = p.input("x", constant(&[1.0]), f32(&[6]));
    let size = 2;
    let of = p.graph.inputs.ids().next().unwrap();
    let (parts, part) = p.items("parts", Source::Split { of, axis: 0, size }, f32(&[2]));
    p.stage("broken", Some(parts), 1, MIB);
    let broken = p.op(
        "broken",
        &FAIL,
        vec![value(part), Arg::Scalar(Scalar::Float(0.5), DType::F64)],
    );
    p.gives(broken);
    p.stage("after", Some(parts), 1, MIB);
    let after = p.op("after", &PASS, vec![value(broken)]);
    p.gives(after);
    p.npy("{item}.npy", after);
    p.npy("x.npy", x);
    let error = run(&p.plan(), &options(folder.path(), 1), &Silent).unwrap_err();
    assert_eq!(
        error.to_string(),
        "stage `broken`, item `0`, op `broken`: line 7: it was told to\n  arguments: f32[2], f64 0.5"
    );
    assert_eq!(error.kind, ErrorKind::Failed);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_panic_of_a_kernel_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let mut p = Pipeline::new();
    let x = p.input("x", constant(&[1.0]), f32(&[6]));
    p.stage("broken", None, 1, MIB);
    p.op("broken", &PANIC, vec![value(x)]);
    let error = execute(&p.plan(), folder.path()).unwrap_err();
    assert_eq!(
        error.message,
        "the plan cannot be run: a kernel or a reader panicked"
    );
    assert_eq!(error.place.stage.as_deref(), Some("broken"));
}

#[test]
fn a_task_cannot_hold_more_than_it_requested() {
    let folder = tempfile::tempdir().unwrap();
    let mut p = Pipeline::new();
    let x = p.input("x", constant(&[1.0]), f32(&[1 << 18]));
    p.stage("s", None, 1, 2 * MIB);
    // 1 MiB each: the input is done with after `a`, `a` is needed until `c` is made.
    let a = p.op("a", &PASS, vec![value(x)]);
    let b = p.op("b", &PASS, vec![value(a)]);
    p.op("c", op("add"), vec![value(a), value(b)]);
    let error = execute(&p.plan(), folder.path()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "stage `s`: `c` needs 1 MiB; the task holds 2 MiB of the 2 MiB it requested\n  \
         help: request `memory: \"3 MiB\"`, or more"
    );
}

#[test]
fn values_are_freed_after_their_last_use() {
    let folder = tempfile::tempdir().unwrap();
    let mut p = Pipeline::new();
    let x = p.input("x", constant(&[1.0]), f32(&[1 << 18]));
    p.stage("s", None, 1, 2 * MIB);
    let mut last = x;
    for name in ["a", "b", "c", "d", "e"] {
        last = p.op(name, &PASS, vec![value(last)]);
    }
    p.gives(last);
    p.stage("t", None, 1, 2 * MIB);
    p.op("t", &PASS, vec![value(last)]);
    let report = execute(&p.plan(), folder.path()).unwrap();
    let peaks: Vec<_> = report
        .stages
        .iter()
        .map(|stage| stage.peak_memory)
        .collect();
    assert_eq!(peaks, [2 * MIB, 2 * MIB]);
    // The input, `a` and `b` while `b` is made; the input is gone when `c` is.
    assert_eq!(report.peak_memory, 2 * MIB);
}

#[test]
fn stored_values_cannot_outgrow_the_machine() {
    let folder = tempfile::tempdir().unwrap();
    let mut p = Pipeline::new();
    let source = Source::Random { seed: 1 };
    p.input("x", source, f32(&[8, 1 << 18]));
    let of = p.graph.inputs.ids().next().unwrap();
    let split = Source::Split {
        of,
        axis: 0,
        size: 1,
    };
    let (rows, row) = p.items("rows", split, f32(&[1, 1 << 18]));
    p.stage("kept", Some(rows), 1, 2 * MIB);
    let kept = p.op("kept", &PASS, vec![value(row)]);
    p.gives(kept);
    p.stage("all", None, 1, 8 * MIB);
    p.op("all", op("gather"), vec![Arg::Items(kept)]);
    let mut options = options(folder.path(), 1);
    options.machine.memory = 12 * MIB;
    // 8 MiB of input, and 1 MiB for each item that waits: the fifth has no room.
    let error = run(&p.plan(), &options, &Silent).unwrap_err();
    assert_eq!(error.place.stage.as_deref(), Some("kept"));
    assert_eq!(error.place.item.as_deref(), Some("4"));
    assert_eq!(
        error.message,
        "`kept` needs 1 MiB; values between stages and running tasks hold 12 MiB of the 12 MiB \
         that the run may use"
    );
}

/// Cancels when the first task has finished.
struct CancelAfterFirst(Cancel);

impl Observer for CancelAfterFirst {
    fn event(&self, _: u64, event: &Event<'_>) {
        if let Event::Finished { .. } = event {
            self.0.cancel();
        }
    }
}

#[test]
fn a_cancelled_run_starts_nothing_more() {
    let folder = tempfile::tempdir().unwrap();
    let mut p = Pipeline::new();
    p.input("x", constant(&[1.0]), f32(&[6]));
    let of = p.graph.inputs.ids().next().unwrap();
    let split = Source::Split {
        of,
        axis: 0,
        size: 2,
    };
    let (parts, part) = p.items("parts", split, f32(&[2]));
    p.stage("s", Some(parts), 1, MIB);
    let s = p.op("s", &PASS, vec![value(part)]);
    p.gives(s);
    p.npy("out/{item}.npy", s);
    let options = options(folder.path(), 1);
    let observer = CancelAfterFirst(options.cancel.clone());
    let error = run(&p.plan(), &options, &observer).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Cancelled);
    let files = std::fs::read_dir(folder.path().join("out")).unwrap();
    let names: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
    assert_eq!(names, ["0.npy"]);
}

/// What [`CANCEL`] cancels.
static RUN: OnceLock<Cancel> = OnceLock::new();

/// Cancels the run that it is part of.
static CANCEL: TestOp = TestOp {
    name: "cancel",
    kernel: CpuKernel::Array(|_| {
        RUN.get().expect("there is a run").cancel();
        Ok(())
    }),
};

#[test]
fn nothing_is_written_after_a_cancel() {
    let folder = tempfile::tempdir().unwrap();
    let mut p = Pipeline::new();
    let x = p.input("x", constant(&[1.0]), f32(&[6]));
    p.stage("s", None, 1, MIB);
    let s = p.op("s", &CANCEL, vec![value(x)]);
    p.gives(s);
    p.npy("s.npy", s);
    let options = options(folder.path(), 1);
    RUN.set(options.cancel.clone()).unwrap();
    let error = run(&p.plan(), &options, &Silent).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Cancelled);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Removes a file when the first task has finished.
struct RemoveAfterFirst(PathBuf);

impl Observer for RemoveAfterFirst {
    fn event(&self, _: u64, event: &Event<'_>) {
        if let (Event::Finished { .. }, true) = (event, self.0.exists()) {
            std::fs::remove_file(&self.0).unwrap();
        }
    }
}

#[test]
fn an_input_is_read_once_for_all_tasks_and_outputs() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.csv");
    std::fs::write(&file, "1\n2\n").unwrap();
    let mut p = Pipeline::new();
    let source = csv("x.csv").with("header", SettingValue::Bool(false));
    let x = p.input("x", Source::File(source), f32(&[2, 1]));
    for name in ["a", "b"] {
        p.stage(name, None, 1, MIB);
        p.op(name, &PASS, vec![value(x)]);
    }
    p.output("y", csv("y.csv"), x);
    p.output("z", csv("z.csv"), x);
    run(
        &p.plan(),
        &options(folder.path(), 1),
        &RemoveAfterFirst(file),
    )
    .unwrap();
    assert_eq!(text(folder.path(), "y.csv"), "1.0\n2.0\n");
    assert_eq!(text(folder.path(), "z.csv"), "1.0\n2.0\n");
}

/// Cuts a file short when the first task has finished.
struct CutAfterFirst(PathBuf, u64);

impl Observer for CutAfterFirst {
    fn event(&self, _: u64, event: &Event<'_>) {
        if let Event::Finished { .. } = event {
            let file = std::fs::File::options().write(true).open(&self.0).unwrap();
            file.set_len(self.1).unwrap();
        }
    }
}

/// Reading what a mapped file no longer has must not end the process.
#[cfg(unix)]
#[test]
fn a_mapped_input_that_is_cut_short_during_the_run_ends_it() {
    let len = 1 << 20;
    // At a page, and in the middle of the last one, where the system sends no signal.
    for (left, message) in [
        (4096, "it was cut short"),
        (len * 4 + 100, "it was changed"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut made = Pipeline::new();
        let numbers = constant(&[1.5]);
        let source = made.input("x", numbers, f32(&[len]));
        made.output("x", File::new(&NPY, "x.npy"), source);
        run(&made.plan(), &options(folder.path(), 1), &Silent).unwrap();
        let mut p = Pipeline::new();
        let x = p.input("x", Source::File(File::new(&NPY, "x.npy")), f32(&[len]));
        for name in ["first", "second"] {
            p.stage(name, None, 1, 16 * MIB);
            let y = p.op(name, &PASS, vec![value(x)]);
            p.gives(y);
        }
        p.output("y", csv("y.csv"), x);
        let cut = CutAfterFirst(folder.path().join("x.npy"), left);
        let error = run(&p.plan(), &options(folder.path(), 1), &cut).unwrap_err();
        assert!(error.message.contains("x.npy`: it was"), "{error}");
        assert!(error.message.contains(message), "{error}");
        assert_eq!(error.place.stage.as_deref(), Some("second"));
        assert!(!folder.path().join("y.csv").exists());
    }
}

/// One that is read and not mapped as well: here between the look at its header and its reading.
#[test]
fn an_input_that_is_written_to_during_the_run_ends_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut made = Pipeline::new();
    let source = made.input("x", constant(&[1.5]), f32(&[4]));
    made.output("x", File::new(&NPY, "x.npy"), source);
    run(&made.plan(), &options(folder.path(), 1), &Silent).unwrap();
    let mut p = Pipeline::new();
    let ones = p.input("ones", constant(&[1.0]), f32(&[4]));
    let x = p.input("x", Source::File(File::new(&NPY, "x.npy")), f32(&[4]));
    p.stage("first", None, 1, 16 * MIB);
    let first = p.op("first", &PASS, vec![value(ones)]);
    p.gives(first);
    p.stage("second", None, 1, 16 * MIB);
    let second = p.op("second", &PASS, vec![value(first), value(x)]);
    p.gives(second);
    p.output("y", csv("y.csv"), second);
    let longer = CutAfterFirst(folder.path().join("x.npy"), 200);
    let error = run(&p.plan(), &options(folder.path(), 1), &longer).unwrap_err();
    let message = "x.npy`: it was changed while the run used it";
    assert!(error.message.ends_with(message), "{error}");
    assert!(!folder.path().join("y.csv").exists());
}

#[test]
fn what_the_machine_has_not_is_refused_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let simple = |cpus, memory| {
        let mut p = Pipeline::new();
        let x = p.input("x", constant(&[1.0]), f32(&[6]));
        p.stage("s", None, cpus, memory);
        p.op("s", &PASS, vec![value(x)]);
        p.plan()
    };
    let error = execute(&simple(3, MIB), folder.path()).unwrap_err();
    assert_eq!(error.message, "it requests 3 cpus; this run has 2");
    let error = execute(&simple(1, 65 * MIB), folder.path()).unwrap_err();
    assert_eq!(
        error.message,
        "it requests 65 MiB of memory; this run has 64 MiB"
    );
    let mut plan = simple(1, MIB);
    for group in plan.groups.iter_mut() {
        group.placement.side = Side::Gpu;
    }
    let error = execute(&plan, folder.path()).unwrap_err();
    assert_eq!(
        error.message,
        "the plan has it on a GPU, and this build has no CUDA device"
    );
}

#[test]
fn without_outputs_the_last_value_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let mut p = Pipeline::new();
    let source = Source::Linspace {
        start: 0.0,
        stop: 1.0,
    };
    let x = p.input("x", source, tensor(DType::F64, &[2, 11]));
    p.stage("s", None, 1, MIB);
    p.op("s", op("neg"), vec![value(x)]);
    let preview = execute(&p.plan(), folder.path()).unwrap().preview.unwrap();
    assert_eq!(preview.ty, tensor(DType::F64, &[2, 11]).into());
    // 22 numbers from 0 to 1: the second is 1/21; 16 are shown.
    let [first] = &preview.first[..] else {
        panic!("one tensor is shown");
    };
    assert_eq!(first.len(), 16);
    assert_eq!(first[..2], ["-0.0", "-0.047619047619047616"]);
}

#[test]
fn an_input_of_another_type_is_refused_with_both_types() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("x.csv"), "a,b\n1,2\n").unwrap();
    let n = || Expr::symbol(Symbol::new("n"));
    let run_with = |shape| {
        let mut p = Pipeline::new();
        let x = p.input(
            "x",
            Source::File(csv("x.csv")),
            TensorType::new(DType::F32, shape),
        );
        p.stage("s", None, 1, MIB);
        p.op("s", &PASS, vec![value(x)]);
        execute(&p.plan(), folder.path()).map(|report| report.preview.unwrap().ty)
    };
    assert_eq!(
        run_with(vec![n(), n() * 2]),
        Ok(tensor(DType::F32, &[1, 2]).into())
    );
    let error = run_with(vec![n(), n()]).unwrap_err();
    assert_eq!(
        error.message,
        "input `x` (`x.csv`): it is f32[1, 2], not f32[n, n] as declared: `n` is 1 elsewhere"
    );
}

#[test]
fn outputs_stay_in_their_folder_and_apart() {
    let folder = tempfile::tempdir().unwrap();
    let written = |paths: &[&str]| {
        let mut p = Pipeline::new();
        let x = p.input("x", constant(&[1.0]), f32(&[6]));
        for path in paths {
            p.npy(path, x);
        }
        execute(&p.plan(), folder.path()).map(|report| report.written.len())
    };
    let refused = |paths: &[&str]| written(paths).unwrap_err().message;
    assert_eq!(
        refused(&["/tmp/x.npy"]),
        "output `/tmp/x.npy` (`/tmp/x.npy`): a path must be relative to the folder that outputs stay in"
    );
    assert_eq!(
        refused(&["a/../../x.npy"]),
        "output `a/../../x.npy` (`a/../../x.npy`): a path must not go up with `..`"
    );
    assert_eq!(
        refused(&["a/"]),
        "output `a/` (`a/`): the path names no file"
    );
    assert_eq!(
        refused(&["a.npy", "./a.npy"]),
        "output `./a.npy` (`./a.npy`): another file of output `a.npy` has this path as well"
    );
    assert_eq!(written(&["a.npy", "b/c/d.npy"]), Ok(2));
    assert_eq!(written(&["a.npy"]), Ok(1));
    #[cfg(unix)]
    {
        let outside = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(outside.path(), folder.path().join("link")).unwrap();
        assert_eq!(
            refused(&["link/x.npy"]),
            "output `link/x.npy` (`link/x.npy`): a link leads outside of the folder that outputs stay in"
        );
        assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
    }
    let names = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|file| file.unwrap().file_name());
    assert!(
        names
            .into_iter()
            .all(|name| !name.to_string_lossy().starts_with(".haul"))
    );
}

#[test]
fn an_input_is_split_along_any_axis() {
    let folder = tempfile::tempdir().unwrap();
    let split = |axis| {
        let mut p = Pipeline::new();
        let numbers: Vec<f64> = (0..12).map(f64::from).collect();
        p.input("x", constant(&numbers), f32(&[3, 4]));
        let of = p.graph.inputs.ids().next().unwrap();
        let k = Expr::symbol(Symbol::new("k"));
        let ty = match axis {
            0 => TensorType::new(DType::F32, vec![k, Expr::from(4_u64)]),
            _ => TensorType::new(DType::F32, vec![Expr::from(3_u64), k]),
        };
        let (parts, part) = p.items("parts", Source::Split { of, axis, size: 2 }, ty);
        let dim = Dim {
            per_item: Some(parts),
            ..Dim::default()
        };
        p.graph.dims.insert(Symbol::new("k"), dim);
        p.stage("s", Some(parts), 1, MIB);
        let s = p.op("s", &PASS, vec![value(part)]);
        p.gives(s);
        p.output("parts", csv("{item}.csv"), s);
        execute(&p.plan(), folder.path()).unwrap();
        [text(folder.path(), "0.csv"), text(folder.path(), "1.csv")]
    };
    assert_eq!(
        split(0),
        ["0.0,1.0,2.0,3.0\n4.0,5.0,6.0,7.0\n", "8.0,9.0,10.0,11.0\n"]
    );
    assert_eq!(
        split(1),
        [
            "0.0,1.0\n4.0,5.0\n8.0,9.0\n",
            "2.0,3.0\n6.0,7.0\n10.0,11.0\n"
        ]
    );
}

#[test]
fn files_of_a_collection_are_checked_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases/io/npy/v1.npy"),
        folder.path().join("a.npy"),
    )
    .unwrap();
    let with = |ty: TensorType| {
        let mut p = Pipeline::new();
        let (files, item) = p.items("files", files("*.npy"), ty);
        p.stage("s", Some(files), 1, MIB);
        p.op("s", &PANIC, vec![value(item)]);
        execute(&p.plan(), folder.path()).unwrap_err().message
    };
    assert_eq!(
        with(f32(&[2, 3, 5])),
        "input `files` (`a.npy`): it is f32[2, 3, 4], not f32[2, 3, 5] as declared"
    );
    let message = with(tensor(DType::F64, &[2, 3, 4]));
    assert!(
        message.ends_with("a.npy`: it holds f32, not f64 as declared"),
        "{message}"
    );
    std::fs::write(folder.path().join("b.npy"), "no array").unwrap();
    let message = with(f32(&[2, 3, 4]));
    assert!(
        message.ends_with("b.npy`: it is not a .npy file"),
        "{message}"
    );
}
