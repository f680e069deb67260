//! What a kernel sees of memory: strided views of its inputs, contiguous space for its outputs.

use bytemuck::{AnyBitPattern, NoUninit};
use half::{bf16, f16};
use num_complex::Complex;

use crate::dtype::DType;

/// A truth value as it lies in memory: 0 or 1.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, bytemuck::Pod, bytemuck::Zeroable,
)]
#[repr(transparent)]
pub struct Bool(pub u8);

impl From<bool> for Bool {
    fn from(value: bool) -> Self {
        Self(u8::from(value))
    }
}

impl From<Bool> for bool {
    fn from(value: Bool) -> Self {
        value.0 != 0
    }
}

/// A Rust type whose bytes are elements of one dtype.
pub trait Element: AnyBitPattern + NoUninit + Send + Sync + Default + PartialEq {
    /// That dtype.
    const DTYPE: DType;
}

macro_rules! elements {
    ($($type:ty => $dtype:ident),* $(,)?) => {
        $(impl Element for $type {
            const DTYPE: DType = DType::$dtype;
        })*
    };
}

elements! {
    Bool => Bool, u8 => U8, u16 => U16, u32 => U32, u64 => U64,
    i8 => I8, i16 => I16, i32 => I32, i64 => I64,
    f16 => F16, bf16 => Bf16, f32 => F32, f64 => F64,
    Complex<f32> => C64, Complex<f64> => C128,
}

/// Where the elements of a tensor lie: shape, steps and start, all counted in elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Size of each axis.
    pub shape: Vec<usize>,
    /// Elements from one index of an axis to the next; 0 repeats, negative goes backwards.
    pub strides: Vec<isize>,
    /// Where index 0 of every axis lies.
    pub offset: usize,
}

impl Layout {
    /// Row-major without gaps. Strides of an empty tensor, which reach nothing, stop at the largest
    /// there can be.
    pub fn contiguous(shape: &[usize]) -> Self {
        let mut strides = vec![1; shape.len()];
        for axis in (1..shape.len()).rev() {
            let size = isize::try_from(shape[axis].max(1)).unwrap_or(isize::MAX);
            strides[axis - 1] = isize::saturating_mul(strides[axis], size);
        }
        Self {
            shape: shape.to_vec(),
            strides,
            offset: 0,
        }
    }

    /// How many elements it reaches.
    pub fn elements(&self) -> usize {
        match self.shape.contains(&0) {
            true => 0,
            false => self.shape.iter().product(),
        }
    }

    /// Whether it is row-major without gaps; where it starts does not matter.
    pub fn is_contiguous(&self) -> bool {
        let mut expected = 1;
        self.shape
            .iter()
            .zip(&self.strides)
            .rev()
            .all(|(&size, &stride)| {
                let fits = size == 1 || stride == expected;
                expected = isize::saturating_mul(expected, size.max(1) as isize);
                fits || self.elements() == 0
            })
    }

    /// Repeated along new leading axes and axes of size 1, as broadcasting does.
    ///
    /// The shape must be one that this one broadcasts to.
    #[must_use]
    pub fn broadcast_to(&self, shape: &[usize]) -> Self {
        let new_axes = shape.len() - self.shape.len();
        let strides = (0..shape.len())
            .map(|axis| match axis.checked_sub(new_axes) {
                Some(old) if self.shape[old] == shape[axis] => self.strides[old],
                _ => 0,
            })
            .collect();
        Self {
            shape: shape.to_vec(),
            strides,
            offset: self.offset,
        }
    }
}

/// A strided view of a tensor that is only read.
#[derive(Clone, Debug)]
pub struct View<'a> {
    /// Type of each element.
    pub dtype: DType,
    /// Where they lie.
    pub layout: Layout,
    /// The buffer they lie in, aligned to 64 bytes.
    pub bytes: &'a [u8],
}

impl<'a> View<'a> {
    /// Size of each axis.
    pub fn shape(&self) -> &[usize] {
        &self.layout.shape
    }

    /// The whole buffer as elements; index it through the layout.
    ///
    /// # Panics
    /// When the dtype is not that of `T`: the kernel asks for what its signature does not take.
    pub fn buffer<T: Element>(&self) -> &'a [T] {
        assert_eq!(
            self.dtype,
            T::DTYPE,
            "a kernel was given another dtype than it asked for"
        );
        bytemuck::cast_slice(self.bytes)
    }

    /// The elements in order, where they lie without gaps.
    pub fn contiguous<T: Element>(&self) -> Option<&'a [T]> {
        let start = self.layout.offset;
        let end = start + self.layout.elements();
        self.layout
            .is_contiguous()
            .then(|| &self.buffer()[start..end])
    }
}

/// Space for a result: contiguous, row-major.
#[derive(Debug)]
pub struct ViewMut<'a> {
    /// Type of each element.
    pub dtype: DType,
    /// Size of each axis.
    pub shape: Vec<usize>,
    /// The elements, aligned to 64 bytes. What they hold before is not said.
    pub bytes: &'a mut [u8],
}

impl ViewMut<'_> {
    /// The elements in order.
    ///
    /// # Panics
    /// When the dtype is not that of `T`: the kernel fills what its signature does not give.
    pub fn elements<T: Element>(&mut self) -> &mut [T] {
        assert_eq!(
            self.dtype,
            T::DTYPE,
            "a kernel filled another dtype than it was given"
        );
        bytemuck::cast_slice_mut(self.bytes)
    }
}
