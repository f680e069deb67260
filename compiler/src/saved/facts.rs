//! One line of a snapshot, read.

use std::collections::BTreeMap;
use std::str::FromStr;

use super::lines::{first_word, read_time, scaled};
use super::*;
use crate::render::values::Values;
use crate::syntax::amount;

/// The rest of a line.
pub(super) struct Words<'a>(pub(super) &'a str);

impl<'a> Words<'a> {
    pub(super) fn word(&mut self) -> Option<String> {
        let (word, rest) = first_word(self.0)?;
        self.0 = rest;
        Some(word)
    }

    pub(super) fn number<T: FromStr>(&mut self) -> Option<T> {
        self.word()?.parse().ok()
    }

    /// What follows a keyword that stands next.
    pub(super) fn after(&mut self, keyword: &str) -> Option<Words<'a>> {
        let rest = self.0.trim_start().strip_prefix(keyword)?;
        self.0 = rest.strip_prefix(' ')?;
        Some(Words(self.0))
    }

    pub(super) fn number_after<T: FromStr>(&mut self, keyword: &str) -> Option<T> {
        self.after(keyword)?;
        self.number()
    }

    pub(super) fn rest(&self) -> &'a str {
        self.0.trim_start()
    }
}

pub(super) fn node(words: &mut Words<'_>) -> Option<SavedNode> {
    let name = words.word()?;
    let count = words.number_after("count")?;
    let cpus = words.number_after("cpus")?;
    words.after("memory")?;
    let (number, unit) = (words.word()?, words.word()?);
    let memory = amount(&format!("{number} {unit}"))?;
    let mut gpus = BTreeMap::new();
    while words.after("gpus").is_some() {
        let count = words.number()?;
        gpus.insert(words.word()?, count);
    }
    Some(SavedNode {
        name,
        count,
        cpus,
        memory,
        gpus,
    })
}

pub(super) fn moved(words: &mut Words<'_>) -> Option<Rename> {
    Some(Rename {
        old: words.word()?,
        new: words.word()?,
    })
}

pub(super) fn dim(words: &mut Words<'_>) -> Option<SavedDim> {
    let name = words.word()?;
    let each = match words.after("each") {
        Some(_) => Some(words.word()?),
        None => None,
    };
    let mut dim = SavedDim {
        name,
        each,
        max: None,
        plan: None,
    };
    while let Some(word) = words.word() {
        match word.strip_prefix("1..") {
            Some(max) => dim.max = Some(max.parse().ok()?),
            None if word == "plan" => dim.plan = Some(words.number()?),
            None if word == "unknown" => {}
            None => return None,
        }
    }
    Some(dim)
}

pub(super) fn input(words: &mut Words<'_>) -> Option<SavedInput> {
    let name = words.word()?;
    let each = words.after("each").is_some();
    let (ty, source) = words.rest().split_once(" from ")?;
    Some(SavedInput {
        name,
        each,
        ty: ty.to_owned(),
        source: source.to_owned(),
    })
}

pub(super) fn output(words: &mut Words<'_>) -> Option<SavedOutput> {
    let (name, format, path) = (words.word()?, words.word()?, words.word()?);
    words.after("from")?;
    Some(SavedOutput {
        name,
        format,
        path,
        from: words.rest().to_owned(),
    })
}

pub(super) fn transfer(text: &str, values: &Values<'_>) -> Option<SavedTransfer> {
    let (value, rest) = text.split_once(' ')?;
    let (direction, rest) = rest.split_once(' ')?;
    let (bytes, readers) = rest.split_once(" for ").unwrap_or((rest, ""));
    matches!(direction, "h2d" | "d2h").then_some(())?;
    Some(SavedTransfer {
        value: value.to_owned(),
        direction: direction.to_owned(),
        bytes: Amount::read(bytes, values)?,
        readers: names(readers),
        time: None,
    })
}

pub(super) fn utilisation(words: &mut Words<'_>) -> Option<SavedUtilisation> {
    let nodes = words.number()?;
    let node = words.word()?;
    let gpu = words.word().filter(|device| device != "cpus");
    let mut percent = |what| {
        words.after(what)?;
        words.after("at most");
        let share = words.word()?;
        if share == "unknown" {
            return Some(None);
        }
        words
            .after("%")
            .or_else(|| (words.rest() == "%").then_some(Words("")))?;
        let share = scaled(&share, 10).and_then(|share| u32::try_from(share).ok());
        share.map(Some)
    };
    Some(SavedUtilisation {
        node,
        nodes,
        gpu,
        held: percent("held")?,
        busy: percent("busy")?,
        each: Vec::new(),
    })
}

/// Reads what [`line`](super::print) writes of an op.
pub(super) fn choice(text: &str) -> Option<SavedChoice> {
    let (text, close_call) = match text.strip_suffix(" (close call)") {
        Some(text) => (text, true),
        None => (text, false),
    };
    let mut parts = text.split("; ");
    let mut choice = SavedChoice {
        close_call,
        ..SavedChoice::default()
    };
    match parts.next()? {
        "unknown" => {}
        time => choice.time = Some(read_time(time)?),
    }
    for part in parts {
        if let Some(numbers) = part.strip_prefix("saves ") {
            let (saved, added) = numbers.split_once(", adds ")?;
            choice.saved = Some(read_time(saved)?);
            choice.added = Some(read_time(added)?);
        } else if let Some(regret) = part.strip_suffix(" longer") {
            let time = regret
                .strip_prefix("on cpu ")
                .or(regret.strip_prefix("on gpu "))?;
            choice.regret = Some(read_time(time)?);
        } else {
            choice.flip = Some(part.to_owned());
        }
    }
    Some(choice)
}

pub(super) fn read_side(text: &str) -> Option<SavedSide> {
    match text {
        "cpu" => Some(SavedSide::Cpu),
        "gpu" => Some(SavedSide::Gpu),
        _ => None,
    }
}

pub(super) fn read_bytes(text: &str) -> Option<u64> {
    text.strip_suffix(" B")?.parse().ok()
}

pub(super) fn names(text: &str) -> Vec<String> {
    let names = text.split(", ").filter(|name| !name.is_empty());
    names.map(str::to_owned).collect()
}
