"""Makes kernels/tests/data/text.json: what numpy.strings and Python's str make of texts.

    python3 scripts/text.py

Each case is a formula, what it is given, and its results, each as a type and its elements.
"""

import json
from pathlib import Path

import numpy as np

FILE = Path(__file__).parent.parent / "kernels/tests/data/text.json"
LETTERS = ["a", "b", "aa", "ab", "A", " ", "\u3000", "é", "Ä", "日本", "😀", ",", ""]
rng = np.random.default_rng(2026)


def texts(rows):
    made = ["".join(rng.choice(LETTERS, rng.integers(0, 7))) for _ in range(rows)]
    return np.array(made, dtype=np.dtypes.StringDType())


def column(values):
    return f"text[{len(values)}]", " ".join(f"'{value}'" for value in values.tolist())


def numbers(dtype, values):
    return f"{dtype}[{len(values)}]", " ".join(str(int(value)) for value in values)


def case(formula, result, **given):
    arguments = [(name, *column(values)) for name, values in given.items()]
    return {"formula": formula, "given": arguments, "results": [result]}


def of_one(x):
    tests = {
        "contains": lambda x, part: np.strings.find(x, part) >= 0,
        "starts_with": np.strings.startswith,
        "ends_with": np.strings.endswith,
        "text_equal": lambda x, part: x == part,
    }
    changes = {"lower": str.lower, "upper": str.upper}
    strips = {name: getattr(np.strings, name) for name in ["strip", "lstrip", "rstrip"]}
    for part in ["a", "ab", "é", "日本", ""]:
        for op, test in tests.items():
            yield case(f"{op}(x, '{part}')", numbers("bool", test(x, part)), x=x)
    for op, change in changes.items():
        changed = np.array([change(text) for text in x.tolist()], dtype=object)
        yield case(f"{op}(x)", column(changed), x=x)
    for op, strip in strips.items():
        yield case(f"{op}(x)", column(strip(x)), x=x)
    for old, new in [("a", "bb"), ("aa", ""), ("日", "é"), ("", "-"), ("ab", "ab")]:
        replaced = column(np.strings.replace(x, old, new))
        yield case(f"replace(x, '{old}', '{new}')", replaced, x=x)
    yield case("text_length(x)", numbers("i64", np.strings.str_len(x)), x=x)


def of_two(x, y):
    order = (x > y).astype(int) - (x < y).astype(int)
    yield case("text_compare(x, y)", numbers("i8", order), x=x, y=y)
    yield case("concat_text(x, y)", column(np.strings.add(x, y)), x=x, y=y)
    joined = np.strings.add(np.strings.add(x, " é "), y)
    yield case("concat_text(x, y, separator=' é ')", column(joined), x=x, y=y)


def cases():
    for rows in [0, 1, 7, 64]:
        x, y = texts(rows), texts(rows)
        y[::3] = x[::3]
        yield from of_one(x)
        yield from of_two(x, y)


lines = [json.dumps(case, ensure_ascii=False) for case in cases()]
FILE.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
