//! The same bits whatever the width of the pool.

use haul_ir::dtype::{DType, Kind};
use haul_ir::op::{ArgType, Attrs, BlockKernel, Call, CpuKernel, Op};
use haul_ir::types::TensorType;
use haul_kernels::catalogue;
use rayon::ThreadPool;

use crate::support::run::{Arg, run};
use crate::support::tensor::{Bytes, Lie, Tensor, Value};
use crate::support::{formula, text};

/// Attributes by name, as authors write them.
type Given = &'static [(&'static str, &'static str)];

/// Op, types of its inputs, attributes: large enough that work is shared out.
#[rustfmt::skip]
const CALLS: &[(&str, &[&str], Given)] = &[
    // Linear algebra
    ("matmul", &["f32[301, 257]", "f32[257, 299]"], &[]),
    ("matmul", &["f64[301, 257]", "f64[257]"], &[]),
    ("matmul", &["i32[30, 61, 57]", "i32[57, 59]"], &[]),
    ("einsum", &["f32[30, 61, 57]", "f32[30, 57, 59]", "f32[59]"], &[("subscripts", "'bij,bjk,k->ib'")]),
    ("dot", &["f32[301, 257]", "f32[257, 299]"], &[]),
    ("vecdot", &["c64[3001, 57]", "c64[57]"], &[]),
    ("tensordot", &["f32[61, 7, 57]", "f32[7, 57, 59]"], &[]),
    ("outer", &["f32[701]", "f32[301]"], &[]),
    ("kron", &["f32[31, 17]", "f32[19, 23]"], &[]),
    ("cross", &["f32[70, 3, 301]", "f32[3, 301]"], &[("axis", "1")]),
    ("eigh", &["f64[30, 20, 20]"], &[]),
    ("eigh", &["f64[150, 150]"], &[]),
    ("eigvalsh", &["f64[150, 150]"], &[]),
    ("eigvals", &["f64[90, 90]"], &[]),
    ("svd", &["f32[150, 130]"], &[]),
    ("svdvals", &["f64[150, 130]"], &[]),
    ("qr", &["c64[30, 40, 20]"], &[]),
    ("lu", &["f64[151, 150]"], &[]),
    ("cholesky", &["dominant f64[150, 150]"], &[]),
    ("solve", &["f64[30, 50, 50]", "f64[50, 3]"], &[]),
    ("triangular_solve", &["dominant f64[150, 150]", "f64[150, 90]"], &[]),
    ("lstsq", &["f64[150, 30]", "f64[150]"], &[]),
    ("inv", &["f64[150, 150]"], &[]),
    ("pinv", &["f64[60, 40]"], &[]),
    ("det", &["f64[30, 50, 50]"], &[]),
    ("slogdet", &["f64[30, 50, 50]"], &[]),
    ("matrix_power", &["f64[150, 150]"], &[("n", "5")]),
    ("matrix_norm", &["f64[30, 50, 50]"], &[("ord", "'2'")]),
    ("attention", &["f32[3, 301, 17]", "f32[3, 257, 17]", "f32[3, 257, 19]"], &[]),
    // Signals
    ("fft", &["f32[64, 1000]"], &[("axis", "0")]),
    ("fft", &["c64[100003]"], &[]),
    ("ifft", &["c64[64, 1000]"], &[("axis", "0")]),
    ("rfft", &["f32[300, 701]"], &[]),
    ("irfft", &["c64[300, 351]"], &[("axis", "0")]),
    ("hfft", &["c64[300, 351]"], &[]),
    ("ihfft", &["f32[300, 701]"], &[]),
    ("fft2", &["f32[256, 250]"], &[]),
    ("ifft2", &["c128[156, 250]"], &[]),
    ("rfft2", &["f32[3, 156, 250]"], &[]),
    ("irfft2", &["c64[3, 156, 126]"], &[]),
    ("fftn", &["f32[30, 56, 50]"], &[]),
    ("ifftn", &["c64[30, 56, 50]"], &[]),
    ("rfftn", &["f32[30, 56, 50]"], &[]),
    ("irfftn", &["c64[30, 56, 26]"], &[]),
    ("stft", &["f32[2, 50001]", "f32[400]"], &[("hop_length", "160")]),
    ("istft", &["c64[2, 201, 300]", "f32[400]"], &[("hop_length", "160")]),
    ("hann_window", &[], &[("n", "50001")]),
    ("hamming_window", &[], &[("n", "50001")]),
    ("blackman_window", &[], &[("n", "50001")]),
    ("blackman_harris_window", &[], &[("n", "50001")]),
    ("nuttall_window", &[], &[("n", "50001")]),
    ("flat_top_window", &[], &[("n", "50001")]),
    ("bartlett_window", &[], &[("n", "50001")]),
    ("tukey_window", &[], &[("n", "50001")]),
    ("gaussian_window", &[], &[("n", "50001"), ("std", "7000")]),
    ("kaiser_window", &[], &[("n", "50001")]),
    ("fftfreq", &[], &[("n", "50001")]),
    ("rfftfreq", &[], &[("n", "100001")]),
    ("mel_weights", &[], &[("num_mel_bins", "80"), ("dft_length", "2048"), ("sample_rate", "16000")]),
    ("fftshift", &["f32[301, 701]"], &[]),
    ("ifftshift", &["f32[301, 701]"], &[]),
    ("convolve", &["f32[3, 20001]", "f32[31]"], &[]),
    ("correlate", &["f64[301, 201]", "f64[5, 7]"], &[]),
    ("stencil", &["f16[301, 201]", "f16[3, 3]"], &[("mode", "'reflect'")]),
    // Neural networks
    ("conv1d", &["f32[2, 8, 6001]", "f32[16, 8, 3]"], &[]),
    ("conv2d", &["f32[2, 8, 60, 61]", "f32[16, 8, 3, 3]"], &[]),
    ("conv3d", &["f32[2, 3, 20, 30, 31]", "f32[5, 3, 3, 3, 3]"], &[]),
    ("conv_transpose1d", &["f32[2, 8, 3001]", "f32[8, 17, 3]"], &[("stride", "2")]),
    ("conv_transpose2d", &["f32[2, 8, 60, 61]", "f32[8, 17, 3, 3]"], &[("stride", "2")]),
    ("conv_transpose3d", &["f32[2, 3, 10, 20, 21]", "f32[3, 5, 3, 3, 3]"], &[]),
    ("max_pool", &["f32[2, 8, 160, 161]"], &[("kernel_size", "3")]),
    ("max_pool_with_indices", &["f32[2, 8, 160, 161]"], &[("kernel_size", "3")]),
    ("avg_pool", &["f16[2, 8, 160, 161]"], &[("kernel_size", "3")]),
    ("lp_pool", &["f32[2, 8, 160, 161]"], &[("kernel_size", "3")]),
    ("global_max_pool", &["f32[3, 6, 100, 71]"], &[]),
    ("global_avg_pool", &["f32[3, 6, 100, 71]"], &[]),
    ("global_lp_pool", &["f32[3, 6, 100, 71]"], &[]),
    ("unfold", &["f32[3, 4, 61, 61]"], &[("kernel_size", "[3, 3]")]),
    ("fold", &["f32[3, 36, 3481]"], &[("kernel_size", "[3, 3]"), ("output_size", "[61, 61]")]),
    ("resize", &["f32[5, 100, 101]"], &[("sizes", "[211, 47]"), ("mode", "'cubic'")]),
    ("grid_sample", &["f32[2, 3, 50, 51]", "f32[2, 100, 90, 2]"], &[]),
    ("affine_grid", &["f32[2, 2, 3]"], &[("size", "[2, 3, 200, 101]")]),
    ("softmax", &["f32[300, 701]"], &[]),
    ("softmax", &["f32[300, 701]"], &[("axis", "0")]),
    ("log_softmax", &["f32[300, 701]"], &[("axis", "0")]),
    ("hardmax", &["f32[300, 701]"], &[]),
    ("layer_norm", &["f16[300, 701]", "f32[]"], &[]),
    ("rms_norm", &["f32[300, 701]", "f32[]"], &[]),
    ("instance_norm", &["f32[3, 6, 100, 71]", "f32[]"], &[]),
    ("group_norm", &["f32[3, 6, 100, 71]", "f32[]"], &[("groups", "2")]),
    ("batch_norm", &["f32[3, 6, 100, 71]", "f32[6]", "bool[6]", "f32[]"], &[]),
    ("mean_variance_norm", &["f32[30, 70, 71]", "f32[]"], &[("axis", "[0, 2]")]),
    ("normalize", &["f32[300, 701]", "f32[]"], &[]),
    ("lrn", &["f32[3, 16, 50, 51]", "f32[]", "f32[]", "f32[]"], &[("size", "5")]),
    ("rotary_embedding", &["f32[2, 4, 101, 32]", "f32[101, 16]", "f32[101, 16]"], &[]),
    ("embedding", &["i32[300, 71]", "f32[7, 19]"], &[]),
    ("one_hot", &["i32[300, 71]", "f32[]", "f32[]"], &[("classes", "7")]),
    ("mse_loss", &["f32[200003]", "f32[200003]"], &[]),
    ("bce_loss", &["bool[200003]", "f32[200003]"], &[]),
    ("nll_loss", &["f32[30000, 11]", "i64[30000]"], &[]),
    ("cross_entropy", &["f32[30000, 11]", "f32[30000, 11]"], &[]),
    // Reductions
    ("sum", &["f32[300, 701]"], &[]),
    ("sum", &["f32[300, 701]"], &[("axis", "0")]),
    ("sum", &["f32[300, 701]"], &[("axis", "1")]),
    ("sum", &["f16[30, 70, 71]"], &[("axis", "(0, 2)")]),
    ("prod", &["f32[300, 701]"], &[("axis", "0")]),
    ("mean", &["f64[200003]"], &[]),
    ("var", &["f32[300, 701]"], &[]),
    ("std", &["f32[300, 701]"], &[("axis", "0")]),
    ("median", &["f32[300, 701]"], &[("axis", "1")]),
    ("quantile", &["f32[300, 701]"], &[("q", "[0.1, 0.7]"), ("axis", "0")]),
    ("norm", &["c64[2, 100003]"], &[("axis", "1")]),
    ("norm", &["f32[300, 701]"], &[("ord", "3")]),
    ("logsumexp", &["f32[300, 701]"], &[("axis", "0")]),
    ("min", &["f32[300, 701]"], &[("axis", "1")]),
    ("max", &["f32[300, 701]"], &[]),
    ("argmin", &["f32[300, 701]"], &[("axis", "1")]),
    ("argmax", &["f32[300, 701]"], &[]),
    ("argmax", &["f32[300, 701]"], &[("axis", "0")]),
    ("any", &["bool[300, 701]"], &[("axis", "1")]),
    ("all", &["bool[300, 701]"], &[("axis", "0")]),
    ("count_nonzero", &["i32[300, 701]"], &[]),
    ("trace", &["f32[5000, 8, 9]"], &[]),
    ("cumsum", &["f32[300, 701]"], &[("axis", "0")]),
    ("cumprod", &["f32[3, 70001]"], &[]),
    ("cummax", &["f32[3, 70001]"], &[]),
    ("cummin", &["f32[300, 701]"], &[("axis", "0")]),
    ("histogram", &["f32[300, 701]"], &[("range", "[-1, 1]")]),
    ("bincount", &["i32[200003]", "f32[200003]"], &[("length", "7")]),
    ("segment_sum", &["f32[30001, 7]", "i32[30001]"], &[("segments", "7")]),
    ("sort", &["f32[3, 70001]"], &[]),
    ("argsort", &["f32[301, 701]"], &[("axis", "0")]),
    ("topk", &["f32[3, 70001]"], &[("k", "40001")]),
    ("searchsorted", &["f32[701]", "f32[300, 701]"], &[]),
    // Random numbers
    ("uniform", &[], &[("shape", "[300, 701]"), ("seed", "3")]),
    ("normal", &[], &[("shape", "[300, 701]"), ("seed", "3")]),
    ("bernoulli", &[], &[("shape", "[300, 701]"), ("seed", "3")]),
    ("random_integers", &[], &[("shape", "[300, 701]"), ("seed", "3"), ("low", "0"), ("high", "9")]),
    ("permutation", &[], &[("n", "70001"), ("seed", "3")]),
    // Layouts
    ("copy", &["f32[300, 701]"], &[]),
    ("concat", &["f32[300, 401]", "f32[300, 301]"], &[("axis", "1")]),
    ("stack", &["f32[300, 401]", "f32[300, 401]"], &[("axis", "2")]),
    ("split", &["f32[300, 701]"], &[("parts", "[100, 601]"), ("axis", "1")]),
    ("roll", &["f32[300, 701]"], &[("shift", "33"), ("axis", "1")]),
    ("pad", &["f32[300, 701]"], &[("pad_width", "9"), ("mode", "'wrap'")]),
    ("tile", &["f32[300, 71]"], &[("repeats", "[2, 9]")]),
    ("repeat", &["f32[300, 71]"], &[("repeats", "9"), ("axis", "1")]),
    ("diag", &["f32[701]"], &[]),
    ("tril", &["f32[301, 701]"], &[]),
    ("triu", &["f32[301, 701]"], &[]),
    ("bitcast", &["f32[301, 701]"], &[("dtype", "'u32'")]),
    ("depth_to_space", &["f32[3, 8, 101, 71]"], &[("block", "2")]),
    ("space_to_depth", &["f32[3, 8, 102, 72]"], &[("block", "2")]),
    ("full", &[], &[("shape", "[300, 701]"), ("value", "2.5")]),
    ("zeros", &[], &[("shape", "[300, 701]")]),
    ("ones", &[], &[("shape", "[300, 701]")]),
    ("eye", &[], &[("n", "501")]),
    ("arange", &[], &[("start", "200003")]),
    ("linspace", &[], &[("start", "-1"), ("stop", "2"), ("num", "200003")]),
    ("meshgrid", &["f32[301]", "f32[701]"], &[]),
    ("take", &["f32[7, 701]", "i32[301]"], &[("axis", "0")]),
    ("take_along_axis", &["f32[301, 701]", "i32[7, 701]"], &[("axis", "0")]),
    ("gather_nd", &["f32[7, 7, 301]", "i32[301, 2]"], &[]),
    ("scatter", &["f32[301, 701]", "i32[301, 701]", "f32[301, 701]"], &[("axis", "1"), ("reduction", "'add'")]),
    ("scatter_nd", &["f32[7, 301]", "i32[701, 1]", "f32[701, 301]"], &[("reduction", "'add'")]),
    ("reverse_sequence", &["f32[301, 701]", "i32[301]"], &[]),
    ("gather", &["each f32[300, 701]"], &[]),
    ("concat_all", &["each f32[300, 701]"], &[]),
    ("sum_all", &["each f32[300, 701]"], &[]),
    ("mean_all", &["each f32[300, 701]"], &[]),
];

/// Widths of pools; the last is wider than there are cores, so that tasks end in any order.
const WIDTHS: [usize; 4] = [1, 2, 3, 8];

#[test]
fn results_do_not_depend_on_the_pool() {
    let pools = pools();
    for (name, types, given) in CALLS {
        let op = catalogue().find(name).expect("there is the op");
        let attrs = attrs(op, types.len(), given);
        let inputs: Vec<_> = types.iter().map(|ty| argument(ty)).collect();
        for lie in [Lie::Contiguous, Lie::Transposed] {
            let args: Vec<_> = inputs.iter().map(|input| input.lying(lie)).collect();
            compare(
                &pools,
                op,
                &args,
                &attrs,
                &format!("{name} {given:?} {lie:?}"),
            );
        }
    }
}

#[test]
fn nor_do_those_of_examples() {
    let pools = pools();
    for op in catalogue().0 {
        for example in op.examples() {
            let (_, args, attrs) = formula::call(example, *op);
            // What gives rows sorts or copies them, and is compared by its own tests.
            if matches!(op.cpu(), CpuKernel::Measured { .. } | CpuKernel::Columns(_)) {
                continue;
            }
            compare(&pools, *op, &args, &attrs, example.formula);
        }
    }
}

/// Functions of elements get blocks and see no pool; layouts are no work.
#[test]
fn every_op_that_shares_work_has_a_call() {
    let shares = |op: &&dyn Op| matches!(op.cpu(), CpuKernel::Array(_) | CpuKernel::Contiguous(_));
    let names = catalogue().0.iter().copied().filter(shares).map(Op::name);
    let missing: Vec<_> = names
        .filter(|name| CALLS.iter().all(|call| call.0 != *name))
        .collect();
    assert!(missing.is_empty(), "add {missing:?} to the calls");
}

/// The same bits in blocks that begin and end anywhere.
#[test]
fn functions_of_elements_do_not_depend_on_blocks() {
    for op in catalogue().0 {
        let CpuKernel::Elementwise(kernel) = op.cpu() else {
            continue;
        };
        for dtype in DType::ALL {
            let mut dtypes = vec![dtype; op.params().len()];
            if op.name() == "where" {
                dtypes[0] = DType::Bool;
            }
            let types = dtypes
                .iter()
                .map(|dtype| TensorType::new(*dtype, Vec::new()));
            let types: Vec<_> = types.map(|ty| ArgType::Value(ty.into())).collect();
            let inferred = op.infer(&Call {
                inputs: &types,
                attrs: &Attrs::default(),
            });
            let Ok(inferred) = inferred else {
                continue;
            };
            let casts = dtypes.iter().zip(&inferred.cast);
            let dtypes: Vec<_> = casts.map(|(own, cast)| cast.unwrap_or(*own)).collect();
            let result = inferred.outputs[0].tensor().expect("a tensor").dtype;
            let kernel = kernel(&dtypes, result).expect("what was inferred has a kernel");
            check_blocks(kernel, &dtypes, result, op.name());
        }
    }
}

fn check_blocks(kernel: BlockKernel, dtypes: &[DType], result: DType, name: &str) {
    const COUNT: usize = 600;
    let inputs = dtypes.iter().zip(1..);
    let inputs: Vec<_> = inputs
        .map(|(dtype, seed)| noise(*dtype, &[COUNT], seed))
        .collect();
    let run = |from: usize, to: usize| {
        let part = |input: &Tensor| {
            let size = input.dtype.size() as usize;
            let mut part = Bytes::dirty((to - from) * size);
            part.get_mut()
                .copy_from_slice(&input.bytes.get()[from * size..to * size]);
            part
        };
        let parts: Vec<_> = inputs.iter().map(part).collect();
        let parts: Vec<_> = parts.iter().map(Bytes::get).collect();
        let mut output = Bytes::dirty((to - from) * result.size() as usize);
        kernel(&parts, output.get_mut()).expect("nothing is divided by 0");
        output.get().to_vec()
    };
    let parts = [run(0, 1), run(1, 274), run(274, COUNT)].concat();
    assert!(run(0, COUNT) == parts, "{name} of {dtypes:?}");
}

/// The attributes of a call with so many inputs; the first of those that may be left out are given.
fn attrs(op: &dyn Op, inputs: usize, given: Given) -> Attrs {
    let values = op.params().iter().filter(|param| param.kind.is_value());
    let required = values.filter(|param| !param.is_optional_tensor()).count();
    let mut more = inputs.saturating_sub(required);
    let texts = op.params().iter().map(|param| {
        if param.is_optional_tensor() {
            let is_given = more > 0;
            more = more.saturating_sub(1);
            return is_given.then_some("true");
        }
        let found = given.iter().find(|(name, _)| *name == param.name);
        found.map(|(_, text)| *text)
    });
    formula::attrs(op, &texts.collect::<Vec<_>>())
}

fn pools() -> [ThreadPool; 4] {
    WIDTHS.map(|width| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(width).build();
        pool.expect("a pool")
    })
}

/// Runs a call on every pool.
fn compare(pools: &[ThreadPool; 4], op: &dyn Op, args: &[Arg], attrs: &Attrs, what: &str) {
    let results = pools.each_ref().map(|pool| {
        let outputs = pool.install(|| run(op, args, attrs));
        let outputs = outputs.unwrap_or_else(|error| panic!("{what}: {error:?}"));
        let bytes = outputs.iter().map(|output| output.bytes.get().to_vec());
        bytes.collect::<Vec<_>>()
    });
    for (result, width) in results.iter().zip(WIDTHS) {
        assert!(*result == results[0], "{what}: pools of 1 and {width}");
    }
}

/// A tensor, or with `each ` before its type a collection of three.
fn argument(ty: &str) -> Arg {
    if let Some(item) = ty.strip_prefix("each ") {
        let item = text::ty(item);
        return Arg::Items(
            [1, 2, 3]
                .map(|seed| noise(item.dtype, &sizes(&item), seed))
                .into(),
        );
    }
    if let Some(matrix) = ty.strip_prefix("dominant ") {
        return Arg::Tensor(dominant(&text::ty(matrix)));
    }
    let ty = text::ty(ty);
    Arg::Tensor(noise(ty.dtype, &sizes(&ty), 1))
}

fn sizes(ty: &TensorType) -> Vec<usize> {
    let sizes = ty.shape.iter();
    sizes.map(|size| size.as_u64().unwrap() as usize).collect()
}

/// Numbers between -1 and 1 of a linear congruential generator, so that sums round; whole numbers
/// from 1 to 6.
fn noise(dtype: DType, shape: &[usize], seed: u32) -> Tensor {
    let values: Vec<_> = numbers(dtype, seed).take(shape.iter().product()).collect();
    Tensor::new(dtype, shape, &values, Lie::Contiguous)
}

fn numbers(dtype: DType, seed: u32) -> impl Iterator<Item = Value> {
    let mut state = seed;
    let mut next = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 8
    };
    let mut share = move || (next(), f64::from(next()) / f64::from(1 << 23) - 1.0);
    std::iter::repeat_with(move || match dtype.kind() {
        Kind::Bool => Value::Int(i128::from(share().0 >> 7 & 1)),
        Kind::Int => Value::Int(i128::from(share().0 >> 7) % 6 + 1),
        Kind::Float => Value::Real(share().1),
        Kind::Complex => Value::Complex(share().1, share().1),
    })
}

/// A matrix whose diagonal is larger than the sum of each row.
fn dominant(ty: &TensorType) -> Tensor {
    let shape = sizes(ty);
    let (count, columns) = (shape.iter().product(), shape[shape.len() - 1]);
    let values = numbers(ty.dtype, 1).take(count).enumerate();
    let values: Vec<_> = values
        .map(|(at, value)| match value {
            Value::Real(_) if at % (columns + 1) == 0 => Value::Real(2.0 * columns as f64),
            other => other,
        })
        .collect();
    Tensor::new(ty.dtype, &shape, &values, Lie::Contiguous)
}
