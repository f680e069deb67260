"""Makes kernels/tests/data/text.json: what numpy.strings and Python's str make of texts.

    python3 scripts/text.py

Each case is a formula, what it is given, and its results, each as a type and its elements.
"""

import json
from pathlib import Path

import numpy as np

FILE = Path(__file__).parent.parent / "kernels/tests/data/text.json"
LETTERS = ["a", "b", "aa", "ab", "A", " ", "é", "Ä", "日本", "😀", ",", ""]
rng = np.random.default_rng(2026)


def texts(rows):
    made = ["".join(rng.choice(LETTERS, rng.integers(0, 7))) for _ in range(rows)]
    return np.array(made, dtype=np.dtypes.StringDType())


def column(values):
    return f"text[{len(values)}]", " ".join(f"'{value}'" for value in values.tolist())


def numbers(dtype, values):
    return f"{dtype}[{len(values)}]", " ".join(str(int(value)) for value in values)


def cases():
    tests = {
        "contains": lambda x, part: np.strings.find(x, part) >= 0,
        "starts_with": np.strings.startswith,
        "ends_with": np.strings.endswith,
        "text_equal": lambda x, part: x == part,
    }
    changes = {"lower": str.lower, "upper": str.upper, "strip": str.strip}
    for rows in [0, 1, 7, 64]:
        x = texts(rows)
        for part in ["a", "ab", "é", "日本", ""]:
            for op, test in tests.items():
                yield f"{op}(x, '{part}')", x, numbers("bool", test(x, part))
        for op, change in changes.items():
            changed = np.array([change(text) for text in x.tolist()], dtype=object)
            yield f"{op}(x)", x, column(changed)
        yield "text_length(x)", x, numbers("i64", np.strings.str_len(x))


lines = [
    json.dumps({"formula": f, "given": [["x", *column(x)]], "results": [r]}, ensure_ascii=False)
    for f, x, r in cases()
]
FILE.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
