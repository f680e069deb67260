"""Makes the filter bank pipelines/data/gabor/bank.npy, f32[16, 1, 15, 15], and its palette.

    python3 scripts/make_gabor.py

Filters 0 … 7 are even (cosine) Gabor filters, for edges at 0°, 22.5°, … 157.5° from
the horizontal; filters 8 … 15 are their odd (sine) partners. Every filter sums to zero and
its absolute values sum to one, so that flat areas give nothing and responses
stay within the range of the image.

    wavelength 6 pixels, Gaussian envelope of 3 pixels, isotropic

palette.npy, f32[8, 3], is the colour of each orientation: red, green and blue are
raised cosines of twice the angle, because 0° and 180° are the same orientation.
"""

from pathlib import Path

import numpy as np

DATA = Path(__file__).parents[1] / "pipelines/data/gabor"
ORIENTATIONS, SIZE, WAVELENGTH, SIGMA = 8, 15, 6, 3


def gabor(angle, phase):
    y, x = np.mgrid[:SIZE, :SIZE] - SIZE // 2
    across = x * np.sin(angle) + y * np.cos(angle)
    envelope = np.exp(-(x**2 + y**2) / (2 * SIGMA**2))
    wave = envelope * np.cos(2 * np.pi * across / WAVELENGTH - phase)
    wave -= envelope * wave.sum() / envelope.sum()
    return wave / np.abs(wave).sum()


def main():
    angles = np.pi * np.arange(ORIENTATIONS) / ORIENTATIONS
    bank = [gabor(angle, phase) for phase in (0, np.pi / 2) for angle in angles]
    thirds = 2 * np.pi * np.arange(3) / 3
    palette = (1 + np.cos(2 * angles[:, np.newaxis] - thirds)) / 2

    DATA.mkdir(exist_ok=True)
    np.save(DATA / "bank.npy", np.array(bank, np.float32)[:, np.newaxis])
    np.save(DATA / "palette.npy", palette.astype(np.float32))


if __name__ == "__main__":
    main()
