"""Makes the weights of the digit classifier: pipelines/data/digits/{w,b}{1,2,3}.npy, f32.

    python3 scripts/train_digits.py

Trains 64 → 64 → 32 → 10 with relu on the first 1297 rows of digits.csv.gz, pixels
scaled to 0 … 1. The last 500 rows are held out. The rows are in the order in which
the writers were recorded, so most of the held-out digits are in unseen hands.
"""

from pathlib import Path

import numpy as np
from sklearn.neural_network import MLPClassifier

DATA = Path(__file__).parents[1] / "pipelines/data"
TRAIN, LEVELS = 1297, 16


def main():
    table = np.loadtxt(DATA / "digits.csv.gz", delimiter=",")
    pixels, labels = table[:, :64] / LEVELS, table[:, 64].astype(int)
    model = MLPClassifier((64, 32), alpha=0.1, max_iter=1000, random_state=0)
    model.fit(pixels[:TRAIN], labels[:TRAIN])
    print(f"held-out accuracy: {model.score(pixels[TRAIN:], labels[TRAIN:]):.3f}")

    (DATA / "digits").mkdir(exist_ok=True)
    for layer, (w, b) in enumerate(zip(model.coefs_, model.intercepts_), 1):
        np.save(DATA / f"digits/w{layer}.npy", w.astype(np.float32))
        np.save(DATA / f"digits/b{layer}.npy", b.astype(np.float32))


if __name__ == "__main__":
    main()
