//! How what a run measured looks beside a plan that is made by hand.

use haul_compiler::diff::Diff;
use haul_compiler::measured::Measured;
use haul_compiler::measured::timeline::{TaskSpan, Timeline};
use haul_compiler::render::{Colour, html, report, why_run};
use haul_ir::plan::Plan;
use haul_ir::report::{Report, StageReport, Written};

use super::plans::{per_stage, spectra};

fn assert_page(name: &str, text: &str) {
    insta::with_settings!({
        snapshot_path => ".", prepend_module_to_snapshot => false, omit_expression => true
    }, {
        insta::assert_snapshot!(name, text);
    });
}

/// A run of the plan `spectra` in which the second stage waits for the first.
fn measured(plan: &Plan) -> Measured {
    let stage = StageReport {
        tasks: 1,
        stolen: 1,
        reused: 0,
        busy: 4_400_000,
        longest: 4_400_000,
        peak_memory: 76_546_048,
        retries: 0,
        device: "cpu".to_owned(),
        ..StageReport::default()
    };
    let report = Report {
        stages: per_stage([stage.clone(), stage]),
        makespan: 9_000_000,
        peak_memory: 90_000_000,
        written: vec![Written {
            output: "report".to_owned(),
            path: "out/report.npy".to_owned(),
            bytes: 524_416,
        }],
        ..Report::default()
    };
    let ids: Vec<_> = plan.stages.ids().collect();
    let mut timeline = Timeline::new(ids.len());
    let task = |stage, start| TaskSpan {
        stage,
        item: None,
        worker: 0,
        stolen_from: Some(1),
        start,
        time: 4_400_000,
        peak_memory: 76_546_048,
    };
    timeline.waits(100_000, ids[1], "memory", &ids[..1]);
    timeline.finished(task(ids[0], 100_000));
    timeline.started(4_600_000, ids[1]);
    timeline.finished(task(ids[1], 4_600_000));
    Measured::of(plan, &report, &timeline)
}

#[test]
fn after_a_run() {
    let run = measured(&spectra());
    assert_page("report", &report(&run, Colour::Plain));
    let mut resumed = run;
    (resumed.stages[0].tasks, resumed.stages[0].reused) = (3, 2);
    assert_page("resumed", &report(&resumed, Colour::Plain));
}

#[test]
fn why_a_stage_of_a_run_took_as_long() {
    let run = measured(&spectra());
    assert_page("why_run", &why_run(&run, &run.stages[1], Colour::Plain));
}

/// A report is read as it was written, and one whose plan was edited is none.
#[test]
fn a_report_is_read_as_written() {
    let run = measured(&spectra());
    let json = run.json();
    assert_eq!(Measured::read(&json), Ok(run));
    let edited = json.replacen("spectra", "spectre", 1);
    let error = Measured::read(&edited).expect_err("the plan was edited");
    assert!(error.message.contains("edited"), "{error}");
    assert!(Measured::read("{}").is_err());
}

/// Beside a plan without the first stage stands what was measured of the other, and what that plan
/// predicts for it.
#[test]
fn what_was_measured_joins_other_plans_by_name() {
    let run = measured(&spectra());
    let mut other = run.plan.clone();
    other.stages.remove(0);
    other.stages[0].time = Some(1_000);
    let joined = run.clone().beside(&other);
    let [stage] = &joined.stages[..] else {
        panic!("{:?}", joined.stages);
    };
    assert_eq!(stage.measured, run.stages[1].measured);
    assert_eq!(stage.predicted.time, Some(1_000));
}

/// Two runs of one plan differ in what was measured only, which is no change of the plan.
#[test]
fn what_runs_measured_is_apart_from_the_plan() {
    let was = measured(&spectra());
    let mut is = was.clone();
    is.stages[1].measured.time = 8_800_000;
    let changed = |old, new| {
        let diff = Diff::of(&was.plan, &is.plan).with_measured(old, new);
        assert!(diff.is_empty());
        diff.measured
    };
    let name = &was.stages[1].stage;
    let [change] = &changed(Some(&was), Some(&is))[..] else {
        panic!("one change");
    };
    assert_eq!(change.subject, format!("stage {name}"));
    let (old, new) = (change.old.as_deref(), change.new.as_deref());
    assert_eq!((old, new), (Some("4.40 ms"), Some("8.80 ms")));
    assert!(changed(Some(&was), Some(&was)).is_empty());
    let alone = changed(None, Some(&was));
    assert!(alone.iter().all(|change| change.old.is_none()));
    let of_run = alone[0].new.as_deref().expect("a makespan");
    assert!(of_run.starts_with("9.00 ms"), "{of_run}");
}

/// The page of a plan with a run beside it has the run's timeline, and the numbers of its stages.
#[test]
fn a_page_shows_a_run() {
    let plan = spectra();
    let run = measured(&plan);
    let page = html(&plan, Some(&run));
    for text in [
        "<dt>measured makespan</dt><dd>9.00 ms</dd>",
        "<h2 id=\"run-title\">Timeline of the run, measured</h2>",
        "<text x=\"4\" y=\"39\">worker 0</text>",
        ", from 100 us to 4.50 ms",
        "<td class=\"number\">4.40 ms</td>",
        "[\"waited\",\"4.50 ms\"]",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert!(!html(&plan, None).contains("measured makespan"));
}
