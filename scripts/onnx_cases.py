"""Makes tests/conformance/onnx.zip of the unpacked archive of ONNX cases.

    python3 scripts/onnx_cases.py FOLDER

FOLDER holds a folder for each set of cases and in it one for each case, with case.json and its
arrays as .npy files: made of the conformance suite of the PyPI package `onnx` 1.23.2. The archive
holds cases.json, a list of what each case consists of, and arrays.bin, all arrays one after
another, equal ones once; `at` and `bytes` say where each one lies.
"""

import json
import sys
import zipfile
from pathlib import Path

TARGET = Path(__file__).parents[1] / "tests/conformance/onnx.zip"
FIELDS = ["id", "opset", "nodes", "inputs", "outputs", "weights", "tolerance"]


def main(folder):
    arrays, places, cases = bytearray(), {}, []
    for path in sorted(Path(folder).glob("*/*/case.json")):
        case = json.loads(path.read_text())
        for tensor in case["inputs"] + case["outputs"] + case["weights"]:
            data = (path.parent / tensor["file"]).read_bytes()
            if data not in places:
                places[data] = len(arrays)
                arrays += data
            tensor["at"], tensor["bytes"] = places[data], len(data)
            tensor.pop("value", None)
        cases.append({field: case[field] for field in FIELDS})
    with zipfile.ZipFile(TARGET, "w") as archive:
        write(archive, "cases.json", json.dumps(cases).encode())
        write(archive, "arrays.bin", bytes(arrays))
    print(f"{len(cases)} cases, {TARGET.stat().st_size} bytes")


def write(archive, name, data):
    """At a fixed date, so that the same cases make the same archive."""
    entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    archive.writestr(entry, data, zipfile.ZIP_DEFLATED, 9)


if __name__ == "__main__":
    main(sys.argv[1])
