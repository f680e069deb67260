use haul_ir::dtype::DType;
use haul_ir::op::{KernelCall, KernelError};
use haul_ir::tensor::{Bool, View};

use super::{PARAMS, infer};
use crate::gemm::{Matrix, Threads};
use crate::ops::array_op::{check, input};
use crate::real::{Reader, Real, fill_tiles, in_precision, number};
use crate::strided::Walk;

/// Rows of queries that one task takes.
const ROWS: usize = 64;

pub(super) fn attention(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    check(call, infer)?;
    in_precision!(call.outputs[0].dtype, attend, call);
    Ok(())
}

/// What there is to know of a call.
struct Attention<'a, A> {
    q: &'a View<'a>,
    k: &'a View<'a>,
    v: &'a View<'a>,
    mask: Option<Mask<'a>>,
    scale: A,
    softcap: A,
    causal: bool,
    /// Sizes of a head: queries, keys, elements of both, elements of values.
    sizes: [usize; 4],
    /// Heads of the queries and of the keys, of one item.
    heads: [usize; 2],
}

/// Seen under the shape of the scores.
enum Mask<'a> {
    Looks(&'a [Bool], usize, Walk),
    Added(Reader<'a>),
}

fn attend<A: Real>(call: &mut KernelCall<'_, '_>) {
    let [q, k, v] = [0, 1, 2].map(|at| &call.inputs[at]);
    let outer = q.shape().len() - 2;
    let sizes = [
        q.shape()[outer],
        k.shape()[outer],
        q.shape()[outer + 1],
        v.shape()[outer + 1],
    ];
    let heads = |view: &View<'_>| outer.checked_sub(1).map_or(1, |axis| view.shape()[axis]);
    let mut scores = q.shape()[..=outer].to_vec();
    scores.push(sizes[1]);
    let mask = input(PARAMS, call, "mask").map(|mask| match mask.dtype {
        DType::Bool => {
            let layout = mask.layout.broadcast_to(&scores);
            let walk = Walk::new(&layout.shape, &layout.strides);
            Mask::Looks(mask.buffer(), layout.offset, walk)
        }
        _ => Mask::Added(Reader::broadcast(mask, &scores)),
    });
    let given = |name| input(PARAMS, call, name).map(number::<A>);
    let attention = Attention {
        q,
        k,
        v,
        mask,
        scale: given("scale").unwrap_or_else(|| A::one() / A::of(sizes[2] as f64).sqrt()),
        softcap: given("softcap").unwrap_or_else(A::zero),
        causal: call.attrs.flag("causal"),
        sizes,
        heads: [heads(q), heads(k)],
    };
    let [rows, _, _, width] = sizes;
    fill_tiles(
        &mut call.outputs[0],
        rows.saturating_mul(width),
        ROWS.saturating_mul(width),
        &|head, first, values: &mut [A]| {
            attention.rows(head, first / width, values);
        },
    );
}

impl<A: Real> Attention<'_, A> {
    /// Some rows of a head, from `first` on.
    fn rows(&self, head: usize, first: usize, output: &mut [A]) {
        let [all_rows, columns, inner, width] = self.sizes;
        let rows = output.len() / width;
        if columns == 0 {
            return output.fill(A::zero());
        }
        let of_keys = self.head_of_keys(head);
        let (mut q, mut k, mut v) = (Vec::new(), Vec::new(), Vec::new());
        let start = (head * all_rows + first) * inner;
        let q = A::plane(self.q, start, rows * inner, &mut q);
        let k = A::plane(self.k, of_keys * columns * inner, columns * inner, &mut k);
        let v = A::plane(self.v, of_keys * columns * width, columns * width, &mut v);
        let mut scores = vec![A::zero(); rows * columns];
        let q = Matrix::row_major(q, rows, inner);
        let k = Matrix::new(k, 0, [inner, columns], [1, inner as isize]);
        A::multiply(&mut scores, columns, q, k, Threads::One);
        let mut places = Scratch {
            added: vec![A::zero(); columns],
            looks: vec![Bool(1); columns],
        };
        for (at, scores) in scores.chunks_exact_mut(columns).enumerate() {
            let row = first + at;
            self.mask_row((head * all_rows + row) * columns, scores, &mut places);
            if self.causal {
                scores[columns.min(row + 1)..].fill(A::neg_infinity());
            }
            share(scores);
        }
        let scores = Matrix::row_major(&scores, rows, columns);
        let v = Matrix::row_major(v, columns, width);
        A::multiply(output, width, scores, v, Threads::One);
    }

    /// The head of keys and values that serves one of queries, both among all of all items.
    fn head_of_keys(&self, head: usize) -> usize {
        let [queries, keys] = self.heads;
        let (item, head) = (head / queries, head % queries);
        item * keys + head / (queries / keys)
    }

    /// Scales, bounds and masks the scores of a row that begin at a position.
    fn mask_row(&self, position: usize, scores: &mut [A], scratch: &mut Scratch<A>) {
        for score in scores.iter_mut() {
            *score = *score * self.scale;
        }
        if self.softcap > A::zero() {
            for score in scores.iter_mut() {
                *score = self.softcap * crate::math::Math::tanh(*score / self.softcap);
            }
        }
        match &self.mask {
            None => {}
            Some(Mask::Added(mask)) => {
                mask.read(position, &mut scratch.added);
                for (score, added) in scores.iter_mut().zip(&scratch.added) {
                    *score = *score + *added;
                }
            }
            Some(Mask::Looks(data, start, walk)) => {
                walk.copy_from(data, *start, position, &mut scratch.looks);
                for (score, looks) in scores.iter_mut().zip(&scratch.looks) {
                    if looks.0 == 0 {
                        *score = A::neg_infinity();
                    }
                }
            }
        }
    }
}

/// A row of the mask.
struct Scratch<A> {
    added: Vec<A>,
    looks: Vec<Bool>,
}

/// Turns scores into shares of one; into zeros where all are -inf.
fn share<A: Real>(scores: &mut [A]) {
    let larger = |max: A, x: &A| if *x > max || x.is_nan() { *x } else { max };
    let max = scores.iter().fold(A::neg_infinity(), larger);
    if max == A::neg_infinity() {
        return scores.fill(A::zero());
    }
    for score in scores.iter_mut() {
        *score = crate::math::Math::exp(*score - max);
    }
    let sum = A::of(crate::real::sum(scores, |x| x));
    for score in scores.iter_mut() {
        *score = *score / sum;
    }
}
