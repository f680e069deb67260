//! Tables out of text: what is read, and what is refused with which words.

use crate::support::formula;
use crate::support::run::{Arg, Failure, run};
use crate::support::tensor::Tensor;
use haul_ir::op::Attrs;
use haul_kernels::catalogue;

fn parse(text: &str, ty: &str, header: bool) -> Result<Tensor, String> {
    let op = catalogue().find("parse_csv").expect("there is the op");
    let header = if header { "true" } else { "false" };
    let attrs: Attrs = formula::attrs(op, &[None, Some(ty), Some(header)]);
    match run(op, &[Arg::Text(text.to_owned())], &attrs) {
        Ok(mut outputs) => Ok(outputs.remove(0)),
        Err(Failure::Infer(error)) => Err(error.message),
        Err(Failure::Kernel(error)) => Err(error.to_string()),
    }
}

/// Text, declared type, whether there is a header, type of the result, its elements.
const READS: &[(&str, &str, bool, &str, &str)] = &[
    (
        "a,b\n1,2.5\n-3,4e-3\n",
        "f64[n, 2]",
        true,
        "f64[2, 2]",
        "1 2.5 -3 0.004",
    ),
    ("1,2\n3,4", "i64[n, 2]", false, "i64[2, 2]", "1 2 3 4"),
    ("\u{feff}a,b\n1,2\n", "i8[n, 2]", true, "i8[1, 2]", "1 2"),
    ("\u{feff}1,2\n", "i8[n, 2]", false, "i8[1, 2]", "1 2"),
    (
        "a,b\r\n1,2\r\n3,4\r\n",
        "u16[n, 2]",
        true,
        "u16[2, 2]",
        "1 2 3 4",
    ),
    ("a,b\r1,2\r3,4\r", "i64[n, 2]", true, "i64[2, 2]", "1 2 3 4"),
    (
        "\"a\",\"b\"\n\"1\",\"2.5\"\n\"\",\"\"\n",
        "f64[n, 2]",
        true,
        "f64[2, 2]",
        "1 2.5 nan nan",
    ),
    (
        "\"a\nb\",\"c\"\"d\"\n1,2\n",
        "f32[n, m]",
        true,
        "f32[1, 2]",
        "1 2",
    ),
    (
        "a, b\n 1 ,\t2\n3,  4\n",
        "i64[n, 2]",
        true,
        "i64[2, 2]",
        "1 2 3 4",
    ),
    ("v\n1\n\n2\n\n", "f32[n]", true, "f32[2]", "1 2"),
    (
        "v\ninf\n-inf\nInfinity\nNaN\n+1\n",
        "f64[n]",
        true,
        "f64[5]",
        "inf -inf inf nan 1",
    ),
    (
        "v\n0.1\n2.2250738585072014e-308\n1.7976931348623157e308\n4.9406564584124654e-324\n",
        "f64[4]",
        true,
        "f64[4]",
        "0.1 2.2250738585072014e-308 1.7976931348623157e308 5e-324",
    ),
    ("16777217\n", "f32[n]", false, "f32[1]", "16777216"),
    ("1,2\n3,4\n", "f32[2, m]", false, "f32[2, 2]", "1 2 3 4"),
    (
        "true,0\nFALSE,1\n",
        "bool[n, 2]",
        false,
        "bool[2, 2]",
        "1 0 0 1",
    ),
    (
        "9223372036854775807\n-9223372036854775808\n",
        "i64[n]",
        false,
        "i64[2]",
        "9223372036854775807 -9223372036854775808",
    ),
    ("a,b\n", "f32[n, 2]", true, "f32[0, 2]", ""),
    ("", "f32[n, 3]", false, "f32[0, 3]", ""),
    (
        "1.5,\n,2\n",
        "bf16[n, 2]",
        false,
        "bf16[2, 2]",
        "1.5 nan nan 2",
    ),
];

/// Text, declared type, whether there is a header, what is said.
const REFUSED: &[(&str, &str, bool, &str)] = &[
    (
        "a,b\n1,2\n3\n",
        "f32[n, 2]",
        true,
        "line 3: has 1 field, not 2",
    ),
    (
        "a,b,c\n1,2\n",
        "f32[n, 2]",
        true,
        "line 1: has 3 fields, not 2",
    ),
    (
        "1,2\n3,4,5\n",
        "f32[n, m]",
        false,
        "line 2: has 3 fields, not 2",
    ),
    (
        "a,b\n1,2\n3,x\n",
        "f32[n, 2]",
        true,
        "line 3: column 2 `b`: `x` is not a number",
    ),
    (
        "1,2\n3,x\n",
        "f32[n, 2]",
        false,
        "line 2: column 2: `x` is not a number",
    ),
    (
        "a\n\"x\ny\"\n",
        "f32[n]",
        true,
        "line 2: column 1 `a`: `x\\ny` is not a number",
    ),
    (
        "\"a\nb\"\n1\nz\n",
        "f32[n]",
        true,
        "line 4: column 1 `a\nb`: `z` is not a number",
    ),
    (
        "1\n\n2.5\n",
        "i32[n]",
        false,
        "line 3: column 1: `2.5` is no i32",
    ),
    (
        "300\n",
        "u8[n]",
        false,
        "line 1: column 1: `300` does not fit u8",
    ),
    (
        "1\n1e400\n",
        "f64[n]",
        false,
        "line 2: column 1: `1e400` does not fit f64",
    ),
    ("-1\n", "u8[n]", false, "line 1: column 1: `-1` is no u8"),
    (
        "1,\n",
        "i32[n, 2]",
        false,
        "line 1: column 2: the field is missing, and i32 has no value for that: floats have NaN",
    ),
    (
        "yes\n",
        "bool[n]",
        false,
        "line 1: column 1: `yes` is neither true nor false",
    ),
    (
        "1\n2\n",
        "f32[3]",
        false,
        "the table has 2 rows, the type says 3",
    ),
    (
        "1\n",
        "c64[n]",
        false,
        "there is no way to write c64 in a table",
    ),
    (
        "1\n",
        "f32[a, b, c]",
        false,
        "a table has one or two axes, f32[a, b, c] has 3",
    ),
    (
        "1\n",
        "f32[]",
        false,
        "a table has one or two axes, f32[] has 0",
    ),
];

#[test]
fn what_is_read() {
    for (text, ty, header, result, elements) in READS {
        let table = parse(text, ty, *header).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        let wanted = formula::tensor(result, elements);
        let agrees = table.agrees(&wanted, 0.0, 0.0);
        agrees.unwrap_or_else(|difference| panic!("{text:?}: {difference}"));
    }
}

#[test]
fn what_is_refused() {
    for (text, ty, header, message) in REFUSED {
        match parse(text, ty, *header) {
            Ok(_) => panic!("{text:?} is read as {ty}"),
            Err(error) => assert_eq!(error, *message, "{text:?}"),
        }
    }
}

/// Several parts, which are parsed on their own: 300,000 lines of 7 bytes and more.
#[test]
fn a_long_table_keeps_its_order_and_its_lines() {
    let lines = 300_000;
    let mut text: String = (0..lines)
        .map(|row| format!("{row},{}\n", row % 7))
        .collect();
    let table = parse(&text, "i64[n, 2]", false).expect("all are numbers");
    let values = table.view();
    let values = values.contiguous::<i64>().expect("results have no gaps");
    assert!((0..lines).all(|row| values[2 * row..2 * row + 2] == [row as i64, row as i64 % 7]));

    text.push_str("1,x\n2,y\n");
    let error = parse(&text, "i64[n, 2]", false).err();
    let wanted = "line 300001: column 2: `x` is not a number";
    assert_eq!(error.as_deref(), Some(wanted));
}
