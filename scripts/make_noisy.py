"""Makes pipelines/data/camera_noisy.png from camera.png.

    python3 scripts/make_noisy.py

Adds normal noise with a standard deviation of 20 grey levels, rounds, and clips to 0 … 255.
"""

from pathlib import Path

import numpy as np
from PIL import Image

DATA = Path(__file__).parents[1] / "pipelines/data"
SIGMA = 20


def main():
    clean = np.asarray(Image.open(DATA / "camera.png"), np.float64)
    noise = np.random.default_rng(1).normal(0, SIGMA, clean.shape)
    noisy = np.clip(np.rint(clean + noise), 0, 255).astype(np.uint8)
    Image.fromarray(noisy).save(DATA / "camera_noisy.png", optimize=True)


if __name__ == "__main__":
    main()
