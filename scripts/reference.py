"""Makes kernels/tests/reference/<group>.json: what each op must yield for given inputs.

    python3 scripts/reference.py

A file is a list of cases, one a line:

    {"op": "sum", "inputs": [tensor, …], "attrs": {"axis": 0, "keepdims": false},
     "outputs": [tensor, …], "rtol": 0.0, "atol": 0.0}

A tensor is {"dtype", "shape", "data"}: data is flat and row-major, complex numbers
are [re, im], NaN and the infinities are the strings "nan", "inf", "-inf". An f16, bf16 or
f32 reads as the f64 that rounds to it.

An output agrees when |got - want| <= atol + rtol |want|, for complex numbers by modulus;
NaN agrees with NaN (a complex number is NaN if a part is), infinities with themselves.
With "signed_zeros": true, zeros must have the expected sign too.

Expected values are computed in long double (exact operations in f64), by definition
rather than by a fast algorithm where both exist, or with mpmath in hundreds of bits, and
rounded once to the output's dtype: they hold for any order of summation within the tolerance.
"""

import json
import warnings
from pathlib import Path

import numpy as np

from reference_cases import (
    attention,
    cast,
    contractions,
    conv,
    decompositions,
    elementary,
    elementwise,
    fft,
    functions,
    linalg,
    moves,
    networks,
    order,
    pytorch,
    random,
    reduce,
    sampling,
    scans,
    shape,
    signal,
    softmax,
    special,
    statistics,
    tensors,
    totals,
    windows,
)

FOLDER = Path(__file__).parents[1] / "kernels/tests/reference"
GROUPS = {
    "elementwise": elementwise.elementwise,
    "reduce": reduce.reduce,
    "linalg": linalg.linalg,
    "contractions": contractions.contractions,
    "decompositions": decompositions.decompositions,
    "fft": fft.fft,
    "conv": conv.conv,
    "shape": shape.shape,
    "moves": moves.moves,
    "cast": cast.cast,
    "softmax": softmax.softmax,
    "functions": functions.functions,
    "statistics": statistics.statistics,
    "elementary": elementary.elementary,
    "special": special.special,
    "order": order.order,
    "scans": scans.scans,
    "totals": totals.totals,
    "random": random.random,
    "networks": networks.networks,
    "norms": networks.norms,
    "losses": networks.losses,
    "windows": windows.windows,
    "pools": windows.pools,
    "attention": attention.attention,
    "sampling": sampling.sampling,
    "spectra": signal.spectra,
    "filters": signal.filters,
    "vectors": signal.vectors,
    "pytorch": pytorch.pytorch,
}


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    for group, cases in GROUPS.items():
        tensors.restart()
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            lines = [json.dumps(case, separators=(",", ":"), allow_nan=False) for case in cases()]
        (FOLDER / f"{group}.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")
        print(f"{group}: {len(lines)} cases")


if __name__ == "__main__":
    main()
