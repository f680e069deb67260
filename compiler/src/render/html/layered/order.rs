//! The order in each layer: by the mean place of neighbours, some times down and up.

use super::ladder::Ladder;

/// How often; more changes little.
const SWEEPS: usize = 8;

/// Orders the rungs of each layer so that few edges cross.
pub(super) fn order(ladder: &mut Ladder) {
    let mut places = vec![0.0; ladder.widths.len()];
    for layer in &ladder.layers {
        number(layer, &mut places);
    }
    for sweep in 0..SWEEPS {
        let down = sweep % 2 == 0;
        let neighbours = if down { &ladder.above } else { &ladder.below };
        let count = ladder.layers.len();
        for step in 1..count {
            let at = if down { step } else { count - 1 - step };
            let layer = &mut ladder.layers[at];
            for rung in layer.iter() {
                let mean = mean(&neighbours[*rung], &places);
                places[*rung] = mean.unwrap_or(places[*rung]);
            }
            // Stable: equal rungs keep their order.
            layer.sort_by(|a, b| places[*a].total_cmp(&places[*b]));
            number(layer, &mut places);
        }
    }
}

/// Numbers a layer from left to right, each rung by the middle of its share of the whole.
fn number(layer: &[usize], places: &mut [f64]) {
    for (position, rung) in layer.iter().enumerate() {
        places[*rung] = (position as f64 + 0.5) / layer.len() as f64;
    }
}

fn mean(neighbours: &[(usize, f64)], places: &[f64]) -> Option<f64> {
    let sum: f64 = neighbours.iter().map(|(rung, _)| places[*rung]).sum();
    (!neighbours.is_empty()).then(|| sum / neighbours.len() as f64)
}
