//! E021x, E022x: names, sizes, collections, sources and sinks.

use haul_ir::diagnostic::Code;

use super::CodeInfo;

/// A name does not exist.
pub const UNKNOWN_NAME: Code = Code("E0201");
/// A function or op does not exist.
pub const UNKNOWN_FUNCTION: Code = Code("E0202");
/// Stages need each other's results.
pub const CYCLE: Code = Code("E0210");
/// A function uses itself.
pub const RECURSION: Code = Code("E0211");
/// Functions expand to too much.
pub const EXPANSION: Code = Code("E0212");
/// The arguments of a call do not fit its parameters.
pub const ARGUMENTS: Code = Code("E0213");
/// An option takes something else.
pub const OPTION: Code = Code("E0214");
/// A value of a collection is used outside of it.
pub const COLLECTION: Code = Code("E0215");
/// A collection is needed.
pub const NO_COLLECTION: Code = Code("E0216");
/// A name stands for two things.
pub const CLASH: Code = Code("E0217");
/// A name is assigned twice in a formula.
pub const REASSIGNED: Code = Code("E0218");
/// The names on the left are not as many as the results.
pub const RESULTS: Code = Code("E0219");
/// A file differs from the declared type.
pub const DECLARED: Code = Code("E0220");
/// The type of an input is not known.
pub const UNDECLARED: Code = Code("E0221");
/// A size of a type makes no sense.
pub const SIZE: Code = Code("E0222");
/// The type of an input does not fit its source.
pub const SOURCE: Code = Code("E0223");
/// The type of a result does not fit its sink.
pub const SINK: Code = Code("E0224");
/// A size that each item has for itself is used outside of the item.
pub const PER_ITEM: Code = Code("E0225");
/// An output is written where another one is, or where an input is read.
pub const SAME_PATH: Code = Code("E0226");
/// The path of an output lacks `{item}`, or has it for one value.
pub const ITEM_IN_PATH: Code = Code("E0227");
/// A value set from outside does not fit.
pub const SET: Code = Code("E0228");
/// A line computes a value that nothing can use.
pub const UNNAMED_LINE: Code = Code("E0229");
/// haul's own check of a compiled graph failed.
pub const INTERNAL: Code = Code("E0230");
/// The path of an output leads out of the pipeline's folder.
pub const OUTSIDE: Code = Code("E0231");
/// A rename of something that is still there.
pub const NOT_RENAMED: Code = Code("E0232");
/// A path leads to nothing that can be read or written.
pub const NOWHERE: Code = Code("E0235");
/// Nothing uses a stage.
pub const UNUSED_STAGE: Code = Code("W0201");
/// Nothing uses an input.
pub const UNUSED_INPUT: Code = Code("W0202");

pub(super) static NAMES: &[CodeInfo] = &[
    CodeInfo {
        code: UNKNOWN_NAME,
        title: "a name does not exist",
        explanation: "A formula knows the names of its own lines above, inputs, stages, \
            `stage.name` for a line of another stage, params, dims, `pi`, `inf` and `nan`; a \
            function knows its parameters as well.",
        wrong: "Pipeline(version: 1, stages: {\"a\": (do: \"b + 1\")})",
        right: "Pipeline(version: 1, params: {\"b\": 2}, stages: {\"a\": (do: \"b + 1\")})",
    },
    CodeInfo {
        code: UNKNOWN_FUNCTION,
        title: "a function does not exist",
        explanation: "What is called is an op of the catalogue, which `haul ops` lists, or one of \
            the pipeline's own `functions`.",
        wrong: "Pipeline(version: 1, stages: {\"a\": (do: \"squareroot(2)\")})",
        right: "Pipeline(version: 1, stages: {\"a\": (do: \"sqrt(2)\")})",
    },
];

pub(super) static CODES: &[CodeInfo] = &[
    CodeInfo {
        code: CYCLE,
        title: "stages need each other's results",
        explanation: "A stage starts when what it uses is there. In a cycle each stage waits for \
            another one, so none could start. The message shows the whole cycle.",
        wrong: "Pipeline(version: 1, stages: {\"a\": (do: \"b + 1\"), \"b\": (do: \"a + 1\")})",
        right: "Pipeline(version: 1, stages: {\"a\": (do: \"1\"), \"b\": (do: \"a + 1\")})",
    },
    CodeInfo {
        code: RECURSION,
        title: "a function uses itself",
        explanation: "Functions are put in place of their calls, which never ends for one that \
            calls itself, directly or through others.",
        wrong: "Pipeline(version: 1, functions: {\"f(x)\": \"f(x) + 1\"}, \
            stages: {\"a\": (do: \"f(1)\")})",
        right: "Pipeline(version: 1, functions: {\"f(x)\": \"x + 1\"}, \
            stages: {\"a\": (do: \"f(f(1))\")})",
    },
    CodeInfo {
        code: EXPANSION,
        title: "functions expand to too much",
        explanation: "Functions are put in place of their calls. A pipeline has at most 1,000,000 \
            calls of functions and ops after that, and functions call each other at most 64 deep.",
        wrong: "functions that call the one before twice, twenty times over",
        right: "stages, whose results are computed once and used many times",
    },
    CodeInfo {
        code: ARGUMENTS,
        title: "the arguments do not fit the parameters",
        explanation: "Arguments without a name come first, in the order of the parameters; the \
            others say which parameter they are for. Each parameter gets one value; only those \
            with a default may be left out. The help shows the signature.",
        wrong: "Pipeline(version: 1, stages: {\"a\": (do: \"sqrt(2, 3)\")})",
        right: "Pipeline(version: 1, stages: {\"a\": (do: \"sqrt(2)\")})",
    },
    CodeInfo {
        code: OPTION,
        title: "an option takes something else",
        explanation: "Options, such as axes, shapes and the positions of an index, are known when \
            the pipeline is compiled: whole numbers made of literals, params and dims, `true` and \
            `false`, words in single quotes. Values that are computed cannot stand there, and \
            options cannot be computed with.",
        wrong: "Pipeline(version: 1, inputs: {\"x\": Random(seed: 1, type: \"f32[4]\")}, \
            stages: {\"a\": (do: \"x[0.5]\")})",
        right: "Pipeline(version: 1, inputs: {\"x\": Random(seed: 1, type: \"f32[4]\")}, \
            stages: {\"a\": (do: \"x[0]\")})",
    },
    CodeInfo {
        code: COLLECTION,
        title: "a value of a collection is used outside of it",
        explanation: "A stage with `each` runs once for each item, and sees one item of every \
            value over the same collection. Elsewhere a collection is many values: run over it \
            with `each`, or say how to make one value of it, such as `gather(x)`.",
        wrong: "Pipeline(version: 1, inputs: {\"f\": Files(glob: \"*.npy\", type: \"f32[4]\")}, \
            stages: {\"a\": (do: \"f + 1\")})",
        right: "Pipeline(version: 1, inputs: {\"f\": Files(glob: \"*.npy\", type: \"f32[4]\")}, \
            stages: {\"a\": (each: \"f\", do: \"f + 1\")})",
    },
    CodeInfo {
        code: NO_COLLECTION,
        title: "a collection is needed",
        explanation: "`each` names an input of several items (`Files`, `Split`) or a stage that \
            itself runs over one. Ops such as `gather` take one as well.",
        wrong: "Pipeline(version: 1, inputs: {\"x\": Random(seed: 1, type: \"f32[4]\")}, \
            stages: {\"a\": (each: \"x\", do: \"x + 1\")})",
        right: "Pipeline(version: 1, inputs: {\"x\": Random(seed: 1, type: \"f32[4]\")}, \
            stages: {\"a\": (do: \"x + 1\")})",
    },
    CodeInfo {
        code: CLASH,
        title: "a name stands for two things",
        explanation: "Inputs, stages, params and dims are all used by name in formulas, so no two \
            of them have the same one. A function cannot have the name of an op.",
        wrong: "Pipeline(version: 1, params: {\"a\": 1}, stages: {\"a\": (do: \"2\")})",
        right: "Pipeline(version: 1, params: {\"a\": 1}, stages: {\"b\": (do: \"a\")})",
    },
    CodeInfo {
        code: REASSIGNED,
        title: "a name is assigned twice in a formula",
        explanation: "Plans and other stages refer to a line by its name, so each name is given \
            once in a formula.",
        wrong: "Pipeline(version: 1, stages: {\"a\": (do: \"x = 1\nx = x + 1\nx\")})",
        right: "Pipeline(version: 1, stages: {\"a\": (do: \"x = 1\ny = x + 1\ny\")})",
    },
    CodeInfo {
        code: RESULTS,
        title: "not as many names as results",
        explanation: "An op with several results is a line of its own with a name for each: \
            `values, vectors = eigh(c)`. An op with one result has one name.",
        wrong: "Pipeline(version: 1, stages: {\"a\": (do: \"x, y = sqrt(2)\nx\")})",
        right: "Pipeline(version: 1, stages: {\"a\": (do: \"x = sqrt(2)\nx\")})",
    },
    CodeInfo {
        code: DECLARED,
        title: "a file differs from its declared type",
        explanation: "The dtype, the number of axes and the sizes in the header of the file must \
            be those declared. Names of sizes stand for one size in the whole pipeline.",
        wrong: "\"x\": Npy(path: \"x.npy\", type: \"f32[4]\") of a file with f64[4]",
        right: "\"x\": Npy(path: \"x.npy\", type: \"f64[4]\")",
    },
    CodeInfo {
        code: UNDECLARED,
        title: "the type of an input is not known",
        explanation: "Without a declared type, the header of the file says what it holds; it \
            could not be read. With a declared type no file is needed to plan.",
        wrong: "Pipeline(version: 1, inputs: {\"x\": Npy(path: \"gone.npy\")}, \
            stages: {\"a\": (do: \"x + 1\")})",
        right: "Pipeline(version: 1, inputs: {\"x\": Npy(path: \"gone.npy\", type: \"f32[4]\")}, \
            stages: {\"a\": (do: \"x + 1\")})",
    },
    CodeInfo {
        code: SIZE,
        title: "a size makes no sense",
        explanation: "A size is a whole number, not below zero, made of integers, dims and whole \
            params. A name that is neither becomes a dim that data binds; inputs and stages are \
            no sizes.",
        wrong: "Pipeline(version: 1, inputs: {\"x\": Random(seed: 1, type: \"f32[2 - 3]\")}, \
            stages: {\"a\": (do: \"x\")})",
        right: "Pipeline(version: 1, inputs: {\"x\": Random(seed: 1, type: \"f32[3 - 2]\")}, \
            stages: {\"a\": (do: \"x\")})",
    },
    CodeInfo {
        code: SOURCE,
        title: "the type does not fit the source",
        explanation: "A table gives rows and columns, an image u8 or u16 with two axes or three, \
            random numbers are floats, and a constant has the shape in which it is written, in a \
            dtype that holds its numbers.",
        wrong: "Pipeline(version: 1, inputs: {\"x\": Random(seed: 1, type: \"i32[4]\")}, \
            stages: {\"a\": (do: \"x\")})",
        right: "Pipeline(version: 1, inputs: {\"x\": Random(seed: 1, type: \"f32[4]\")}, \
            stages: {\"a\": (do: \"x\")})",
    },
    CodeInfo {
        code: SINK,
        title: "the result does not fit the sink",
        explanation: "A table is written of at most two axes of real numbers, with as many names \
            as columns; an image of u8 or u16 with two axes, or three of which the last has 1 \
            to 4 channels.",
        wrong: "Pipeline(version: 1, stages: {\"a\": (do: \"1.5\")}, \
            outputs: {\"p\": Image(path: \"p.png\", from: \"a\")})",
        right: "Pipeline(version: 1, stages: {\"a\": (do: \"1.5\")}, \
            outputs: {\"p\": Npy(path: \"p.npy\", from: \"a\")})",
    },
    CodeInfo {
        code: PER_ITEM,
        title: "a size of each item is used outside of the item",
        explanation: "A size that first appears in the type of an item is that item's own: every \
            file may have another number of rows. It means nothing where no single item is \
            meant, and items of different sizes do not stack.",
        wrong: "Pipeline(version: 1, inputs: {\"f\": Files(glob: \"*.npy\", type: \"f32[n]\")}, \
            stages: {\"a\": (each: \"f\", do: \"f + 1\"), \"b\": (do: \"n + 1\")})",
        right: "Pipeline(version: 1, inputs: {\"f\": Files(glob: \"*.npy\", type: \"f32[n]\")}, \
            stages: {\"a\": (each: \"f\", do: \"f + n\")})",
    },
    CodeInfo {
        code: SAME_PATH,
        title: "the path of an output is taken",
        explanation: "A second output to one path would replace the first, and an output in the \
            place of an input would change what the next run reads.",
        wrong: "Pipeline(version: 1, stages: {\"a\": (do: \"1\")}, outputs: {\
            \"p\": Npy(path: \"p.npy\", from: \"a\"), \"q\": Npy(path: \"p.npy\", from: \"a\")})",
        right: "Pipeline(version: 1, stages: {\"a\": (do: \"1\")}, outputs: {\
            \"p\": Npy(path: \"p.npy\", from: \"a\"), \"q\": Npy(path: \"q.npy\", from: \"a\")})",
    },
    CodeInfo {
        code: ITEM_IN_PATH,
        title: "`{item}` in the path of an output",
        explanation: "Each item of a collection is written to a file of its own: `{item}` in the \
            path stands for the item's name. A single value has no item.",
        wrong: "Pipeline(version: 1, stages: {\"a\": (do: \"1\")}, \
            outputs: {\"p\": Npy(path: \"{item}.npy\", from: \"a\")})",
        right: "Pipeline(version: 1, stages: {\"a\": (do: \"1\")}, \
            outputs: {\"p\": Npy(path: \"p.npy\", from: \"a\")})",
    },
    CodeInfo {
        code: SET,
        title: "a value set from outside does not fit",
        explanation: "`--set name=value` replaces the number of a param, or binds a dim to a \
            whole number that is at most its `max`.",
        wrong: "--set lr=fast",
        right: "--set lr=0.1",
    },
    CodeInfo {
        code: UNNAMED_LINE,
        title: "a line computes a value that nothing can use",
        explanation: "The last line of a formula is its value. The lines before it have names, \
            `x = …`, by which later lines use them.",
        wrong: "Pipeline(version: 1, stages: {\"a\": (do: \"sqrt(2)\nsqrt(3)\")})",
        right: "Pipeline(version: 1, stages: {\"a\": (do: \"x = sqrt(2)\nx + sqrt(3)\")})",
    },
    CodeInfo {
        code: INTERNAL,
        title: "haul made a mistake",
        explanation: "haul checks every graph that it compiles before it goes on. This one did \
            not pass, which is not your fault: please report the pipeline.",
        wrong: "there is no pipeline known to cause it",
        right: "every other pipeline",
    },
    CodeInfo {
        code: OUTSIDE,
        title: "an output may lie outside the pipeline's folder",
        explanation: "Results stay below the folder of the pipeline file, so that running somebody \
            else's pipeline replaces no file of yours elsewhere. A path is relative and has no `..`, or is the \
            URL of an object in a bucket.",
        wrong: "Pipeline(version: 1, stages: {\"a\": (do: \"1\")}, \
            outputs: {\"p\": Npy(path: \"../p.npy\", from: \"a\")})",
        right: "Pipeline(version: 1, stages: {\"a\": (do: \"1\")}, \
            outputs: {\"p\": Npy(path: \"out/p.npy\", from: \"a\")})",
    },
    CodeInfo {
        code: NOT_RENAMED,
        title: "a rename of something that is still there",
        explanation: "`moved` tells comparisons of plans under which name a dim, input, stage, \
            output, or a line as `stage.line`, was known before: the old name is gone, the new one \
            is there.",
        wrong: "Pipeline(version: 1, stages: {\"a\": (do: \"1\"), \"b\": (do: \"a\")}, \
            moved: {\"a\": \"b\"})",
        right: "Pipeline(version: 1, stages: {\"a\": (do: \"1\"), \"b\": (do: \"a\")}, \
            moved: {\"c\": \"b\"})",
    },
    CodeInfo {
        code: NOWHERE,
        title: "a path leads to nothing that can be read or written",
        explanation: "A path is that of a file, or a URL: `s3://bucket/key`, `gs://bucket/key`, \
            `https://server/page`, or `file:///folder/name`. It holds no credentials, which come \
            from the environment. Web servers are read from, one page at a time; results are \
            written to files and to buckets.",
        wrong: "Pipeline(version: 1, inputs: {\"x\": Npy(path: \"ftp://h/x.npy\", \
            type: \"f32[4]\")}, stages: {\"a\": (do: \"x\")})",
        right: "Pipeline(version: 1, inputs: {\"x\": Npy(path: \"https://h/x.npy\", \
            type: \"f32[4]\")}, stages: {\"a\": (do: \"x\")})",
    },
];

pub(super) static WARNINGS: &[CodeInfo] = &[
    CodeInfo {
        code: UNUSED_STAGE,
        title: "nothing uses a stage",
        explanation: "Neither a stage nor an output uses what it computes, but it would run. \
            Where a pipeline has no outputs, the last stage is what it is for.",
        wrong: "Pipeline(version: 1, stages: {\"a\": (do: \"1\"), \"b\": (do: \"2\")})",
        right: "Pipeline(version: 1, stages: {\"a\": (do: \"1\"), \"b\": (do: \"a + 1\")})",
    },
    CodeInfo {
        code: UNUSED_INPUT,
        title: "nothing uses an input",
        explanation: "No formula mentions it; its name is perhaps misspelt where it should stand.",
        wrong: "Pipeline(version: 1, inputs: {\"x\": Random(seed: 1, type: \"f32[4]\")}, \
            stages: {\"a\": (do: \"1\")})",
        right: "Pipeline(version: 1, inputs: {\"x\": Random(seed: 1, type: \"f32[4]\")}, \
            stages: {\"a\": (do: \"x + 1\")})",
    },
];
