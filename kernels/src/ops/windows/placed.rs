//! Windows of known sizes, and what they see.

use std::ops::{Add, Range};

use super::{Axis, NO_AXIS};
use crate::real::elements_of;

/// Windows of known sizes over up to three axes; axes that are not there are of size 1.
#[derive(Clone, Copy, Debug)]
pub(in crate::ops) struct Windows {
    axes: [Axis; 3],
    /// What windows move over, without padding.
    pub(in crate::ops) input: [usize; 3],
    pub(in crate::ops) window: [usize; 3],
    /// How many windows there are.
    pub(in crate::ops) output: [usize; 3],
    before: [usize; 3],
    after: [usize; 3],
}

impl Windows {
    pub(in crate::ops) fn new(
        axes: &[Axis],
        input: &[usize],
        window: &[usize],
        output: &[usize],
    ) -> Self {
        let absent = 3 - axes.len();
        let mut all = [NO_AXIS; 3];
        all[absent..].copy_from_slice(axes);
        let three = |sizes: &[usize]| {
            let mut all = [1; 3];
            all[absent..].copy_from_slice(sizes);
            all
        };
        let (input, window, output) = (three(input), three(window), three(output));
        let padding = [0, 1, 2].map(|at| all[at].padding(input[at], window[at], output[at]));
        Self {
            axes: all,
            input,
            window,
            output,
            before: padding.map(|(before, _)| before),
            after: padding.map(|(_, after)| after),
        }
    }

    /// Elements of a window.
    pub(in crate::ops) fn taps(&self) -> usize {
        elements_of(&self.window)
    }

    /// Elements of what windows move over.
    pub(in crate::ops) fn plane(&self) -> usize {
        elements_of(&self.input)
    }

    /// Windows are laid out in rows along the last axis.
    pub(in crate::ops) fn rows(&self) -> usize {
        self.output[0].saturating_mul(self.output[1])
    }

    /// Whether windows are single elements, one for each of the input in order.
    pub(in crate::ops) fn are_the_input(&self) -> bool {
        self.window == [1; 3]
            && self.output == self.input
            && self.before == [0; 3]
            && self.axes.iter().all(|axis| axis.stride == 1)
    }

    /// Elements of each window along an axis that lie in the input or its padding.
    pub(in crate::ops) fn counted(&self, axis: usize, at: usize) -> usize {
        let end = self.input[axis] + self.before[axis] + self.after[axis];
        let Axis {
            stride, dilation, ..
        } = self.axes[axis];
        let room = end.saturating_sub(at * stride);
        room.div_ceil(dilation).min(self.window[axis])
    }

    /// Elements of each window along an axis that lie in the input.
    pub(in crate::ops) fn inside(&self, axis: usize, at: usize) -> Range<usize> {
        let Axis {
            stride, dilation, ..
        } = self.axes[axis];
        let (start, before) = (at * stride, self.before[axis]);
        let end = (before + self.input[axis]).saturating_sub(start);
        let end = end.div_ceil(dilation).min(self.window[axis]);
        let first = before.saturating_sub(start).div_ceil(dilation);
        first.min(end)..end
    }

    /// The place of one element of a window along an axis, if it lies in the input.
    fn place(&self, axis: usize, at: usize, tap: usize) -> usize {
        let Axis {
            stride, dilation, ..
        } = self.axes[axis];
        at * stride + tap * dilation - self.before[axis]
    }

    /// Elements of a row of windows that may lie in the input.
    fn inside_any(&self) -> Range<usize> {
        let first = self.inside(2, self.output[2].saturating_sub(1)).start;
        first..self.inside(2, 0).end
    }

    /// The windows along the last axis whose element `tap` lies in the input, the place of the
    /// first, and the step from each to the next.
    fn reach(&self, tap: usize) -> (Range<usize>, usize, usize) {
        let Axis {
            stride, dilation, ..
        } = self.axes[2];
        let (shift, before) = (tap * dilation, self.before[2]);
        let first = before.saturating_sub(shift).div_ceil(stride);
        let first = first.min(self.output[2]);
        let end = (self.input[2] + before)
            .saturating_sub(shift)
            .div_ceil(stride);
        let end = end.clamp(first, self.output[2]);
        let place = (first * stride + shift).saturating_sub(before);
        (first..end, place, stride)
    }

    /// Calls `visit` for a row of windows and each element of them, in order, that lies in a row
    /// of the input: the element, the windows, where theirs lies in the input, and the step.
    #[inline(always)]
    pub(in crate::ops) fn each_tap(
        &self,
        row: usize,
        mut visit: impl FnMut([usize; 3], Range<usize>, usize, usize),
    ) {
        let (outer, middle) = (row / self.output[1], row % self.output[1]);
        let columns = self.inside_any();
        for z in self.inside(0, outer) {
            let plane = self.place(0, outer, z);
            for y in self.inside(1, middle) {
                let line = self.place(1, middle, y);
                let start = (plane * self.input[1] + line) * self.input[2];
                for x in columns.clone() {
                    let (windows, place, step) = self.reach(x);
                    if !windows.is_empty() {
                        visit([z, y, x], windows, start + place, step);
                    }
                }
            }
        }
    }

    /// The number of an element of a window.
    fn tap(&self, [z, y, x]: [usize; 3]) -> usize {
        (z * self.window[1] + y) * self.window[2] + x
    }

    /// Lays out what windows of some rows see of a plane: a row of the matrix for each element.
    /// There are zeros on padding.
    pub(in crate::ops) fn lay_out<T: Copy + Default>(
        &self,
        plane: &[T],
        rows: Range<usize>,
        seen: &mut [T],
    ) {
        let width = rows.len() * self.output[2];
        if self.before != [0; 3] || self.after != [0; 3] {
            seen.fill(T::default());
        }
        for (at, row) in rows.enumerate() {
            self.each_tap(row, |tap, windows, place, step| {
                let line = self.tap(tap) * width + at * self.output[2];
                let seen = &mut seen[line + windows.start..line + windows.end];
                copy_steps(&plane[place..], step, seen);
            });
        }
    }

    /// The opposite of [`Windows::lay_out`]: adds each element to where it was seen.
    pub(in crate::ops) fn add_back<T: Copy + Add<Output = T>>(
        &self,
        seen: &[T],
        rows: Range<usize>,
        plane: &mut [T],
    ) {
        let width = rows.len() * self.output[2];
        for (at, row) in rows.enumerate() {
            self.each_tap(row, |tap, windows, place, step| {
                let line = self.tap(tap) * width + at * self.output[2];
                let seen = &seen[line + windows.start..line + windows.end];
                for (sum, seen) in plane[place..].iter_mut().step_by(step).zip(seen) {
                    *sum = *sum + *seen;
                }
            });
        }
    }
}

fn copy_steps<T: Copy>(from: &[T], step: usize, into: &mut [T]) {
    if step == 1 {
        return into.copy_from_slice(&from[..into.len()]);
    }
    for (into, from) in into.iter_mut().zip(from.iter().step_by(step)) {
        *into = *from;
    }
}
