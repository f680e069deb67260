"""Makes pipelines/data/sensors/sensor_01.csv … sensor_12.csv: 2048 samples of 8 displacements.

    python3 scripts/make_sensors.py

Each file is one machine frame, modelled as a chain of eight equal masses between
two walls, joined by nine equal springs, each mass damped and shaken:

    m x_i'' = -k (2 x_i - x_{i-1} - x_{i+1}) - c x_i' + F_i(t),    x_0 = x_9 = 0

    mass       m = 0.5 kg
    stiffness  k = 300 … 520 N/m, 20 N/m more from each file to the next
    damping    c = 0.4 kg/s
    shaking    an impulse on every mass at every sample, normal, 0.65 mN s
    sensor     white noise, normal, 0.005 mm; the logger resolves 0.001 mm
    sampling   100 Hz for 20.48 s, from rest, after 20 s of settling

Between impulses the motion is propagated exactly, by the matrix exponential.
Displacements are in millimetres. The squares of the eight average 1 to 3
mm^2, so that a Gaussian kernel of width 1 mm separates the samples without
isolating them.
"""

from pathlib import Path

import numpy as np
from scipy.linalg import expm

DATA = Path(__file__).parents[1] / "pipelines/data/sensors"
FILES, ROWS, SETTLING, MASSES = 12, 2048, 2000, 8
MASS, DAMPING, IMPULSE, STEP = 0.5, 0.4, 0.65e-3, 0.01
NOISE_MM = 0.005


def propagator(stiffness):
    """The matrix that takes (x, v) over one time step."""
    coupling = stiffness * (np.eye(MASSES, k=1) + np.eye(MASSES, k=-1) - 2 * np.eye(MASSES))
    still, unit = np.zeros((MASSES, MASSES)), np.eye(MASSES)
    return expm(STEP * np.block([[still, unit], [coupling / MASS, -DAMPING / MASS * unit]]))


def record(stiffness, rng):
    """Displacements in mm, one row per sample."""
    step, state = propagator(stiffness), np.zeros(2 * MASSES)
    rows = []
    for _ in range(SETTLING + ROWS):
        state[MASSES:] += IMPULSE / MASS * rng.standard_normal(MASSES)
        state = step @ state
        rows.append(1e3 * state[:MASSES])
    return np.array(rows[SETTLING:]) + NOISE_MM * rng.standard_normal((ROWS, MASSES))


def main():
    DATA.mkdir(parents=True, exist_ok=True)
    header = ",".join(f"x{i}_mm" for i in range(1, MASSES + 1))
    for file in range(1, FILES + 1):
        rows = record(280 + 20 * file, np.random.default_rng(file))
        np.savetxt(DATA / f"sensor_{file:02}.csv", rows, "%.3f", ",", header=header, comments="")


if __name__ == "__main__":
    main()
