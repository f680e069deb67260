//! What running tasks hold, and what is ready but cannot have what it requests yet.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use haul_ir::cost::Nanos;
use haul_ir::graph::{GpuCount, Request};
use haul_ir::id::{IdVec, StageId};
use haul_ir::plan::Plan;

use super::tasks::{Ready, Tasks};
use crate::grant::{self, Grant, Lack, Ledger};
use crate::progress::Event;

/// Why ready tasks of a stage do not start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) stage: StageId,
    /// `cpus`, `memory`, `gpus`, `vram`, or `stored values`.
    pub(crate) lacks: &'static str,
    /// The stages whose tasks hold it.
    pub(crate) behind: Vec<StageId>,
}

impl Refusal {
    /// What is told of it.
    pub(crate) fn event(&self) -> Event<'_> {
        Event::Waiting {
            stage: self.stage,
            lacks: self.lacks,
            behind: &self.behind,
        }
    }
}

/// What was decided for a lane.
#[derive(Default)]
pub(super) struct Decision {
    /// What starts: all of a candidate, one task of what waited.
    pub(super) start: Option<(Ready, Grant)>,
    /// Stages that were passed over for the first time.
    pub(super) refusals: Vec<Refusal>,
    /// Something that waits could start besides.
    pub(super) more: bool,
}

/// What happened on a lane since it last had a decision.
#[derive(Default)]
pub(super) struct News {
    /// Tasks that ended.
    pub(super) ended: usize,
    /// Tasks that use stored values up: those that became ready, less those that ended.
    pub(super) consumers: isize,
}

/// The ledger, and queues of what it refused.
pub(super) struct Grants {
    ledger: Ledger,
    memory: u64,
    /// Tasks that have not ended.
    left: usize,
    /// Tasks that use stored values up and are running or ready. A lane may hear of the end of one
    /// before another has told that it was ready.
    consumers: isize,
    classes: Vec<Class>,
    stages: IdVec<StageId, (ClassIndex, Nanos)>,
    /// The most urgent stage that waits, of each class.
    heads: BTreeSet<(Urgency, ClassIndex)>,
    /// What each lane runs.
    running: Vec<Option<StageId>>,
}

type ClassIndex = usize;

/// The longest path goes first.
type Urgency = (Reverse<Nanos>, StageId);

/// Stages that request the same wait in one queue: all of them fit, or none.
struct Class {
    request: Request,
    consumes: bool,
    queue: BTreeMap<Urgency, Waiting>,
}

#[derive(Default)]
struct Waiting {
    ready: Vec<Ready>,
    is_told: bool,
}

impl Grants {
    pub(super) fn new(plan: &Plan, tasks: &Tasks, ledger: Ledger, lanes: usize) -> Self {
        let mut classes: Vec<Class> = Vec::new();
        let mut known: HashMap<_, ClassIndex> = HashMap::new();
        let stages = plan.typed.graph().stages.ids().map(|id| {
            let kind = (grant::request(plan, id), tasks.consumes(id));
            let class = match known.get(&kind) {
                Some(class) => *class,
                None => {
                    classes.push(Class {
                        request: kind.0.clone(),
                        consumes: kind.1,
                        queue: BTreeMap::new(),
                    });
                    known.insert(kind, classes.len() - 1);
                    classes.len() - 1
                }
            };
            (class, tasks.path(id))
        });
        Self {
            stages: stages.collect(),
            memory: ledger.memory(),
            left: tasks.total(),
            consumers: 0,
            ledger,
            classes,
            heads: BTreeSet::new(),
            running: vec![None; lanes],
        }
    }

    /// Takes back what a lane held.
    pub(super) fn give_back(&mut self, lane: usize, held: Option<Grant>) {
        if let Some(grant) = held {
            self.ledger.give_back(grant);
            self.running[lane] = None;
        }
    }

    /// Hears what happened on a lane; whether all tasks have ended.
    pub(super) fn settle(&mut self, news: News) -> bool {
        self.left -= news.ended;
        self.consumers += news.consumers;
        self.left == 0
    }

    /// Starts the most urgent task that can have all it requests, of those that wait and the
    /// candidate, while `stored` bytes are held between tasks.
    pub(super) fn decide(
        &mut self,
        lane: usize,
        candidate: Option<Ready>,
        stored: u64,
    ) -> Decision {
        let decision = self.choose(candidate, stored);
        if let Some((ready, _)) = &decision.start {
            self.running[lane] = Some(ready.stage);
        }
        decision
    }

    fn choose(&mut self, candidate: Option<Ready>, stored: u64) -> Decision {
        let mut decision = Decision::default();
        if let Some(ready) = candidate {
            let (class, _) = self.stages[ready.stage];
            if self.heads.is_empty()
                && let Ok(grant) = self.grant(class, stored)
            {
                decision.start = Some((ready, grant));
                return decision;
            }
            self.wait(ready);
        }
        let mut refused = Vec::new();
        for class in self.heads() {
            match self.grant(class, stored) {
                Ok(grant) => {
                    decision.start = self.take(class).map(|ready| (ready, grant));
                    break;
                }
                Err(lacks) => refused.push((class, lacks)),
            }
        }
        decision.refusals = self.refusals(&refused);
        decision.more = decision.start.is_some() && self.something_fits(stored);
        decision
    }

    /// Hands out what a class requests, or tells what is lacking. While stored values fill half of
    /// the memory, tasks that only add to them leave the room to those that use them up.
    fn grant(&mut self, class: ClassIndex, stored: u64) -> Result<Grant, &'static str> {
        let Class {
            request, consumes, ..
        } = &self.classes[class];
        let crowded = self.consumers > 0 && stored > self.memory / 2;
        match crowded && !consumes {
            true => Err("stored values"),
            false => self.ledger.grant(request, stored).map_err(Lack::word),
        }
    }

    fn something_fits(&mut self, stored: u64) -> bool {
        self.heads().into_iter().any(|class| {
            let granted = self.grant(class, stored);
            granted.map(|grant| self.ledger.give_back(grant)).is_ok()
        })
    }

    /// The classes that wait, the most urgent first.
    fn heads(&self) -> Vec<ClassIndex> {
        self.heads.iter().map(|(_, class)| *class).collect()
    }

    fn wait(&mut self, ready: Ready) {
        let (class, path) = self.stages[ready.stage];
        let queue = &mut self.classes[class].queue;
        let before = queue.first_key_value().map(|(head, _)| *head);
        let waiting = queue.entry((Reverse(path), ready.stage)).or_default();
        waiting.ready.push(ready);
        self.move_head(class, before);
    }

    /// Takes one task of the stage that heads a queue.
    fn take(&mut self, class: ClassIndex) -> Option<Ready> {
        let mut entry = self.classes[class].queue.first_entry()?;
        let head = *entry.key();
        let waiting = entry.get_mut();
        waiting.is_told = false;
        let ready = waiting.ready.last_mut()?;
        let first = Ready {
            end: ready.first + 1,
            ..*ready
        };
        ready.first += 1;
        if ready.is_empty() {
            waiting.ready.pop();
        }
        if waiting.ready.is_empty() {
            entry.remove();
        }
        self.move_head(class, Some(head));
        Some(first)
    }

    fn move_head(&mut self, class: ClassIndex, before: Option<Urgency>) {
        let now = self.classes[class].queue.first_key_value();
        let now = now.map(|(head, _)| *head);
        if before == now {
            return;
        }
        if let Some(head) = before {
            self.heads.remove(&(head, class));
        }
        if let Some(head) = now {
            self.heads.insert((head, class));
        }
    }

    /// What is to be told of heads that were refused; of each once, until one of its tasks starts.
    fn refusals(&mut self, refused: &[(ClassIndex, &'static str)]) -> Vec<Refusal> {
        let mut refusals = Vec::new();
        for (class, lacks) in refused {
            let Some(mut entry) = self.classes[*class].queue.first_entry() else {
                continue;
            };
            let (_, stage) = *entry.key();
            if !std::mem::replace(&mut entry.get_mut().is_told, true) {
                refusals.push(Refusal {
                    stage,
                    lacks,
                    behind: self.holders(lacks),
                });
            }
        }
        refusals
    }

    /// The stages that run and hold some of what is lacking.
    fn holders(&self, lacks: &str) -> Vec<StageId> {
        let of_gpus = lacks == Lack::Gpus.word() || lacks == Lack::Vram.word();
        let holds = |stage: &StageId| {
            let (class, _) = self.stages[*stage];
            !of_gpus || self.classes[class].request.gpus > GpuCount::NONE
        };
        let mut holders: Vec<_> = self
            .running
            .iter()
            .flatten()
            .copied()
            .filter(holds)
            .collect();
        holders.sort_unstable();
        holders.dedup();
        holders
    }

    #[cfg(test)]
    pub(super) fn ledger(&self) -> &Ledger {
        &self.ledger
    }
}
