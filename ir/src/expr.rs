//! Exact integer expressions in symbolic dims: sizes of axes, bytes, flops.
//!
//! An expression is kept as a polynomial in canonical form, so two that are equal as
//! polynomials are equal as values (`n + n` is `2*n`). Coefficients are exact rationals and
//! logarithms stay symbolic; whatever is not whole is rounded once, when evaluated.
//! Arithmetic that leaves 128 bits gives [`Expr::OVERFLOW`], which every further operation keeps;
//! so does an expression that has grown beyond what can be walked through.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Add, Deref, Mul, Neg, Sub};
use std::sync::Arc;

use num_rational::Ratio;
use num_traits::{CheckedAdd, CheckedMul, Zero};

/// The name of a size that is not known when the pipeline is written.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol(Arc<str>);

impl Symbol {
    /// The symbol of that name.
    pub fn new(name: &str) -> Self {
        Self(name.into())
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An exact expression in symbols. See the [module's page](self).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Expr(Repr);

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Repr {
    Int(i128),
    /// Never a whole constant: those are `Int`.
    Poly(Arc<Sum>),
    Overflow,
}

type Rational = Ratio<i128>;

/// A product of atoms, each with its power; empty for the constant term.
type Monomial = BTreeMap<Atom, u32>;

/// Terms with coefficients other than zero.
type Poly = BTreeMap<Monomial, Rational>;

/// A polynomial, and how much there is to walk through in it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Sum {
    terms: Poly,
    /// Atoms, with those in atoms.
    size: usize,
    /// How deep atoms are in atoms.
    depth: usize,
}

impl Deref for Sum {
    type Target = Poly;
    fn deref(&self) -> &Poly {
        &self.terms
    }
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Atom {
    Symbol(Symbol),
    FloorDiv(Expr, Expr),
    Mod(Expr, Expr),
    Min(Expr, Expr),
    Max(Expr, Expr),
    Log2(Expr),
}

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EvalError {
    /// A symbol has no value.
    Unbound(Symbol),
    /// The value leaves 128 bits.
    Overflow,
    /// A division by zero, or the logarithm of a negative number.
    Undefined,
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EvalError::Unbound(symbol) => write!(f, "`{symbol}` is not known"),
            EvalError::Overflow => f.write_str("the number is too large"),
            EvalError::Undefined => {
                f.write_str("division by zero or logarithm of a negative number")
            }
        }
    }
}

impl std::error::Error for EvalError {}

impl Expr {
    /// 0.
    pub const ZERO: Expr = Expr(Repr::Int(0));
    /// 1.
    pub const ONE: Expr = Expr(Repr::Int(1));
    /// What left 128 bits.
    pub const OVERFLOW: Expr = Expr(Repr::Overflow);

    /// The expression that is one symbol.
    pub fn symbol(symbol: Symbol) -> Self {
        Self::atom(Atom::Symbol(symbol))
    }

    /// Its value, where it has no symbol and is whole.
    pub fn as_int(&self) -> Option<i128> {
        match self.0 {
            Repr::Int(value) => Some(value),
            _ => None,
        }
    }

    /// Its value as a size, where it has no symbol and fits.
    pub fn as_u64(&self) -> Option<u64> {
        self.as_int().and_then(|value| u64::try_from(value).ok())
    }

    /// The symbol, where it is nothing else.
    pub fn as_symbol(&self) -> Option<&Symbol> {
        let Repr::Poly(poly) = &self.0 else {
            return None;
        };
        let [(monomial, coefficient)] = poly.iter().collect::<Vec<_>>()[..] else {
            return None;
        };
        match monomial.iter().next() {
            Some((Atom::Symbol(symbol), 1)) if monomial.len() == 1 && *coefficient == one() => {
                Some(symbol)
            }
            _ => None,
        }
    }

    /// Whether arithmetic left 128 bits on the way to it.
    pub fn is_overflow(&self) -> bool {
        self.0 == Repr::Overflow
    }

    /// `a / b` rounded down. Exact where `b` is a constant that divides every coefficient.
    pub fn floor_div(&self, divisor: &Expr) -> Expr {
        if self.is_overflow() || divisor.is_overflow() {
            return Self::OVERFLOW;
        }
        match (self.as_int(), divisor.as_int()) {
            (Some(a), Some(b)) if b != 0 => floor_div(a, b).map_or(Self::OVERFLOW, Self::from),
            (None, Some(1)) => self.clone(),
            (None, Some(b)) if b > 0 && self.divides(b) => self.scaled(Ratio::new(1, b)),
            _ if self == divisor && self.as_int() != Some(0) => Self::ONE,
            _ => Self::atom(Atom::FloorDiv(self.clone(), divisor.clone())),
        }
    }

    /// The remainder of [`Expr::floor_div`]; it has the sign of the divisor.
    pub fn modulo(&self, divisor: &Expr) -> Expr {
        if self.is_overflow() || divisor.is_overflow() {
            return Self::OVERFLOW;
        }
        match (self.as_int(), divisor.as_int()) {
            (Some(a), Some(b)) if b != 0 => modulo(a, b).map_or(Self::OVERFLOW, Self::from),
            (None, Some(b)) if b > 0 && self.divides(b) => Self::ZERO,
            _ => Self::atom(Atom::Mod(self.clone(), divisor.clone())),
        }
    }

    /// `a / b` rounded up.
    pub fn ceil_div(&self, divisor: &Expr) -> Expr {
        -(-self).floor_div(divisor)
    }

    /// The smaller one.
    pub fn smaller(&self, other: &Expr) -> Expr {
        self.extreme(other, true)
    }

    /// The larger one.
    pub fn larger(&self, other: &Expr) -> Expr {
        self.extreme(other, false)
    }

    fn extreme(&self, other: &Expr, smaller: bool) -> Expr {
        if self.is_overflow() || other.is_overflow() {
            return Self::OVERFLOW;
        }
        // The difference often has a sign for certain: n and n - 1, min(5, n) and 0.
        let difference = self - other;
        if difference.is_nonnegative() {
            return if smaller { other } else { self }.clone();
        }
        if (-&difference).is_nonnegative() {
            return if smaller { self } else { other }.clone();
        }
        let (a, b) = if self <= other {
            (self, other)
        } else {
            (other, self)
        };
        let (a, b) = (a.clone(), b.clone());
        Self::atom(if smaller {
            Atom::Min(a, b)
        } else {
            Atom::Max(a, b)
        })
    }

    /// The binary logarithm, symbolic unless it is whole. Of 0 it is 0: nothing to halve, no work.
    pub fn log2(&self) -> Expr {
        match self.as_int() {
            _ if self.is_overflow() => Self::OVERFLOW,
            Some(n) if n > 0 && (n & (n - 1)) == 0 => Self::from(i128::from(n.trailing_zeros())),
            _ => Self::atom(Atom::Log2(self.clone())),
        }
    }

    /// Whether it is certainly not below zero, symbols being sizes.
    pub fn is_nonnegative(&self) -> bool {
        match &self.0 {
            Repr::Int(value) => *value >= 0,
            Repr::Poly(poly) => poly.iter().all(|(monomial, coefficient)| {
                *coefficient > Ratio::zero() && monomial.keys().all(Atom::is_nonnegative)
            }),
            Repr::Overflow => false,
        }
    }

    /// This expression times `numerator / denominator`, exactly.
    ///
    /// # Panics
    /// When the denominator is zero.
    pub fn times_ratio(&self, numerator: i128, denominator: i128) -> Expr {
        self.scaled(Ratio::new(numerator, denominator))
    }

    /// The product of several; 1 of none.
    pub fn product<'a>(factors: impl IntoIterator<Item = &'a Expr>) -> Expr {
        factors
            .into_iter()
            .fold(Self::ONE, |product, factor| &product * factor)
    }

    /// The sum of several; 0 of none.
    pub fn sum<'a>(terms: impl IntoIterator<Item = &'a Expr>) -> Expr {
        terms.into_iter().fold(Self::ZERO, |sum, term| &sum + term)
    }

    /// Its value, rounded once to the nearest whole number.
    ///
    /// # Errors
    /// A symbol that `value_of` does not know, a value beyond 128 bits, a division by zero.
    pub fn eval(&self, value_of: &dyn Fn(&Symbol) -> Option<i128>) -> Result<i128, EvalError> {
        match self.number(value_of)? {
            Number::Exact(value) => {
                let two = Ratio::from_integer(2);
                let half_up = value.checked_mul(&two).and_then(|v| v.checked_add(&one()));
                let doubled = half_up.ok_or(EvalError::Overflow)?;
                floor_div(*doubled.numer(), doubled.denom() * 2).ok_or(EvalError::Overflow)
            }
            Number::Real(value) if value.is_finite() && value.abs() < 1.7e38 => {
                Ok(libm::round(value) as i128)
            }
            Number::Real(_) => Err(EvalError::Overflow),
        }
    }

    /// This expression with the symbols that `value_of` knows replaced.
    pub fn bind(&self, value_of: &dyn Fn(&Symbol) -> Option<Expr>) -> Expr {
        let Repr::Poly(poly) = &self.0 else {
            return self.clone();
        };
        poly.iter()
            .fold(Self::ZERO, |sum, (monomial, coefficient)| {
                let term = monomial.iter().fold(Self::ONE, |product, (atom, power)| {
                    let factor = atom.bind(value_of);
                    (0..*power).fold(product, |product, _| &product * &factor)
                });
                &sum + &term.scaled(*coefficient)
            })
    }

    /// Calls `visit` with each symbol in it, perhaps several times.
    pub fn symbols(&self, visit: &mut dyn FnMut(&Symbol)) {
        let Repr::Poly(poly) = &self.0 else { return };
        for atom in poly.keys().flat_map(BTreeMap::keys) {
            match atom {
                Atom::Symbol(symbol) => visit(symbol),
                Atom::Log2(a) => a.symbols(visit),
                Atom::FloorDiv(a, b) | Atom::Mod(a, b) | Atom::Min(a, b) | Atom::Max(a, b) => {
                    a.symbols(visit);
                    b.symbols(visit);
                }
            }
        }
    }

    fn atom(atom: Atom) -> Self {
        let monomial = Monomial::from([(atom, 1)]);
        Self::from_poly(Poly::from([(monomial, one())]))
    }

    fn poly(&self) -> Option<Poly> {
        match &self.0 {
            Repr::Int(0) => Some(Poly::new()),
            Repr::Int(value) => Some(Poly::from([(Monomial::new(), Ratio::from_integer(*value))])),
            Repr::Poly(poly) => Some(poly.terms.clone()),
            Repr::Overflow => None,
        }
    }

    fn from_poly(poly: Poly) -> Self {
        if poly.is_empty() {
            return Self::ZERO;
        }
        // The one number that has no negative in 128 bits.
        if poly.values().any(|c| *c.numer() == i128::MIN) {
            return Self::OVERFLOW;
        }
        match poly.get(&Monomial::new()) {
            Some(value) if poly.len() == 1 && value.is_integer() => Self::from(value.to_integer()),
            _ => Self::measured(poly),
        }
    }

    /// The sum of some terms, unless it is one that only a hostile file has: walking through it
    /// would take too long, or too much stack.
    fn measured(terms: Poly) -> Self {
        let (mut size, mut depth) = (0_usize, 0);
        for (atom, power) in terms.keys().flatten() {
            let (atom_size, atom_depth) = atom.extent();
            size = size.saturating_add(atom_size.saturating_mul(*power as usize));
            depth = depth.max(atom_depth);
        }
        if size > MAX_SIZE || depth > MAX_DEPTH {
            return Self::OVERFLOW;
        }
        Self(Repr::Poly(Arc::new(Sum { terms, size, depth })))
    }

    /// How many atoms it has, and how deep they are in each other.
    fn extent(&self) -> (usize, usize) {
        match &self.0 {
            Repr::Poly(sum) => (sum.size, sum.depth),
            Repr::Int(_) | Repr::Overflow => (0, 0),
        }
    }

    fn scaled(&self, factor: Rational) -> Expr {
        let Some(mut poly) = self.poly() else {
            return Self::OVERFLOW;
        };
        if factor.is_zero() {
            return Self::ZERO;
        }
        for coefficient in poly.values_mut() {
            match coefficient.checked_mul(&factor) {
                Some(product) => *coefficient = product,
                None => return Self::OVERFLOW,
            }
        }
        Self::from_poly(poly)
    }

    /// Whether dividing by `b` leaves a polynomial in symbols with whole coefficients.
    fn divides(&self, b: i128) -> bool {
        let Repr::Poly(poly) = &self.0 else {
            return false;
        };
        poly.iter().all(|(monomial, coefficient)| {
            let whole_atoms = monomial.keys().all(|atom| !matches!(atom, Atom::Log2(_)));
            whole_atoms && (*coefficient / b).is_integer()
        })
    }

    fn number(&self, value_of: &dyn Fn(&Symbol) -> Option<i128>) -> Result<Number, EvalError> {
        let poly = match &self.0 {
            Repr::Int(value) => return Ok(Number::Exact(Ratio::from_integer(*value))),
            Repr::Overflow => return Err(EvalError::Overflow),
            Repr::Poly(poly) => poly,
        };
        let mut sum = Number::Exact(Ratio::zero());
        for (monomial, coefficient) in poly.iter() {
            let mut product = Number::Exact(*coefficient);
            for (atom, power) in monomial {
                let factor = atom.number(value_of)?;
                for _ in 0..*power {
                    product = product.mul(factor)?;
                }
            }
            sum = sum.add(product)?;
        }
        Ok(sum)
    }
}

impl Atom {
    fn extent(&self) -> (usize, usize) {
        let (size, depth) = match self {
            Atom::Symbol(_) => (0, 0),
            Atom::Log2(a) => a.extent(),
            Atom::FloorDiv(a, b) | Atom::Mod(a, b) | Atom::Min(a, b) | Atom::Max(a, b) => {
                let ((a, a_depth), (b, b_depth)) = (a.extent(), b.extent());
                (a.saturating_add(b), a_depth.max(b_depth))
            }
        };
        (size.saturating_add(1), depth + 1)
    }

    fn bind(&self, value_of: &dyn Fn(&Symbol) -> Option<Expr>) -> Expr {
        match self {
            Atom::Symbol(symbol) => {
                value_of(symbol).unwrap_or_else(|| Expr::symbol(symbol.clone()))
            }
            Atom::FloorDiv(a, b) => a.bind(value_of).floor_div(&b.bind(value_of)),
            Atom::Mod(a, b) => a.bind(value_of).modulo(&b.bind(value_of)),
            Atom::Min(a, b) => a.bind(value_of).smaller(&b.bind(value_of)),
            Atom::Max(a, b) => a.bind(value_of).larger(&b.bind(value_of)),
            Atom::Log2(a) => a.bind(value_of).log2(),
        }
    }

    fn is_nonnegative(&self) -> bool {
        match self {
            Atom::Symbol(_) | Atom::Log2(_) => true,
            Atom::FloorDiv(a, b) | Atom::Min(a, b) => a.is_nonnegative() && b.is_nonnegative(),
            Atom::Mod(_, b) => b.is_nonnegative(),
            Atom::Max(a, b) => a.is_nonnegative() || b.is_nonnegative(),
        }
    }

    fn number(&self, value_of: &dyn Fn(&Symbol) -> Option<i128>) -> Result<Number, EvalError> {
        let int = |expr: &Expr| expr.eval(value_of);
        let whole = match self {
            Atom::Symbol(symbol) => {
                value_of(symbol).ok_or_else(|| EvalError::Unbound(symbol.clone()))?
            }
            Atom::FloorDiv(a, b) => quotient(int(a)?, int(b)?)?,
            Atom::Mod(a, b) => modulo(int(a)?, int(b)?).ok_or(EvalError::Undefined)?,
            Atom::Min(a, b) => int(a)?.min(int(b)?),
            Atom::Max(a, b) => int(a)?.max(int(b)?),
            Atom::Log2(a) => return log2(a.number(value_of)?),
        };
        Ok(Number::Exact(Ratio::from_integer(whole)))
    }
}

/// A value on the way to being rounded: exact until a logarithm comes in.
#[derive(Clone, Copy)]
enum Number {
    Exact(Rational),
    Real(f64),
}

impl Number {
    fn real(self) -> f64 {
        match self {
            Number::Exact(value) => *value.numer() as f64 / *value.denom() as f64,
            Number::Real(value) => value,
        }
    }

    fn add(self, other: Number) -> Result<Number, EvalError> {
        match (self, other) {
            (Number::Exact(a), Number::Exact(b)) => a
                .checked_add(&b)
                .map(Number::Exact)
                .ok_or(EvalError::Overflow),
            (a, b) => Ok(Number::Real(a.real() + b.real())),
        }
    }

    fn mul(self, other: Number) -> Result<Number, EvalError> {
        match (self, other) {
            (Number::Exact(a), Number::Exact(b)) => a
                .checked_mul(&b)
                .map(Number::Exact)
                .ok_or(EvalError::Overflow),
            (a, b) => Ok(Number::Real(a.real() * b.real())),
        }
    }
}

fn log2(number: Number) -> Result<Number, EvalError> {
    let value = number.real();
    if value < 0.0 {
        return Err(EvalError::Undefined);
    }
    Ok(Number::Real(if value <= 1.0 {
        0.0
    } else {
        libm::log2(value)
    }))
}

fn one() -> Rational {
    Ratio::from_integer(1)
}

fn floor_div(a: i128, b: i128) -> Option<i128> {
    let quotient = a.checked_div(b)?;
    Some(if a % b != 0 && (a < 0) != (b < 0) {
        quotient - 1
    } else {
        quotient
    })
}

fn modulo(a: i128, b: i128) -> Option<i128> {
    let remainder = a.checked_rem(b)?;
    Some(if remainder != 0 && (a < 0) != (b < 0) {
        remainder + b
    } else {
        remainder
    })
}

fn quotient(a: i128, b: i128) -> Result<i128, EvalError> {
    if b == 0 {
        Err(EvalError::Undefined)
    } else {
        floor_div(a, b).ok_or(EvalError::Overflow)
    }
}

fn add(a: &Expr, b: &Expr) -> Expr {
    if let (Repr::Int(a), Repr::Int(b)) = (&a.0, &b.0) {
        return i128::checked_add(*a, *b).map_or(Expr::OVERFLOW, Expr::from);
    }
    let (Some(mut sum), Some(terms)) = (a.poly(), b.poly()) else {
        return Expr::OVERFLOW;
    };
    for (monomial, coefficient) in terms {
        let entry = sum.entry(monomial).or_insert_with(Ratio::zero);
        match entry.checked_add(&coefficient) {
            Some(total) => *entry = total,
            None => return Expr::OVERFLOW,
        }
    }
    sum.retain(|_, coefficient| !coefficient.is_zero());
    Expr::from_poly(sum)
}

fn mul(a: &Expr, b: &Expr) -> Expr {
    if let (Repr::Int(a), Repr::Int(b)) = (&a.0, &b.0) {
        return i128::checked_mul(*a, *b).map_or(Expr::OVERFLOW, Expr::from);
    }
    let (Some(left), Some(right)) = (a.poly(), b.poly()) else {
        return Expr::OVERFLOW;
    };
    // A bound on the work that one hostile type can ask for: (a+b+c+…) to a high power.
    if left.len().saturating_mul(right.len()) > MAX_TERMS {
        return Expr::OVERFLOW;
    }
    let mut product = Poly::new();
    for (m1, c1) in &left {
        for (m2, c2) in &right {
            let mut monomial = m1.clone();
            for (atom, power) in m2 {
                let total = monomial.entry(atom.clone()).or_insert(0);
                match total
                    .checked_add(*power)
                    .filter(|power| *power <= MAX_POWER)
                {
                    Some(power) => *total = power,
                    None => return Expr::OVERFLOW,
                }
            }
            let entry = product.entry(monomial).or_insert_with(Ratio::zero);
            match c1.checked_mul(c2).and_then(|c| entry.checked_add(&c)) {
                Some(total) => *entry = total,
                None => return Expr::OVERFLOW,
            }
        }
    }
    product.retain(|_, coefficient| !coefficient.is_zero());
    Expr::from_poly(product)
}

const MAX_TERMS: usize = 4096;
const MAX_SIZE: usize = 1 << 16;
const MAX_DEPTH: usize = 128;
const MAX_POWER: u32 = 64;

/// `-expr` for owned and borrowed operands.
impl Neg for &Expr {
    type Output = Expr;
    fn neg(self) -> Expr {
        mul(self, &Expr::from(-1_i128))
    }
}

impl Neg for Expr {
    type Output = Expr;
    fn neg(self) -> Expr {
        -&self
    }
}

/// `a + b` and the like for every mix of owned, borrowed and integer operands.
macro_rules! operators {
    ($($trait:ident $method:ident $compute:expr;)*) => {$(
        impl $trait<&Expr> for &Expr {
            type Output = Expr;
            fn $method(self, other: &Expr) -> Expr {
                $compute(self, other)
            }
        }
        impl $trait<Expr> for Expr {
            type Output = Expr;
            fn $method(self, other: Expr) -> Expr {
                $compute(&self, &other)
            }
        }
        impl $trait<&Expr> for Expr {
            type Output = Expr;
            fn $method(self, other: &Expr) -> Expr {
                $compute(&self, other)
            }
        }
        impl $trait<Expr> for &Expr {
            type Output = Expr;
            fn $method(self, other: Expr) -> Expr {
                $compute(self, &other)
            }
        }
        impl $trait<u64> for &Expr {
            type Output = Expr;
            fn $method(self, other: u64) -> Expr {
                $compute(self, &Expr::from(other))
            }
        }
        impl $trait<u64> for Expr {
            type Output = Expr;
            fn $method(self, other: u64) -> Expr {
                $compute(&self, &Expr::from(other))
            }
        }
    )*};
}

operators! {
    Add add add;
    Sub sub (|a: &Expr, b: &Expr| add(a, &-b));
    Mul mul mul;
}

impl From<i128> for Expr {
    fn from(value: i128) -> Self {
        Self(Repr::Int(value))
    }
}

impl From<u64> for Expr {
    fn from(value: u64) -> Self {
        Self::from(i128::from(value))
    }
}

/// Highest powers first, so that `16384*B + 64` and not the other way round.
impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let poly = match &self.0 {
            Repr::Int(value) => return write!(f, "{value}"),
            Repr::Overflow => return f.write_str("too large"),
            Repr::Poly(poly) => poly,
        };
        let degree = |monomial: &Monomial| monomial.values().sum::<u32>();
        let mut terms: Vec<_> = poly.iter().collect();
        terms.sort_by_key(|(monomial, _)| std::cmp::Reverse(degree(monomial)));
        for (position, (monomial, coefficient)) in terms.into_iter().enumerate() {
            let negative = *coefficient < Ratio::zero();
            match (position, negative) {
                (0, false) => {}
                (0, true) => f.write_str("-")?,
                (_, false) => f.write_str(" + ")?,
                (_, true) => f.write_str(" - ")?,
            }
            let size = if negative { -coefficient } else { *coefficient };
            fmt_term(f, monomial, &size)?;
        }
        Ok(())
    }
}

fn fmt_term(f: &mut fmt::Formatter<'_>, monomial: &Monomial, size: &Rational) -> fmt::Result {
    let mut factors = Vec::new();
    if *size != one() || monomial.is_empty() {
        factors.push(size.to_string());
    }
    for (atom, power) in monomial {
        factors.extend((0..*power).map(|_| atom.to_string()));
    }
    f.write_str(&factors.join("*"))
}

impl Expr {
    /// As it stands before `//`, in parentheses where it is a sum.
    fn dividend(&self) -> String {
        match &self.0 {
            Repr::Poly(poly) if poly.len() > 1 => format!("({self})"),
            _ => self.to_string(),
        }
    }

    /// As it stands behind `//`, in parentheses unless it is a number or a name.
    fn divisor(&self) -> String {
        match &self.0 {
            Repr::Poly(_) if self.as_symbol().is_none() => format!("({self})"),
            _ => self.to_string(),
        }
    }
}

impl fmt::Display for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Atom::Symbol(symbol) => write!(f, "{symbol}"),
            Atom::FloorDiv(a, b) => write!(f, "({} // {})", a.dividend(), b.divisor()),
            Atom::Mod(a, b) => write!(f, "({} % {})", a.dividend(), b.divisor()),
            Atom::Min(a, b) => write!(f, "min({a}, {b})"),
            Atom::Max(a, b) => write!(f, "max({a}, {b})"),
            Atom::Log2(a) => write!(f, "log2({a})"),
        }
    }
}

impl fmt::Debug for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
