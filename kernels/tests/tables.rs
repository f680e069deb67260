//! Text, tables, and results that are as long as only the data knows. Expected by hand, those of
//! `unique_*` and `nonzero` as NumPy's `unique(x, return_index=True, return_inverse=True,
//! return_counts=True)` and `nonzero` give them.

use std::path::Path;

use haul_ir::op::Example;
use haul_kernels::catalogue;

use crate::support::formula;
use crate::support::rows::{self, Rows};
use crate::support::run::{Failure, Output, run_any};

/// A call, what it is given, and all its results.
type Case = (
    &'static str,
    &'static [(&'static str, &'static str, &'static str)],
    &'static [(&'static str, &'static str)],
);

const CASES: &[Case] = &[
    (
        // NaN is a key, and a cell that shows; nothing is left of what is missing.
        "group_by(x, key, 'min')",
        &[
            ("x", "f32?[5]", "1 nan 2 missing 3"),
            ("key", "f64?[5]", "nan 1 nan 2 missing"),
        ],
        &[("f64[3]", "1 2 nan"), ("f32?[3]", "nan missing 1")],
    ),
    (
        "parse_csv(text, type='table[n]{b: text, a: f64?}')",
        &[(
            "text",
            "text",
            "a,x,b\n1.5,,\"q, \"\"r\"\"\"\n, 7 , s \n\n nan ,,\n",
        )],
        &[(
            "table[3]{b: text, a: f64?}",
            "'q, \"r\"' ' s ' ''; 1.5 missing nan",
        )],
    ),
    (
        "parse_csv(text, type='table[n]{a: bool?, b: text?}', header=false, na='NA')",
        &[("text", "text", "\u{feff}TRUE,NA\r\nNA,\r\n0,na\r\n")],
        &[(
            "table[3]{a: bool?, b: text?}",
            "true missing false; missing missing 'na'",
        )],
    ),
    (
        "parse_csv(text, type='table[n]{a: u8, b: text}')",
        &[("text", "text", "a,b\n")],
        &[("table[0]{a: u8, b: text}", "; ")],
    ),
    (
        "parse_jsonl(text, type='table[n]{s: text?, i: i64?, b: bool?}')",
        &[(
            "text",
            "text",
            "{\"i\": 9007199254740993, \"s\": \"\\u00e9\\n\\ud83d\\ude00\", \"x\": [[{}]]}\n\n \
             {\"b\": true, \"s\": null}\r\n{\"s\": \"\", \"b\": false, \"i\": -1}",
        )],
        &[(
            "table[3]{s: text?, i: i64?, b: bool?}",
            "'é\n😀' missing ''; 9007199254740993 missing -1; missing true false",
        )],
    ),
    (
        "parse_jsonl(text, type='f32[n]')",
        &[("text", "text", "1\n-2.5e1\nnull\n")],
        &[("f32[3]", "1 -25 nan")],
    ),
    (
        "parse_jsonl(text, type='i64[n, m]')",
        &[("text", "text", "[1, 2, 3]\n[4, 5, 6]\n")],
        &[("i64[2, 3]", "1 2 3 4 5 6")],
    ),
    (
        "unique_all(x)",
        &[("x", "f32[2, 4]", "2 nan -1 0 nan -0 2 inf")],
        &[
            ("f32[5]", "-1 0 2 inf nan"),
            ("i64[5]", "2 3 0 7 1"),
            ("i64[2, 4]", "2 4 0 1 4 1 2 3"),
            ("i64[5]", "1 2 2 1 2"),
        ],
    ),
    (
        "unique_all(x)",
        &[("x", "text[4]", "'b' '' 'ba' 'b'")],
        &[
            ("text[3]", "'' 'b' 'ba'"),
            ("i64[3]", "1 0 2"),
            ("i64[4]", "1 0 2 1"),
            ("i64[3]", "1 2 1"),
        ],
    ),
    (
        "unique_inverse(x)",
        &[("x", "bool[0]", "")],
        &[("bool[0]", ""), ("i64[0]", "")],
    ),
    (
        "unique_counts(x)",
        &[("x", "u8[]", "7")],
        &[("u8[1]", "7"), ("i64[1]", "1")],
    ),
    (
        "nonzero(x)",
        &[("x", "i16[2, 2, 2]", "0 256 0 0 -1 0 0 1")],
        &[("i64[3, 3]", "0 1 1 0 0 1 1 0 1")],
    ),
    (
        "nonzero(x)",
        &[("x", "c64[4]", "0j 0-0j 1j 1")],
        &[("i64[1, 2]", "2 3")],
    ),
    (
        "nonzero(x)",
        &[("x", "f64[2, 0]", "")],
        &[("i64[2, 0]", "")],
    ),
    (
        "filter(x, m)",
        &[
            ("x", "f16[2, 2]", "1 2 3 4"),
            ("m", "bool[2, 2]", "0 1 1 0"),
        ],
        &[("f16[2]", "2 3")],
    ),
    (
        "filter(x, m, axis=1)",
        &[
            ("x", "c128[2, 2, 2]", "1 2 3 4 5 6 7 8"),
            ("m", "bool[2]", "0 1"),
        ],
        &[("c128[2, 1, 2]", "3 4 7 8")],
    ),
    (
        "filter(x, m)",
        &[
            ("x", "text?[3]", "'a' missing ''"),
            ("m", "bool[3]", "0 1 1"),
        ],
        &[("text?[2]", "missing ''")],
    ),
    (
        "sort_by(x, key)",
        &[
            ("x", "text[5]", "'a' 'b' 'c' 'd' 'e'"),
            ("key", "f64?[5]", "nan 1 missing -0 0"),
        ],
        &[("text[5]", "'d' 'e' 'b' 'a' 'c'")],
    ),
    (
        "sort_by(x, key, descending=true)",
        &[
            ("x", "text[5]", "'a' 'b' 'c' 'd' 'e'"),
            ("key", "f64?[5]", "nan 1 missing -0 0"),
        ],
        &[("text[5]", "'a' 'b' 'd' 'e' 'c'")],
    ),
    (
        "drop_missing(x)",
        &[("x", "i8?[3]", "1 missing 3")],
        &[("i8[2]", "1 3")],
    ),
    (
        "fill_missing(x, nan)",
        &[("x", "f32?[2]", "missing 2")],
        &[("f32[2]", "nan 2")],
    ),
    (
        "fill_missing(x, -3)",
        &[("x", "i64?[2]", "missing 2")],
        &[("i64[2]", "-3 2")],
    ),
    (
        "full_match(x, 'a|b')",
        &[("x", "text[4]", "'a' 'ab' 'b' 'b\n'")],
        &[("bool[4]", "1 0 1 0")],
    ),
    (
        "lower(x)",
        &[("x", "text[2]", "'ΑΣ' 'İ'")],
        &[("text[2]", "'ας' 'i̇'")],
    ),
    (
        "split_text(x, 'ab')",
        &[("x", "text", "ababxab")],
        &[("text[4]", "'' '' 'x' ''")],
    ),
    (
        "split_text(x, ',')",
        &[("x", "text", "")],
        &[("text[1]", "''")],
    ),
    (
        "concat_text(x, y, separator='/')",
        &[("x", "text", "a"), ("y", "text", "b")],
        &[("text", "a/b")],
    ),
    (
        "text_compare(x, y)",
        &[("x", "text", "\u{ffff}"), ("y", "text", "\u{10000}")],
        &[("i8[]", "-1")],
    ),
    (
        "replace(x, 'é', '')",
        &[("x", "text", "éaé")],
        &[("text", "a")],
    ),
    (
        "to_number(x, dtype='i64')",
        &[("x", "text[2]", "' -9223372036854775808' '7'")],
        &[("i64[2]", "-9223372036854775808 7")],
    ),
];

/// A call, what it is given, what is said.
type Refusal = (
    &'static str,
    &'static [(&'static str, &'static str, &'static str)],
    &'static str,
);

const REFUSED: &[Refusal] = &[
    (
        "parse_csv(text, type='table[n]{a: i64}')",
        &[("text", "text", "a\n1\n\"\"\n")],
        "line 3: column 1 `a`: the value is missing; declare the column as `i64?` where that may be",
    ),
    (
        "parse_csv(text, type='table[n]{a: i64}')",
        &[("text", "text", "b,c\n1,2\n")],
        "line 1: there is no column `a`, only: b, c",
    ),
    (
        "parse_csv(text, type='table[n]{a: i64}')",
        &[("text", "text", "a,a\n1,2\n")],
        "line 1: several columns are called `a`",
    ),
    (
        "parse_csv(text, type='table[n]{a: i64, b: text}')",
        &[("text", "text", "a,b\n1,2\n3\n")],
        "line 3: has 1 field, not 2",
    ),
    (
        "parse_csv(text, type='table[n]{a: i64?}')",
        &[("text", "text", "a\n1.5\n")],
        "line 2: column 1 `a`: `1.5` is no i64",
    ),
    (
        "parse_csv(text, type='table[3]{a: i64}')",
        &[("text", "text", "a\n1\n")],
        "the table has 1 rows, the type says 3",
    ),
    (
        "parse_jsonl(text, type='table[n]{a: i64}')",
        &[("text", "text", "{\"a\": 1}\n{\"a\": 2")],
        "line 2: EOF while parsing an object, at column 7",
    ),
    (
        "parse_jsonl(text, type='table[n]{a: i64}')",
        &[("text", "text", "{\"a\": 1, \"a\": 2}\n")],
        "line 1: the key `a` is there twice, at column 16",
    ),
    (
        "parse_jsonl(text, type='table[n]{a: i64}')",
        &[("text", "text", "{\"a\": \"1\"}\n")],
        "line 1: `a`: text stands where a number is to stand",
    ),
    (
        "parse_jsonl(text, type='table[n]{a: i64}')",
        &[("text", "text", "{\"a\": null}\n")],
        "line 1: `a`: the value is missing; declare the column as `i64?` where that may be",
    ),
    (
        "parse_jsonl(text, type='f64[n, 2]')",
        &[("text", "text", "[1, 2]\n[3]\n")],
        "line 2: has 1 elements, not 2",
    ),
    (
        "to_number(x)",
        &[("x", "text[2]", "'1' 'one'")],
        "row 1: `one` is not a number",
    ),
    (
        "full_match(x, 'a(')",
        &[("x", "text[1]", "'a'")],
        "is no regular expression: unclosed group",
    ),
    (
        "full_match(x, 'a)(b')",
        &[("x", "text[1]", "'a'")],
        "is no regular expression: unopened group",
    ),
    (
        "full_match(x, '(((a{99}){99}){99}){99}')",
        &[("x", "text[1]", "'a'")],
        "is no regular expression: Compiled regex exceeds size limit of 4194304 bytes.",
    ),
    (
        "lower(x)",
        &[("x", "text?[1]", "'a'")],
        "needs text, this is text?[1]",
    ),
    (
        "concat_text(x, y)",
        &[("x", "text[2]", "'a' 'b'"), ("y", "text[1]", "'c'")],
        "has 1 rows, the other column has 2",
    ),
    (
        "text_compare(x, y)",
        &[("x", "text[1]", "'a'"), ("y", "text?[1]", "'a'")],
        "needs text, this is text?[1]",
    ),
    (
        "fill_missing(x, 300)",
        &[("x", "u8?[1]", "1")],
        "`300` does not fit u8",
    ),
    (
        "fill_missing(x, 1.5)",
        &[("x", "i8?[1]", "1")],
        "`1.5` is no i8",
    ),
    (
        "filter(x, m)",
        &[("x", "f32[3]", "1 2 3"), ("m", "bool[2]", "0 1")],
        "a mask of [2] does not fit f32[3]",
    ),
    (
        "group_by(t, key)",
        &[
            ("t", "table[1]{a: f32, b: text}", "1; 'x'"),
            ("key", "i64[1]", "1"),
        ],
        "there is no mean of column `b`, which holds text",
    ),
    (
        "group_by(t, key, 'max')",
        &[("t", "f32[2]", "1 2"), ("key", "i64[1]", "1")],
        "needs a key for each of 2 rows, this is i64[1]",
    ),
    (
        "column(t, 'c')",
        &[("t", "table[1]{a: f32, b: text}", "1; 'x'")],
        "there is no column `c`, only: a, b",
    ),
    (
        "to_tensor(t)",
        &[("t", "table[1]{a: f32, b: text}", "1; 'x'")],
        "needs columns of numbers, `b` is text",
    ),
];

#[test]
fn what_is_computed() {
    for (formula, given, results) in CASES {
        check(formula, given, results);
    }
}

/// Groups of rows, as pandas has them (`scripts/groups.py`).
#[test]
fn groups_are_those_of_pandas() {
    check_file("groups.json");
}

/// What is told of texts, as NumPy and Python have it (`scripts/text.py`).
#[test]
fn texts_are_as_in_python() {
    check_file("text.json");
}

fn check_file(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name);
    let text = std::fs::read_to_string(path)
        .expect("the cases are there")
        .leak();
    let cases: Vec<FromFile> = serde_json::from_str(text).expect("the cases are JSON");
    assert!(!cases.is_empty());
    for case in cases {
        check(case.formula, case.given.leak(), &case.results);
    }
}

#[derive(serde::Deserialize)]
struct FromFile {
    formula: &'static str,
    given: Vec<(&'static str, &'static str, &'static str)>,
    results: Vec<(&'static str, &'static str)>,
}

fn check(
    formula: &'static str,
    given: &'static [(&'static str, &'static str, &'static str)],
    results: &[(&str, &str)],
) {
    let outputs = outputs(formula, given).unwrap_or_else(|error| panic!("{formula}: {error}"));
    assert_eq!(outputs.len(), results.len(), "results of {formula}");
    for (output, (ty, elements)) in outputs.iter().zip(results) {
        match output {
            Output::Rows(found) => {
                let expected = Rows::new(ty, elements).words();
                assert_eq!(found.words(), expected, "{formula} {given:?}");
            }
            Output::Tensor(found) => {
                let agreed = found.agrees(&formula::tensor(ty, elements), 0.0, 0.0);
                agreed.unwrap_or_else(|error| panic!("{formula} {given:?}: {error}"));
            }
            Output::Text(found) => assert_eq!(found, elements, "{formula}"),
        }
        let is_rows = matches!(output, Output::Rows(_));
        assert_eq!(rows::is_rows(ty), is_rows, "{formula}");
    }
}

#[test]
fn what_is_refused() {
    for (formula, given, message) in REFUSED {
        let refused = outputs(formula, given).map(drop);
        assert_eq!(refused, Err((*message).to_owned()), "{formula} {given:?}");
    }
}

/// A text of several parts is read as a whole.
#[test]
fn parts_together_are_the_whole() {
    let count = 200_000;
    let csv: String = (0..count).map(|row| format!("{row},t{row}\n")).collect();
    let text: &'static str = format!("a,b\n{csv}").leak();
    let formula = "parse_csv(text, type='table[n]{b: text, a: i64}')";
    let outputs = outputs(formula, &[("text", "text", text)]).expect("a table");
    let Output::Rows(table) = &outputs[0] else {
        panic!("a table is read");
    };
    let (b, a) = (table.columns[0].view(), table.columns[1].view());
    assert_eq!((b.rows(), a.rows()), (count, count));
    assert!(
        b.texts()
            .enumerate()
            .all(|(row, text)| text == format!("t{row}"))
    );
    assert!(a.elements::<i64>().iter().copied().eq(0..count as i64));
}

/// Hostile lines are refused before they take more memory.
#[test]
fn long_lines_are_refused() {
    let long = "9".repeat((1 << 26) + 1);
    let csv = |text: String| {
        let text: &'static str = text.leak();
        outputs(
            "parse_csv(text, type='table[n]{a: text}')",
            &[("text", "text", text)],
        )
        .map(drop)
    };
    let message = Err("line 2: has more than 64 MiB".to_owned());
    assert_eq!(csv(format!("a\n{long}\n")), message);
    assert_eq!(csv(format!("a\n\"{long}\"\n")), message);
    let text: &'static str = format!("1\n{long}\n").leak();
    let json = outputs(
        "parse_jsonl(text, type='f64[n]')",
        &[("text", "text", text)],
    );
    assert_eq!(json.map(drop), message);
    let nested: &'static str = format!("{{\"a\": {}1\n", "[".repeat(1 << 20)).leak();
    let json = outputs(
        "parse_jsonl(text, type='table[n]{a: f64}')",
        &[("text", "text", nested)],
    );
    assert!(json.is_err_and(|error| error.starts_with("line 1: ")));
}

fn outputs(
    formula: &'static str,
    given: &[(&'static str, &'static str, &'static str)],
) -> Result<Vec<Output>, String> {
    let example = Example {
        formula,
        given: given.to_vec().leak(),
        result: ("", ""),
    };
    let name = formula.split_once('(').expect("a call").0;
    let op = catalogue().find(name).expect("there is the op");
    let (_, args, attrs) = formula::call(&example, op);
    run_any(op, &args, &attrs).map_err(|failure| match failure {
        Failure::Infer(error) => error.message,
        Failure::Kernel(error) => error.to_string(),
    })
}
