//! What an author wrote, with the place of everything, and nothing looked up.
//!
//! A part that could not be read is `None`, or [`ExprKind::Error`], and has a diagnostic
//! already: its name still exists, so that its uses are not reported as well.

mod formula;

use haul_ir::diagnostic::Span;
use haul_ir::dtype::DType;
use haul_ir::format::{self, Format, SettingValue};
use haul_ir::graph::Failure;
use haul_ir::types::CellType;

pub use self::formula::*;
pub use super::edits::{Fields, Room};

/// A value and where it is written.
#[derive(Clone, Debug, PartialEq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Its place; of a string, what stands between the quotes.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// `value`, written at `span`.
    pub fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }
}

/// A name or another short text.
pub type Name = Spanned<String>;

/// A whole pipeline file. Each list is in file order; names are unique within a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Ast {
    /// Symbolic sizes.
    pub dims: Vec<Dim>,
    /// Scalars that a run may override.
    pub params: Vec<Param>,
    /// Where data comes from.
    pub inputs: Vec<Input>,
    /// The author's own functions.
    pub functions: Vec<Function>,
    /// What is computed, in any order.
    pub stages: Vec<Stage>,
    /// Where results go.
    pub outputs: Vec<Output>,
    /// Renames, for the comparison of plans.
    pub moved: Vec<Moved>,
}

/// `"n": (plan: 2048, max: 4096)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Dim {
    /// The symbol.
    pub name: Name,
    /// The size that times are estimated at.
    pub plan: Option<Spanned<u64>>,
    /// The largest size that must fit.
    pub max: Option<Spanned<u64>>,
}

/// `"lr": 0.05`.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// The name.
    pub name: Name,
    /// The value; `None` when it could not be read.
    pub value: Option<Spanned<Number>>,
}

/// A number, as exactly as it is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// Written without point and exponent.
    Int(i128),
    /// Written with one; finite but in constants, which may be `inf`, `-inf` and `NaN`.
    Float(f64),
}

/// `"x": Npy(path: "x.npy", type: "f32[n]")`.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// The name.
    pub name: Name,
    /// Where the data comes from; `None` when it could not be read.
    pub source: Option<Source>,
}

/// Where the data of an input comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// Which kind, with its fields.
    pub kind: SourceKind,
    /// The declared type.
    pub ty: Option<Type>,
    /// From the name of the kind to the closing parenthesis.
    pub span: Span,
}

/// The kinds of sources.
#[derive(Clone, Debug, PartialEq)]
pub enum SourceKind {
    /// A file.
    File(File),
    /// One item a file, sorted by path.
    Files {
        /// The pattern.
        glob: Name,
        /// How they are read; by their endings without.
        format: Option<&'static Format>,
        /// What is said of them.
        settings: Settings,
        /// How many files the plan expects.
        plan: Option<Spanned<u64>>,
    },
    /// One item a slice along an axis of another input; takes no type.
    Split {
        /// What is cut.
        of: SplitOf,
        /// Along which axis; 0 when it is left out.
        axis: Spanned<i64>,
        /// The length of a slice.
        size: Spanned<u64>,
    },
    /// Random numbers, the same for the same seed. Its type is always there.
    Random {
        /// The seed.
        seed: Spanned<u64>,
    },
    /// Numbers or texts written in place.
    Constant {
        /// One number or text, or nested lists of them.
        value: Literal,
    },
    /// `num` numbers from `start` to `stop`, both included; takes no type.
    Linspace {
        /// The first.
        start: Spanned<f64>,
        /// The last.
        stop: Spanned<f64>,
        /// How many.
        num: Spanned<u64>,
    },
}

/// What a `Split` cuts.
#[derive(Clone, Debug, PartialEq)]
pub enum SplitOf {
    /// Another input, by name.
    Input(Name),
    /// A source given in place.
    Source(Box<Source>),
}

/// A constant as it is written; lists may be ragged.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// A number.
    Number(Spanned<Number>),
    /// `true` or `false`.
    Bool(Spanned<bool>),
    /// A text, or a complex number as it is written: `"1+2j"`.
    Text(Spanned<String>),
    /// A list along one axis.
    List(Spanned<Vec<Literal>>),
}

impl Literal {
    /// Where it is written.
    pub fn span(&self) -> Span {
        match self {
            Self::Number(number) => number.span,
            Self::Bool(truth) => truth.span,
            Self::Text(text) => text.span,
            Self::List(list) => list.span,
        }
    }
}

/// A declared type: `f32[batch, 2*n]`, `table[n]{a: f64}` or `text`.
#[derive(Clone, Debug, PartialEq)]
pub struct Type {
    /// Tensor, table or text.
    pub kind: TypeKind,
    /// All of it.
    pub span: Span,
}

/// The kinds of types that can be declared.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeKind {
    /// A dtype and one size an axis.
    Tensor {
        /// The type of an element.
        dtype: Spanned<DType>,
        /// Sizes, made of integers, names, `+ - * // %`, `min` and `max` only.
        dims: Vec<Expr>,
    },
    /// Columns of one length.
    Table {
        /// Their length, made like the size of an axis.
        rows: Expr,
        /// Their names and what each row of them holds; no name is there twice.
        columns: Vec<(Name, CellType)>,
    },
    /// A column of texts: `text[n]`.
    Texts {
        /// How many there are, made like the size of an axis.
        rows: Expr,
    },
    /// Text.
    Text,
}

impl TypeKind {
    /// The sizes of the axes, or of the columns.
    pub fn sizes(&self) -> &[Expr] {
        match self {
            TypeKind::Tensor { dims, .. } => dims,
            TypeKind::Table { rows, .. } | TypeKind::Texts { rows } => std::slice::from_ref(rows),
            TypeKind::Text => &[],
        }
    }
}

/// `"dense(x, w, b)": "relu(x @ w + b)"`.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// The name before the parenthesis.
    pub name: Name,
    /// The names in the parenthesis.
    pub parameters: Vec<Name>,
    /// What it computes; `None` when it could not be read.
    pub body: Option<Formula>,
}

/// One entry of `stages`.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// The name.
    pub name: Name,
    /// The collection it runs over.
    pub each: Option<Name>,
    /// The field `do` or `command`; `None` when it could not be read.
    pub body: Option<Formula>,
    /// What the stage itself asks for.
    pub request: Request,
    /// Alternatives, the preferred first; each adds to or replaces what `request` says.
    pub any_of: Option<Spanned<Vec<Request>>>,
    /// Which side its ops run on.
    pub place: Place,
    /// What is done about a task that does not succeed.
    pub failure: Failure,
    /// From the opening to the closing parenthesis.
    pub span: Span,
}

/// Hardware asked for. Values are as written: whether they make sense is not checked here.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// CPU cores.
    pub cpus: Option<Spanned<f64>>,
    /// Bytes of main memory.
    pub memory: Option<Spanned<u64>>,
    /// GPUs, or a share of one.
    pub gpus: Option<Spanned<f64>>,
    /// The model of the GPU.
    pub gpu_type: Option<Name>,
    /// Bytes of GPU memory.
    pub vram: Option<Spanned<u64>>,
    /// The parenthesis that holds these fields.
    pub span: Span,
    /// Where they can be changed.
    pub fields: Fields,
}

/// The field `place` of a stage.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// One side for the whole stage; `Auto` at the stage's name when it is left out.
    Stage(Spanned<Side>),
    /// A side for some names of the formula, `Auto` for the rest.
    Names(Vec<(Name, Spanned<Side>)>),
}

/// A side, as an author may write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Whichever is faster.
    Auto,
    /// The CPU.
    Cpu,
    /// The GPU.
    Gpu,
}

/// One entry of `outputs`.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// The name.
    pub name: Name,
    /// Where it goes; `None` when it could not be read.
    pub sink: Option<Sink>,
}

/// Where a result goes.
#[derive(Clone, Debug, PartialEq)]
pub struct Sink {
    /// The file.
    pub file: File,
    /// What is written.
    pub from: Reference,
    /// From the name of the format to the closing parenthesis.
    pub span: Span,
}

/// A file to read or write.
#[derive(Clone, Debug, PartialEq)]
pub struct File {
    /// Its format.
    pub format: &'static Format,
    /// Relative to the pipeline file, or a URL.
    pub path: Name,
    /// What is said of it.
    pub settings: Settings,
}

/// The settings of a file, each where its value is written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings(pub Vec<(&'static str, Spanned<SettingValue>)>);

impl Settings {
    /// The settings without their places.
    pub(crate) fn plain(&self) -> format::Settings {
        let given = self.0.iter();
        format::Settings(
            given
                .map(|(name, value)| (*name, value.value.clone()))
                .collect(),
        )
    }

    /// Where a setting is given.
    pub(crate) fn place(&self, name: &str) -> Option<Span> {
        let mut given = self.0.iter();
        given.find(|(n, _)| *n == name).map(|(_, value)| value.span)
    }
}

/// `stage` or `stage.name`.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// The stage.
    pub stage: Name,
    /// A name of its formula; the stage's own value without.
    pub name: Option<Name>,
}

/// `"old": "new"`.
#[derive(Clone, Debug, PartialEq)]
pub struct Moved {
    /// The name it had.
    pub from: Name,
    /// The name it has.
    pub to: Name,
}
