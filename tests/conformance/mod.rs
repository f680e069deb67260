//! The ONNX conformance suite: each case is converted into a pipeline, which is compiled and run as
//! a user's would be, and its results are compared with the suite's.
//!
//! `onnx.zip` holds 703 cases of the suite (Apache-2.0, Copyright (c) ONNX Project Contributors, see
//! NOTICE); `scripts/onnx_cases.py` makes it.

mod archive;
mod array;
mod fold;
mod graph;
mod node;
mod operators;
mod run;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::{env, fs, thread};

use self::archive::{Archive, Case};
use crate::support::root;

/// What became of a case.
pub(crate) enum Outcome {
    /// All results are as expected.
    Right,
    /// A result is not.
    Wrong(String),
    /// It was not computed.
    Left(Left),
}

/// Why a case was not computed.
#[derive(Clone, Debug)]
pub(crate) struct Left {
    /// The operator at fault.
    pub(crate) operator: String,
    /// The reason.
    pub(crate) reason: String,
}

/// Of a hundred cases, this many are computed at least.
const SHARE: usize = 90;

#[test]
fn onnx() {
    let archive = Archive::read();
    let outcomes = run_all(&archive);
    let pairs = || archive.cases.iter().zip(&outcomes);
    let computed = outcomes.iter().filter(|o| !matches!(o, Outcome::Left(_)));
    let (computed, all) = (computed.count(), outcomes.len());
    println!("computed {computed} of {all}");
    let wrong: Vec<_> = pairs()
        .filter_map(|(case, outcome)| match outcome {
            Outcome::Wrong(what) => Some(format!("{}: {what}", case.id)),
            _ => None,
        })
        .collect();
    check_list(&list(pairs()));
    assert!(
        wrong.is_empty(),
        "{} are wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(
        computed * 100 >= all * SHARE,
        "computed only {computed} of {all}"
    );
}

/// On all CPUs; the outcomes are in the order of the cases.
fn run_all(archive: &Archive) -> Vec<Outcome> {
    let next = AtomicUsize::new(0);
    let outcomes = Mutex::new(BTreeMap::new());
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some((at, case)) = take(&next, &archive.cases) {
                    let outcome = run::run(archive, case);
                    let mut outcomes = outcomes.lock().unwrap_or_else(PoisonError::into_inner);
                    outcomes.insert(at, outcome);
                }
            });
        }
    });
    let outcomes = outcomes
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    outcomes.into_values().collect()
}

/// The next case that nobody has taken.
fn take<'a>(next: &AtomicUsize, cases: &'a [Case]) -> Option<(usize, &'a Case)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    cases.get(at).map(|case| (at, case))
}

/// The page of cases that are not computed, by operator and reason.
fn list<'a>(outcomes: impl Iterator<Item = (&'a Case, &'a Outcome)>) -> String {
    let mut operators: BTreeMap<&str, BTreeMap<&str, Vec<&str>>> = BTreeMap::new();
    let mut count = 0;
    for (case, outcome) in outcomes {
        if let Outcome::Left(left) = outcome {
            let reasons = operators.entry(&left.operator).or_default();
            reasons.entry(&left.reason).or_default().push(&case.id);
            count += 1;
        }
    }
    let mut page =
        String::from("# ONNX cases that are not computed\n\nMade by the test `conformance`: ");
    let _ = writeln!(
        page,
        "{count} cases, by the operator at fault and the reason."
    );
    for (operator, reasons) in operators {
        let _ = writeln!(page, "\n## {operator}");
        for (reason, cases) in reasons {
            let _ = writeln!(page, "\n{reason}:\n");
            for case in cases {
                let _ = writeln!(page, "- {case}");
            }
        }
    }
    page
}

fn check_list(page: &str) {
    let path = root().join("tests/conformance/not_computed.md");
    if env::var_os("HAUL_ACCEPT").is_some() {
        fs::write(&path, page).expect("the page is written");
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == page,
        "{} is stale: HAUL_ACCEPT=1 cargo test --test whole conformance",
        path.display()
    );
}
