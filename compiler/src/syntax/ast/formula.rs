//! Formulas and what they are made of.

use haul_ir::diagnostic::Span;

use super::{Name, Number, Spanned, Type};

/// The statements of a formula body; at least one.
#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    /// One a line.
    pub statements: Vec<Statement>,
    /// The string, without its quotes.
    pub span: Span,
}

/// `a, b = value`, or a value alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// The names assigned to; none for a value alone.
    pub targets: Vec<Name>,
    /// The right side.
    pub value: Expr,
}

/// An expression. At most [`MAX_HEIGHT`](crate::syntax::MAX_HEIGHT) high, so walking it
/// by recursion is safe.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// All of it, with the parentheses around it.
    pub span: Span,
}

/// The kinds of expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A name; also `pi`, `inf`, `true` and the like, which are not looked up yet.
    Name(String),
    /// A number; never negative.
    Number(Number),
    /// An option in single quotes.
    Text(String),
    /// `[a, b]` or `(a, b)`: the two mean the same.
    List(Vec<Expr>),
    /// `base.name`.
    Field {
        /// Before the dot.
        base: Box<Expr>,
        /// After it; never `T`.
        name: Name,
    },
    /// `x.T`.
    Transpose(Box<Expr>),
    /// `base[…]`.
    Index {
        /// What is indexed.
        base: Box<Expr>,
        /// Between the brackets; at least one.
        items: Vec<Spanned<IndexItem>>,
    },
    /// `function(…)`.
    Call {
        /// The name before the parenthesis.
        function: Name,
        /// In the order written.
        arguments: Vec<Argument>,
    },
    /// `-x` and the like.
    Unary {
        /// The operator.
        op: Spanned<UnaryOp>,
        /// What it applies to.
        operand: Box<Expr>,
    },
    /// `left op right`.
    Binary {
        /// The operator.
        op: Spanned<BinaryOp>,
        /// Its left side.
        left: Box<Expr>,
        /// Its right side.
        right: Box<Expr>,
    },
    /// A program, in place of a formula: the one line of its stage.
    Command(Box<Command>),
    /// What could not be read; a diagnostic was given.
    Error,
}

/// The field `command` of a stage, with its `work`.
#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    /// The program and its arguments, with placeholders.
    pub argv: Vec<Name>,
    /// What the placeholders stand for, each once, in order of first use: names, or `stage.name`.
    pub reads: Vec<Expr>,
    /// What the program makes.
    pub out: Type,
    /// The author's estimate of its flops.
    pub work: Option<Expr>,
}

/// One position between the brackets of an index.
#[derive(Clone, Debug, PartialEq)]
pub enum IndexItem {
    /// One position, or an array of them.
    At(Expr),
    /// `start:stop:step`.
    Slice {
        /// First position.
        start: Option<Expr>,
        /// One past the last.
        stop: Option<Expr>,
        /// Distance.
        step: Option<Expr>,
    },
    /// `...`: all axes not named.
    Ellipsis,
    /// `newaxis`: a new axis of size 1.
    NewAxis,
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// The name of `name=value`.
    pub name: Option<Name>,
    /// The value.
    pub value: Expr,
}

/// Operators before an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `-x`.
    Negative,
    /// `+x`.
    Positive,
    /// `~x`.
    Invert,
}

/// Operators between two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `+`.
    Add,
    /// `-`.
    Subtract,
    /// `*`.
    Multiply,
    /// `/`.
    Divide,
    /// `//`.
    FloorDivide,
    /// `%`.
    Remainder,
    /// `**`.
    Power,
    /// `@`.
    MatMul,
    /// `&`.
    And,
    /// `|`.
    Or,
    /// `^`.
    Xor,
    /// `==`.
    Equal,
    /// `!=`.
    NotEqual,
    /// `<`.
    Less,
    /// `<=`.
    LessEqual,
    /// `>`.
    Greater,
    /// `>=`.
    GreaterEqual,
}

impl UnaryOp {
    /// As it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            UnaryOp::Negative => "-",
            UnaryOp::Positive => "+",
            UnaryOp::Invert => "~",
        }
    }
}

impl BinaryOp {
    /// As it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOp::Add => "+",
            BinaryOp::Subtract => "-",
            BinaryOp::Multiply => "*",
            BinaryOp::Divide => "/",
            BinaryOp::FloorDivide => "//",
            BinaryOp::Remainder => "%",
            BinaryOp::Power => "**",
            BinaryOp::MatMul => "@",
            BinaryOp::And => "&",
            BinaryOp::Or => "|",
            BinaryOp::Xor => "^",
            BinaryOp::Equal => "==",
            BinaryOp::NotEqual => "!=",
            BinaryOp::Less => "<",
            BinaryOp::LessEqual => "<=",
            BinaryOp::Greater => ">",
            BinaryOp::GreaterEqual => ">=",
        }
    }
}
