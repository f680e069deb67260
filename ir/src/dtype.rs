//! Element types and how they combine.

use std::fmt;
use std::str::FromStr;

/// The type of an element of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names say it: kind and width in bits")]
pub enum DType {
    Bool,
    U8,
    U16,
    U32,
    U64,
    I8,
    I16,
    I32,
    I64,
    F16,
    Bf16,
    F32,
    F64,
    C64,
    C128,
}

/// What sort of number a dtype holds; a later kind can hold every earlier one, up to rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Kind {
    Bool,
    Int,
    Float,
    Complex,
}

use DType::*;

impl DType {
    /// All dtypes, in the order in which lists show them.
    pub const ALL: [DType; 15] = [
        Bool, U8, U16, U32, U64, I8, I16, I32, I64, F16, Bf16, F32, F64, C64, C128,
    ];

    /// The names of all, in the same order.
    pub const NAMES: [&str; 15] = {
        let mut names = [""; 15];
        let mut at = 0;
        while at < names.len() {
            names[at] = DType::ALL[at].name();
            at += 1;
        }
        names
    };

    /// The name authors write.
    pub const fn name(self) -> &'static str {
        match self {
            Bool => "bool",
            U8 => "u8",
            U16 => "u16",
            U32 => "u32",
            U64 => "u64",
            I8 => "i8",
            I16 => "i16",
            I32 => "i32",
            I64 => "i64",
            F16 => "f16",
            Bf16 => "bf16",
            F32 => "f32",
            F64 => "f64",
            C64 => "c64",
            C128 => "c128",
        }
    }

    /// Bytes of one element.
    pub fn size(self) -> u64 {
        match self {
            Bool | U8 | I8 => 1,
            U16 | I16 | F16 | Bf16 => 2,
            U32 | I32 | F32 => 4,
            U64 | I64 | F64 | C64 => 8,
            C128 => 16,
        }
    }

    /// What sort of number it holds.
    pub fn kind(self) -> Kind {
        match self {
            Bool => Kind::Bool,
            U8 | U16 | U32 | U64 | I8 | I16 | I32 | I64 => Kind::Int,
            F16 | Bf16 | F32 | F64 => Kind::Float,
            C64 | C128 => Kind::Complex,
        }
    }

    /// Whether it is an unsigned integer.
    pub fn is_unsigned(self) -> bool {
        matches!(self, U8 | U16 | U32 | U64)
    }

    /// The dtype of the parts of a complex number; other dtypes as they are.
    pub fn real(self) -> DType {
        match self {
            C64 => F32,
            C128 => F64,
            other => other,
        }
    }

    /// The complex dtype whose parts hold this one: `c64` for at most 24 bits of mantissa, else `c128`.
    pub fn complex(self) -> DType {
        match self {
            F16 | Bf16 | F32 | C64 => C64,
            _ => C128,
        }
    }

    /// The float dtype in which functions of this one are computed: itself for floats, `f64` for
    /// integers and bool, the parts' dtype for complex.
    pub fn float(self) -> DType {
        match self.kind() {
            Kind::Bool | Kind::Int => F64,
            Kind::Float | Kind::Complex => self.real(),
        }
    }

    /// The dtype that sums and products accumulate and result in: 64 bits for integers (NumPy and
    /// the array API standard), the dtype itself for floats.
    pub fn sum(self) -> DType {
        match self.kind() {
            Kind::Bool => I64,
            Kind::Int if self.is_unsigned() => U64,
            Kind::Int => I64,
            Kind::Float | Kind::Complex => self,
        }
    }

    /// The dtype in which two arrays meet: the array API standard's promotion where it has one,
    /// else NumPy 2's (`ml_dtypes`' for `bf16`). `u64` with a signed integer meets nowhere: no
    /// integer holds both, and NumPy's `f64` would narrow both silently.
    pub fn promote(self, other: DType) -> Option<DType> {
        let (low, high) = if self.kind() <= other.kind() {
            (self, other)
        } else {
            (other, self)
        };
        Some(match (low.kind(), high.kind()) {
            (Kind::Bool, _) => high,
            (Kind::Int, Kind::Int) => return promote_ints(low, high),
            (Kind::Int, Kind::Float) if high == Bf16 && low.size() == 1 => Bf16,
            (Kind::Int, Kind::Float) => promote_floats(float_holding(low), high),
            (Kind::Float, Kind::Float) => promote_floats(low, high),
            (Kind::Int, _) => promote_floats(float_holding(low), high.real()).complex(),
            _ => promote_floats(low.real(), high.real()).complex(),
        })
    }
}

fn promote_ints(a: DType, b: DType) -> Option<DType> {
    if a.is_unsigned() == b.is_unsigned() {
        return Some(if a.size() >= b.size() { a } else { b });
    }
    let (unsigned, signed) = if a.is_unsigned() { (a, b) } else { (b, a) };
    if signed.size() > unsigned.size() {
        return Some(signed);
    }
    match unsigned {
        U8 => Some(I16),
        U16 => Some(I32),
        U32 => Some(I64),
        _ => None,
    }
}

/// The smallest float that holds every value of an integer dtype, or `f64`.
fn float_holding(int: DType) -> DType {
    match int.size() {
        1 => F16,
        2 => F32,
        _ => F64,
    }
}

fn promote_floats(a: DType, b: DType) -> DType {
    match (a, b) {
        (F64, _) | (_, F64) => F64,
        (F32, _) | (_, F32) => F32,
        (a, b) if a == b => a,
        _ => F32,
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for DType {
    type Err = ();

    /// The dtype of that name, or nothing.
    fn from_str(name: &str) -> Result<Self, ()> {
        DType::ALL
            .into_iter()
            .find(|dtype| dtype.name() == name)
            .ok_or(())
    }
}
