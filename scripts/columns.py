"""Makes Parquet and Arrow files of all kinds of columns, and what each reads as.

    python scripts/columns.py

writes to tests/cases/io/columns. Arrow's own library makes the files, NumPy what they hold, and
Python's csv and json modules the same as text.
"""

import csv
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

FOLDER = Path(__file__).parent.parent / "tests/cases/io/columns"

N = 5
NUMBERS = {
    "u8": np.array([0, 1, 127, 128, 255], "u1"),
    "i16": np.array([-32768, -1, 0, 1, 32767], "i2"),
    "u32": np.array([0, 1, 2, 3, 2**32 - 1], "u4"),
    "i64": np.array([-(2**63), -1, 0, 2**53 + 1, 2**63 - 1], "i8"),
    "u64": np.array([0, 1, 2, 3, 2**64 - 1], "u8"),
    "f16": np.array([0.0, -0.0, 1.5, np.inf, np.nan], "f2"),
    "f32": np.array([0.1, -1e30, 1e-40, np.inf, np.nan], "f4"),
    "f64": np.array([0.1, -1e300, 5e-324, -np.inf, np.nan], "f8"),
    "bool": np.array([True, False, True, True, False]),
}


def columns():
    """Each column by name, with what it reads as where that is not the column itself."""
    for name, values in NUMBERS.items():
        yield name, pa.array(values), values
    floats = np.array([1.5, np.nan, np.nan, -2.0, 0.0])
    yield "f64_null", pa.array([1.5, None, float("nan"), -2.0, 0.0]), floats
    yield "i32_null", pa.array([1, None, 3, None, -5], pa.int32()), np.array([1, 0, 3, 0, -5], "i4")
    codes = pa.DictionaryArray.from_arrays(pa.array([2, 0, 1, 1, 2], pa.int8()), pa.array([7, 8, 9]))
    yield "dictionary", codes, np.array([9, 7, 8, 8, 9])
    times = np.array([0, 1, -1, 10**15, 2**53], "M8[us]")
    yield "time", pa.array(times), times.astype("i8")
    days = np.array([0, 1, -1, 20000, 3], "M8[D]")
    yield "day", pa.array(days, pa.date32()), days.astype("i4")
    grid = np.arange(N * 6, dtype="f4").reshape(N, 2, 3)
    rows = pa.FixedSizeListArray.from_arrays(pa.array(grid.ravel()), 3)
    yield "grid", pa.FixedSizeListArray.from_arrays(rows, 2), grid
    yield "text", pa.array(["a", "b", None, "é", ""]), None


def rows():
    """A table with text, and with cells that are missing: neither NaN, nor zero, nor empty."""
    return pa.table(
        {
            "name": pa.array(["plain", None, 'a "quote", a comma', "", "größer 日本"]),
            "kind": pa.array(["x", "y", None, "x", "x"]).dictionary_encode(),
            "large": pa.array(["one", "two", "three", "four", "five"], pa.large_string()),
            "count": pa.array([2**53 + 1, None, 0, -(2**63), 2**63 - 1]),
            "mass": pa.array([0.1, None, float("nan"), 0.25, -1234.5]),
            "flag": pa.array([True, False, True, False, False]),
            "small": pa.array([0, 1, 2, 254, 255], pa.uint8()),
        }
    )


def written(cell):
    """A cell as haul writes it."""
    match cell:
        case None:
            return ""
        case bool():
            return str(cell).lower()
        case float() if np.isnan(cell):
            return "NaN"
    return cell


def write_rows():
    table = rows()
    pq.write_table(table, FOLDER / "table.parquet", row_group_size=3)
    with pa.ipc.new_file(FOLDER / "table.arrow", table.schema) as out:
        out.write_table(table, max_chunksize=2)
    with open(FOLDER / "table.csv", "w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(table.column_names)
        writer.writerows([written(cell) for cell in row.values()] for row in table.to_pylist())
    write_lines("table", [{k: none(v) for k, v in row.items()} for row in table.to_pylist()])
    write_lines("grid", np.load(FOLDER / "grid.npy").tolist())
    write_lines("f64_null", [none(cell) for cell in np.load(FOLDER / "f64_null.npy").tolist()])


def none(cell):
    """JSON has no NaN."""
    return None if cell != cell else cell


def write_lines(name, values):
    lines = [json.dumps(v, ensure_ascii=False, separators=(",", ":")) for v in values]
    (FOLDER / f"{name}.jsonl").write_text("".join(line + "\n" for line in lines))


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    table = pa.table({name: column for name, column, _ in columns()})
    pq.write_table(table, FOLDER / "all.parquet", row_group_size=2, use_dictionary=["u8", "f64"])
    for name, codec in [("file", None), ("lz4", "lz4"), ("zstd", "zstd")]:
        options = pa.ipc.IpcWriteOptions(compression=codec)
        with pa.ipc.new_file(FOLDER / f"{name}.arrow", table.schema, options=options) as out:
            out.write_table(table, max_chunksize=2)
    with pa.ipc.new_stream(FOLDER / "stream.arrows", table.schema) as out:
        out.write_table(table, max_chunksize=3)
    for name, _, expected in columns():
        if expected is not None:
            np.save(FOLDER / f"{name}.npy", expected)
    write_rows()


main()
