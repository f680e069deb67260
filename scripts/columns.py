"""Makes Parquet and Arrow files of all kinds of columns, and what each reads as.

    python scripts/columns.py

writes to tests/cases/io/columns. Arrow's own library makes the files, NumPy what they hold.
"""

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


main()
