use haul_ir::op::{Attrs, KernelCall, KernelError};

use super::{aligned, infer};
use crate::ops::array_op::check;
use crate::real::{Real, elements_of, fill_tiles, in_precision};

pub(super) fn grid_sample(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    check(call, infer)?;
    in_precision!(call.outputs[0].dtype, sample, call);
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Nearest,
    Linear,
    Cubic,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Padding {
    Zeros,
    Border,
    Reflection,
}

/// How places are found and elements combined.
#[derive(Clone, Copy)]
struct Sampling {
    mode: Mode,
    padding: Padding,
    align_corners: bool,
}

impl Sampling {
    fn of(attrs: &Attrs) -> Self {
        Self {
            mode: match attrs.word("mode") {
                Some("nearest") => Mode::Nearest,
                Some("cubic") => Mode::Cubic,
                _ => Mode::Linear,
            },
            padding: match attrs.word("padding") {
                Some("border") => Padding::Border,
                Some("reflection") => Padding::Reflection,
                _ => Padding::Zeros,
            },
            align_corners: aligned(attrs),
        }
    }

    /// The neighbours along one axis of so many elements, and their weights. None beyond the
    /// image where there are zeros.
    fn taps<A: Real>(self, coordinate: A, size: usize) -> [(Option<usize>, A); 4] {
        let half = A::of(0.5);
        let (one, length) = (A::one(), A::of(size as f64));
        let coordinate = if coordinate.is_nan() {
            -one
        } else {
            coordinate
        };
        let place = match self.align_corners {
            true => (coordinate + one) * half * (length - one),
            false => ((coordinate + one) * length - one) * half,
        };
        let none = (None, A::zero());
        match self.mode {
            Mode::Nearest => {
                let place = round_half_even(self.padded(place, size));
                [(self.element(place, size), one), none, none, none]
            }
            Mode::Linear => {
                let place = self.padded(place, size);
                let low = place.floor();
                let share = place - low;
                let taps = [low, low + one].map(|place| self.element(place, size));
                [(taps[0], one - share), (taps[1], share), none, none]
            }
            Mode::Cubic => {
                let low = place.floor();
                let weights = cubic(place - low);
                let neighbour = |at: usize| {
                    let place = low + A::of(at as f64 - 1.0);
                    (self.element(self.padded(place, size), size), weights[at])
                };
                [0, 1, 2, 3].map(neighbour)
            }
        }
    }

    /// A place in the image, where the padding has one for it.
    fn padded<A: Real>(self, place: A, size: usize) -> A {
        let last = A::of(size as f64 - 1.0);
        let place = match self.padding {
            Padding::Zeros => return place,
            Padding::Border => place,
            Padding::Reflection if self.align_corners => reflected(place, A::zero(), last),
            Padding::Reflection => {
                let half = A::of(0.5);
                reflected(place, -half, last + half)
            }
        };
        place.max(A::zero()).min(last)
    }

    fn element<A: Real>(self, place: A, size: usize) -> Option<usize> {
        let inside = place >= A::zero() && place <= A::of(size as f64 - 1.0);
        let place: f64 = place.as_();
        inside.then_some(place as usize)
    }
}

/// A place folded back at both ends until it is between them.
fn reflected<A: Real>(place: A, low: A, high: A) -> A {
    let span = high - low;
    if span <= A::zero() || !place.is_finite() {
        return low.max(A::zero());
    }
    let distance = (place - low).abs();
    let beyond = distance % span;
    let turns = (distance / span).floor();
    match turns % A::of(2.0) == A::zero() {
        true => low + beyond,
        false => high - beyond,
    }
}

fn round_half_even<A: Real>(x: A) -> A {
    let two = A::of(2.0);
    let rounded = x.round();
    let is_half = (x - x.trunc()).abs() == A::of(0.5);
    if is_half {
        (x / two).round() * two
    } else {
        rounded
    }
}

/// Weights of four neighbours; the place lies behind the second.
fn cubic<A: Real>(share: A) -> [A; 4] {
    let a = A::of(-0.75);
    let number = |x: f64| A::of(x);
    let near = |x: A| ((a + number(2.0)) * x - (a + number(3.0))) * x * x + A::one();
    let far = |x: A| ((a * x - number(5.0) * a) * x + number(8.0) * a) * x - number(4.0) * a;
    let one = A::one();
    [
        far(one + share),
        near(share),
        near(one - share),
        far(number(2.0) - share),
    ]
}

/// Elements that one task finds.
const TILE: usize = 1 << 12;

fn sample<A: Real>(call: &mut KernelCall<'_, '_>) {
    let (x, grid) = (&call.inputs[0], &call.inputs[1]);
    let sampling = Sampling::of(call.attrs);
    let (channels, axes) = (x.shape()[1], x.shape().len() - 2);
    let mut image = [1; 3];
    image[3 - axes..].copy_from_slice(&x.shape()[2..]);
    let plane = elements_of(&image);
    let places = elements_of(&call.outputs[0].shape[2..]);
    fill_tiles(
        &mut call.outputs[0],
        places,
        TILE,
        &|channel, first, output: &mut [A]| {
            let (mut of_x, mut of_grid) = (Vec::new(), Vec::new());
            let x = A::plane(x, channel * plane, plane, &mut of_x);
            let start = ((channel / channels) * places + first) * axes;
            let grid = A::plane(grid, start, output.len() * axes, &mut of_grid);
            for (value, place) in output.iter_mut().zip(grid.chunks_exact(axes)) {
                // One element along an axis that is not there.
                let mut taps = [[(None, A::zero()); 4]; 3];
                for (axis, taps) in taps.iter_mut().enumerate() {
                    match axis.checked_sub(3 - axes) {
                        Some(at) => *taps = sampling.taps(place[axes - 1 - at], image[axis]),
                        None => taps[0] = (Some(0), A::one()),
                    }
                }
                *value = combined(x, image, &taps);
            }
        },
    );
}

/// The sum of elements, each with the product of its weights.
fn combined<A: Real>(x: &[A], image: [usize; 3], taps: &[[(Option<usize>, A); 4]; 3]) -> A {
    let mut total = A::zero();
    for (plane, of_plane) in inside(&taps[0]) {
        for (line, of_line) in inside(&taps[1]) {
            let start = (plane * image[1] + line) * image[2];
            for (column, of_column) in inside(&taps[2]) {
                total = total + x[start + column] * (of_plane * of_line * of_column);
            }
        }
    }
    total
}

fn inside<A: Real>(taps: &[(Option<usize>, A); 4]) -> impl Iterator<Item = (usize, A)> {
    taps.iter()
        .filter_map(|(place, weight)| place.map(|place| (place, *weight)))
}
