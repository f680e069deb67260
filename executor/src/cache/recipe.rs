//! What a stage computes, as a key: ops, attributes, types, and how values flow between them.
//!
//! Names that people give, ids, requests, sides and costs are not in it: a stage keeps its key when
//! others are edited around it, and when it or a size is renamed.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use haul_ir::expr::{Expr, Symbol};
use haul_ir::graph::{Arg, Graph, OpNode, Scalar};
use haul_ir::id::{StageId, ValueId};
use haul_ir::op::Attr;
use haul_ir::types::ValueType;
use indexmap::IndexSet;

use super::hash::{Key, KeyHasher};
use crate::program::{Program, Read};

/// What a stage computes.
pub(super) struct Recipe {
    pub(super) key: Key,
    /// Sizes that it computes with and that its inputs do not tell, in order of first use.
    pub(super) sizes: Vec<Symbol>,
}

impl Recipe {
    pub(super) fn of(graph: &Graph, stage: StageId, program: &Program) -> Self {
        let writer = Writer::new(graph, stage, program);
        let key = Key::of("stage", &|hasher| writer.stage(program, hasher));
        let told = writer.told(program);
        let sizes = writer.symbols.into_inner().into_iter();
        Self {
            key,
            sizes: sizes.filter(|symbol| !told.contains(symbol)).collect(),
        }
    }
}

/// The key of a type, whatever its sizes are called.
pub(super) fn hash_type(ty: &ValueType, hasher: &mut KeyHasher) {
    Symbols::default().hash_type(ty, hasher);
}

struct Writer<'a> {
    graph: &'a Graph,
    stage: StageId,
    symbols: Symbols,
    /// Values by the order in which they are read or made.
    numbers: HashMap<ValueId, usize>,
}

impl<'a> Writer<'a> {
    fn new(graph: &'a Graph, stage: StageId, program: &Program) -> Self {
        let reads = program.reads.iter().map(|read| read.value());
        let ops = graph.stages[stage].ops.iter();
        let made = ops.flat_map(|op| graph.ops[*op].results.iter().copied());
        let mut numbers = HashMap::new();
        for value in reads.chain(made) {
            let next = numbers.len();
            numbers.entry(value).or_insert(next);
        }
        Self {
            graph,
            stage,
            symbols: Symbols::default(),
            numbers,
        }
    }

    fn stage(&self, program: &Program, hasher: &mut KeyHasher) {
        program.reads.len().hash(hasher);
        for read in &program.reads {
            matches!(read, Read::Items(_)).hash(hasher);
            self.hash_value(read.value(), hasher);
        }
        let ops = &self.graph.stages[self.stage].ops;
        ops.len().hash(hasher);
        ops.iter()
            .for_each(|op| self.op(&self.graph.ops[*op], hasher));
        program.results.len().hash(hasher);
        let results = program.results.iter();
        results.for_each(|result| self.numbers.get(result).hash(hasher));
    }

    fn op(&self, node: &OpNode, hasher: &mut KeyHasher) {
        node.op.name().hash(hasher);
        node.args.len().hash(hasher);
        for arg in &node.args {
            match arg {
                Arg::Value(value) => (0_u8, self.numbers.get(value)).hash(hasher),
                Arg::Items(value) => (1_u8, self.numbers.get(value)).hash(hasher),
                Arg::Scalar(scalar, dtype) => {
                    (2_u8, dtype).hash(hasher);
                    self.scalar(scalar, hasher);
                }
            }
        }
        node.attrs.0.len().hash(hasher);
        for (name, attr) in &node.attrs.0 {
            name.hash(hasher);
            match attr {
                Attr::Size(symbol) => self.symbols.rename(symbol).hash(hasher),
                _ => attr
                    .bind(&|symbol| self.symbols.rename(symbol))
                    .hash(hasher),
            }
        }
        node.results.len().hash(hasher);
        let results = node.results.iter();
        results.for_each(|result| self.hash_value(*result, hasher));
    }

    fn hash_value(&self, value: ValueId, hasher: &mut KeyHasher) {
        self.numbers.get(&value).hash(hasher);
        self.symbols.hash_type(&self.graph.values[value].ty, hasher);
    }

    fn scalar(&self, scalar: &Scalar, hasher: &mut KeyHasher) {
        match scalar {
            Scalar::Int(expr) => (0_u8, self.symbols.renamed(expr)).hash(hasher),
            Scalar::Float(number) => (1_u8, number.to_bits()).hash(hasher),
            Scalar::Apply(op, args) => {
                (2_u8, op.name(), args.len()).hash(hasher);
                args.iter().for_each(|arg| self.scalar(arg, hasher));
            }
        }
    }

    /// The sizes that what the stage reads tells, and those that its own ops find.
    fn told(&self, program: &Program) -> HashSet<Symbol> {
        let reads = program.reads.iter();
        let types = reads.map(|read| &self.graph.values[read.value()].ty);
        let of_types = types.flat_map(|ty| ty.sizes()).filter_map(told_by);
        let ops = self.graph.stages[self.stage].ops.iter();
        let attrs = ops.flat_map(|op| &self.graph.ops[*op].attrs.0);
        let found = attrs.filter_map(|(_, attr)| match attr {
            Attr::Size(symbol) => Some(symbol.clone()),
            _ => None,
        });
        of_types.chain(found).collect()
    }
}

/// The symbol that the value of a size tells: of `2*n + 1`, but not of `n // 2` or `m*n`.
fn told_by(size: &Expr) -> Option<Symbol> {
    let mut only: Option<Symbol> = None;
    let mut is_one = true;
    size.symbols(&mut |symbol| {
        is_one &= only.as_ref().is_none_or(|known| known == symbol);
        only = Some(symbol.clone());
    });
    let symbol = only.filter(|_| is_one)?;
    let at = |value: Expr| size.bind(&|_| Some(value.clone()));
    let (zero, one) = (at(Expr::ZERO), at(Expr::ONE));
    let slope = &one - &zero;
    let line = &(&Expr::symbol(symbol.clone()) * &slope) + &zero;
    (line == *size && slope.as_int().is_some_and(|slope| slope != 0)).then_some(symbol)
}

/// Symbols by the order in which they are met.
#[derive(Default)]
struct Symbols(RefCell<IndexSet<Symbol>>);

impl Symbols {
    fn into_inner(self) -> IndexSet<Symbol> {
        self.0.into_inner()
    }

    /// A symbol under the name that its number is.
    fn rename(&self, symbol: &Symbol) -> Option<Expr> {
        let (number, _) = self.0.borrow_mut().insert_full(symbol.clone());
        Some(Expr::symbol(Symbol::new(&number.to_string())))
    }

    fn renamed(&self, expr: &Expr) -> Expr {
        expr.bind(&|symbol| self.rename(symbol))
    }

    fn hash_type(&self, ty: &ValueType, hasher: &mut KeyHasher) {
        let sizes = ty.sizes().iter().map(|size| self.renamed(size));
        ty.with_sizes(sizes.collect()).hash(hasher);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_tells_its_only_symbol_where_it_is_a_line() {
        let [m, n] = ["m", "n"].map(|name| Expr::symbol(Symbol::new(name)));
        let two = Expr::from(2_u64);
        for told in [n.clone(), &(&n * &two) + &Expr::ONE, &two - &n] {
            assert_eq!(told_by(&told), Some(Symbol::new("n")), "{told}");
        }
        for untold in [
            two.clone(),
            &m * &n,
            &n * &n,
            n.floor_div(&two),
            n.modulo(&two),
        ] {
            assert_eq!(told_by(&untold), None, "{untold}");
        }
    }
}
