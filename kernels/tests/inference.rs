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
    ("fft", &["f32[n, m]"], &["0"], "[n, m]"),
    ("fft", &["f32[0]"], &["-1"], "axis 0 is empty, a transform needs an element"),
    ("fft", &["f32[]"], &["-1"], "axis -1 does not exist: it is a scalar and has none"),
    ("rfft", &["f32[B, 16384]"], &["1"], "[B, 8193]"),
    ("rfft", &["f32[n]"], &["-1"], "[(n // 2) + 1]"),
    ("rfft", &["c64[n]"], &["-1"], "takes real numbers, this is c64"),
    ("fft2", &["f32[n]"], &[], "transforms two axes, this has 1"),
    ("conv2d", &["f32[n, 3, h, w]", "f32[8, 3, 3, 3]"], &["1", "1", "1", "1"], "[n, 8, h, w]"),
    ("conv2d", &["f32[n, 3, h, 9]", "f32[8, 3, 3, 3]"], &["2", "'same'", "1", "1"],
        "[n, 8, -(-h // 2), 5]"),
    ("conv2d", &["f32[1, 3, 9, 9]", "f32[8, 4, 3, 3]"], &["1", "0", "1", "1"],
        "the input has 3 channels, the filters take 4"),
    ("conv2d", &["f32[1, 4, 9, 9]", "f32[3, 2, 3, 3]"], &["1", "0", "1", "2"],
        "3 filters do not divide into 2 groups"),
    ("conv2d", &["f32[1, 1, 2, 9]", "f32[1, 1, 3, 3]"], &["1", "'valid'", "1", "1"],
        "a filter reaches over 3 elements, the padded input has 2"),
    ("conv2d", &["f32[1, 1, 9, 9]", "f32[1, 1, 3, 3]"], &["0", "0", "1", "1"],
        "`stride` is one or two whole numbers of at least 1"),
    ("conv2d", &["f32[1, 1, 9, 9]", "f32[1, 1, 3, 3]"], &["1", "[1, 2, 3]", "1", "1"],
        "`padding` is 1, 2 or 4 whole numbers of at least 0, 'same' or 'valid'"),
    ("conv2d", &["f32[1, 9, 9]", "f32[1, 1, 3, 3]"], &["1", "0", "1", "1"],
        "needs [N, C, H, W], this is f32[1, 9, 9]"),
    ("gather", &["each f32[n, 3]"], &[], "[count, n, 3]"),
    ("gather", &["f32[n]"], &[], "needs a collection of tensors, this is f32[n]"),
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
