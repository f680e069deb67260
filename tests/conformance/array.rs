//! Small arrays, apart from the code under test.

use half::f16;
use haul_ir::dtype::{DType, Kind};

/// An array of whole or real numbers in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Array {
    pub(crate) dtype: DType,
    pub(crate) shape: Vec<usize>,
    pub(crate) elements: Vec<Element>,
}

/// One number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Element {
    Int(i128),
    Real(f64),
}

use Element::{Int, Real};

/// dtypes with their names in ONNX cases, in `.npy` files and as `TensorProto.DataType`.
const DTYPES: [(DType, &str, &str, i64); 13] = [
    (DType::Bool, "bool", "|b1", 9),
    (DType::U8, "uint8", "|u1", 2),
    (DType::U16, "uint16", "<u2", 4),
    (DType::U32, "uint32", "<u4", 12),
    (DType::U64, "uint64", "<u8", 13),
    (DType::I8, "int8", "|i1", 3),
    (DType::I16, "int16", "<i2", 5),
    (DType::I32, "int32", "<i4", 6),
    (DType::I64, "int64", "<i8", 7),
    (DType::F16, "float16", "<f2", 10),
    (DType::F32, "float32", "<f4", 1),
    (DType::F64, "float64", "<f8", 11),
    (DType::Bf16, "bfloat16", "", 16),
];

/// The dtype that ONNX calls so.
pub(crate) fn named(name: &str) -> Option<DType> {
    DTYPES.iter().find(|row| row.1 == name).map(|row| row.0)
}

/// The dtype of a number of `TensorProto.DataType`.
pub(crate) fn numbered(number: i64) -> Option<DType> {
    DTYPES.iter().find(|row| row.3 == number).map(|row| row.0)
}

impl Element {
    pub(crate) fn real(self) -> f64 {
        match self {
            Int(int) => int as f64,
            Real(real) => real,
        }
    }

    pub(crate) fn int(self) -> i64 {
        match self {
            Int(int) => int as i64,
            Real(real) => real as i64,
        }
    }

    /// As an element of a dtype: what is whole there loses its fraction.
    pub(crate) fn of(self, dtype: DType) -> Self {
        match dtype.kind() {
            Kind::Bool => Int((self.real() != 0.0).into()),
            Kind::Int => Int(match self {
                Int(int) => int,
                Real(real) => real as i128,
            }),
            _ if dtype == DType::F32 => Real((self.real() as f32).into()),
            _ => Real(self.real()),
        }
    }
}

impl Array {
    pub(crate) fn new(dtype: DType, shape: &[usize], elements: Vec<Element>) -> Self {
        let elements = elements.into_iter().map(|element| element.of(dtype));
        Self {
            dtype,
            shape: shape.to_vec(),
            elements: elements.collect(),
        }
    }

    /// A vector of indices or sizes.
    pub(crate) fn ints(values: &[i64]) -> Self {
        let elements = values.iter().map(|value| Int((*value).into()));
        Self::new(DType::I64, &[values.len()], elements.collect())
    }

    pub(crate) fn to_ints(&self) -> Vec<i64> {
        self.elements.iter().map(|element| element.int()).collect()
    }

    /// Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
    pub(crate) fn of_npy(bytes: &[u8]) -> Self {
        assert_eq!(&bytes[..7], b"\x93NUMPY\x01", "version 1");
        let end = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        let header = std::str::from_utf8(&bytes[10..end]).expect("an ASCII header");
        let between = |from: &str, to: &str| {
            let rest = header.split_once(from).expect("a header of NumPy").1;
            rest.split_once(to).expect("a header of NumPy").0
        };
        let sizes = between("'shape': (", ")").split(',').map(str::trim);
        let sizes = sizes.filter(|size| !size.is_empty());
        let shape: Vec<usize> = sizes.map(|size| size.parse().expect("a size")).collect();
        let described = between("'descr': '", "'");
        let row = DTYPES.iter().find(|row| row.2 == described);
        let dtype = row.unwrap_or_else(|| panic!("no reader for {described}")).0;
        let elements = bytes[end..].chunks_exact(dtype.size() as usize);
        let elements: Vec<_> = elements.map(|bytes| decode(dtype, bytes)).collect();
        let elements = match header.contains("'fortran_order': True") {
            true => (0..elements.len())
                .map(|at| elements[turned(at, &shape)])
                .collect(),
            false => elements,
        };
        Self {
            dtype,
            shape,
            elements,
        }
    }

    pub(crate) fn to_npy(&self) -> Vec<u8> {
        let row = DTYPES
            .iter()
            .find(|row| row.0 == self.dtype)
            .expect("a dtype");
        let sizes: String = self.shape.iter().map(|size| format!("{size}, ")).collect();
        let mut header = format!(
            "{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
            row.2,
            sizes.trim_end()
        );
        while (10 + header.len() + 1) % 64 != 0 {
            header.push(' ');
        }
        header.push('\n');
        let mut bytes = b"\x93NUMPY\x01\0".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.bytes());
        bytes.extend(
            self.elements
                .iter()
                .flat_map(|element| encode(self.dtype, *element)),
        );
        bytes
    }

    /// Whether it is what is expected, or what is not.
    pub(crate) fn agrees(&self, want: &Array, rtol: f64, atol_scale: f64) -> Result<(), String> {
        let ty = |array: &Array| format!("{}{:?}", array.dtype, array.shape);
        if (self.dtype, &self.shape) != (want.dtype, &want.shape) {
            return Err(format!("gives {}, not {}", ty(self), ty(want)));
        }
        let sizes = want.elements.iter().map(|element| element.real().abs());
        let atol = atol_scale * sizes.filter(|size| size.is_finite()).fold(0.0, f64::max);
        let close = |got: Element, want: Element| match (got, want) {
            (Real(got), Real(want)) => {
                got == want
                    || (got.is_nan() && want.is_nan())
                    || (want.is_finite() && (got - want).abs() <= atol + rtol * want.abs())
            }
            _ => got == want,
        };
        let mut pairs = self.elements.iter().zip(&want.elements).enumerate();
        match pairs.find(|(_, (got, want))| !close(**got, **want)) {
            Some((at, (got, want))) => Err(format!("element {at} is {got:?}, not {want:?}")),
            None => Ok(()),
        }
    }
}

/// Where the element at a position in row-major order lies when the first axis changes fastest.
fn turned(position: usize, shape: &[usize]) -> usize {
    let (mut rest, mut index) = (position, vec![0; shape.len()]);
    for axis in (0..shape.len()).rev() {
        index[axis] = rest % shape[axis];
        rest /= shape[axis];
    }
    let axes = index.iter().zip(shape).rev();
    axes.fold(0, |place, (index, size)| place * size + index)
}

fn decode(dtype: DType, bytes: &[u8]) -> Element {
    if dtype.kind() <= Kind::Int {
        let signed = dtype.kind() == Kind::Int && !dtype.is_unsigned();
        let negative = signed && bytes[bytes.len() - 1] >= 128;
        let mut wide = [if negative { 0xFF } else { 0 }; 16];
        wide[..bytes.len()].copy_from_slice(bytes);
        return Int(i128::from_le_bytes(wide));
    }
    Real(match dtype {
        DType::F16 => f16::from_le_bytes(bytes.try_into().expect("2 bytes")).to_f64(),
        DType::F32 => f32::from_le_bytes(bytes.try_into().expect("4 bytes")).into(),
        _ => f64::from_le_bytes(bytes.try_into().expect("8 bytes")),
    })
}

fn encode(dtype: DType, element: Element) -> Vec<u8> {
    match (element, dtype) {
        (Int(int), _) => int.to_le_bytes()[..dtype.size() as usize].to_vec(),
        (Real(real), DType::F16) => f16::from_f64(real).to_le_bytes().to_vec(),
        (Real(real), DType::F32) => (real as f32).to_le_bytes().to_vec(),
        (Real(real), _) => real.to_le_bytes().to_vec(),
    }
}
