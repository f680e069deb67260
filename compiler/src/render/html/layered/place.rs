//! The place of each rung in its layer: as near to its neighbours as the order and the room
//! between rungs allow.

use super::GAP;
use super::ladder::Ladder;

/// How often; more changes little.
const SWEEPS: usize = 24;
/// How much more a rung of an edge pulls than a node: long edges run straight.
const STRAIGHT: f64 = 8.0;
/// How much a rung without neighbours on that side insists on its place.
const LAZY: f64 = 0.05;

/// The middle of each rung, in pixels.
pub(super) fn middles(ladder: &Ladder) -> Vec<f64> {
    let mut middles = vec![0.0; ladder.widths.len()];
    for layer in &ladder.layers {
        let wished = vec![(0.0, 1.0); layer.len()];
        settle(layer, &wished, &ladder.widths, &mut middles);
    }
    for sweep in 0..SWEEPS {
        let down = sweep % 2 == 0;
        let both = sweep + 4 >= SWEEPS;
        let count = ladder.layers.len();
        for step in 0..count {
            let at = if down { step } else { count - 1 - step };
            let layer = &ladder.layers[at];
            let wish = |rung: &usize| {
                let above = (down || both).then_some(&ladder.above[*rung]);
                let below = (!down || both).then_some(&ladder.below[*rung]);
                let sides = above.into_iter().chain(below).flatten();
                wished(*rung, sides, ladder, &middles)
            };
            let wished: Vec<_> = layer.iter().map(wish).collect();
            settle(layer, &wished, &ladder.widths, &mut middles);
        }
    }
    middles
}

/// Where a rung would be best for these neighbours, and how much it matters.
fn wished<'n>(
    rung: usize,
    neighbours: impl Iterator<Item = &'n (usize, f64)>,
    ladder: &Ladder,
    middles: &[f64],
) -> (f64, f64) {
    let (mut sum, mut weight) = (0.0, 0.0);
    for (other, shift) in neighbours {
        let straight = ladder.widths[rung] == 0.0 && ladder.widths[*other] == 0.0;
        let pull = if straight { STRAIGHT } else { 1.0 };
        sum += pull * (middles[*other] + shift);
        weight += pull;
    }
    match weight > 0.0 {
        true => (sum / weight, weight),
        false => (middles[rung], LAZY),
    }
}

/// Puts the rungs of a layer where the weighted squares of the distances from their wishes are
/// least, in order and with room between them: the pool-adjacent-violators algorithm, on places
/// from which the widths to the left are taken off.
fn settle(layer: &[usize], wished: &[(f64, f64)], widths: &[f64], middles: &mut [f64]) {
    let mut offsets = Vec::with_capacity(layer.len());
    let mut offset = 0.0;
    for (position, rung) in layer.iter().enumerate() {
        if position > 0 {
            let pair = [widths[layer[position - 1]], widths[*rung]];
            let gap = if pair.contains(&0.0) { GAP / 2.0 } else { GAP };
            offset += (pair[0] + pair[1]) / 2.0 + gap;
        }
        offsets.push(offset);
    }
    // Blocks of rungs that touch: the sum of wishes, the weight, how many.
    let mut blocks: Vec<(f64, f64, usize)> = Vec::new();
    for ((wish, weight), offset) in wished.iter().zip(&offsets) {
        let mut block = ((wish - offset) * weight, *weight, 1);
        while let Some(last) = blocks.pop_if(|last| last.0 / last.1 > block.0 / block.1) {
            block = (last.0 + block.0, last.1 + block.1, last.2 + block.2);
        }
        blocks.push(block);
    }
    let places = blocks
        .iter()
        .flat_map(|(sum, weight, count)| std::iter::repeat_n(sum / weight, *count));
    for ((rung, place), offset) in layer.iter().zip(places).zip(offsets) {
        middles[*rung] = place + offset;
    }
}
