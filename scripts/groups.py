"""Makes kernels/tests/data/groups.json: what pandas makes of groups of rows.

    python3 scripts/groups.py

Each case is a formula, what it is given, and its two results, each as a type and its elements.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd

FILE = Path(__file__).parent.parent / "kernels/tests/data/groups.json"
rng = np.random.default_rng(2026)

# haul's types, and those of pandas in which a cell may be missing.
DTYPES = {
    "text": "string",
    "bool": "boolean",
    "u8": "UInt8",
    "i32": "Int32",
    "i64": "Int64",
    "f64": "Float64",
}


def cells(kind, rows, missing):
    if kind == "text":
        values = rng.choice(["a", "b", "é", "longer", ""], rows)
    elif kind == "bool":
        values = rng.random(rows) < 0.5
    elif kind == "f64":
        values = rng.integers(-40, 40, rows) / 8
    else:
        values = rng.integers(0 if kind == "u8" else -100, 100, rows)
    values = values.tolist()
    if missing:
        values = [None if rng.random() < 0.3 else value for value in values]
    return pd.Series(values, dtype=DTYPES[kind])


def word(value):
    if pd.isna(value):
        return "missing"
    if isinstance(value, str):
        return f"'{value}'"
    return str(value).lower() if isinstance(value, (bool, np.bool_)) else repr(value)


def words(series):
    return " ".join(word(value) for value in series.tolist())


def made(kind, aggregate):
    """The type of what is told of cells."""
    kind, optional = kind.rstrip("?"), "?" if kind.endswith("?") else ""
    match aggregate:
        case "count":
            return "i64"
        case "mean":
            return "f64" + optional
        case "sum":
            return {"f64": "f64", "u8": "u64"}.get(kind, "i64")
    return kind + optional


def case(rows, key, columns, aggregate):
    keys = cells(key.rstrip("?"), rows, key.endswith("?"))
    kinds = {f"c{at}": kind for at, kind in enumerate(columns)}
    table = pd.DataFrame(
        {name: cells(kind.rstrip("?"), rows, kind.endswith("?")) for name, kind in kinds.items()}
    )
    groups = table.groupby(keys.rename("key"))
    # The sum of what is missing is 0, as that of nothing.
    told = getattr(groups, aggregate)()
    for name, kind in kinds.items():
        if aggregate in ("min", "max") and kind.startswith("bool"):
            told[name] = told[name].astype("boolean")
    count = len(told)

    def rows_of(frame, types, n):
        kinds = ", ".join(f"{name}: {kind}" for name, kind in types.items())
        return f"table[{n}]{{{kinds}}}", "; ".join(words(frame[name]) for name in types)

    return {
        "formula": f"group_by(t, key, '{aggregate}')",
        "given": [["t", *rows_of(table, kinds, rows)], ["key", f"{key}[{rows}]", words(keys)]],
        "results": [
            [f"{key.rstrip('?')}[{count}]", words(told.index.to_series())],
            [*rows_of(told, {n: made(k, aggregate) for n, k in kinds.items()}, count)],
        ],
    }


def main():
    columns = ["f64", "f64?", "i64?", "u8", "i32?", "bool"]
    cases = [
        case(rows, key, columns, aggregate)
        for key in ("text", "text?", "i32", "i64?", "f64", "bool?")
        for aggregate in ("mean", "sum", "min", "max", "count")
        for rows in (1, 7, 40)
    ]
    cases.append(case(9, "text?", ["text", "text?"], "count"))
    lines = [json.dumps(case, ensure_ascii=False) for case in cases]
    FILE.write_text("[\n" + ",\n".join(lines) + "\n]\n")


main()
