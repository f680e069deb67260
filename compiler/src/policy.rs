//! Policies: what plans of a project have to keep to, and what breaks them.

use std::fmt;

use globset::{Glob, GlobMatcher};

use crate::project::Placed;
use crate::render::units;
use crate::saved::lines::{read_time, read_usd};
use crate::saved::{SavedPlan, SavedSide, SavedStage};

/// Most ops of a stage that a violation names.
const NAMED_OPS: usize = 5;

/// What plans have to keep to.
#[derive(Clone, Debug, Default)]
pub struct Policies {
    /// The makespan, in nanoseconds.
    pub makespan: Limit,
    /// The price of a run, in billionths of a US dollar.
    pub price: Limit,
    /// Bytes of device memory that a task holds at most.
    pub vram: Limit,
    /// Bytes that cross between host and device, of all tasks together.
    pub transfer: Limit,
    /// Names of stages, and of ops as `stage.op`, that are not to run on CPUs of a target that has
    /// GPUs. `*` stands for any letters; `pipeline:` before a name leaves it to that pipeline.
    pub no_cpu: Vec<Placed>,
}

/// A limit on a figure of a plan. A figure that is a lower bound counts as what it is at least.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limit {
    /// The most it may be.
    pub most: Option<u64>,
    /// By how much it may grow from one plan to the next, in hundredths of a per cent.
    pub growth: Option<u64>,
}

/// A policy that a plan breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The pipeline.
    pub pipeline: String,
    /// The target.
    pub target: String,
    /// The rule and its limit, as in `haul.ron`: `max_vram "40 GiB"`.
    pub rule: String,
    /// What was, what is, and by how much that is too much.
    pub found: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            pipeline,
            target,
            rule,
            found,
        } = self;
        write!(f, "{pipeline} on {target}: {rule}: {found}")
    }
}

impl Policies {
    /// Whether a figure is limited in how much it may grow.
    pub fn limit_growth(&self) -> bool {
        let is_limited = |figure: &Figure| (figure.limit)(self).growth.is_some();
        FIGURES.iter().any(is_limited)
    }

    /// These, and those of `general` where these say nothing. What is not to run on CPUs is what
    /// either says.
    pub(crate) fn or(self, general: &Policies) -> Policies {
        let no_cpu = self
            .no_cpu
            .into_iter()
            .chain(general.no_cpu.iter().cloned());
        Policies {
            makespan: self.makespan.or(general.makespan),
            price: self.price.or(general.price),
            vram: self.vram.or(general.vram),
            transfer: self.transfer.or(general.transfer),
            no_cpu: no_cpu.collect(),
        }
    }
}

impl Limit {
    fn or(self, general: Limit) -> Limit {
        Limit {
            most: self.most.or(general.most),
            growth: self.growth.or(general.growth),
        }
    }
}

/// The policies that a plan breaks, in the order of the fields of [`Policies`]. Figures count as plans
/// are kept, to three digits where they are times or prices, so that a plan and its file break the
/// same. Growth is from `old` to `new`; a plan without an earlier one for the same target has not grown. A limit on what is
/// unknown is broken: it cannot be told to hold.
pub fn check(policies: &Policies, old: Option<&SavedPlan>, new: &SavedPlan) -> Vec<Violation> {
    let old = old.filter(|old| old.target.name == new.target.name);
    let mut violations = Vec::new();
    let mut broken = |rule: String, found: String| {
        violations.push(Violation {
            pipeline: new.pipeline.clone(),
            target: new.target.name.clone(),
            rule,
            found,
        });
    };
    for figure in FIGURES {
        let limit = (figure.limit)(policies);
        let is = figure.as_kept(new);
        if let Some(most) = limit.most {
            let rule = format!("max_{} \"{}\"", figure.name, (figure.exact)(most));
            if let Some(found) = figure.above(is, most) {
                broken(rule, found);
            }
        }
        if let (Some(growth), Some(old)) = (limit.growth, old) {
            let rule = format!("max_{}_growth \"{}\"", figure.name, percent(growth));
            if let Some(found) = figure.grown(figure.as_kept(old), is, growth) {
                broken(rule, found);
            }
        }
    }
    if new.target.nodes.iter().any(|node| !node.gpus.is_empty()) {
        for pattern in &policies.no_cpu {
            for (stage, ops) in on_cpu(&Pattern::new(&pattern.text), new) {
                broken(format!("no_cpu \"{}\"", pattern.text), told(stage, &ops));
            }
        }
    }
    violations
}

/// The names of stages and ops in policies that are in none of the plans that these are for:
/// mistyped, or gone.
pub fn unmatched<'p>(held: &[(&'p Policies, &SavedPlan)]) -> Vec<&'p Placed> {
    let mut names: Vec<(&'p Placed, bool)> = Vec::new();
    for (policies, plan) in held {
        for name in &policies.no_cpu {
            let at = names.iter().position(|(other, _)| *other == name);
            let at = at.unwrap_or_else(|| {
                names.push((name, false));
                names.len() - 1
            });
            names[at].1 = names[at].1 || Pattern::new(&name.text).is_in(plan);
        }
    }
    let unmatched = names.into_iter().filter(|(_, matched)| !matched);
    unmatched.map(|(name, _)| name).collect()
}

/// A figure of a plan that limits are about.
struct Figure {
    name: &'static str,
    limit: fn(&Policies) -> Limit,
    of: fn(&SavedPlan) -> Option<u64>,
    /// What a plan file keeps of it.
    kept: fn(u64) -> Option<u64>,
    /// As people read it.
    print: fn(u64) -> String,
    /// As it was written.
    exact: fn(u64) -> String,
}

const FIGURES: [Figure; 4] = [
    Figure {
        name: "makespan",
        limit: |policies| policies.makespan,
        of: |plan| plan.estimates.makespan,
        kept: |nanos| read_time(&units::time(nanos)),
        print: units::time,
        exact: units::time,
    },
    Figure {
        name: "price",
        limit: |policies| policies.price,
        of: |plan| plan.estimates.nano_usd,
        kept: |nano_usd| read_usd(&units::usd(nano_usd)),
        print: units::usd,
        exact: units::usd,
    },
    Figure {
        name: "vram",
        limit: |policies| policies.vram,
        of: |plan| plan.estimates.vram,
        kept: Some,
        print: |bytes| units::bytes(u128::from(bytes)),
        exact: units::exact_bytes,
    },
    Figure {
        name: "transfer",
        limit: |policies| policies.transfer,
        of: |plan| plan.estimates.transferred,
        kept: Some,
        print: |bytes| units::bytes(u128::from(bytes)),
        exact: units::exact_bytes,
    },
];

impl Figure {
    fn as_kept(&self, plan: &SavedPlan) -> Option<u64> {
        (self.of)(plan).and_then(self.kept)
    }

    /// What is found where a figure is not known to be at most so much.
    fn above(&self, is: Option<u64>, most: u64) -> Option<String> {
        let Self { name, print, .. } = self;
        match is {
            None => Some(format!("cannot tell, {name} is unknown")),
            Some(is) if is > most => {
                let more = print(is - most);
                Some(format!("{name} is {}, {more} too much", print(is)))
            }
            Some(_) => None,
        }
    }

    /// What is found where a figure is not known to have grown by at most so much.
    fn grown(&self, was: Option<u64>, is: Option<u64>, most: u64) -> Option<String> {
        let Self { name, print, .. } = self;
        let (was, is) = match (was, is) {
            (Some(was), Some(is)) => (was, is),
            // Nothing is known to have changed.
            (None, None) => return None,
            (None, Some(is)) => {
                return Some(format!(
                    "cannot tell, {name} was unknown and is {}",
                    print(is)
                ));
            }
            (Some(was), None) => {
                return Some(format!(
                    "cannot tell, {name} was {} and is unknown",
                    print(was)
                ));
            }
        };
        let growth = u128::from(is.saturating_sub(was)) * 10_000;
        if growth <= u128::from(was) * u128::from(most) {
            return None;
        }
        let by = match was {
            0 => "from nothing".to_owned(),
            _ => format!("+{} %", units::significant(growth, u128::from(was) * 100)),
        };
        Some(format!("{name} {} -> {} ({by})", print(was), print(is)))
    }
}

/// A name of a stage or an op, of one pipeline or of all.
struct Pattern<'p> {
    pipeline: Option<&'p str>,
    /// None where the text is no pattern, which then matches nothing.
    name: Option<GlobMatcher>,
}

impl<'p> Pattern<'p> {
    fn new(text: &'p str) -> Self {
        let (pipeline, name) = match text.split_once(':') {
            Some((pipeline, name)) => (Some(pipeline), name),
            None => (None, text),
        };
        let glob = Glob::new(name).ok();
        Self {
            pipeline,
            name: glob.map(|glob| glob.compile_matcher()),
        }
    }

    fn is_about(&self, plan: &SavedPlan) -> bool {
        self.pipeline
            .is_none_or(|pipeline| pipeline == plan.pipeline)
    }

    /// Whether a stage or op of the plan has such a name.
    fn is_in(&self, plan: &SavedPlan) -> bool {
        let mut stages = plan.stages.iter();
        self.is_about(plan)
            && stages.any(|stage| {
                let mut ops = stage.ops.iter();
                self.is_stage(stage) || ops.any(|op| self.is_op(stage, &op.name))
            })
    }

    fn is_stage(&self, stage: &SavedStage) -> bool {
        self.matches(&stage.name)
    }

    fn is_op(&self, stage: &SavedStage, op: &str) -> bool {
        self.matches(&stage.full_name(op))
    }

    fn matches(&self, name: &str) -> bool {
        self.name.as_ref().is_some_and(|glob| glob.is_match(name))
    }
}

/// The ops that a pattern names and that run on CPUs, by stage.
fn on_cpu<'s>(
    pattern: &Pattern<'_>,
    plan: &'s SavedPlan,
) -> impl Iterator<Item = (&'s SavedStage, Vec<&'s str>)> {
    let stages = plan.stages.iter().filter(|_| pattern.is_about(plan));
    stages.filter_map(|stage| {
        let whole = pattern.is_stage(stage);
        let ops = stage
            .ops
            .iter()
            .filter(|op| op.side == SavedSide::Cpu && (whole || pattern.is_op(stage, &op.name)));
        let ops: Vec<_> = ops.map(|op| op.name.as_str()).collect();
        (!ops.is_empty()).then_some((stage, ops))
    })
}

/// `kernel.g, kernel.s and 3 more are on the cpu`.
fn told(stage: &SavedStage, ops: &[&str]) -> String {
    let named = ops.iter().take(NAMED_OPS);
    let named: Vec<_> = named.map(|op| stage.full_name(op)).collect();
    let named = named.join(", ");
    match ops.len() {
        1 => format!("{named} is on the cpu"),
        count if count <= NAMED_OPS => format!("{named} are on the cpu"),
        count => format!("{named} and {} more are on the cpu", count - NAMED_OPS),
    }
}

/// Hundredths of a per cent as they are written: `10 %`, `2.5 %`.
fn percent(hundredths: u64) -> String {
    let (whole, rest) = (hundredths / 100, hundredths % 100);
    let digits = format!("{whole}.{rest:02}");
    let digits = digits.trim_end_matches('0').trim_end_matches('.');
    format!("{digits} %")
}
