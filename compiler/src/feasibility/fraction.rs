//! Shares of a GPU against its memory: a share divides the device's time, not its memory.

use std::collections::BTreeSet;

use haul_ir::expr::Symbol;
use haul_ir::graph::{GpuCount, Request};
use haul_ir::target::Gpu;

use crate::cost::Point;
use crate::place::Peak;

/// Tasks that a share lets onto one GPU, whose memory does not hold them all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FractionFit {
    /// How many tasks the share lets onto one device.
    pub(crate) by_share: u64,
    /// How many of them its memory holds; never none.
    pub(crate) by_vram: u64,
    /// Bytes of device memory of one task, asked for or else predicted at the largest sizes.
    pub(crate) vram: u64,
    /// The largest share that lets as many tasks onto a device as its memory holds; where no
    /// share lets exactly so many, the smallest that lets no more.
    pub(crate) share: GpuCount,
    /// The only dim that the predicted memory depends on, with its largest value at which all the
    /// tasks that the share lets onto a device fit; none where the author says the memory, or no
    /// value will do.
    pub(crate) dim: Option<(Symbol, u64)>,
}

/// How many tasks with a share of a device fit its memory, where that is fewer than the share lets
/// onto it. `peak` is the device memory that a task is predicted to need, `largest` the sizes at
/// which memory has to suffice.
///
/// Nothing where whole devices are asked for, where the memory of a task is neither asked for nor
/// computable, and where not even one task fits: that is refused before.
pub(crate) fn fraction_fit(
    request: &Request,
    gpu: &Gpu,
    peak: &Peak,
    largest: &Point,
) -> Option<FractionFit> {
    let share = request.gpus;
    if share >= GpuCount::ONE {
        return None;
    }
    let by_share = u64::from(GpuCount::ONE.0.checked_div(share.0)?);
    let vram = request.vram.or(peak.largest)?;
    let by_vram = gpu.vram.checked_div(vram)?;
    if by_vram == 0 || by_vram >= by_share {
        return None;
    }
    let dim = match request.vram {
        Some(_) => None,
        None => largest_size(peak, gpu.vram / by_share, largest),
    };
    Some(FractionFit {
        by_share,
        by_vram,
        vram,
        share: honest_share(by_vram),
        dim,
    })
}

/// The largest share that lets `tasks` onto a device, or else the smallest that lets fewer.
fn honest_share(tasks: u64) -> GpuCount {
    let one = u64::from(GpuCount::ONE.0);
    let units = (one / tasks).max(one / (tasks + 1) + 1);
    GpuCount(units.min(one) as u32)
}

/// The only dim of a peak, and its largest value at which the peak is at most `limit` bytes, by
/// bisection: peaks grow with sizes.
pub(crate) fn largest_size(peak: &Peak, limit: u64, largest: &Point) -> Option<(Symbol, u64)> {
    let mut dims = BTreeSet::new();
    peak.bytes.symbols(&mut |dim| {
        dims.insert(dim.clone());
    });
    let dim = dims.pop_first().filter(|_| dims.is_empty())?;
    let fits = |size: u64| {
        let at = largest.with(&dim, size);
        at.eval_saturating(&peak.bytes)
            .is_some_and(|bytes| bytes <= limit)
    };
    let (mut low, mut high) = (1, largest.get(&dim)?);
    if !fits(low) {
        return None;
    }
    while low < high {
        let middle = high - (high - low) / 2;
        match fits(middle) {
            true => low = middle,
            false => high = middle - 1,
        }
    }
    Some((dim, low))
}

#[cfg(test)]
mod tests {
    use haul_ir::expr::Expr;

    use super::*;
    use crate::target;

    fn request(ten_thousandths: u32, vram: Option<u64>) -> Request {
        Request {
            cpus: 1,
            memory: 1,
            gpus: GpuCount(ten_thousandths),
            gpu_type: None,
            vram,
        }
    }

    fn fit(gpus: u32, vram: Option<u64>, peak: &Peak, n: u64) -> Option<FractionFit> {
        let gpu = target::gpus().into_iter().find(|gpu| gpu.name == "L4");
        let largest = Point::default().with(&Symbol::new("n"), n);
        fraction_fit(&request(gpus, vram), &gpu.unwrap(), peak, &largest)
    }

    #[test]
    fn memory_asked_for_holds_fewer_than_the_share_lets_on() {
        const GB: u64 = 1_000_000_000;
        let none = Peak::default();
        // Of 24 GB: four quarters of 6 GB fit, of 7 GB three, and a third lets three on.
        assert_eq!(fit(2_500, Some(6 * GB), &none, 1), None);
        let three = fit(2_500, Some(7 * GB), &none, 1).unwrap();
        assert_eq!((three.by_share, three.by_vram), (4, 3));
        assert_eq!((three.share, three.dim), (GpuCount(3_333), None));
        // Halves of 13 GB: one fits, a whole device is what it takes.
        let one = fit(5_000, Some(13 * GB), &none, 1).unwrap();
        assert_eq!((one.by_vram, one.share), (1, GpuCount::ONE));
        // Whole devices, memory that nobody knows, and a task that never fits are no matter of
        // shares.
        assert_eq!(fit(10_000, Some(13 * GB), &none, 1), None);
        assert_eq!(fit(5_000, None, &none, 1), None);
        assert_eq!(fit(5_000, Some(25 * GB), &none, 1), None);
    }

    #[test]
    fn the_largest_size_at_which_all_fit_is_found() {
        let n = Expr::symbol(Symbol::new("n"));
        let bytes = &n * &n * Expr::from(8u64);
        let at = |size: u64| {
            let peak = Peak {
                largest: Some(8 * size * size),
                bytes: bytes.clone(),
                at: None,
            };
            fit(2_500, None, &peak, size)
        };
        // 8 * 27386^2 = 5,999,943,968 bytes is the most below 24 GB / 4.
        assert_eq!(at(27_386), None);
        let found = at(30_000).unwrap();
        // 7.2 GB each: three of four.
        assert_eq!((found.by_share, found.by_vram), (4, 3));
        assert_eq!(found.dim, Some((Symbol::new("n"), 27_386)));
    }

    #[test]
    fn an_honest_share_lets_on_what_fits_and_no_more() {
        let lets_on = |share: u32| u64::from(10_000 / share);
        for tasks in 1..=10_000 {
            let GpuCount(share) = honest_share(tasks);
            // By trying all shares from the largest.
            let exact = (1..=10_000).rev().find(|share| lets_on(*share) == tasks);
            let fewer = || (1..=10_000).find(|share| lets_on(*share) < tasks);
            assert_eq!(Some(share), exact.or_else(fewer), "{tasks}");
        }
    }
}
