//! The same bits whatever the width of the pool.

use haul_kernels::catalogue;

use crate::support::run::{Arg, run};
use crate::support::tensor::{Lie, Tensor, Value};
use crate::support::{formula, text};

/// Attributes by name, as authors write them.
type Given = &'static [(&'static str, &'static str)];

/// Op, types of its inputs, attributes: large enough that work is shared out.
#[rustfmt::skip]
const CALLS: &[(&str, &[&str], Given)] = &[
    ("sum", &["f32[300, 701]"], &[]),
    ("sum", &["f32[300, 701]"], &[("axis", "0")]),
    ("sum", &["f32[300, 701]"], &[("axis", "1")]),
    ("sum", &["f16[30, 70, 71]"], &[("axis", "(0, 2)")]),
    ("mean", &["f64[200003]"], &[]),
    ("norm", &["c64[2, 100003]"], &[("axis", "1")]),
    ("max", &["f32[300, 701]"], &[]),
    ("argmax", &["f32[300, 701]"], &[]),
    ("argmax", &["f32[300, 701]"], &[("axis", "0")]),
    ("trace", &["f32[5000, 8, 9]"], &[]),
    ("softmax", &["f32[300, 701]"], &[]),
    ("softmax", &["f32[300, 701]"], &[("axis", "0")]),
    ("log_softmax", &["f32[300, 701]"], &[("axis", "0")]),
    ("layer_norm", &["f16[300, 701]", "f32[]"], &[]),
    ("group_norm", &["f32[3, 6, 100, 71]", "f32[]"], &[("groups", "2")]),
    ("mean_variance_norm", &["f32[30, 70, 71]", "f32[]"], &[("axis", "[0, 2]")]),
    ("cross_entropy", &["f32[30000, 11]", "f32[30000, 11]"], &[]),
    ("mse_loss", &["f32[200003]", "f32[200003]"], &[]),
    ("attention", &["f32[3, 301, 17]", "f32[3, 257, 17]", "f32[3, 257, 19]"], &[]),
    ("matmul", &["f32[301, 257]", "f32[257, 299]"], &[]),
    ("matmul", &["f64[301, 257]", "f64[257]"], &[]),
    ("fft", &["f32[64, 1000]"], &[("axis", "0")]),
    ("fft2", &["f32[256, 250]"], &[]),
    ("norm", &["f32[300, 701]"], &[("ord", "3")]),
    ("logsumexp", &["f32[300, 701]"], &[("axis", "0")]),
    ("median", &["f32[300, 701]"], &[("axis", "1")]),
    ("cumsum", &["f32[300, 701]"], &[("axis", "0")]),
    ("sort", &["f32[3, 70001]"], &[]),
    ("argsort", &["f32[301, 701]"], &[("axis", "0")]),
    ("topk", &["f32[3, 70001]"], &[("k", "40001")]),
    ("searchsorted", &["f32[701]", "f32[300, 701]"], &[]),
    ("histogram", &["f32[300, 701]"], &[("range", "[-1, 1]")]),
    ("uniform", &[], &[("shape", "[300, 701]"), ("seed", "3")]),
    ("normal", &[], &[("shape", "[300, 701]"), ("seed", "3")]),
    ("bernoulli", &[], &[("shape", "[300, 701]"), ("seed", "3")]),
    ("random_integers", &[], &[("shape", "[300, 701]"), ("seed", "3"), ("low", "0"), ("high", "9")]),
    ("permutation", &[], &[("n", "70001"), ("seed", "3")]),
    ("conv2d", &["f32[2, 8, 60, 61]", "f32[16, 8, 3, 3]"], &[]),
    ("conv3d", &["f32[2, 3, 20, 30, 31]", "f32[5, 3, 3, 3, 3]"], &[]),
    ("conv_transpose2d", &["f32[2, 8, 60, 61]", "f32[8, 17, 3, 3]"], &[("stride", "2")]),
    ("max_pool_with_indices", &["f32[2, 8, 160, 161]"], &[("kernel_size", "3")]),
    ("avg_pool", &["f16[2, 8, 160, 161]"], &[("kernel_size", "3")]),
    ("fold", &["f32[3, 36, 3481]"], &[("kernel_size", "[3, 3]"), ("output_size", "[61, 61]")]),
    ("resize", &["f32[5, 100, 101]"], &[("sizes", "[211, 47]"), ("mode", "'cubic'")]),
    ("grid_sample", &["f32[2, 3, 50, 51]", "f32[2, 100, 90, 2]"], &[]),
];

#[test]
fn results_do_not_depend_on_the_pool() {
    for (name, types, given) in CALLS {
        let op = catalogue().find(name).expect("there is the op");
        let texts = op.params().iter().map(|param| {
            given
                .iter()
                .find(|(name, _)| *name == param.name)
                .map(|(_, text)| *text)
        });
        let attrs = formula::attrs(op, &texts.collect::<Vec<_>>());
        let inputs: Vec<_> = types.iter().map(|ty| noise(ty)).collect();
        for lie in [Lie::Contiguous, Lie::Transposed] {
            let args: Vec<_> = inputs
                .iter()
                .map(|input| Arg::Tensor(input.lying(lie)))
                .collect();
            let results = [1, 2, 3].map(|width| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(width).build();
                let outputs = pool.expect("a pool").install(|| run(op, &args, &attrs));
                let outputs = outputs.unwrap_or_else(|error| panic!("{name}: {error:?}"));
                outputs[0].bytes.get().to_vec()
            });
            assert!(
                results[0] == results[1],
                "{name} {given:?} {lie:?}: pools of 1 and 2"
            );
            assert!(
                results[0] == results[2],
                "{name} {given:?} {lie:?}: pools of 1 and 3"
            );
        }
    }
}

/// Numbers between -1 and 1 of a linear congruential generator, so that sums round.
fn noise(ty: &str) -> Tensor {
    let ty = text::ty(ty);
    let shape: Vec<_> = ty
        .shape
        .iter()
        .map(|size| size.as_u64().unwrap() as usize)
        .collect();
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 8) / f64::from(1 << 23) - 1.0
    };
    let values: Vec<_> = (0..shape.iter().product())
        .map(|_| Value::Complex(next(), next()))
        .collect();
    Tensor::new(ty.dtype, &shape, &values, Lie::Contiguous)
}
