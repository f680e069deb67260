//! What a repository declares in its `haul.ron`: targets, snapshots, policies, lints, prices.

use haul_ir::target::Target;
use serde::Deserialize;

use crate::diagnostics::Levels;
use crate::diagnostics::suggest::nearest;
use crate::form::units::{Bytes, Money, Percent, Time};
use crate::form::{Fault, FileError, Table, read};
use crate::policy::{Limit, Policies};
use crate::syntax::Step;
use crate::target::NodePrice;

/// The version of the form that is read here.
const VERSION: u32 = 1;

/// What a repository declares.
#[derive(Debug)]
pub struct Project {
    /// The targets that plans are made for when none is named.
    pub targets: Vec<Placed>,
    /// Which pipelines have their plans kept, for which targets.
    pub snapshots: Vec<Snapshots>,
    /// Which warnings are errors, and which are not told.
    pub lints: Levels,
    /// What plans have to keep to that no entry declares.
    pub policies: Policies,
    prices: Table<NodePrice>,
    text: String,
}

/// Pipelines whose plans are kept.
#[derive(Debug)]
pub struct Snapshots {
    /// A pattern of paths: `pipelines/*.ron`.
    pub pipelines: Placed,
    /// The targets, of which each pipeline has a plan for every one.
    pub targets: Vec<Placed>,
    /// What these plans have to keep to: their own policies, and those of the project where they
    /// say nothing.
    pub policies: Policies,
}

/// A text of the file, which knows its place there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The text.
    pub text: String,
    steps: Vec<Step>,
}

impl Project {
    /// Reads the text of a `haul.ron`.
    ///
    /// # Errors
    /// The text is no RON of that form, is of another version, or names a lint that is none.
    pub fn parse(text: &str) -> Result<Self, FileError> {
        let file: ProjectFile = read(text)?;
        Self::of(file, text).map_err(|fault| fault.place(text))
    }

    /// A mistake about a text of the file, at its place.
    pub fn error(&self, at: &Placed, message: impl Into<String>) -> FileError {
        Fault::new(at.steps.clone(), message).place(&self.text)
    }

    /// Whether it declares prices.
    pub fn has_prices(&self) -> bool {
        !self.prices.0.is_empty()
    }

    /// Gives the nodes of a target the prices that the project declares for them.
    pub fn reprice(&self, target: &mut Target) {
        for node in target.nodes.iter_mut() {
            let name = format!("{}.{}", target.name, node.name);
            if let Some(price) = self.prices.get(&name) {
                node.price = Some(price.to_ir());
            }
        }
    }

    /// Holds the names of prices against all targets there are.
    ///
    /// # Errors
    /// A name that is no `target.node` of them.
    pub fn check_prices(&self, targets: &[Target]) -> Result<(), FileError> {
        let nodes = targets.iter().flat_map(|target| {
            let nodes = target.nodes.iter();
            nodes.map(|node| format!("{}.{}", target.name, node.name))
        });
        let nodes: Vec<_> = nodes.collect();
        for (name, _) in &self.prices.0 {
            if nodes.contains(name) {
                continue;
            }
            let near = nearest(name, nodes.iter().map(String::as_str));
            let help = near.map_or_else(
                || "write `target.node`, of a target that haul has or this file names".to_owned(),
                |near| format!("did you mean `{near}`?"),
            );
            let steps = [value("prices"), Step::Key(name.clone())];
            let message = format!("there is no node `{name}`: {help}");
            return Err(Fault::new(steps, message).place(&self.text));
        }
        Ok(())
    }

    fn of(file: ProjectFile, text: &str) -> Result<Self, Fault> {
        if file.version != VERSION {
            let message = format!("this haul reads version {VERSION}");
            return Err(Fault::new([value("version")], message));
        }
        let lints = levels(&file.lints)?;
        let general = file.policies.to_policies(vec![value("policies")]);
        let entries = file.snapshots.into_iter().enumerate();
        let snapshots = entries.map(|(position, entry)| {
            let at = vec![value("snapshots"), Step::Item(position)];
            let own = entry.policies.to_policies(with(&at, value("policies")));
            Snapshots {
                pipelines: Placed::new(entry.pipelines, with(&at, value("pipelines"))),
                targets: placed(entry.targets, &with(&at, value("targets"))),
                policies: own.or(&general),
            }
        });
        Ok(Self {
            targets: placed(file.targets, &[value("targets")]),
            snapshots: snapshots.collect(),
            lints,
            policies: general,
            prices: file.prices,
            text: text.to_owned(),
        })
    }
}

impl Placed {
    pub(crate) fn new(text: String, steps: Vec<Step>) -> Self {
        Self { text, steps }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "Project")]
struct ProjectFile {
    version: u32,
    #[serde(default)]
    targets: Vec<String>,
    #[serde(default)]
    snapshots: Vec<SnapshotsFile>,
    #[serde(default)]
    policies: PoliciesFile,
    #[serde(default)]
    lints: Lints,
    #[serde(default)]
    prices: Table<NodePrice>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "Snapshots")]
struct SnapshotsFile {
    pipelines: String,
    targets: Vec<String>,
    #[serde(default)]
    policies: PoliciesFile,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename = "Policies")]
struct PoliciesFile {
    max_makespan: Option<Time>,
    max_makespan_growth: Option<Percent>,
    max_price: Option<Money>,
    max_price_growth: Option<Percent>,
    max_vram: Option<Bytes>,
    max_vram_growth: Option<Percent>,
    max_transfer: Option<Bytes>,
    max_transfer_growth: Option<Percent>,
    no_cpu: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Lints {
    deny: Vec<String>,
    allow: Vec<String>,
}

impl PoliciesFile {
    /// The policies that are written at a place.
    fn to_policies(&self, at: Vec<Step>) -> Policies {
        let limit = |most: Option<u64>, growth: Option<Percent>| Limit {
            most,
            growth: growth.map(|growth| growth.0),
        };
        Policies {
            makespan: limit(
                self.max_makespan.map(|time| time.0),
                self.max_makespan_growth,
            ),
            price: limit(self.max_price.map(|money| money.0), self.max_price_growth),
            vram: limit(self.max_vram.map(|bytes| bytes.0), self.max_vram_growth),
            transfer: limit(
                self.max_transfer.map(|bytes| bytes.0),
                self.max_transfer_growth,
            ),
            no_cpu: placed(self.no_cpu.clone(), &with(&at, value("no_cpu"))),
        }
    }
}

/// The levels of lints; a name that is none is a mistake at its place.
fn levels(lints: &Lints) -> Result<Levels, Fault> {
    let none: &[String] = &[];
    for (field, names) in [("deny", &lints.deny), ("allow", &lints.allow)] {
        for (position, name) in names.iter().enumerate() {
            Levels::new(std::slice::from_ref(name), none).map_err(|error| {
                let steps = [value("lints"), value(field), Step::Item(position)];
                Fault::new(steps, error.to_string())
            })?;
        }
    }
    Levels::new(&lints.deny, &lints.allow)
        .map_err(|error| Fault::new([value("lints")], error.to_string()))
}

fn placed(texts: Vec<String>, at: &[Step]) -> Vec<Placed> {
    let texts = texts.into_iter().enumerate();
    texts
        .map(|(position, text)| Placed::new(text, with(at, Step::Item(position))))
        .collect()
}

fn with(steps: &[Step], step: Step) -> Vec<Step> {
    steps.iter().cloned().chain([step]).collect()
}

fn value(name: &str) -> Step {
    Step::Value(name.to_owned())
}
