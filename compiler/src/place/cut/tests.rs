//! The cut against trying all divisions.

use proptest::prelude::*;

use super::{Candidate, Flow, Problem};
use haul_ir::plan::Side;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn is_the_best_of_all_divisions(problem in problems()) {
        let all = allowed(&problem);
        let best = all.iter().map(|sides| price(&problem, sides)).min().unwrap();
        let solution = problem.solve();

        prop_assert_eq!(price(&problem, &solution.sides), best);
        prop_assert_eq!(problem.total(&solution.sides), best);
        // The CPU wins ties: what is on the GPU is there in every best division.
        for sides in all.iter().filter(|sides| price(&problem, sides) == best) {
            for (group, side) in solution.sides.iter().enumerate() {
                prop_assert!(*side == Side::Cpu || sides[group] == Side::Gpu);
            }
        }
    }

    #[test]
    fn regret_is_what_forcing_costs(problem in problems()) {
        let all = allowed(&problem);
        let best = all.iter().map(|sides| price(&problem, sides)).min().unwrap();
        let solution = problem.solve();
        for region in &solution.regions {
            for (position, group) in region.groups.iter().enumerate() {
                let side = solution.sides[*group];
                let forced = all.iter().filter(|sides| sides[*group] != side);
                let forced = forced.map(|sides| price(&problem, sides)).min().unwrap();
                prop_assert_eq!(region.regret(position, side), forced - best);
            }
        }
    }
}

/// Up to ten groups; values that each are read by some of the groups after their maker.
fn problems() -> impl Strategy<Value = Problem> {
    let group = (
        0..100u64,
        0..100u64,
        prop_oneof![8 => Just(None), 1 => Just(Some(Side::Cpu)), 1 => Just(Some(Side::Gpu))],
    );
    let value = (
        any::<Option<prop::sample::Index>>(),
        any::<u16>(),
        any::<bool>(),
        0..60u64,
        0..60u64,
    );
    let parts = (
        prop::collection::vec(group, 1..=10),
        prop::collection::vec(value, 0..=12),
    );
    parts.prop_map(|(groups, values)| {
        let count = groups.len();
        let groups = groups
            .into_iter()
            .map(|(cpu, gpu, fixed)| Candidate { cpu, gpu, fixed });
        let values = values
            .into_iter()
            .map(|(maker, readers, is_result, h2d, d2h)| {
                let maker = maker.map(|maker| maker.index(count));
                let first = maker.map_or(0, |maker| maker + 1);
                let readers = (first..count)
                    .filter(|group| readers >> group & 1 == 1)
                    .collect();
                Flow {
                    maker,
                    readers,
                    is_result,
                    h2d,
                    d2h,
                }
            });
        Problem {
            groups: groups.collect(),
            values: values.collect(),
        }
    })
}

/// All divisions that respect given sides.
fn allowed(problem: &Problem) -> Vec<Vec<Side>> {
    let count = problem.groups.len();
    let side = |bits: usize, group: usize| {
        if bits >> group & 1 == 1 {
            Side::Gpu
        } else {
            Side::Cpu
        }
    };
    let all = (0..1 << count).map(|bits| (0..count).map(|group| side(bits, group)).collect());
    let respects = |sides: &Vec<Side>| {
        let mut pairs = problem.groups.iter().zip(sides);
        pairs.all(|(group, side)| group.fixed.is_none_or(|fixed| fixed == *side))
    };
    all.filter(respects).collect()
}

/// What a division costs, told as the words say it.
fn price(problem: &Problem, sides: &[Side]) -> u64 {
    let mut sum = 0;
    for (group, side) in problem.groups.iter().zip(sides) {
        sum += if *side == Side::Gpu {
            group.gpu
        } else {
            group.cpu
        };
    }
    for value in &problem.values {
        let home = value.maker.map_or(Side::Cpu, |maker| sides[maker]);
        let mut wanted: Vec<Side> = value.readers.iter().map(|reader| sides[*reader]).collect();
        if value.is_result {
            wanted.push(Side::Cpu);
        }
        if home == Side::Cpu && wanted.contains(&Side::Gpu) {
            sum += value.h2d;
        }
        if home == Side::Gpu && wanted.contains(&Side::Cpu) {
            sum += value.d2h;
        }
    }
    sum
}
