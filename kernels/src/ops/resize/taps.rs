//! Which elements of an axis each element of the result is made of, and with what weights.

use haul_ir::op::Attrs;

use super::Mode;

/// Neighbours that one element is made of.
#[derive(Debug)]
pub(super) struct Taps {
    pub(super) first: usize,
    pub(super) weights: Vec<f64>,
}

/// How one axis is resized.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    pub(super) old: usize,
    pub(super) new: usize,
    /// The ratio of new to old size, where it is given.
    pub(super) scale: Option<f64>,
}

impl Axis {
    /// The size of the result before it was made whole.
    fn exact_new(self) -> f64 {
        match self.scale {
            Some(scale) => scale * self.old as f64,
            None => self.new as f64,
        }
    }

    /// `place / ratio`, of one rounding where the ratio is that of the sizes.
    fn unscaled(self, place: f64) -> f64 {
        match self.scale {
            Some(scale) => place / scale,
            None => place * self.old as f64 / self.new as f64,
        }
    }

    fn ratio(self) -> f64 {
        self.scale.unwrap_or(self.new as f64 / self.old as f64)
    }

    /// Where an element of the result lies among the old ones.
    fn place(self, at: usize, coordinates: Option<&str>) -> f64 {
        let at = at as f64;
        let (old, new) = (self.old as f64, self.exact_new());
        match coordinates {
            Some("asymmetric") => self.unscaled(at),
            Some("align_corners") if new == 1.0 => 0.0,
            Some("align_corners") => at * (old - 1.0) / (new - 1.0),
            Some("pytorch_half_pixel") if new <= 1.0 => 0.0,
            Some("half_pixel_symmetric") => {
                let cut = old / 2.0 * (1.0 - self.new as f64 / new);
                cut + self.unscaled(at + 0.5) - 0.5
            }
            _ => self.unscaled(at + 0.5) - 0.5,
        }
    }

    /// Which old element each new one is.
    pub(super) fn nearest(self, attrs: &Attrs) -> Vec<usize> {
        let round = |place: f64| match attrs.word("rounding") {
            Some("round_prefer_ceil") => (place + 0.5).floor(),
            Some("floor") => place.floor(),
            Some("ceil") => place.ceil(),
            _ => (place - 0.5).ceil(),
        };
        let coordinates = attrs.word("coordinates");
        let nearest = |at| round(self.place(at, coordinates)).max(0.0) as usize;
        (0..self.new)
            .map(|at| nearest(at).min(self.old - 1))
            .collect()
    }

    /// What each new element is made of.
    pub(super) fn taps(self, mode: Mode, attrs: &Attrs) -> Vec<Taps> {
        let shrink = match attrs.flag("antialias") {
            true => self.ratio().min(1.0),
            false => 1.0,
        };
        let coordinates = attrs.word("coordinates");
        let exclude = attrs.flag("exclude_outside");
        let of = |at| self.filter(self.place(at, coordinates), mode, shrink, exclude);
        (0..self.new).map(of).collect()
    }

    /// The weights of a filter that is `1/shrink` times as wide as its neighbours are apart.
    fn filter(self, place: f64, mode: Mode, shrink: f64, exclude: bool) -> Taps {
        let last = self.old as f64 - 1.0;
        let radius = if mode == Mode::Linear { 1.0 } else { 2.0 } / shrink;
        // Far from all elements there is only the edge.
        let place = place.clamp(-2.0 * radius - 1.0, last + 2.0 * radius + 1.0);
        let from = (place - radius).floor() + 1.0;
        let to = ((place + radius).ceil() - 1.0).max(from);
        let (first, end) = (from.clamp(0.0, last), to.clamp(0.0, last));
        let mut weights = vec![0.0; (end - first) as usize + 1];
        let mut total = 0.0;
        let mut neighbour = from;
        while neighbour <= to {
            let inside = neighbour.clamp(0.0, last);
            if !exclude || inside == neighbour {
                let weight = kernel(((neighbour - place) * shrink).abs(), mode);
                weights[(inside - first) as usize] += weight;
                total += weight;
            }
            neighbour += 1.0;
        }
        // The sum of all weights of a filter that is not widened is one.
        if (exclude || shrink < 1.0) && total != 0.0 {
            weights.iter_mut().for_each(|weight| *weight /= total);
        }
        Taps {
            first: first as usize,
            weights,
        }
    }
}

/// The weight of a neighbour at a distance; Keys, "Cubic convolution interpolation for digital
/// image processing".
fn kernel(distance: f64, mode: Mode) -> f64 {
    let x = distance;
    match mode {
        Mode::Cubic(a) if x <= 1.0 => ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0,
        Mode::Cubic(a) if x < 2.0 => ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a,
        Mode::Cubic(_) => 0.0,
        Mode::Linear | Mode::Nearest => (1.0 - x).max(0.0),
    }
}
