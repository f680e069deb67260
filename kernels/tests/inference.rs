//! Shape rules with sizes that are symbols, and what they say of a call that does not fit.

use haul_ir::expr::{Expr, Symbol};
use haul_ir::op::{ArgType, Attrs, Call, Op};
use haul_ir::types::Axes;
use haul_kernels::catalogue;

use crate::support::{formula, text};

fn find(name: &str) -> &'static dyn Op {
    let found = catalogue().find(name);
    found.unwrap_or_else(|| panic!("there is no op `{name}`"))
}

/// The shape of the one result, or what is wrong.
fn shape(op: &dyn Op, inputs: &[ArgType], attrs: &Attrs) -> Result<Vec<Expr>, String> {
    let call = Call { inputs, attrs };
    let inferred = op.infer(&call).map_err(|error| error.message)?;
    let output = inferred.outputs[0].tensor().expect("a tensor").clone();
    Ok(output.shape)
}

/// Sizes of convolutions, by counting where a filter has room.
#[test]
fn sizes_of_convolutions() {
    let op = find("conv2d");
    let every = |case: usize, sizes: [usize; 6]| {
        let mut rest = case;
        sizes.map(|size| {
            let chosen = rest % size;
            rest /= size;
            chosen
        })
    };
    let sizes = [7, 4, 3, 3, 3, 3];
    for case in 0..sizes.iter().product() {
        let [input, filter, stride, dilation, before, after] = every(case, sizes);
        let (filter, stride, dilation) = (filter + 1, stride + 1, dilation + 1);
        let room = |start: usize| start + (filter - 1) * dilation < before + input + after;
        let wanted = (0..20).filter(|place| room(place * stride)).count() as u64;
        let ty = |height: usize, width: usize| {
            ArgType::Value(text::ty(&format!("f32[1, 1, {height}, {width}]")).into())
        };
        let written = [
            format!("[{stride}, 1]"),
            format!("[{before}, 0, {after}, 0]"),
            format!("[{dilation}, 1]"),
        ];
        let given = written.iter().map(|text| Some(text.as_str()));
        let given: Vec<_> = [None, None]
            .into_iter()
            .chain(given)
            .chain([None])
            .collect();
        let inputs = [ty(input, 2), ty(filter, 2)];
        match shape(op, &inputs, &formula::attrs(op, &given)) {
            Ok(got) => assert_eq!(got[2], Expr::from(wanted), "{inputs:?} {written:?}"),
            Err(error) => assert_eq!(wanted, 0, "{inputs:?} {written:?}: {error}"),
        }
    }
}

/// Op, its inputs, its attributes in order, the shape or what is wrong.
#[rustfmt::skip]
const SYMBOLIC: &[(&str, &[&str], &[&str], &str)] = &[
    ("matmul", &["f32[n, 8]", "f32[8, m]"], &[], "[n, m]"),
    ("matmul", &["f32[b, n, k]", "f32[k]"], &[], "[b, n]"),
    ("matmul", &["f32[n, k]", "f32[m, k]"], &[], "inner dimensions disagree: k and m"),
    ("matmul", &["f32[B, 8193]", "f32[8192, 128]"], &[], "inner dimensions disagree: 8193 and 8192"),
    ("matmul", &["f32[]", "f32[3]"], &[], "a matrix product needs axes, this is a scalar"),
    ("matmul", &["bool[2, 2]", "bool[2, 2]"], &[], "there is no matrix product of bools"),
    ("transpose", &["f32[a, b, c]"], &["none"], "[c, b, a]"),
    ("transpose", &["f32[a, b, c]"], &["[1, -1, 0]"], "[b, c, a]"),
    ("transpose", &["f32[a, b]"], &["[0, 0]"], "axis 0 is given twice"),
    ("transpose", &["f32[a, b]"], &["[0]"], "names 1 axes of a tensor with 2"),
    ("transpose", &["f32[a, b]"], &["[0, 2]"], "axis 2 does not exist: axes are 0 to 1"),
    ("index", &["f32[n, 8]"], &[":5"], "[min(5, n), 8]"),
    ("index", &["f32[n]"], &["1:"], "[max(0, n - 1)]"),
    ("index", &["f32[n]"], &[":-1"], "[max(0, n - 1)]"),
    ("index", &["f32[n]"], &["-5:"], "[min(5, n)]"),
    ("index", &["f32[n]"], &["::-1"], "[n]"),
    ("index", &["f32[n]"], &["::2"], "[-(-n // 2)]"),
    ("index", &["f32[n, 3]"], &["..., newaxis, 0"], "[n, 1]"),
    ("index", &["f32[n, 3]"], &["7"], "[3]"),
    ("index", &["f32[n, 3]"], &[":, 3"], "index 3 is out of bounds for an axis of size 3"),
    ("index", &["f32[n, 3]"], &[":, -4"], "index -4 is out of bounds for an axis of size 3"),
    ("index", &["f32[n]"], &["0, 0"], "2 indices into a tensor with 1 axes"),
    ("index", &["f32[n]"], &["..., ..."], "only one `...` can stand in an index"),
    ("reshape", &["f32[n, 8]"], &["[-1]"], "[8*n]"),
    ("reshape", &["f32[n, 8]"], &["[8, n]"], "[8, n]"),
    ("reshape", &["f32[n, 8]"], &["[n, 2, -1]"], "[n, 2, 4]"),
    ("reshape", &["f32[n, m]"], &["[m, -1]"], "[m, n]"),
    ("reshape", &["f32[n]"], &["[-1, 4]"], "[(n // 4), 4]"),
    ("reshape", &["f32[2, 3]"], &["[4, -1]"], "[2, 3] does not fit [4, -1]: 4 does not divide 6 elements"),
    ("reshape", &["f32[2, 3]"], &["[5]"], "[2, 3] does not fit [5]: 6 elements against 5"),
    ("reshape", &["f32[n]"], &["[28, 28]"], "[n] does not fit [28, 28]: n elements against 784"),
    ("reshape", &["f32[0]"], &["[0, -1]"], "[0] does not fit [0, -1]: 0 does not divide 0 elements"),
    ("reshape", &["f32[6]"], &["[-2, 3]"], "-2 is no size: sizes are 0 or more, one may be -1"),
    ("broadcast_to", &["f32[n, 1]"], &["[b, n, 3]"], "[b, n, 3]"),
    ("broadcast_to", &["f32[n]"], &["[3]"], "[n] does not broadcast to [3]"),
    ("broadcast_to", &["f32[1, 3]"], &["[3]"], "[1, 3] does not broadcast to [3]"),
    ("concat", &["f32[n, 3]", "f32[2, 3]", "f32[n, 3]"], &["0"], "[2*n + 2, 3]"),
    ("concat", &["f32[n, 3]", "f32[n, 4]"], &["-1"], "[n, 7]"),
    ("concat", &["f32[n, 3]", "f32[m, 3]"], &["1"], "shapes differ beside axis 1: [n, 3] and [m, 3]"),
    ("concat", &["f32[]", "f32[]"], &["0"], "a scalar has no axis to join along"),
    ("stack", &["f32[n]", "i8[n]"], &["1"], "[n, 2]"),
    ("stack", &["f32[n]", "f32[m]"], &["0"], "shapes differ: [n] and [m]"),
    ("stack", &["u64[n]", "i64[n]"], &["0"], "no dtype holds both u64 and i64"),
    ("fft", &["f32[n, m]"], &["none", "0"], "[n, m]"),
    ("fft", &["f32[n, m]"], &["k", "0"], "[k, m]"),
    ("fft", &["f32[0]"], &["none", "-1"], "axis 0 is empty, a transform needs an element"),
    ("fft", &["f32[n]"], &["0", "-1"], "a transform has at least one element, not 0"),
    ("fft", &["f32[]"], &["none", "-1"], "axis -1 does not exist: it is a scalar and has none"),
    ("rfft", &["f32[B, 16384]"], &["none", "1"], "[B, 8193]"),
    ("rfft", &["f32[n]"], &["none", "-1"], "[(n // 2) + 1]"),
    ("rfft", &["c64[n]"], &["none", "-1"], "takes real numbers, this is c64"),
    ("irfft", &["c64[n, m]"], &["none", "0"], "[2*n - 2, m]"),
    ("irfft", &["c64[n, 1]"], &["none", "1"], "axis 1 has one element, which makes 0 without `n`"),
    ("hfft", &["c64[n]"], &["9", "0"], "[9]"),
    ("ihfft", &["f32[n]"], &["k", "0"], "[(k // 2) + 1]"),
    ("fft2", &["f32[n]"], &["none", "[-2, -1]"], "axis -2 does not exist: axes are 0 to 0"),
    ("rfft2", &["f32[b, n, m]"], &["none", "[-2, -1]"], "[b, n, (m // 2) + 1]"),
    ("irfft2", &["f32[b, n, m]"], &["[8, 9]", "[-2, -1]"], "[b, 8, 9]"),
    ("rfftn", &["f32[n, m]"], &["none", "[1, 0]"], "[(n // 2) + 1, m]"),
    ("fftn", &["f32[n, m]"], &["[8]", "none"], "[n, 8]"),
    ("fftn", &["f32[n, m]"], &["[8]", "[0, 1]"], "`s` is one number for each of 2 axes"),
    ("fftn", &["f32[]"], &["none", "none"], "a transform needs an axis, this has none"),
    ("stft", &["f32[b, n]", "f32[400]"], &["160", "true", "'reflect'", "true"], "[b, 201, (n // 160) + 1]"),
    ("stft", &["f32[b, n]", "f32[400]"], &["160", "false", "'reflect'", "true"], "[b, 201, ((n - 400) // 160) + 1]"),
    ("stft", &["f32[300]", "f32[400]"], &["160", "false", "'reflect'", "true"], "a frame has 400 elements, the signal 300"),
    ("stft", &["c64[n]", "f32[400]"], &["160", "true", "'reflect'", "true"], "`onesided` is for real numbers, this is c64"),
    ("stft", &["f32[n]", "f32[2, 4]"], &["1", "true", "'reflect'", "true"], "is a vector of real numbers, this is f32[2, 4]"),
    ("stft", &["f32[n]", "f32[w]"], &["n", "true", "'reflect'", "true"], "`hop_length` is a known whole number of at least 1"),
    ("istft", &["c64[b, 201, k]", "f32[400]"], &["160", "none", "true", "true"], "[b, 160*k - 160]"),
    ("istft", &["c64[b, 201, k]", "f32[400]"], &["160", "n", "true", "true"], "[b, n]"),
    ("istft", &["c64[201, 3]", "f32[400]"], &["160", "521", "true", "true"], "the frames reach over 520 elements, `length` is 521"),
    ("istft", &["c64[200, k]", "f32[400]"], &["160", "none", "true", "true"], "a frame of 400 elements has 201 bins, these are 200"),
    ("hann_window", &[], &["n", "true", "'f32'"], "[n]"),
    ("hann_window", &[], &["-1", "true", "'f32'"], "`n` is a whole number of at least 0"),
    ("hann_window", &[], &["8", "true", "'i32'"], "weights have fractions, i32 has none"),
    ("tukey_window", &[], &["8", "1.5", "true", "'f32'"], "`alpha` is a number from 0 to 1"),
    ("kaiser_window", &[], &["8", "inf", "true", "'f32'"], "`beta` is a number from 0 to 700"),
    ("fftfreq", &[], &["n", "0", "'f64'"], "`d` is a number other than 0"),
    ("rfftfreq", &[], &["n", "0.1", "'f64'"], "[(n // 2) + 1]"),
    ("mel_weights", &[], &["k", "512", "16000", "0", "none", "'f32'"], "[257, k]"),
    ("mel_weights", &[], &["k", "512", "16000", "0", "9000", "'f32'"],
        "the frequencies go from `lower` up to `upper`, at most 8000 here"),
    ("convolve", &["f32[b, n]", "f32[3]"], &["'full'"], "[b, n + 2]"),
    ("convolve", &["f32[n, m]", "f32[k, 3]"], &["'valid'"], "[-k + n + 1, m - 2]"),
    ("convolve", &["f32[2]", "f32[3]"], &["'valid'"], "along axis 0 there are 3 weights for 2 elements"),
    ("convolve", &["f32[0]", "f32[3]"], &["'full'"], "axis 0 of f32[0] is empty"),
    ("correlate", &["f32[n]", "f32[2, 2]"], &["'same'"], "weights have one to 1 axes, these are f32[2, 2]"),
    ("stencil", &["f32[n, m]", "f32[3, 3]"], &["'edge'", "0"], "[n, m]"),
    ("stencil", &["u8[n]", "u8[3]"], &["'constant'", "256"], "256 is no u8"),
    ("stencil", &["f32[n]", "f32[0]"], &["'edge'", "0"], "there are no weights"),
    ("cross", &["f32[n, 1, 3]", "f32[m, 3]"], &["-1"], "[n, m, 3]"),
    ("cross", &["f32[n, 2]", "f32[n, 2]"], &["-1"], "needs three elements along axis 1, this is f32[n, 2]"),
    ("vecdot", &["f32[n, 1, k]", "f32[m, k]"], &["-1"], "[n, m]"),
    ("vecdot", &["f32[n, k]", "f32[n, m]"], &["-1"], "inner dimensions disagree: k and m"),
    ("vecdot", &["f32[n, 3]", "f32[n, 1]"], &["-1"], "inner dimensions disagree: 3 and 1"),
    ("dot", &["f32[n, 1]", "f32[3]"], &[], "inner dimensions disagree: 1 and 3"),
    ("tensordot", &["f32[n, 3]", "f32[1, m]"], &["1"], "inner dimensions disagree: 3 and 1"),
    ("complex", &["f32[n, 1]", "f64[m]"], &[], "[n, m]"),
    ("fftshift", &["f32[n, m]"], &["2"], "axis 2 does not exist: axes are 0 to 1"),
    ("conv2d", &["f32[n, 3, h, w]", "f32[8, 3, 3, 3]"], &["1", "1", "1", "1"], "[n, 8, h, w]"),
    ("conv2d", &["f32[n, 3, h, 9]", "f32[8, 3, 3, 3]"], &["2", "'same'", "1", "1"],
        "[n, 8, -(-h // 2), 5]"),
    ("conv2d", &["f32[1, 3, 9, 9]", "f32[8, 4, 3, 3]"], &["1", "0", "1", "1"],
        "the input has 3 channels, the filters take 4"),
    ("conv2d", &["f32[1, 4, 9, 9]", "f32[3, 2, 3, 3]"], &["1", "0", "1", "2"],
        "3 filters do not divide into 2 groups"),
    ("conv2d", &["f32[1, 1, 2, 9]", "f32[1, 1, 3, 3]"], &["1", "'valid'", "1", "1"],
        "a window reaches over 3 elements, the padded input has 2"),
    ("conv2d", &["f32[1, 1, 9, 9]", "f32[1, 1, 3, 3]"], &["0", "0", "1", "1"],
        "`stride` is a whole number of at least 1, or one for each of 2 axes"),
    ("conv2d", &["f32[1, 1, 9, 9]", "f32[1, 1, 3, 3]"], &["1", "[1, 2, 3]", "1", "1"],
        "`padding` is a whole number of at least 0, one for each of 2 axes, one for each \
         beginning and then for each end, or a word"),
    ("conv2d", &["f32[1, 9, 9]", "f32[1, 1, 3, 3]"], &["1", "0", "1", "1"],
        "needs [N, C, H, W], this is f32[1, 9, 9]"),
    ("cumsum", &["f32[n, 3]"], &["0", "false", "false"], "[n, 3]"),
    ("cumsum", &["f32[n, 3]"], &["2", "false", "false"], "axis 2 does not exist: axes are 0 to 1"),
    ("norm", &["f32[n, 3]"], &["1", "false", "inf"], "[n]"),
    ("norm", &["f32[n, 0]"], &["1", "false", "inf"], "there is no element to take from f32[n, 0]"),
    ("norm", &["f32[n, 3]"], &["1", "false", "nan"], "the order of a norm is one number"),
    ("argmax", &["f32[n, 3]"], &["1", "true", "true"], "[n, 1]"),
    ("quantile", &["f32[n, 3]"], &["0.5", "0", "'linear'", "false"], "[3]"),
    ("quantile", &["f32[n, 3]"], &["[0.5, 0.9]", "0", "'linear'", "true"], "[2, 1, 3]"),
    ("quantile", &["f32[n]"], &["1.5", "0", "'linear'", "false"], "`q` is a number from 0 to 1, or some"),
    ("quantile", &["f32[0]"], &["0.5", "0", "'linear'", "false"], "there is no element to take from f32[0]"),
    ("median", &["c64[n]"], &["0", "false"], "is not defined for c64"),
    ("histogram", &["f32[n]"], &["[0, 1]", "b"], "[b]"),
    ("histogram", &["f32[n]"], &["[1, 0]", "4"], "the range is two numbers, the lower first: `[0, 1]`"),
    ("histogram", &["f32[n]"], &["[0, 1]", "0"], "there is at least one bin, not 0"),
    ("bincount", &["f32[n]"], &["4"], "needs whole numbers, these are f32"),
    ("bincount", &["u8[n]"], &["-1"], "`length` is a whole number, at least 0"),
    ("segment_sum", &["f32[n, 3]", "i32[n]"], &["k"], "[k, 3]"),
    ("segment_sum", &["f32[n, 3]", "i32[m]"], &["k"], "needs a number for each row of f32[n, 3], this is i32[m]"),
    ("sort", &["c64[n]"], &["0", "false"], "is not defined for c64"),
    ("topk", &["f32[n, 9]"], &["k", "0", "true", "true"], "[k, 9]"),
    ("topk", &["f32[n, 9]"], &["10", "1", "true", "true"], "cannot take 10 elements of 9"),
    ("topk", &["f32[n, 9]"], &["-1", "0", "true", "true"], "cannot take -1 elements of n"),
    ("searchsorted", &["f32[n]", "f32[m, 3]"], &["'left'"], "[m, 3]"),
    ("searchsorted", &["f32[n, 2]", "f32[m]"], &["'left'"], "needs a vector, this is f32[n, 2]"),
    ("uniform", &[], &["[n, 3]", "1", "0", "1", "'f32'"], "[n, 3]"),
    ("uniform", &[], &["[n, 3]", "1", "1", "0", "'f32'"], "`low` and `high` are numbers, the lower first"),
    ("normal", &[], &["[-3]", "1", "0", "1", "'f64'"], "an axis cannot have -3 elements"),
    ("bernoulli", &[], &["[n]", "1", "1.5"], "a probability is a number from 0 to 1"),
    ("random_integers", &[], &["[n]", "1", "0", "256", "'u8'"], "[n]"),
    ("random_integers", &[], &["[n]", "1", "0", "257", "'u8'"], "numbers from 0 to below 257 do not fit into u8"),
    ("random_integers", &[], &["[n]", "1", "5", "5", "'u8'"], "there is no number from 5 to below 5"),
    ("permutation", &[], &["n", "1"], "[n]"),
    ("left_shift", &["f32[n]", "i32[n]"], &[], "is not defined for f64"),
    ("logical_and", &["c64[n]", "bool[n]"], &[], "c64 does not fit into bool"),
    ("conv_transpose2d", &["f32[n, 3, h, w]", "f32[3, 4, 2, 2]"], &["2", "0", "0", "1", "1"],
        "[n, 4, 2*h, 2*w]"),
    ("conv_transpose2d", &["f32[n, 3, 4, 4]", "f32[3, 4, 2, 2]"], &["2", "0", "2", "1", "1"],
        "`output_padding` is smaller than the stride or the dilation"),
    ("max_pool", &["f32[n, 3, h, 9]"], &["[2, 3]", "2", "1", "1", "false"], "[n, 3, (h // 2) + 1, 5]"),
    ("max_pool", &["f32[n, 3, 2]"], &["3", "none", "0", "1", "false"],
        "a window reaches over 3 elements, the padded input has 2"),
    ("max_pool", &["f32[n, 3]"], &["3", "none", "0", "1", "false"],
        "needs [N, C, ..] with one to three axes more, this is f32[n, 3]"),
    ("global_avg_pool", &["i32[n, c, h, w]"], &[], "[n, c, 1, 1]"),
    ("unfold", &["f32[n, c, 5, w]"], &["[2, 2]", "1", "0", "1"], "[n, 4*c, 4*w - 4]"),
    ("fold", &["f32[n, 12, 4]"], &["[3]", "[2]", "1", "0", "1"],
        "there are 2 patches in the result, not 4"),
    ("depth_to_space", &["f32[n, 8, h, w]"], &["2", "'dcr'"], "[n, 2, 2*h, 2*w]"),
    ("space_to_depth", &["f32[n, 8, 5, w]"], &["2", "'dcr'"], "5 rows do not divide by 2"),
    ("one_hot", &["i32[n]", "f32[]", "f32[]"], &["k", "0"], "[k, n]"),
    ("embedding", &["i32[n]", "f32[v, d]"], &[], "[n, d]"),
    ("embedding", &["f32[n]", "f32[v, d]"], &[], "numbers of rows are whole, these are f32"),
    ("cross_entropy", &["f32[n, c, h]", "i64[n, h]"], &["none", "'none'"], "[n, h]"),
    ("cross_entropy", &["f32[n, c]", "i64[m]"], &["none", "'mean'"],
        "needs the shape [n], this has [m]"),
    ("mse_loss", &["f32[n, 3]", "f32[3]"], &["'none'"], "[n, 3]"),
    ("attention", &["f32[b, 8, l, e]", "f32[b, 2, s, e]", "f32[b, 2, s, d]"], &["false"],
        "[b, 8, l, d]"),
    ("attention", &["f32[3, l, e]", "f32[2, s, e]", "f32[2, s, d]"], &["false"],
        "heads do not fit: queries have [3], keys [2]"),
    ("layer_norm", &["f32[n, d]", "f32[]"], &["-1"], "[n, d]"),
    ("layer_norm", &["f32[n, d]", "f32[2]"], &["-1"], "is one real number, this is f32[2]"),
    ("group_norm", &["f32[n, 6, d]", "f32[]"], &["4"], "6 channels do not divide into 4 groups"),
    ("resize", &["f32[n, h]"], &["[m]", "'linear'", "'half_pixel'", "'floor'", "false", "false",
        "-0.75", "none"], "[n, m]"),
    ("resize", &["f32[n, 5]"], &["[2]", "'linear'", "'half_pixel'", "'floor'", "false", "false",
        "-0.75", "0.9"], "0.9 times 5 elements are not 2"),
    ("grid_sample", &["f32[n, c, h, w]", "f32[n, i, j, 2]"], &["'linear'", "'zeros'", "false"],
        "[n, c, i, j]"),
    ("grid_sample", &["f32[n, c, h, w]", "f32[n, i, j, 3]"], &["'linear'", "'zeros'", "false"],
        "needs 2 coordinates along the last of 4 axes, this is f32[n, i, j, 3]"),
    ("affine_grid", &["f32[n, 2, 3]"], &["[n, 3, h, w]", "false"], "[n, h, w, 2]"),
    ("gather", &["each f32[n, 3]"], &[], "[count, n, 3]"),
    ("gather", &["f32[n]"], &[], "needs a collection of tensors, this is f32[n]"),
    ("concat_all", &["each f32[5, 3]"], &["1"], "[5, 3*count]"),
    ("concat_all", &["each f32[5, 3]"], &["2"], "axis 2 does not exist: axes are 0 to 1"),
    ("sum_all", &["each f32[n, 3]"], &[], "[n, 3]"),
    ("mean_all", &["f32[n]"], &[], "needs a collection of tensors, this is f32[n]"),
    ("squeeze", &["f32[n, 1]"], &["1"], "[n]"),
    ("squeeze", &["f32[n, 1]"], &["none"], "whether n is 1 is not known yet"),
    ("squeeze", &["f32[n, 1]"], &["0"], "axis 0 of f32[n, 1] has not size 1"),
    ("expand_dims", &["f32[n]"], &["[0, 0]"], "axis 0 is given twice"),
    ("flatten", &["f32[n, 3, m]"], &["0", "1"], "[3*n, m]"),
    ("moveaxis", &["f32[a, b, c]"], &["0", "-1"], "[b, c, a]"),
    ("moveaxis", &["f32[a, b, c]"], &["[0, 1]", "2"], "2 axes go to 1 places"),
    ("diagonal", &["f32[a, n, n]"], &["-1"], "[a, max(0, n - 1)]"),
    ("diagonal", &["f32[n]"], &["0"], "needs at least two axes, this is f32[n]"),
    ("split", &["f32[n]"], &["2", "0"], "[(n // 2)]"),
    ("split", &["f32[n]"], &["[3, -1]", "0"], "[3]"),
    ("split", &["f32[7]"], &["2", "0"], "7 is not divisible into 2 parts"),
    ("split", &["f32[7]"], &["[3, 3]", "0"], "7 is not [3, 3] in sum"),
    ("split", &["f32[7]"], &["[8, -1]", "0"], "7 is not [8, -1] in sum"),
    ("pad", &["f32[n, 3]"], &["[1, 0, 2, -1]", "'constant'", "0", "none"], "[n + 3, 2]"),
    ("pad", &["f32[n, 3]"], &["[1, 2, 3]", "'edge'", "0", "none"], "3 numbers for 2 axes: give 1, 2 or 4"),
    ("pad", &["f32[3]"], &["-2", "'edge'", "0", "none"], "axis 0 of f32[3] has not so many elements to take away"),
    ("pad", &["f32[0]"], &["1", "'edge'", "0", "none"], "axis 0 of f32[0] has no element to repeat"),
    ("pad", &["u8[3]"], &["1", "'constant'", "256", "none"], "256 is no u8"),
    ("roll", &["f32[n, m]"], &["1", "none"], "which of 2 axes has to be said"),
    ("tile", &["f32[n, 3]"], &["[2, 1, 2]"], "[2, n, 6]"),
    ("tile", &["f32[n, 3]"], &["-1"], "-1 is less than 0"),
    ("repeat", &["f32[n, 3]"], &["2", "0"], "[2*n, 3]"),
    ("full", &[], &["[n, 2]", "0.5", "'f32'"], "[n, 2]"),
    ("full", &[], &["[2]", "0.5", "'i32'"], "0.5 is no i32"),
    ("zeros", &[], &["[-2]", "'i32'"], "-2 is no size: sizes are 0 or more"),
    ("arange", &[], &["1", "n", "2", "'i64'"], "[-(-max(0, n - 1) // 2)]"),
    ("arange", &[], &["1", "n", "0", "'i64'"], "the step is not 0"),
    ("linspace", &[], &["0", "1", "n", "true", "'f64'"], "[n]"),
    ("take", &["f32[n, 3]", "i64[k, 2]"], &["0"], "[k, 2, 3]"),
    ("take", &["f32[n, 3]", "f32[k]"], &["0"], "indices are integers, not f32"),
    ("take_along_axis", &["f32[n, 3]", "i64[n, k]"], &["1"], "[n, k]"),
    ("gather_nd", &["f32[n, m, 3]", "i64[k, 2]"], &["0"], "[k, 3]"),
    ("gather_nd", &["f32[n]", "i64[k, 2]"], &["0"], "the last axis of i64[k, 2] is longer than f32[n] has axes"),
    ("scatter", &["f32[n, 3]", "i64[k, 3]", "f32[k, 3]"], &["0", "'add'"], "[n, 3]"),
    ("scatter", &["f32[n, 3]", "i64[k, 4]", "f32[k, 4]"], &["0", "'add'"], "i64[k, 4] does not fit f32[n, 3]"),
    ("scatter", &["f32[n]", "i64[k]", "f64[k]"], &["0", "'add'"], "updates of f64[k] are not narrowed to f32"),
    ("scatter", &["c64[n]", "i64[k]", "c64[k]"], &["0", "'max'"], "c64 has no such operation"),
    ("scatter_nd", &["f32[n, 3]", "i64[k, 1]", "f32[k, 2]"], &["'none'"], "updates are [k, 3], not [k, 2]"),
    ("reverse_sequence", &["f32[b, n]", "i64[n]"], &["1", "0"], "needs b lengths, this is i64[n]"),
    ("bitcast", &["f32[n]"], &["'f64'"], "the bits of f32 are no f64"),
    ("meshgrid", &["f32[a]", "f32[b]"], &["'xy'"], "[b, a]"),
];

#[test]
fn symbolic_sizes() {
    for (name, inputs, given, wanted) in SYMBOLIC {
        let op = find(name);
        let inputs: Vec<ArgType> = inputs.iter().map(|ty| argument(ty)).collect();
        let attributes = op.params().iter().filter(|param| !param.kind.is_value());
        let attrs = attributes.zip(*given);
        let attrs = attrs.map(|(param, written)| (param.name, text::attr(param.kind, written)));
        let got = shape(op, &inputs, &Attrs(attrs.collect()));
        let got = got.map_or_else(|error| error, |shape| Axes(&shape).to_string());
        assert_eq!(got, *wanted, "{name} of {inputs:?} with {given:?}");
    }
}

fn argument(ty: &str) -> ArgType {
    match ty.strip_prefix("each ") {
        None => ArgType::Value(text::ty(ty).into()),
        Some(item) => {
            let count = Symbol::new("count");
            ArgType::Items(text::ty(item).into(), Expr::symbol(count))
        }
    }
}
