//! Blocks longer than what a kernel takes at once.

use half::{bf16, f16};
use haul_ir::dtype::DType;
use haul_ir::op::Attrs;
use haul_kernels::catalogue;

use crate::support::run::{Arg, run};
use crate::support::tensor::{Lie, Tensor, Value};

/// Numbers from -5 to 5 and what `exp` makes of them, in long blocks of every float.
#[test]
fn long_blocks() {
    let op = catalogue().find("exp").expect("there is the op");
    let numbers: Vec<f64> = (0..1000).map(|at| f64::from(at) / 100.0 - 5.0).collect();
    for (dtype, round, rtol) in ROUNDINGS {
        let rounded: Vec<f64> = numbers.iter().map(|x| round(*x)).collect();
        let tensor = |f: &dyn Fn(f64) -> f64| {
            let values: Vec<_> = rounded.iter().map(|x| Value::Real(f(*x))).collect();
            Tensor::new(*dtype, &[1000], &values, Lie::Contiguous)
        };
        let outputs = run(op, &[Arg::Tensor(tensor(&|x| x))], &Attrs::default());
        let outputs = outputs.expect("the call fits");
        outputs[0]
            .agrees(&tensor(&f64::exp), *rtol, 0.0)
            .expect("the exponentials");
    }
}

type Rounding = (DType, fn(f64) -> f64, f64);

/// Each float, the rounding to it, and two units in its last place.
const ROUNDINGS: &[Rounding] = &[
    (DType::F16, |x| f16::from_f64(x).to_f64(), 1.0 / 1024.0),
    (DType::Bf16, |x| bf16::from_f64(x).to_f64(), 1.0 / 128.0),
    (DType::F32, |x| f64::from(x as f32), 1.0 / 4_194_304.0),
    (DType::F64, |x| x, 1e-15),
];
