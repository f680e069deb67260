//! Tensors whose elements lie in a layout of the test's choosing, and how they compare.

use half::{bf16, f16};
use haul_ir::dtype::{DType, Kind};
use haul_ir::expr::Expr;
use haul_ir::tensor::{Layout, View, ViewMut};
use haul_ir::types::TensorType;

/// An element, exactly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value {
    Int(i128),
    Real(f64),
    Complex(f64, f64),
}

/// Bytes aligned to 64, as kernels may expect.
#[derive(Clone)]
pub(crate) struct Bytes(Vec<Line>, usize);

#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
struct Line([u8; 64]);

impl Bytes {
    /// Filled with what no result should contain by chance.
    pub(crate) fn dirty(len: usize) -> Self {
        Self(vec![Line([0xAB; 64]); len.div_ceil(64)], len)
    }

    pub(crate) fn get(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.0)[..self.1]
    }

    pub(crate) fn get_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.0)[..self.1]
    }
}

#[derive(Clone)]
pub(crate) struct Tensor {
    pub(crate) dtype: DType,
    pub(crate) layout: Layout,
    pub(crate) bytes: Bytes,
}

/// How the elements of an input lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lie {
    Contiguous,
    /// The last axis outermost in memory.
    Transposed,
    /// Every second element, starting at the third.
    Strided,
    /// Every axis backwards.
    Reversed,
}

impl Lie {
    pub(crate) const ALL: [Lie; 4] = [
        Lie::Contiguous,
        Lie::Transposed,
        Lie::Strided,
        Lie::Reversed,
    ];

    fn layout(self, shape: &[usize]) -> Layout {
        let mut layout = Layout::contiguous(shape);
        match self {
            Lie::Contiguous => {}
            Lie::Transposed => {
                let backwards: Vec<_> = shape.iter().rev().copied().collect();
                layout.strides = Layout::contiguous(&backwards).strides;
                layout.strides.reverse();
            }
            Lie::Strided => {
                layout.strides.iter_mut().for_each(|stride| *stride *= 2);
                layout.offset = 2;
            }
            Lie::Reversed => {
                layout.offset = layout.elements().saturating_sub(1);
                layout.strides.iter_mut().for_each(|stride| *stride *= -1);
            }
        }
        layout
    }
}

impl Tensor {
    pub(crate) fn new(dtype: DType, shape: &[usize], values: &[Value], lie: Lie) -> Self {
        let layout = lie.layout(shape);
        let size = dtype.size() as usize;
        // Where all lies together nothing is left over, so that reading past the end is noticed.
        let room = match lie {
            Lie::Contiguous => layout.elements(),
            _ => 2 * layout.elements() + 2,
        };
        let mut bytes = Bytes::dirty(room * size);
        assert_eq!(
            values.len(),
            layout.elements(),
            "as many values as elements"
        );
        for (value, at) in values.iter().zip(places(&layout)) {
            encode(
                dtype,
                *value,
                &mut bytes.get_mut()[at * size..(at + 1) * size],
            );
        }
        Self {
            dtype,
            layout,
            bytes,
        }
    }

    /// Space for a result.
    pub(crate) fn dirty(dtype: DType, shape: &[usize]) -> Self {
        let layout = Layout::contiguous(shape);
        let bytes = Bytes::dirty(layout.elements() * dtype.size() as usize);
        Self {
            dtype,
            layout,
            bytes,
        }
    }

    pub(crate) fn shape(&self) -> &[usize] {
        &self.layout.shape
    }

    pub(crate) fn ty(&self) -> TensorType {
        let shape = self.shape().iter().map(|size| Expr::from(*size as u64));
        TensorType::new(self.dtype, shape.collect())
    }

    pub(crate) fn view(&self) -> View<'_> {
        View {
            dtype: self.dtype,
            layout: self.layout.clone(),
            bytes: self.bytes.get(),
        }
    }

    /// Only for what [`Tensor::dirty`] made.
    pub(crate) fn view_mut(&mut self) -> ViewMut<'_> {
        ViewMut {
            dtype: self.dtype,
            shape: self.layout.shape.clone(),
            bytes: self.bytes.get_mut(),
        }
    }

    /// The elements in row-major order.
    pub(crate) fn values(&self) -> Vec<Value> {
        let size = self.dtype.size() as usize;
        let decode = |at: usize| decode(self.dtype, &self.bytes.get()[at * size..(at + 1) * size]);
        places(&self.layout).map(decode).collect()
    }

    /// The same elements in another layout.
    pub(crate) fn lying(&self, lie: Lie) -> Self {
        Self::new(self.dtype, self.shape(), &self.values(), lie)
    }

    /// Whether type and elements agree, `|got - want| <= atol + rtol |want|`, or what does not.
    pub(crate) fn agrees(&self, want: &Tensor, rtol: f64, atol: f64) -> Result<(), String> {
        if (self.dtype, self.shape()) != (want.dtype, want.shape()) {
            return Err(format!("gives {}, not {}", self.ty(), want.ty()));
        }
        let pairs = self.values().into_iter().zip(want.values());
        match pairs
            .enumerate()
            .find(|(_, (got, want))| !close(*got, *want, rtol, atol))
        {
            Some((at, (got, want))) => Err(format!("element {at} is {got:?}, not {want:?}")),
            None => Ok(()),
        }
    }
}

/// Where each element lies, in row-major order.
pub(crate) fn places(layout: &Layout) -> impl Iterator<Item = usize> + '_ {
    (0..layout.elements()).map(|position| {
        let (mut rest, mut at) = (position, layout.offset);
        for (&size, &stride) in layout.shape.iter().zip(&layout.strides).rev() {
            at = at.wrapping_add_signed((rest % size) as isize * stride);
            rest /= size;
        }
        at
    })
}

/// Whether an element agrees: NaN with NaN, infinities with themselves, complex ones by modulus.
fn close(got: Value, want: Value, rtol: f64, atol: f64) -> bool {
    let within = |difference: f64, size: f64| difference <= atol + rtol * size;
    match (got, want) {
        (Value::Int(got), Value::Int(want)) => got == want,
        (Value::Real(got), Value::Real(want)) => {
            got == want
                || (got.is_nan() && want.is_nan())
                || (want.is_finite() && within((got - want).abs(), want.abs()))
        }
        (Value::Complex(a, b), Value::Complex(c, d)) => {
            let is_nan = (a.is_nan() || b.is_nan(), c.is_nan() || d.is_nan());
            got == want
                || is_nan == (true, true)
                || (c.is_finite() && d.is_finite() && within((a - c).hypot(b - d), c.hypot(d)))
        }
        _ => false,
    }
}

fn encode(dtype: DType, value: Value, bytes: &mut [u8]) {
    let (re, im) = match value {
        Value::Int(int) => (int as f64, 0.0),
        Value::Real(re) => (re, 0.0),
        Value::Complex(re, im) => (re, im),
    };
    if matches!(dtype.kind(), Kind::Int | Kind::Bool) {
        let Value::Int(int) = value else {
            panic!("{value:?} is not whole")
        };
        bytes.copy_from_slice(&int.to_le_bytes()[..bytes.len()]);
        return;
    }
    match dtype {
        DType::F16 => bytes.copy_from_slice(&f16::from_f64(re).to_le_bytes()),
        DType::Bf16 => bytes.copy_from_slice(&bf16::from_f64(re).to_le_bytes()),
        DType::F32 => bytes.copy_from_slice(&(re as f32).to_le_bytes()),
        DType::F64 => bytes.copy_from_slice(&re.to_le_bytes()),
        _ => {
            let (left, right) = bytes.split_at_mut(dtype.size() as usize / 2);
            encode(dtype.real(), Value::Real(re), left);
            encode(dtype.real(), Value::Real(im), right);
        }
    }
}

fn decode(dtype: DType, bytes: &[u8]) -> Value {
    if matches!(dtype.kind(), Kind::Int | Kind::Bool) {
        let signed = dtype.kind() == Kind::Int && !dtype.is_unsigned();
        let sign = if signed && bytes[bytes.len() - 1] >= 128 {
            0xFF
        } else {
            0
        };
        let mut wide = [sign; 16];
        wide[..bytes.len()].copy_from_slice(bytes);
        return Value::Int(i128::from_le_bytes(wide));
    }
    match dtype {
        DType::F16 => Value::Real(f16::from_le_bytes([bytes[0], bytes[1]]).to_f64()),
        DType::Bf16 => Value::Real(bf16::from_le_bytes([bytes[0], bytes[1]]).to_f64()),
        DType::F32 => Value::Real(f32::from_le_bytes(bytes.try_into().unwrap()).into()),
        DType::F64 => Value::Real(f64::from_le_bytes(bytes.try_into().unwrap())),
        _ => {
            let (left, right) = bytes.split_at(bytes.len() / 2);
            match (decode(dtype.real(), left), decode(dtype.real(), right)) {
                (Value::Real(re), Value::Real(im)) => Value::Complex(re, im),
                _ => unreachable!("parts of complex numbers are floats"),
            }
        }
    }
}
