//! E01xx: the file and its syntax.

use haul_ir::diagnostic::Code;

use super::CodeInfo;

/// The file is no text.
pub const NOT_TEXT: Code = Code("E0101");
/// The file or a part of it is too large.
pub const TOO_LARGE: Code = Code("E0102");
/// Something stands where it cannot.
pub const UNEXPECTED: Code = Code("E0103");
/// A bracket, string or comment is never closed.
pub const UNCLOSED: Code = Code("E0104");
/// Brackets or operations are nested too deeply.
pub const NESTING: Code = Code("E0105");
/// A name is there twice.
pub const REPEATED: Code = Code("E0106");
/// A field or kind does not exist.
pub const UNKNOWN_FIELD: Code = Code("E0107");
/// A field or kind is missing.
pub const MISSING_FIELD: Code = Code("E0108");
/// A value is of the wrong kind.
pub const WRONG_KIND: Code = Code("E0109");
/// A number does not fit.
pub const OUT_OF_RANGE: Code = Code("E0110");
/// An amount of memory cannot be read.
pub const BYTES: Code = Code("E0111");
/// A type cannot be read.
pub const TYPE: Code = Code("E0112");
/// A text cannot be a name.
pub const NOT_A_NAME: Code = Code("E0113");
/// The version of the format is unknown.
pub const VERSION: Code = Code("E0114");
/// A line of a formula cannot be read.
pub const FORMULA: Code = Code("E0120");
/// Comparisons are chained.
pub const CHAINED: Code = Code("E0121");
/// A name has a meaning of its own.
pub const RESERVED: Code = Code("E0122");
/// A formula is empty.
pub const EMPTY_FORMULA: Code = Code("E0123");

/// A program cannot be run so.
pub const COMMAND: Code = Code("E0130");

pub(super) static CODES: &[CodeInfo] = &[
    CodeInfo {
        code: NOT_TEXT,
        title: "the file is not a text",
        explanation: "A pipeline is a text in UTF-8. Control characters other than tabs and \
            line ends do not occur in one: the file is probably data, or was damaged.",
        wrong: "Pipeline(version: 1, stages: {\"a\": (do: \"1\u{0}\")})",
        right: "Pipeline(version: 1, stages: {\"a\": (do: \"1\")})",
    },
    CodeInfo {
        code: TOO_LARGE,
        title: "the file or a call is too large",
        explanation: "A pipeline file has at most 16 MiB and 4,000,000 values, a call 256 \
            arguments. Arrays belong in data files, which inputs such as `Npy` read.",
        wrong: "x: Constant(value: [0.1, 0.2, …millions more…], type: \"f32[5000000]\")",
        right: "x: Npy(path: \"x.npy\", type: \"f32[5000000]\")",
    },
    CodeInfo {
        code: UNEXPECTED,
        title: "something stands where it cannot",
        explanation: "The file follows RON: fields are `name: value` in `( )`, maps \
            `\"name\": value` in `{ }`, lists are values in `[ ]`, with a comma between two of \
            them. Strings are in double quotes, comments start with `//`.",
        wrong: "Pipeline(version = 1, stages: {a: (do: '1')})",
        right: "Pipeline(version: 1, stages: {\"a\": (do: \"1\")})",
    },
    CodeInfo {
        code: UNCLOSED,
        title: "a bracket, text or comment is never closed",
        explanation: "The place is where it opens. Where it should have been closed is often \
            much earlier than where that is noticed.",
        wrong: "Pipeline(version: 1, stages: {\"a\": (do: \"sqrt(1\"})",
        right: "Pipeline(version: 1, stages: {\"a\": (do: \"sqrt(1)\")})",
    },
    CodeInfo {
        code: NESTING,
        title: "nested too deeply",
        explanation: "In a file 48 brackets can be open at once; in a formula 64 brackets, signs \
            and powers, and 256 operations can stand on each other, as in a sum of 257 terms. \
            Give parts of a long expression names, on lines of their own.",
        wrong: "Pipeline(version: 1, stages: {\"a\": (do: \"\
            ((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1\
            ))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))\")})",
        right: "Pipeline(version: 1, stages: {\"a\": (do: \"(((1)))\")})",
    },
    CodeInfo {
        code: REPEATED,
        title: "a name is there twice",
        explanation: "Names are unique among the stages, inputs, fields of a value and so on. \
            The second of two would replace the first without a word.",
        wrong: "Pipeline(version: 1, stages: {\"a\": (do: \"1\"), \"a\": (do: \"2\")})",
        right: "Pipeline(version: 1, stages: {\"a\": (do: \"1\"), \"b\": (do: \"2\")})",
    },
    CodeInfo {
        code: UNKNOWN_FIELD,
        title: "a field or kind does not exist",
        explanation: "A name that means nothing is probably misspelt, so it is not passed over.",
        wrong: "Pipeline(version: 1, stages: {\"a\": (cpu: 2, do: \"1\")})",
        right: "Pipeline(version: 1, stages: {\"a\": (cpus: 2, do: \"1\")})",
    },
    CodeInfo {
        code: MISSING_FIELD,
        title: "a field or kind is missing",
        explanation: "The field has no value that could be meant when nothing is said.",
        wrong: "Pipeline(version: 1, stages: {\"a\": (cpus: 2)})",
        right: "Pipeline(version: 1, stages: {\"a\": (cpus: 2, do: \"1\")})",
    },
    CodeInfo {
        code: WRONG_KIND,
        title: "a value is of the wrong kind",
        explanation: "A number is expected and a string found, for example. Values are never \
            converted. Optional fields are left out or written as they are, without `Some( )`.",
        wrong: "Pipeline(version: 1, stages: {\"a\": (cpus: \"two\", do: \"1\")})",
        right: "Pipeline(version: 1, stages: {\"a\": (cpus: 2, do: \"1\")})",
    },
    CodeInfo {
        code: OUT_OF_RANGE,
        title: "a number does not fit",
        explanation: "Counts and sizes are whole numbers from 0 to 2^64 - 1; other numbers are \
            finite. A number is never rounded to fit, except that decimals become the nearest \
            64-bit float.",
        wrong: "Pipeline(version: 1, dims: {\"n\": (plan: -1)}, stages: {\"a\": (do: \"1\")})",
        right: "Pipeline(version: 1, dims: {\"n\": (plan: 1)}, stages: {\"a\": (do: \"1\")})",
    },
    CodeInfo {
        code: BYTES,
        title: "an amount of memory cannot be read",
        explanation: "Memory is a whole number of bytes, or a string with a unit: B, kB, MB, GB, \
            TB (powers of 1000), KiB, MiB, GiB, TiB (powers of 1024). The amount must be a whole \
            number of bytes.",
        wrong: "Pipeline(version: 1, stages: {\"a\": (memory: \"3 gigs\", do: \"1\")})",
        right: "Pipeline(version: 1, stages: {\"a\": (memory: \"3 GiB\", do: \"1\")})",
    },
    CodeInfo {
        code: TYPE,
        title: "a type cannot be read",
        explanation: "A type is a dtype with the sizes of the axes, `f32[batch, 2*n]`, where \
            `f32[]` is a single number; or it is `text`. Dtypes are bool, u8, u16, u32, u64, i8, \
            i16, i32, i64, f16, bf16, f32, f64, c64 and c128. A size is made of integers, dims, \
            params, `+ - * // %`, `min( )` and `max( )`.",
        wrong: "Pipeline(version: 1, inputs: {\"x\": Npy(path: \"x.npy\", type: \"float[n]\")}, \
            stages: {\"a\": (do: \"x\")})",
        right: "Pipeline(version: 1, inputs: {\"x\": Npy(path: \"x.npy\", type: \"f64[n]\")}, \
            stages: {\"a\": (do: \"x\")})",
    },
    CodeInfo {
        code: NOT_A_NAME,
        title: "a text cannot be a name",
        explanation: "Dims, params, inputs, functions and stages are named in formulas, so their \
            names have letters, digits and `_` only and do not begin with a digit.",
        wrong: "Pipeline(version: 1, stages: {\"first-stage\": (do: \"1\")})",
        right: "Pipeline(version: 1, stages: {\"first_stage\": (do: \"1\")})",
    },
    CodeInfo {
        code: VERSION,
        title: "the version of the format is unknown",
        explanation: "`version` is that of the format, not of your pipeline. A later version \
            needs a later haul.",
        wrong: "Pipeline(version: 2, stages: {\"a\": (do: \"1\")})",
        right: "Pipeline(version: 1, stages: {\"a\": (do: \"1\")})",
    },
    CodeInfo {
        code: FORMULA,
        title: "a line of a formula cannot be read",
        explanation: "A formula has one statement a line: an expression as in Python with NumPy, \
            or `name = expression`. Parentheses continue a line, `#` starts a comment, texts are \
            in single quotes. Functions are called by name, never as methods, and there is no \
            control flow: `where(condition, a, b)` chooses between values.",
        wrong: "Pipeline(version: 1, stages: {\"a\": (do: \"x = 1\nx.sqrt()\")})",
        right: "Pipeline(version: 1, stages: {\"a\": (do: \"x = 1\nsqrt(x)\")})",
    },
    CodeInfo {
        code: CHAINED,
        title: "comparisons are not chained",
        explanation: "`a < b < c` would compare the result of `a < b` with `c`, or need a rule \
            of its own for arrays. Say which is meant.",
        wrong: "Pipeline(version: 1, stages: {\"a\": (do: \"1 < 2 < 3\")})",
        right: "Pipeline(version: 1, stages: {\"a\": (do: \"(1 < 2) & (2 < 3)\")})",
    },
    CodeInfo {
        code: RESERVED,
        title: "a name has a meaning of its own",
        explanation: "`x.T` is the transpose of `x` and `x[newaxis]` adds an axis, so values \
            called `T` or `newaxis` could not be reached.",
        wrong: "Pipeline(version: 1, stages: {\"a\": (do: \"T = 300\nT + 1\")})",
        right: "Pipeline(version: 1, stages: {\"a\": (do: \"temperature = 300\ntemperature + 1\")})",
    },
    CodeInfo {
        code: EMPTY_FORMULA,
        title: "a formula is empty",
        explanation: "Every stage and function computes a value. Remove the ones that do not.",
        wrong: "Pipeline(version: 1, stages: {\"a\": (do: \"# nothing yet\")})",
        right: "Pipeline(version: 1, stages: {\"a\": (do: \"1\")})",
    },
    CodeInfo {
        code: COMMAND,
        title: "a program cannot be run so",
        explanation: "A stage has a formula, `do`, or a program, `command`. The first argument \
            names the program and stands for nothing else. In the others `{name}` stands for a \
            value, and `{out}`, which has to be there, for the path of the file to write; `{{` \
            and `}}` are braces. `work`, `retries` and `timeout` are of programs only.",
        wrong: "Pipeline(version: 1, params: {\"n\": 9}, stages: {\"a\": (command: (argv: \
            [\"python3\", \"primes.py\", \"{n}\"], out: \"i64[k]\"))})",
        right: "Pipeline(version: 1, params: {\"n\": 9}, stages: {\"a\": (command: (argv: \
            [\"python3\", \"primes.py\", \"{n}\", \"{out}\"], out: \"i64[k]\"))})",
    },
];
