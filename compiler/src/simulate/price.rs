//! What a run costs.

use haul_ir::target::Target;

use super::Schedule;

const NANOS_PER_HOUR: u128 = 3_600_000_000_000;

/// Billionths of a US dollar for the nodes used, over the whole run, rounded to the nearest.
pub(crate) fn price(target: &Target, schedule: &Schedule) -> Option<u64> {
    let mut nano_usd_per_hour = 0u128;
    for (node, used) in schedule.nodes_used.entries().filter(|(_, used)| **used > 0) {
        let price = target.nodes[node].price.as_ref()?;
        nano_usd_per_hour += u128::from(price.milli_usd_per_hour) * 1_000_000 * u128::from(*used);
    }
    let total = nano_usd_per_hour.checked_mul(schedule.makespan.into())?;
    u64::try_from((total + NANOS_PER_HOUR / 2) / NANOS_PER_HOUR).ok()
}
