//! Finds values in a file by their names and positions.

use haul_ir::diagnostic::Span;

use super::strings;
use super::tree::{self, Entry, Node, NodeKind};

/// A step from a value into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// To the value of a field, or of an entry of a map.
    Value(String),
    /// To the name of a field, or the key of an entry.
    Key(String),
    /// To an item of a list, counted from 0.
    Item(usize),
}

/// Where the steps lead from the outermost value of a file; as far as they lead, where something
/// is not there.
pub(crate) fn locate(text: &str, steps: &[Step]) -> Option<Span> {
    let root = tree::parse(text).0?;
    let mut node = &root;
    for step in steps {
        let next = match step {
            Step::Value(name) => entry(text, node, name).map(|entry| &entry.value),
            Step::Key(name) => entry(text, node, name).map(|entry| &entry.key),
            Step::Item(position) => match &node.kind {
                NodeKind::List(items) => items.get(*position),
                _ => None,
            },
        };
        let Some(next) = next else { break };
        node = next;
    }
    Some(node.span)
}

/// The name of the field or entry whose value stands at a byte, or holds the item there, if it has
/// one; and what an author would call what stands there.
pub(crate) fn value_at(text: &str, at: usize) -> Option<(Option<String>, String)> {
    let root = tree::parse(text).0?;
    let (mut node, mut name) = (&root, None);
    let is_there = |node: &Node| (node.span.start..=node.span.end).contains(&at);
    loop {
        let next = match &node.kind {
            NodeKind::Struct(_, entries) | NodeKind::Map(entries) => {
                let entry = entries.iter().find(|entry| is_there(&entry.value));
                name = entry.map(|entry| &entry.key).or(name);
                entry.map(|entry| &entry.value)
            }
            NodeKind::List(items) => items.iter().find(|item| is_there(item)),
            _ => None,
        };
        let Some(next) = next else { break };
        node = next;
    }
    let name = name.map(|name| strings::key(text, name).into_owned());
    Some((name, node.describe(text).into_owned()))
}

fn entry<'n>(text: &str, node: &'n Node, name: &str) -> Option<&'n Entry> {
    let (NodeKind::Struct(_, entries) | NodeKind::Map(entries)) = &node.kind else {
        return None;
    };
    entries
        .iter()
        .find(|entry| strings::key(text, &entry.key) == name)
}
