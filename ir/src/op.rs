//! What an op is: everything about it in one place, behind one trait.
//!
//! The compiler and the executor know no op by name. They ask this trait for the signature, the
//! shape rule, the work and the kernels; the catalogue is a value that the binary hands them.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::column::{DataMut, DataView, Measured};
use crate::dtype::DType;
use crate::expr::{Expr, Symbol};
use crate::tensor::{Layout, View, ViewMut};
use crate::types::{Shape, TableType, TensorType, ValueType};

/// An operation that formulas call by name.
pub trait Op: Sync {
    /// The name in formulas: `matmul`.
    fn name(&self) -> &'static str;

    /// One paragraph for the catalogue: what it computes, and its rules for empty axes, NaN,
    /// integers where they matter.
    fn doc(&self) -> &'static str;

    /// Its parameters in order.
    fn params(&self) -> &'static [Param];

    /// The shape rule in words: `[.., M, K] @ [.., K, N] -> [.., M, N]`.
    fn rule(&self) -> &'static str;

    /// Which efficiency figures apply to it.
    fn family(&self) -> Family;

    /// Types of the results, and the dtype that the inputs are cast to before.
    ///
    /// # Errors
    /// The inputs or attributes do not fit the shape rule.
    fn infer(&self, call: &Call<'_>) -> Result<Inferred, InferError>;

    /// The arithmetic and the bytes of one call whose types were inferred and are tensors after
    /// casting. Bytes count each input read once and each output written once.
    fn work(&self, call: &Call<'_>, outputs: &[ValueType]) -> Work;

    /// The formula of [`Op::work`] in words: `2*M*N*K flops`.
    fn work_formula(&self) -> &'static str;

    /// How it runs on CPUs.
    fn cpu(&self) -> CpuKernel;

    /// How it runs on a GPU.
    fn gpu(&self) -> GpuKernel;

    /// Worked examples with values from an independent tool; the first is shown in the catalogue.
    fn examples(&self) -> &'static [Example];
}

impl fmt::Debug for dyn Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// All ops, each once.
#[derive(Clone, Copy)]
pub struct Catalogue(pub &'static [&'static dyn Op]);

impl Catalogue {
    /// The op of that name.
    pub fn find(self, name: &str) -> Option<&'static dyn Op> {
        self.0.iter().copied().find(|op| op.name() == name)
    }

    /// All names, in the catalogue's order.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|op| op.name())
    }
}

/// A parameter of an op.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// Its name, for keyword arguments.
    pub name: &'static str,
    /// What it takes.
    pub kind: ParamKind,
    /// The default as authors would write it, where it may be left out. A tensor with the default
    /// `none` is optional: the attributes say under its name whether it is given.
    pub default: Option<&'static str>,
}

/// What a parameter takes. Values come before attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamKind {
    /// A tensor or a scalar.
    Tensor,
    /// One or more tensors; only as the first parameter, the rest by keyword.
    Tensors,
    /// A text, or a column of text.
    Text,
    /// Any one value: a tensor, a column, a table or a text.
    Value,
    /// A whole collection: the kernel gets every item.
    Collection,
    /// A whole number, perhaps in dims.
    Int,
    /// An axis, axes, or none for all.
    Axes,
    /// One or more sizes or counts: `3` or `[1, 2]`.
    Ints,
    /// Sizes of axes; one may be `-1`, for what is left.
    Shape,
    /// One or more numbers, perhaps with fractions: `0.5` or `[0.5, 2]`.
    Numbers,
    /// A quoted word of a closed list.
    Word(&'static [&'static str]),
    /// A whole number, a list of them, or a quoted word of a closed list.
    IntsOrWord(&'static [&'static str]),
    /// Any quoted word, which the op reads: the subscripts of einsum, a pattern.
    Quoted,
    /// One or more quoted words, which the op reads: names of columns.
    Words,
    /// A number or a quoted word: `0` or `'none'`.
    Literal,
    /// `true` or `false`.
    Bool,
    /// A quoted type: `'f32[n, 8]'`.
    Type,
    /// A quoted name for a size that only the data tells; one is made where it is left out.
    Size,
    /// What stands in the brackets of `x[…]`.
    Index,
}

impl ParamKind {
    /// Whether it takes a value that flows on an edge, not an attribute.
    pub fn is_value(self) -> bool {
        matches!(
            self,
            Self::Tensor | Self::Tensors | Self::Text | Self::Value | Self::Collection
        )
    }
}

impl Param {
    /// Whether it takes a tensor that may be left out.
    pub fn is_optional_tensor(&self) -> bool {
        self.kind == ParamKind::Tensor && self.default == Some("none")
    }
}

/// The value of an attribute. Where the author left it out: the default, or `None`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Attr {
    /// Left out, and there is no default value but a meaning of its own.
    None,
    /// For [`ParamKind::Bool`], and whether an optional tensor is given.
    Bool(bool),
    /// For [`ParamKind::Int`].
    Int(Expr),
    /// For [`ParamKind::Axes`], [`ParamKind::Ints`] and [`ParamKind::Shape`].
    Ints(Vec<Expr>),
    /// For [`ParamKind::Numbers`].
    Numbers(Vec<Number>),
    /// A quoted word of a closed list.
    Word(&'static str),
    /// For [`ParamKind::Quoted`].
    Quoted(Arc<str>),
    /// For [`ParamKind::Words`].
    Words(Vec<Arc<str>>),
    /// For [`ParamKind::Type`].
    Type(ValueType),
    /// For [`ParamKind::Size`].
    Size(Symbol),
    /// For [`ParamKind::Index`].
    Index(Vec<IndexItem>),
}

impl Attr {
    /// The attribute with the symbols that `value_of` knows replaced.
    #[must_use]
    pub fn bind(&self, value_of: &dyn Fn(&Symbol) -> Option<Expr>) -> Attr {
        let bind = |expr: &Expr| expr.bind(value_of);
        let bind_all = |exprs: &[Expr]| exprs.iter().map(bind).collect();
        match self {
            Attr::Int(expr) => Attr::Int(bind(expr)),
            Attr::Ints(exprs) => Attr::Ints(bind_all(exprs)),
            Attr::Type(ty) => Attr::Type(ty.with_sizes(bind_all(ty.sizes()))),
            Attr::Index(items) => Attr::Index(items.iter().map(|item| item.bind(&bind)).collect()),
            Attr::None
            | Attr::Bool(_)
            | Attr::Numbers(_)
            | Attr::Word(_)
            | Attr::Quoted(_)
            | Attr::Words(_)
            | Attr::Size(_) => self.clone(),
        }
    }
}

/// A number that is equal to another of the same bits, so that a NaN is itself.
#[derive(Clone, Copy, Debug)]
pub struct Number(pub f64);

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl Eq for Number {}

impl Hash for Number {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One item of `x[…]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum IndexItem {
    /// `i`: takes one index and drops the axis; negative counts from the end.
    At(Expr),
    /// `start:stop:step`, with Python's rules.
    Slice {
        /// First index taken.
        start: Option<Expr>,
        /// First index no longer taken.
        stop: Option<Expr>,
        /// Never zero.
        step: i64,
    },
    /// `newaxis`: an axis of size 1.
    NewAxis,
    /// `...`: all axes not named.
    Ellipsis,
}

impl IndexItem {
    fn bind(&self, bind: &dyn Fn(&Expr) -> Expr) -> IndexItem {
        match self {
            IndexItem::At(at) => IndexItem::At(bind(at)),
            IndexItem::Slice { start, stop, step } => IndexItem::Slice {
                start: start.as_ref().map(bind),
                stop: stop.as_ref().map(bind),
                step: *step,
            },
            IndexItem::NewAxis | IndexItem::Ellipsis => self.clone(),
        }
    }
}

/// The attributes of a call: one for each parameter that is not a value, in order, and one for each
/// optional tensor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Attrs(pub Vec<(&'static str, Attr)>);

impl Attrs {
    /// The attribute of that name; [`Attr::None`] where the op has no such parameter.
    pub fn get(&self, name: &str) -> &Attr {
        self.0
            .iter()
            .find(|(n, _)| *n == name)
            .map_or(&Attr::None, |(_, attr)| attr)
    }

    /// Whether the attribute is `true`.
    pub fn flag(&self, name: &str) -> bool {
        matches!(self.get(name), Attr::Bool(true))
    }

    /// The whole number, where it has one without symbols.
    pub fn int(&self, name: &str) -> Option<i64> {
        match self.get(name) {
            Attr::Int(expr) => expr.as_int().and_then(|value| i64::try_from(value).ok()),
            _ => None,
        }
    }

    /// The whole numbers, where it has them without symbols.
    pub fn ints(&self, name: &str) -> Option<Vec<i64>> {
        let Attr::Ints(exprs) = self.get(name) else {
            return None;
        };
        exprs
            .iter()
            .map(|e| e.as_int().and_then(|value| i64::try_from(value).ok()))
            .collect()
    }

    /// The numbers, where it has them.
    pub fn numbers(&self, name: &str) -> Option<Vec<f64>> {
        match self.get(name) {
            Attr::Numbers(numbers) => Some(numbers.iter().map(|number| number.0).collect()),
            _ => None,
        }
    }

    /// The quoted word, where it has one.
    pub fn word(&self, name: &str) -> Option<&'static str> {
        match self.get(name) {
            Attr::Word(word) => Some(word),
            _ => None,
        }
    }

    /// The quoted text, where it has one.
    pub fn quoted(&self, name: &str) -> Option<&str> {
        match self.get(name) {
            Attr::Quoted(text) => Some(text),
            _ => None,
        }
    }

    /// The quoted words, where it has them.
    pub fn words(&self, name: &str) -> &[Arc<str>] {
        match self.get(name) {
            Attr::Words(words) => words,
            _ => &[],
        }
    }

    /// The size that only the data tells, as an expression.
    ///
    /// # Errors
    /// The attribute names none.
    pub fn size(&self, name: &'static str) -> Result<Expr, InferError> {
        match self.get(name) {
            Attr::Size(symbol) => Ok(Expr::symbol(symbol.clone())),
            _ => Err(InferError::new(Fault::Value, "needs the name of a size").on_attr(name)),
        }
    }

    /// The attributes with the symbols that `value_of` knows replaced.
    #[must_use]
    pub fn bind(&self, value_of: &dyn Fn(&Symbol) -> Option<Expr>) -> Attrs {
        Attrs(
            self.0
                .iter()
                .map(|(name, attr)| (*name, attr.bind(value_of)))
                .collect(),
        )
    }
}

/// The type of an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgType {
    /// A value with a type.
    Value(ValueType),
    /// A literal, param or dim: it takes the dtype of the array it meets.
    Weak(Weak),
    /// Each item of a collection, and how many there are.
    Items(ValueType, Expr),
}

impl ArgType {
    /// The tensor type, where it is a value that is one.
    pub fn tensor(&self) -> Option<&TensorType> {
        match self {
            ArgType::Value(value) => value.tensor(),
            _ => None,
        }
    }

    /// The sizes of its axes; none for a scalar.
    pub fn shape(&self) -> &[Expr] {
        self.tensor().map_or(&[], |tensor| &tensor.shape)
    }
}

impl fmt::Display for ArgType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArgType::Value(value) => write!(f, "{value}"),
            ArgType::Weak(weak) => write!(f, "{weak}"),
            ArgType::Items(item, _) => write!(f, "each {item}"),
        }
    }
}

/// The kind of a weakly typed scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Weak {
    /// A whole number.
    Int,
    /// A number with a fraction.
    Float,
}

impl fmt::Display for Weak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Weak::Int => "a whole number",
            Weak::Float => "a number",
        })
    }
}

/// One use of an op: types of its value arguments, and its attributes.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// Types of the value arguments in order, variadic ones one by one.
    pub inputs: &'a [ArgType],
    /// The attributes.
    pub attrs: &'a Attrs,
}

impl<'a> Call<'a> {
    /// The dtype in which all inputs meet, as arithmetic does it: arrays promote, weak scalars
    /// adapt (a weak float among integers gives `f64`).
    ///
    /// # Errors
    /// An input is no tensor, or two dtypes meet nowhere.
    pub fn promoted(&self) -> Result<DType, InferError> {
        promote(self.inputs)
    }

    /// The tensor at a position.
    ///
    /// # Errors
    /// It is text, a collection or a bare number.
    pub fn tensor(&self, position: usize) -> Result<&'a TensorType, InferError> {
        let given = self.inputs.get(position);
        given.and_then(ArgType::tensor).ok_or_else(|| {
            let what = given.map_or_else(|| "nothing".to_owned(), ToString::to_string);
            InferError::new(Fault::Type, format!("needs a tensor, this is {what}")).on(position)
        })
    }
}

fn promote(inputs: &[ArgType]) -> Result<DType, InferError> {
    let mut strong: Option<DType> = None;
    let mut weak: Option<Weak> = None;
    for (position, input) in inputs.iter().enumerate() {
        match input {
            ArgType::Value(ValueType::Tensor(tensor)) => {
                let met = strong.map_or(Some(tensor.dtype), |dtype| dtype.promote(tensor.dtype));
                strong = Some(met.ok_or_else(|| {
                    let other = strong.unwrap_or(tensor.dtype);
                    let message = format!("no dtype holds both {other} and {}", tensor.dtype);
                    InferError::new(Fault::DType, message)
                        .on(position)
                        .help("cast one side, for example `i64(x)` or `f64(x)`")
                })?);
            }
            ArgType::Weak(kind) => weak = weak.max(Some(*kind)),
            other => {
                let message = format!("needs a tensor, this is {other}");
                return Err(InferError::new(Fault::Type, message).on(position));
            }
        }
    }
    use crate::dtype::Kind;
    Ok(match (strong, weak) {
        (Some(dtype), Some(Weak::Float)) if dtype.kind() <= Kind::Int => DType::F64,
        (Some(DType::Bool), Some(Weak::Int)) => DType::I64,
        (Some(dtype), _) => dtype,
        (None, Some(Weak::Int)) => DType::I64,
        (None, _) => DType::F64,
    })
}

/// The shape that all shapes broadcast to, by NumPy's rule. Sizes must be equal as expressions
/// or 1: a symbol is never taken for 1.
///
/// # Errors
/// Two sizes differ.
pub fn broadcast(shapes: &[&[Expr]]) -> Result<Shape, InferError> {
    let rank = shapes.iter().map(|shape| shape.len()).max().unwrap_or(0);
    let mut result = vec![Expr::ONE; rank];
    for (position, shape) in shapes.iter().enumerate() {
        let new_axes = rank - shape.len();
        for (size, into) in shape.iter().zip(&mut result[new_axes..]) {
            if *into == Expr::ONE {
                *into = size.clone();
            } else if *size != Expr::ONE && size != into {
                let message = format!("sizes {into} and {size} do not broadcast");
                return Err(InferError::new(Fault::Shape, message).on(position));
            }
        }
    }
    Ok(result)
}

/// The axis that a possibly negative number names.
///
/// # Errors
/// There is no such axis.
pub fn axis_of(axis: i64, rank: usize) -> Result<usize, InferError> {
    let from_end = if axis < 0 {
        axis.checked_add_unsigned(rank as u64)
    } else {
        Some(axis)
    };
    let found = from_end
        .and_then(|a| usize::try_from(a).ok())
        .filter(|a| *a < rank);
    found.ok_or_else(|| {
        let axes = match rank {
            0 => "it is a scalar and has none".to_owned(),
            _ => format!("axes are 0 to {}", rank - 1),
        };
        InferError::new(Fault::Axis, format!("axis {axis} does not exist: {axes}"))
    })
}

/// What [`Op::infer`] finds.
#[derive(Clone, Debug, PartialEq)]
pub struct Inferred {
    /// The dtype that every tensor input is cast to; each input's own where `None`.
    pub cast: Vec<Option<DType>>,
    /// Types of the results.
    pub outputs: Vec<ValueType>,
    /// Sizes in these types that only the data tells, and the largest that each can be.
    pub bounds: Vec<(Symbol, Expr)>,
}

impl Inferred {
    /// Values of these types, from inputs that are cast so.
    pub fn new(cast: Vec<Option<DType>>, outputs: Vec<ValueType>) -> Self {
        Self {
            cast,
            outputs,
            bounds: Vec::new(),
        }
    }

    /// Says of a size that only the data tells how large it can be; other expressions are no such
    /// size.
    #[must_use]
    pub fn bounded(mut self, size: &Expr, most: Expr) -> Self {
        self.bounds
            .extend(size.as_symbol().map(|symbol| (symbol.clone(), most)));
        self
    }

    /// One tensor; all `inputs` inputs are cast to `compute`.
    pub fn cast_all(inputs: usize, compute: DType, output: TensorType) -> Self {
        Self::new(vec![Some(compute); inputs], vec![output.into()])
    }

    /// One value, from inputs as they are.
    pub fn plain(inputs: usize, output: impl Into<ValueType>) -> Self {
        Self::new(vec![None; inputs], vec![output.into()])
    }
}

/// Why a call does not fit its op.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InferError {
    /// Which kind of rule it breaks.
    pub fault: Fault,
    /// What is wrong, without the op's name: `inner dimensions disagree: 8193 and 8192`.
    pub message: String,
    /// The argument at fault, by position among the value arguments.
    pub argument: Option<usize>,
    /// The attribute at fault.
    pub attribute: Option<&'static str>,
    /// What to do.
    pub help: Option<String>,
}

impl InferError {
    /// An error of the call as a whole.
    pub fn new(fault: Fault, message: impl Into<String>) -> Self {
        Self {
            fault,
            message: message.into(),
            argument: None,
            attribute: None,
            help: None,
        }
    }

    /// Blames the value argument at a position.
    #[must_use]
    pub fn on(mut self, argument: usize) -> Self {
        self.argument = Some(argument);
        self
    }

    /// Blames an attribute.
    #[must_use]
    pub fn on_attr(mut self, attribute: &'static str) -> Self {
        self.attribute = Some(attribute);
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// The kind of rule that a call breaks; each has a diagnostic code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// A tensor was needed, or text, or a collection.
    Type,
    /// Sizes disagree.
    Shape,
    /// The dtype has no such operation, or dtypes meet nowhere.
    DType,
    /// The axis does not exist, or is given twice.
    Axis,
    /// Too few or too many axes.
    Rank,
    /// An attribute has a value that the op does not take.
    Value,
}

/// How much there is to do, whatever the machine: exact, perhaps in dims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// Counted.
    Known {
        /// Floating-point or integer operations; a multiply-add is two.
        flops: Expr,
        /// Bytes read, each input once.
        read: Expr,
        /// Bytes written, each output once.
        written: Expr,
    },
    /// It cannot be known before it is done.
    Unknown,
}

impl Work {
    /// Flops, reading all tensor inputs and writing all outputs once.
    pub fn of(flops: Expr, call: &Call<'_>, outputs: &[ValueType]) -> Work {
        let bytes = ValueType::bytes;
        let read = call.inputs.iter().map(|input| match input {
            ArgType::Value(value) => bytes(value),
            ArgType::Items(item, count) => bytes(item) * count,
            ArgType::Weak(_) => Expr::ZERO,
        });
        let read = Expr::sum(&read.collect::<Vec<_>>());
        let written = Expr::sum(&outputs.iter().map(bytes).collect::<Vec<_>>());
        Work::Known {
            flops,
            read,
            written,
        }
    }
}

/// Ops that share efficiency figures in a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// Matrix products.
    Matmul,
    /// Convolutions.
    Conv,
    /// Fourier transforms.
    Fft,
    /// One element from one element of each input.
    Elementwise,
    /// Many elements to few.
    Reduce,
    /// Moves elements and computes nothing.
    Move,
    /// Reading and parsing.
    Io,
}

impl Family {
    /// All of them.
    pub const ALL: [Family; 7] = [
        Family::Matmul,
        Family::Conv,
        Family::Fft,
        Family::Elementwise,
        Family::Reduce,
        Family::Move,
        Family::Io,
    ];

    /// The name in target files and lists.
    pub fn name(self) -> &'static str {
        match self {
            Family::Matmul => "matmul",
            Family::Conv => "conv",
            Family::Fft => "fft",
            Family::Elementwise => "elementwise",
            Family::Reduce => "reduce",
            Family::Move => "move",
            Family::Io => "io",
        }
    }
}

/// How an op runs on CPUs. Kernels run in the rayon pool of their task's grant, and give the
/// same bits whatever its width.
#[derive(Clone, Copy)]
pub enum CpuKernel {
    /// One block of elements at a time; the caller walks shapes and strides, so that chains of
    /// such ops fuse. Tells the kernel for these dtypes.
    Elementwise(fn(inputs: &[DType], output: DType) -> Option<BlockKernel>),
    /// Changes only the layout; nothing is copied. Fails where the index is out of bounds.
    View(fn(&Layout, &Attrs) -> Result<Layout, KernelError>),
    /// Reads a contiguous input under another shape, which the output's type gives.
    Reshape,
    /// Reads strided views and fills contiguous outputs.
    Array(fn(&mut KernelCall<'_, '_>) -> Result<(), KernelError>),
    /// As `Array`, but needs its inputs without gaps: views are copied before.
    Contiguous(fn(&mut KernelCall<'_, '_>) -> Result<(), KernelError>),
    /// Is a program of its own, which the [`COMMAND`](crate::command::COMMAND) tells.
    Program,
    /// Takes columns of a table, by position; nothing is copied. Gives a table of them, or the
    /// only one.
    Columns(fn(table: &TableType, attrs: &Attrs) -> Vec<usize>),
    /// Takes or gives text, columns or tables, or gives what only the data knows the size of:
    /// sizes are found first, so that the caller can allocate.
    Measured {
        /// How large each result is.
        measure: Measure,
        /// Fills the results.
        fill: Fill,
    },
}

/// Finds how large each result of a [`DataCall`] is.
pub type Measure = fn(call: &DataCall<'_, '_>) -> Result<Vec<Measured>, KernelError>;

/// Fills the results of a [`DataCall`].
pub type Fill = fn(call: &DataCall<'_, '_>, outputs: &mut [DataMut<'_>]) -> Result<(), KernelError>;

impl CpuKernel {
    /// The word for it in the catalogue.
    pub fn name(self) -> &'static str {
        match self {
            CpuKernel::Elementwise(_) => "elementwise",
            CpuKernel::View(_) | CpuKernel::Reshape | CpuKernel::Columns(_) => "view",
            CpuKernel::Array(_) | CpuKernel::Contiguous(_) => "array",
            CpuKernel::Measured { .. } => "measured",
            CpuKernel::Program => "program",
        }
    }
}

impl fmt::Debug for CpuKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Fills a block of results from blocks of inputs: contiguous, aligned to 64 bytes, as many
/// elements each. Integer division by zero is the only failure there is.
pub type BlockKernel = fn(inputs: &[&[u8]], output: &mut [u8]) -> Result<(), KernelError>;

/// What an array kernel gets.
pub struct KernelCall<'a, 'b> {
    /// The inputs; for a collection, its items.
    pub inputs: &'a [View<'b>],
    /// The attributes, without symbols.
    pub attrs: &'a Attrs,
    /// Space for the results.
    pub outputs: &'a mut [ViewMut<'b>],
}

/// What a kernel gets that takes or gives more than tensors.
#[derive(Clone, Copy, Debug)]
pub struct DataCall<'a, 'b> {
    /// The inputs; for a collection, its items.
    pub inputs: &'a [DataView<'b>],
    /// The attributes, without symbols that are known.
    pub attrs: &'a Attrs,
}

impl<'b> DataCall<'_, 'b> {
    /// The text at a position.
    ///
    /// # Panics
    /// When it is none: the kernel asks for what its signature does not take.
    pub fn text(&self, position: usize) -> &'b str {
        match &self.inputs[position] {
            DataView::Text(text) => text,
            other => panic!("a kernel was given {other:?} where it takes text"),
        }
    }

    /// The tensor at a position.
    ///
    /// # Panics
    /// When it is none: the kernel asks for what its signature does not take.
    pub fn tensor(&self, position: usize) -> &View<'b> {
        match &self.inputs[position] {
            DataView::Tensor(view) => view,
            other => panic!("a kernel was given {other:?} where it takes a tensor"),
        }
    }
}

/// Why a kernel could not compute: something only the data shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelError {
    /// What is wrong, without the op's name.
    pub message: String,
    /// The line of the text at fault, counted from 1.
    pub line: Option<u64>,
}

impl KernelError {
    /// An error of the data.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            line: None,
        }
    }

    /// Says in which line of the text.
    #[must_use]
    pub fn at_line(mut self, line: u64) -> Self {
        self.line = Some(line);
        self
    }
}

impl fmt::Display for KernelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for KernelError {}

/// How an op runs on a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GpuKernel {
    /// Generated from the fused group that it is part of.
    Generated,
    /// A routine of a vendor library: `cublas gemm`.
    Library(&'static str),
    /// A kernel of its own.
    Own,
    /// A change of layout that its consumer takes in.
    View,
    /// None, and why there will be none.
    None(&'static str),
}

/// A worked example: a formula, what its names stand for, and its value.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// The call, `sum(x, axis=0)`; a statement where it has several results,
    /// `q, r = qr(x)`.
    pub formula: &'static str,
    /// Each name with its type and elements in row-major order, as authors write them:
    /// `("x", "f32[2, 2]", "1 2 3 4")`.
    pub given: &'static [(&'static str, &'static str, &'static str)],
    /// Type and elements of the result, or of the first.
    pub result: (&'static str, &'static str),
}

impl Example {
    /// The call, and the name of its first result where it has several.
    pub fn call(&self) -> (&'static str, Option<&'static str>) {
        match self.formula.split_once(" = ") {
            Some((names, call)) => (call, names.split(", ").next()),
            None => (self.formula, None),
        }
    }
}
