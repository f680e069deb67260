//! Names of ops: the author's, or made of it and the op's name.

use std::collections::{HashMap, HashSet};

use haul_ir::expr::Symbol;
use haul_ir::id::Id;

use crate::resolve::{NodeId, Operand, Statement, ValueRef};

/// The names of the ops of one stage.
#[derive(Default)]
pub(super) struct Naming {
    taken: HashSet<String>,
    /// The name of the line at hand.
    line: String,
    /// How many ops of a name it has besides the last one.
    inner: HashMap<&'static str, usize>,
}

impl Naming {
    /// Goes on to a line.
    pub(super) fn begin_line(&mut self, statement: &Statement) {
        let named = statement.names.iter().find(|name| *name != "_");
        self.line = named
            .or(statement.names.first())
            .cloned()
            .unwrap_or_default();
        self.inner.clear();
    }

    /// The name of the op of a node.
    pub(super) fn name(&mut self, id: NodeId, op: &'static str, statement: &Statement) -> String {
        if is_root(id, statement) {
            self.take(self.line.clone())
        } else {
            self.inner(op)
        }
    }

    /// The name of an op on the way to the line's value: `g.matmul`, then `g.matmul_2`.
    pub(super) fn inner(&mut self, op: &'static str) -> String {
        let count = self.inner.entry(op).or_default();
        *count += 1;
        let name = match *count {
            1 => format!("{}.{op}", self.line),
            count => format!("{}.{op}_{count}", self.line),
        };
        self.take(name)
    }

    /// A name for a size that the line at hand finds: `stage.line.size`.
    pub(super) fn size(&self, stage: &str, is_taken: &dyn Fn(&Symbol) -> bool) -> Symbol {
        let name = match self.line == stage {
            true => format!("{stage}.size"),
            false => format!("{stage}.{}.size", self.line),
        };
        let first = Symbol::new(&name);
        if !is_taken(&first) {
            return first;
        }
        let numbered = (2..).map(|number| Symbol::new(&format!("{name}_{number}")));
        let mut free = numbered.filter(|symbol| !is_taken(symbol));
        free.next().unwrap_or(first)
    }

    /// The names of the results of a node, where they have names of their own.
    pub(super) fn value_names<'s>(&self, id: NodeId, statement: &'s Statement) -> &'s [String] {
        if is_root(id, statement) {
            &statement.names
        } else {
            &[]
        }
    }

    /// The name, or with a number where another line has it.
    fn take(&mut self, name: String) -> String {
        if self.taken.insert(name.clone()) {
            return name;
        }
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        let mut free = numbered.filter(|name| self.taken.insert(name.clone()));
        free.next().unwrap_or_default()
    }
}

/// Whether a node computes the value of its line.
fn is_root(id: NodeId, statement: &Statement) -> bool {
    let Operand::Value(ValueRef::Node(root, _)) = statement.value else {
        return false;
    };
    root == id && statement.nodes.contains(&id.index())
}
