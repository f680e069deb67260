//! The order of stages: each after those it uses, ties by place in the file.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use haul_ir::diagnostic::Diagnostic;

use super::names::{Global, Names};
use super::used::Used;
use crate::diagnostics::codes::{CYCLE, RECURSION};
use crate::mistakes::Mistakes;
use crate::syntax::Ast;
use crate::syntax::ast::{Expr, ExprKind, Formula, IndexItem, Name};

/// Positions of stages in an order in which they can be resolved, those in a cycle, which is
/// reported, last; and whether each function is part of a cycle, or uses one. Notes which lines
/// of stages others use.
pub(super) fn order<'a>(
    ast: &'a Ast,
    names: &Names<'a>,
    used: &mut Used<'a>,
    mistakes: &mut Mistakes,
) -> (Vec<usize>, Vec<bool>) {
    let uses = uses(ast, names, used);
    let (mut order, done) = sorted(ast.stages.len(), &uses);
    report_cycles(ast, &uses, &done, mistakes);
    let stages = 0..ast.stages.len();
    order.extend(stages.filter(|stage| !done[*stage]));
    let circular = done[ast.stages.len()..].iter().map(|done| !done).collect();
    (order, circular)
}

/// What each stage uses, and then each function: positions of stages, and of functions after
/// all stages.
fn uses<'a>(ast: &'a Ast, names: &Names<'a>, used: &mut Used<'a>) -> Vec<Vec<usize>> {
    let mut walk = |formula: Option<&'a Formula>, parameters: &'a [Name], each: Option<&Name>| {
        let mut walk = Walk {
            first_function: ast.stages.len(),
            names,
            used: &mut *used,
            locals: parameters.iter().map(|name| name.value.as_str()).collect(),
            uses: Vec::new(),
        };
        if let Some(each) = each {
            walk.name(&each.value);
        }
        for statement in formula.iter().flat_map(|formula| &formula.statements) {
            walk.expression(&statement.value);
            walk.locals
                .extend(statement.targets.iter().map(|name| name.value.as_str()));
        }
        walk.uses.sort_unstable();
        walk.uses.dedup();
        walk.uses
    };
    let stages = ast
        .stages
        .iter()
        .map(|stage| (stage.body.as_ref(), &[][..], stage.each.as_ref()));
    let functions = ast.functions.iter();
    let functions =
        functions.map(|function| (function.body.as_ref(), &function.parameters[..], None));
    let all = stages.chain(functions);
    let uses = all
        .map(|(body, parameters, each)| walk(body, parameters, each))
        .collect();
    for output in &ast.outputs {
        let Some(from) = output.sink.as_ref().map(|sink| &sink.from) else {
            continue;
        };
        if let (Some(Global::Stage(stage)), Some(name)) = (names.get(&from.stage.value), &from.name)
        {
            used.line(stage, &name.value);
        }
    }
    uses
}

/// Collects what one formula uses.
struct Walk<'a, 'n> {
    first_function: usize,
    names: &'n Names<'a>,
    used: &'n mut Used<'a>,
    locals: HashSet<&'a str>,
    uses: Vec<usize>,
}

impl<'a> Walk<'a, '_> {
    fn name(&mut self, name: &str) -> Option<usize> {
        let Some(Global::Stage(stage)) = self.names.get(name) else {
            return None;
        };
        self.uses.push(stage);
        Some(stage)
    }

    fn expression(&mut self, expr: &'a Expr) {
        match &expr.kind {
            ExprKind::Name(name) if !self.locals.contains(name.as_str()) => drop(self.name(name)),
            ExprKind::Field { base, name } => self.field(base, name),
            ExprKind::List(items) => items.iter().for_each(|item| self.expression(item)),
            ExprKind::Transpose(base) => self.expression(base),
            ExprKind::Index { base, items } => {
                self.expression(base);
                items.iter().for_each(|item| self.index(&item.value));
            }
            ExprKind::Call {
                function,
                arguments,
            } => {
                if let Some(function) = self.names.function(&function.value) {
                    self.uses.push(self.first_function + function);
                }
                arguments
                    .iter()
                    .for_each(|argument| self.expression(&argument.value));
            }
            ExprKind::Unary { operand, .. } => self.expression(operand),
            ExprKind::Binary { left, right, .. } => {
                self.expression(left);
                self.expression(right);
            }
            ExprKind::Command(command) => {
                let parts = command.reads.iter().chain(&command.work);
                parts.for_each(|part| self.expression(part));
            }
            ExprKind::Name(_) | ExprKind::Number(_) | ExprKind::Text(_) | ExprKind::Error => {}
        }
    }

    fn field(&mut self, base: &'a Expr, line: &'a Name) {
        match &base.kind {
            ExprKind::Name(name) if !self.locals.contains(name.as_str()) => {
                if let Some(stage) = self.name(name) {
                    self.used.line(stage, &line.value);
                }
            }
            _ => self.expression(base),
        }
    }

    fn index(&mut self, item: &'a IndexItem) {
        match item {
            IndexItem::At(at) => self.expression(at),
            IndexItem::Slice { start, stop, step } => {
                let parts = [start, stop, step].into_iter().flatten();
                parts.for_each(|part| self.expression(part));
            }
            IndexItem::Ellipsis | IndexItem::NewAxis => {}
        }
    }
}

/// Stages in order, and what is not part of a cycle or after one.
fn sorted(stages: usize, uses: &[Vec<usize>]) -> (Vec<usize>, Vec<bool>) {
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); uses.len()];
    for (user, uses) in uses.iter().enumerate() {
        uses.iter().for_each(|used| users[*used].push(user));
    }
    let mut missing: Vec<usize> = uses.iter().map(Vec::len).collect();
    // Functions first: they hold nothing up that only they stand before.
    let key = |item: usize| Reverse((item < stages, item));
    let free = (0..uses.len()).filter(|item| missing[*item] == 0);
    let mut ready: BinaryHeap<_> = free.map(key).collect();
    let mut order = Vec::new();
    let mut done = vec![false; uses.len()];
    while let Some(Reverse((is_stage, item))) = ready.pop() {
        done[item] = true;
        if is_stage {
            order.push(item);
        }
        for user in &users[item] {
            missing[*user] -= 1;
            if missing[*user] == 0 {
                ready.push(key(*user));
            }
        }
    }
    (order, done)
}

/// Reports each cycle that can be reached from what is not done by the first use of each.
fn report_cycles(ast: &Ast, uses: &[Vec<usize>], done: &[bool], mistakes: &mut Mistakes) {
    let mut walked = vec![false; uses.len()];
    for start in (0..uses.len()).filter(|start| !done[*start]) {
        let mut path = Vec::new();
        let mut at = start;
        while !walked[at] {
            walked[at] = true;
            path.push(at);
            // Whatever is not done uses something that is not done.
            match uses[at].iter().find(|used| !done[**used]) {
                Some(next) => at = *next,
                None => break,
            }
        }
        if let Some(first) = path.iter().position(|item| *item == at) {
            mistakes.report(cycle(ast, &path[first..]));
        }
    }
}

/// The mistake of a cycle, told from the first of its stages in the file.
fn cycle(ast: &Ast, members: &[usize]) -> Diagnostic {
    let stages = ast.stages.len();
    let name = |item: usize| match item.checked_sub(stages) {
        None => &ast.stages[item].name,
        Some(function) => &ast.functions[function].name,
    };
    let least = members.iter().enumerate().min_by_key(|(_, item)| **item);
    let first = least.map_or(0, |(position, _)| position);
    let mut members = members.to_vec();
    members.rotate_left(first);
    let told: Vec<_> = members
        .iter()
        .chain([&members[0]])
        .map(|item| &*name(*item).value)
        .collect();
    let told = shortened(&told).join(" -> ");
    let start = name(members[0]);
    let (code, message, help) = if members[0] < stages {
        let message = format!("stages wait for each other: {told}");
        (CYCLE, message, "compute one of them without the others")
    } else {
        let message = format!("the function `{}` uses itself: {told}", start.value);
        (
            RECURSION,
            message,
            "functions are put in place of their calls, which would never end",
        )
    };
    let mut mistake = Diagnostic::error(code, start.span, message).help(help);
    for member in members.iter().skip(1).take(10) {
        mistake = mistake.label(name(*member).span, "this is part of it");
    }
    mistake
}

/// At most 12 names of a cycle, the first and the last among them.
fn shortened<'n>(names: &[&'n str]) -> Vec<&'n str> {
    const LENGTH: usize = 12;
    if names.len() <= LENGTH {
        return names.to_vec();
    }
    let (begin, end) = (&names[..LENGTH - 2], &names[names.len() - 1..]);
    [begin, &["…"], end].concat()
}
