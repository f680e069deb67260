//! A snapshot back to a plan. Times and prices have the three digits that were printed.

use haul_ir::expr::Symbol;

use super::expr::intensity;
use super::facts::{
    Words, choice, dim, input, moved, names, node, output, read_bytes, read_side, transfer,
    utilisation,
};
use super::lines::{read_request, read_time, read_usd, scaled, split_formula};
use super::print::{DIGEST, LAYOUT, snapshot};
use super::*;
use crate::render::values::Values;

/// Reads what [`snapshot`] prints.
pub(super) fn read(text: &str) -> Result<SavedPlan, SavedError> {
    let mut reader = Reader {
        lines: text.lines().collect(),
        at: 0,
    };
    reader.plan()
}

/// The pipeline and the target that a snapshot says it is of, whatever the rest of it is.
pub(super) fn names_of(text: &str) -> Option<(String, String)> {
    let mut head = text.lines().take(3);
    let pipeline = Words(head.next()?.strip_prefix("plan ")?).word()?;
    let target = head.find_map(|line| line.strip_prefix("target "))?;
    Some((pipeline, Words(target).word()?))
}

/// Refuses a text that is not what is printed of the plan that was read from it. What a plan holds
/// as free text prints as it was read: there the last line, the digest of all others, tells.
pub(super) fn refuse_edited(text: &str, plan: &SavedPlan) -> Result<(), SavedError> {
    let printed = snapshot(plan);
    let (mut told, mut expected) = (text.lines(), printed.lines());
    for line in 1.. {
        let expected = match (told.next(), expected.next()) {
            (None, None) => break,
            (told, expected) if told == expected => continue,
            (_, expected) => expected,
        };
        let what = match expected {
            Some(digest) if digest.starts_with(DIGEST) => {
                "the plan above was edited after haul wrote it".to_owned()
            }
            Some("") => "haul did not print this, but an empty line".to_owned(),
            Some(expected) => format!("haul did not print this, but `{}`", expected.trim_start()),
            None => "haul did not print this, but nothing more".to_owned(),
        };
        return Err(SavedError {
            message: format!("{what}: `haul snapshot --accept` keeps the plan as it is now"),
            line,
        });
    }
    Ok(())
}

struct Reader<'a> {
    lines: Vec<&'a str>,
    at: usize,
}

impl<'a> Reader<'a> {
    fn plan(&mut self) -> Result<SavedPlan, SavedError> {
        let mut head = Words(self.field("plan")?);
        let pipeline = head.word();
        let layout: Option<u32> = head.number_after("format");
        let pipeline = self.known(pipeline, "a plan has a name")?;
        if layout != Some(LAYOUT) {
            let message = format!("this version of haul reads plans of format {LAYOUT}");
            return Err(self.error(message));
        }
        let source = Words(self.field("source")?).word();
        let source = self.known(source, "the name of a file")?;
        let mut words = Words(self.field("target")?);
        let name = words.word();
        let name = self.known(name, "the name of a target")?;
        let cost_model = words.number_after("cost-model");
        let cost_model = self.known(cost_model, "the version of the cost model")?;
        let nodes = self.each_field("node ", node)?;
        let moved = self.each_field("moved ", moved)?;
        let dims = self.each_field("dim ", dim)?;
        let inputs = self.each_field("input ", input)?;
        let sizes = dims.iter();
        let sizes: Vec<_> = sizes
            .filter_map(|dim| Some((Symbol::new(&dim.name), dim.plan?)))
            .collect();
        let values = Values::new(&sizes);
        let mut stages = Vec::new();
        while self.next_begins("stage ") {
            stages.push(self.stage(&values)?);
        }
        self.skip_blank();
        let outputs = self.each_field("output ", output)?;
        let estimates = self.estimates()?;
        for stage in &mut stages {
            self.stage_estimates(stage)?;
        }
        self.field(DIGEST)?;
        self.skip_blank();
        if self.at < self.lines.len() {
            return Err(self.error("nothing stands after the digest"));
        }
        Ok(SavedPlan {
            format_version: FORMAT.to_owned(),
            pipeline,
            source,
            target: SavedTarget { name, nodes },
            cost_model,
            moved,
            dims,
            inputs,
            stages,
            outputs,
            estimates,
        })
    }

    fn stage(&mut self, values: &Values<'_>) -> Result<SavedStage, SavedError> {
        let mut head = Words(self.field("stage")?);
        let name = head.word();
        let name = self.known(name, "a stage has a name")?;
        let each = head.after("each").and_then(|mut words| words.word());
        let each = each.filter(|each| each != "none");
        let (requests, chosen) = self.requests()?;
        let retries = match self.optional("  retries ") {
            Some(retries) => self.known(retries.parse().ok(), "`retries 2`")?,
            None => 0,
        };
        let timeout = match self.optional("  timeout ") {
            Some(time) => Some(self.known(read_time(time), "`timeout 30 s`")?),
            None => None,
        };
        let skips = self.optional("  on error skip").is_some();
        let node = Words(self.field("  node")?).word();
        let node = self.known(node, "the name of a node")?;
        let gpu = self.optional("  gpu ").and_then(|text| Words(text).word());
        let tasks = self.amount("  tasks", values)?;
        let mut ops = Vec::new();
        while let Some(op) = self.op(values)? {
            ops.push(op);
        }
        let mut transfers = Vec::new();
        while let Some(text) = self.optional("  transfer ") {
            let transfer = transfer(text, values);
            transfers.push(self.known(transfer, "`transfer x h2d 4*n`")?);
        }
        let memory = self.field("  memory host peak")?;
        let (memory, memory_at) = match memory.rsplit_once(" at ") {
            Some((memory, at)) => (memory, Some(at.to_owned())),
            None => (memory, None),
        };
        let memory = Amount::read(memory, values);
        let memory = self.known(memory, "an amount such as `4*n + 1`")?;
        let vram = self.optional("  memory gpu peak ").unwrap_or("0");
        let vram = Amount::read(vram, values);
        let vram = self.known(vram, "an amount such as `4*n + 1`")?;
        Ok(SavedStage {
            name,
            each,
            requests,
            chosen,
            retries,
            timeout,
            skips,
            node,
            gpu,
            tasks,
            ops,
            transfers,
            memory,
            memory_at,
            vram,
            time: None,
            time_on_cpu: None,
            waits: None,
            queueing: None,
        })
    }

    /// The requests of a stage, and which of them was chosen.
    fn requests(&mut self) -> Result<(Vec<SavedRequest>, usize), SavedError> {
        let (mut requests, mut chosen) = (Vec::new(), 0);
        loop {
            let (asked, is_chosen) = match (self.optional("  request "), chosen) {
                (Some(asked), 0) => (asked, true),
                (Some(_), _) => {
                    self.at -= 1;
                    return Err(self.error("one request is chosen"));
                }
                (None, _) => match self.optional("  or ") {
                    Some(asked) => (asked, false),
                    None => break,
                },
            };
            let request = self.known(read_request(asked), "`request cpus 1 memory 2 GiB`")?;
            requests.push(request);
            if is_chosen {
                chosen = requests.len();
            }
        }
        match chosen {
            0 => Err(self.expected("request")),
            chosen => Ok((requests, chosen)),
        }
    }

    /// The next op of a stage; a line of another kind has no bracket in its second word.
    fn op(&mut self, values: &Values<'_>) -> Result<Option<SavedOp>, SavedError> {
        let Some(line) = self.peek().and_then(|line| line.strip_prefix("  ")) else {
            return Ok(None);
        };
        let Some((name, definition)) = line.split_once(' ') else {
            return Ok(None);
        };
        let second = definition.split(' ').next().unwrap_or_default();
        if !second.contains(['(', '[']) {
            return Ok(None);
        }
        self.at += 1;
        let (formula, types) = split_formula(definition);
        let work = self.work(values)?;
        let pin = match self.optional("    pin ") {
            Some(side) => Some(self.known(read_side(side), "`pin cpu` or `pin gpu`")?),
            None => None,
        };
        let place = self.field("    place")?;
        let (side, reason) = place.split_once(' ').unwrap_or((place, ""));
        let side = self.known(read_side(side), "`place cpu` or `place gpu`")?;
        let is_fused = reason.starts_with("fused_with ");
        Ok(Some(SavedOp {
            name: name.to_owned(),
            formula: formula.to_owned(),
            types: types.to_owned(),
            work,
            pin,
            side,
            reason: reason.to_owned(),
            estimate: (!is_fused).then(SavedChoice::default),
        }))
    }

    fn work(&mut self, values: &Values<'_>) -> Result<SavedWork, SavedError> {
        if self.optional("    work unknown").is_some() {
            return Ok(SavedWork::Unknown);
        }
        if !self
            .peek()
            .is_some_and(|line| line.starts_with("    flops "))
        {
            return Ok(SavedWork::Fused);
        }
        let flops = self.amount("    flops", values)?;
        let bytes = self.amount("    bytes", values)?;
        let told = self.optional("    intensity ").map(str::to_owned);
        Ok(SavedWork::Known {
            intensity: intensity(&flops.exact, &bytes.exact, values).unwrap_or(told),
            flops,
            bytes,
        })
    }

    fn amount(&mut self, what: &str, values: &Values<'_>) -> Result<Amount, SavedError> {
        let amount = Amount::read(self.field(what)?, values);
        self.known(amount, "an amount such as `4*n + 1`")
    }

    fn estimates(&mut self) -> Result<SavedEstimates, SavedError> {
        self.skip_blank();
        if !self.next_begins("estimates") {
            return Err(self.expected("estimates"));
        }
        self.at += 1;
        let figures = self.field("  figures")?.to_owned();
        let devices = self.each_field("  device ", |words| {
            Some((words.word()?, words.rest().to_owned()))
        })?;
        let prices = self.each_field("  hour of ", |words| {
            let node = words.word()?;
            Some((node, scaled(words.rest().strip_suffix(" USD")?, 1000)?))
        })?;
        Ok(SavedEstimates {
            figures,
            devices: devices.into_iter().collect(),
            prices: prices.into_iter().collect(),
            makespan: self.total("  makespan", read_time)?,
            serial: self.total("  serial", read_time)?,
            all_on_cpu: self.total("  all on cpu", read_time)?,
            all_on_gpu: match self.next_begins("  all on gpu ") {
                true => self.total("  all on gpu", read_time)?,
                false => None,
            },
            nano_usd: self.total("  price", read_usd)?,
            transferred: self.total("  transferred", read_bytes)?,
            vram: self.total("  gpu memory", read_bytes)?,
            unknown: self.list("  unknown "),
            critical_path: self.list("  critical path "),
            utilisation: self.each_field("  used ", utilisation)?,
        })
    }

    fn total(
        &mut self,
        what: &str,
        parse: fn(&str) -> Option<u64>,
    ) -> Result<Option<u64>, SavedError> {
        let text = self.field(what)?;
        if matches!(text, "unknown" | "impossible") {
            return Ok(None);
        }
        let total = parse(text.strip_prefix("at least ").unwrap_or(text));
        self.known(total, "a number with its unit").map(Some)
    }

    fn list(&mut self, what: &str) -> Vec<String> {
        let text = self.optional(what).unwrap_or_default();
        names(text)
    }

    fn stage_estimates(&mut self, stage: &mut SavedStage) -> Result<(), SavedError> {
        let text = self.field(&format!("  stage {} task", stage.name))?;
        let mut parts = text.split("; ");
        stage.time = self.time(parts.next().unwrap_or_default())?;
        stage.time_on_cpu = stage.time;
        for part in parts {
            if let Some(time) = part.strip_prefix("all on cpu ") {
                stage.time_on_cpu = self.time(time)?;
            } else if let Some(time) = part.strip_prefix("queueing ") {
                stage.queueing = self.time(time)?;
            } else {
                let wait = part.strip_prefix("waits ").and_then(|wait| {
                    let (time, behind) = wait.split_once(" behind ")?;
                    Some(Wait {
                        time: read_time(time)?,
                        behind: behind.to_owned(),
                    })
                });
                stage.waits = Some(self.known(wait, "`waits 1.00 s behind a`")?);
            }
        }
        for transfer in &mut stage.transfers {
            let what = format!("    {} {}", transfer.value, transfer.direction);
            transfer.time = self.field(&what).and_then(|text| self.time(text))?;
        }
        for op in &mut stage.ops {
            if op.estimate.is_some() {
                let text = self.field(&format!("    {} {}", op.name, op.side))?;
                let choice = choice(text);
                op.estimate = Some(self.known(choice, "the estimate of an op")?);
            }
        }
        Ok(())
    }

    fn time(&self, text: &str) -> Result<Option<u64>, SavedError> {
        match text {
            "unknown" => Ok(None),
            text => self
                .known(read_time(text), "a time such as `1.77 ms`")
                .map(Some),
        }
    }

    /// What stands after the word that the next line begins with.
    fn field(&mut self, what: &str) -> Result<&'a str, SavedError> {
        if !what.starts_with(' ') {
            self.skip_blank();
        }
        let rest = self.peek().and_then(|line| line.strip_prefix(what));
        let Some(rest) = rest.and_then(|rest| rest.strip_prefix(' ')) else {
            return Err(self.expected(what));
        };
        self.at += 1;
        Ok(rest)
    }

    fn optional(&mut self, what: &str) -> Option<&'a str> {
        let rest = self.peek()?.strip_prefix(what)?;
        self.at += 1;
        Some(rest)
    }

    /// All lines, from the next on, that begin so.
    fn each_field<T>(
        &mut self,
        what: &str,
        read: fn(&mut Words<'a>) -> Option<T>,
    ) -> Result<Vec<T>, SavedError> {
        let mut all = Vec::new();
        while let Some(text) = self.optional(what) {
            let one = read(&mut Words(text));
            all.push(self.known(one, &format!("a line of `{}`", what.trim()))?);
        }
        Ok(all)
    }

    fn next_begins(&mut self, what: &str) -> bool {
        self.skip_blank();
        self.peek().is_some_and(|line| line.starts_with(what))
    }

    fn skip_blank(&mut self) {
        while self.peek() == Some("") {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.at).copied()
    }

    /// What the line before the next one says, or that it should be something else.
    fn known<T>(&self, value: Option<T>, expected: &str) -> Result<T, SavedError> {
        value.ok_or_else(|| SavedError {
            message: format!("this is no plan: expected {expected}"),
            line: self.at,
        })
    }

    /// Something else stands in the next line, or nothing.
    fn expected(&self, what: &str) -> SavedError {
        let what = what.trim_start();
        match self.peek() {
            Some(_) => self.error(format!("expected `{what}`")),
            None => self.error(format!("it ends where `{what}` is expected")),
        }
    }

    fn error(&self, message: impl Into<String>) -> SavedError {
        SavedError {
            message: format!("this is no plan: {}", message.into()),
            line: self.at + 1,
        }
    }
}
