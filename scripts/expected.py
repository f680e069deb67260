"""Makes pipelines/expected/<pipeline>/<output>.npy: what each pipeline must yield.

    python3 scripts/expected.py

Computed from the same data with NumPy and SciPy in f64, whatever dtype the
pipeline uses. tolerance.json beside them says how close an output must come:
an element agrees when |got - want| <= atol + rtol |want|, and at most the
fraction `mismatches` of all elements may disagree; `why` gives the reason.
Where an answer hangs on a comparison, its margin is checked here.
"""

import csv
import json
from pathlib import Path

import numpy as np
from PIL import Image
from scipy.integrate import quad
from scipy.io import wavfile
from scipy.ndimage import laplace
from scipy.signal import correlate, welch
from scipy.signal.windows import hann
from scipy.special import softmax
from scipy.stats import norm

from reference_cases.signal import mel_weights

PIPELINES = Path(__file__).parents[1] / "pipelines"
DATA = PIPELINES / "data"


def within(rtol=0.0, atol=0.0, mismatches=0.0, why="exact"):
    return {"rtol": rtol, "atol": atol, "mismatches": mismatches, "why": why}


def picture(name):
    return np.asarray(Image.open(DATA / name), np.float64)


def array(name):
    return np.load(DATA / name).astype(np.float64)


def mixed():
    rows = []
    for file in sorted((DATA / "sensors").glob("*.csv")):
        x = np.loadtxt(file, delimiter=",", skiprows=1)
        x -= x.mean(axis=0)
        squares = (x * x).sum(axis=1)
        g = np.exp(x @ x.T - (squares[:, np.newaxis] + squares) / 2)
        g = g @ g @ g
        rows.append([np.trace(g), g.max(), np.linalg.norm(g)])
    why = "f32 with two products over 2048 terms, all positive; NumPy in f32 is within 4e-6"
    return {"report": (np.array(rows), within(rtol=1e-4, why=why))}


def denoise():
    noisy, clean = picture("camera_noisy.png"), picture("camera.png")
    spectrum, threshold = np.fft.fft2(noisy), 3 * 20 * 512
    strong = np.abs(spectrum) > threshold
    assert np.abs(np.abs(spectrum) - threshold).min() > 1, "a coefficient too near the cut"
    denoised = np.clip(np.fft.ifft2(np.where(strong, spectrum, 0)).real, 0, 255)

    def rmse(image):
        return np.sqrt(np.mean((image - clean) ** 2))

    return {
        "picture": (
            (denoised + 0.5).astype(np.uint8),
            within(mismatches=2e-4, why="f32 errors of 1e-4 move a few values across a half"),
        ),
        "errors": (
            np.array([[rmse(noisy), rmse(denoised)]]),
            within(rtol=1e-5, why="f32 means of 262144 squares, summed pairwise or better"),
        ),
        "kept": (
            strong.sum(),
            within(why="exact: no coefficient is within 1 of the cut; f32 errs by less than 0.1"),
        ),
    }


def digits():
    table = np.loadtxt(DATA / "digits.csv.gz", delimiter=",")[1297:]
    pixels, labels = table[:, :64] / 16, table[:, 64].astype(np.int64)
    w1, b1, w2, b2, w3, b3 = (array(f"digits/{x}{layer}.npy") for layer in (1, 2, 3) for x in "wb")
    hidden = np.maximum(np.maximum(pixels @ w1 + b1, 0) @ w2 + b2, 0)
    probabilities = softmax(hidden @ w3 + b3, axis=1)
    predicted = probabilities.argmax(axis=1)
    second, first = np.sort(probabilities, axis=1)[:, -2:].T
    assert (first - second).min() > 1e-4, "two classes too near each other"
    confusion = np.zeros((10, 10), np.int64)
    np.add.at(confusion, (labels, predicted), 1)
    why = "f32 logits of size 30 err by about 1e-5, and probabilities by that much of themselves"
    exact = within(why="exact: the two likeliest classes differ by more than 1e-4")
    return {
        "probabilities": (probabilities, within(rtol=1e-3, atol=1e-6, why=why)),
        "predicted": (predicted, exact),
        "accuracy": (
            np.mean(predicted == labels),
            within(rtol=1e-6, why="a count of 500 in f32, divided once"),
        ),
        "confusion": (confusion, exact),
    }


def correlation():
    columns = ["realgdp", "realcons", "realinv", "realdpi", "cpi", "m1", "unemp"]
    with open(DATA / "macrodata.csv", newline="") as file:
        levels = np.array([[float(row[name]) for name in columns] for row in csv.DictReader(file)])
    growth = np.diff(np.log(levels), axis=0)
    why = "f64 throughout; differences of logarithms lose three digits"
    return {
        "correlation": (
            np.corrcoef(growth, rowvar=False),
            within(rtol=1e-9, atol=1e-11, why=why),
        )
    }


def filters():
    luma = np.float32([0.2126, 0.7152, 0.0722]).astype(np.float64)
    grey = picture("chelsea.png") @ luma / 255
    bank = array("gabor/bank.npy")[:, 0]
    response = np.array([correlate(grey, kernel, "valid", "direct") for kernel in bank])
    energy = response[:8] ** 2 + response[8:] ** 2
    colour = np.einsum("kij,kc->ijc", np.sqrt(energy), array("gabor/palette.npy"))
    return {
        "strength": (
            energy.mean(axis=(1, 2))[np.newaxis],
            within(rtol=1e-5, why="f32 means of 124982 squares, summed pairwise or better"),
        ),
        "orientation": (
            energy.argmax(axis=0).astype(np.uint8),
            within(mismatches=1e-4, why="a few pixels have two orientations within f32 rounding"),
        ),
        "texture": (
            (np.clip(6 * colour, 0, 1) * 255 + 0.5).astype(np.uint8),
            within(mismatches=2e-4, why="f32 errors of 1e-4 move a few values across a half"),
        ),
    }


def pca():
    table = np.loadtxt(DATA / "digits.csv.gz", delimiter=",")
    pixels, labels = table[:, :64], table[:, 64:]
    centred = pixels - pixels.mean(axis=0)
    _, singular, directions = np.linalg.svd(centred, full_matrices=False)
    # haul's rule for the sign of a vector: its first component that is not small is positive.
    lead = np.argmax(np.abs(directions) > np.abs(directions).max(axis=1, keepdims=True) / 1000, axis=1)
    directions *= np.sign(directions[np.arange(64), lead])[:, np.newaxis]
    gaps = singular[:2] / singular[1:3]
    assert gaps.min() > 1.02, "two directions too near each other"
    shares = singular**2 / (singular**2).sum()
    plane = np.concatenate([centred @ directions[:2].T, labels], axis=1)
    why = "f64; a direction errs by rounding over the gap to the next variance"
    return {
        "plane": (plane, within(atol=1e-9, why=why)),
        "shares": (
            np.stack([shares, shares.cumsum()], axis=1),
            within(atol=1e-12, why="f64 variances, the least of which are 0"),
        ),
    }


def heat():
    places = np.linspace(0, 1, 128)
    distance = np.hypot(places[:, np.newaxis] - 0.5, places - 0.9)
    assert np.abs(distance - 0.25).min() > 1e-6, "a place too near the edge of the disc"
    hot = np.where(distance < 0.25, 100.0, 20.0)
    later = hot
    for _ in range(10):
        later = later + 0.2 * laplace(later, mode="reflect")
    assert abs(later.mean() - hot.mean()) < 1e-10, "heat is lost"
    why = "f32: 10 steps, each rounded three times to units of 4e-6"
    return {
        "later": (later, within(atol=1e-4, why=why)),
        "picture": (
            (later * 2 + 0.5).astype(np.uint8),
            within(mismatches=2e-4, why="f32 errors of 1e-5 move a few values across a half"),
        ),
        "heat": (
            np.array([[hot.mean(), hot.max()], [later.mean(), later.max()]]),
            within(rtol=1e-5, why="f32 means of 16384 numbers, summed pairwise or better"),
        ),
    }


def option():
    """The formula of Black, Scholes and Merton, and the deviation of an estimate by quadrature."""
    spot, strike, rate, volatility, years, draws = 100, 105, 0.03, 0.2, 1, 1_000_000
    d = (np.log(spot / strike) + (rate + volatility**2 / 2) * years) / (volatility * years**0.5)
    price = spot * norm.cdf(d) - strike * np.exp(-rate * years) * norm.cdf(d - volatility * years**0.5)

    def paid(z):
        drift = (rate - volatility**2 / 2) * years
        ends = (spot * np.exp(drift + sign * volatility * years**0.5 * z) for sign in (1, -1))
        return np.exp(-rate * years) * sum(max(end - strike, 0) for end in ends) / 2

    square, _ = quad(lambda z: paid(z) ** 2 * norm.pdf(z), -12, 12, points=[-0.2, 0.2], limit=200)
    error = np.sqrt((square - price**2) / draws)
    return {
        "price": (price, within(atol=4 * error, why="four standard errors of the estimate")),
        "error": (error, within(rtol=0.01, why="a deviation of a million draws errs by 0.2 %")),
    }


def resonance():
    rows = []
    for file in sorted((DATA / "sensors").glob("*.csv")):
        x = np.loadtxt(file, delimiter=",", skiprows=1).T
        # Whole pieces of the signal and of its mirrored ends; scaling does not matter.
        padded = np.pad(x, [(0, 0), (512, 512)], mode="reflect")
        f, power = welch(padded, 100, "hann", 1024, 768, detrend=False, average="mean")
        power = power.sum(axis=0)
        lowest = np.where((f > 0.8) & (f < 2.2), power, 0)
        frequency = (lowest * f).sum() / lowest.sum()
        rows.append([frequency, 0.5 * (np.pi * frequency / np.sin(np.pi / 18)) ** 2])
    stiffness = np.array(rows)[:, 1]
    assert np.abs(stiffness / np.arange(300, 540, 20) - 1).max() < 0.12, "far from what was modelled"
    why = "f32 spectra of 1024 samples; all that is summed is positive"
    return {"frames": (np.array(rows), within(rtol=1e-4, why=why))}


def spectrogram():
    rate, recording = wavfile.read(DATA / "recordings/pluck.wav")
    assert rate == 11025, "another rate"
    sound = recording.astype(np.float64).mean(axis=1) / 32768
    window, padded = hann(512, sym=False), np.pad(sound, 256, mode="reflect")
    starts = range(0, len(padded) - 511, 32)
    frames = np.stack([padded[at : at + 512] * window for at in starts], axis=1)
    power = np.abs(np.fft.rfft(frames, axis=0)) ** 2
    decibels = 10 * np.log10(np.maximum(power / power.max(), 1e-8))
    second, first = np.sort(power, axis=0)[-2:]
    assert (second / first).max() < 1 - 1e-5, "two frequencies too near each other"
    bands = mel_weights(24, 512, rate, 0, rate / 2).T @ power
    return {
        "picture": (
            ((decibels[::-1] / 80 + 1) * 255 + 0.5).astype(np.uint8),
            within(mismatches=2e-3, why="f32 errors of weak frequencies move some values across a half"),
        ),
        "loudest": (
            np.fft.rfftfreq(512, 1 / rate)[power.argmax(axis=0)],
            within(rtol=1e-6, why="the two loudest differ by more than 1e-5; f32 frequencies"),
        ),
        "bands": (bands, within(rtol=1e-4, atol=1e-6, why="f32 spectra of a window of 512 samples")),
        "lost": (0.0, within(atol=2e-6, why="rounding of f32 there and back, of sounds up to 1")),
    }


def penguins():
    measures = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
    with open(DATA / "penguins.csv", newline="") as file:
        rows = [row for row in csv.DictReader(file) if "NA" not in (row[m] for m in measures)]
    species = np.array([row["species"] for row in rows])
    x = np.array([[float(row[m]) for m in measures] for row in rows])
    names, group, count = np.unique(species, return_inverse=True, return_counts=True)
    centre = np.array([x[species == name].mean(axis=0) for name in names])
    distance = (((x[:, np.newaxis] - centre) / x.std(axis=0)) ** 2).sum(axis=2)
    second, first = -np.sort(-distance, axis=1)[:, -2:].T
    assert (second - first).min() > 1e-6, "two species too near each other"
    heavy = x[(species != "Gentoo") & (x[:, 3] > 4500)]
    heavy = heavy[np.argsort(-heavy[:, 3], kind="stable")][:, [0, 3]].copy("C")
    return {
        "means": (centre, within(rtol=1e-12, why="f64 means of some 100 numbers")),
        "count": (count, within()),
        "nearest": (
            np.mean(distance.argmin(axis=1) == group),
            within(rtol=1e-12, why="a count of 342 in f64, divided once"),
        ),
        "heavy": (heavy, within()),
    }


def okun():
    with open(DATA / "macrodata.csv", newline="") as file:
        quarters = [[float(row[name]) for name in ("year", "realgdp", "unemp")] for row in csv.DictReader(file)]
    quarters = np.array(quarters)
    quarters = quarters[: len(quarters) // 4 * 4].reshape(-1, 4, 3)
    assert (quarters[:, :, 0] == quarters[:, :1, 0]).all(), "the data begins with a first quarter"
    years = quarters.mean(axis=1)
    changes = np.stack([np.diff(100 * np.log(years[:, 1])), np.diff(years[:, 2])], axis=1)
    slope, intercept = np.polyfit(changes[:, 0], changes[:, 1], 1)
    assert -0.45 < slope < -0.3, "Okun's law"
    why = "f64 throughout, and decimals with 17 digits between; differences of logarithms near 900"
    return {
        "changes": (changes, within(rtol=1e-12, atol=1e-12, why=why)),
        "law": (np.array([slope, intercept]), within(rtol=1e-11, why="least squares another way")),
    }


def main():
    for pipeline in (mixed, denoise, digits, correlation, filters, pca, heat, option, resonance, spectrogram, penguins, okun):
        folder = PIPELINES / "expected" / pipeline.__name__
        folder.mkdir(parents=True, exist_ok=True)
        outputs = pipeline()
        for name, (value, _) in outputs.items():
            np.save(folder / f"{name}.npy", value)
        tolerance = {name: limit for name, (_, limit) in outputs.items()}
        (folder / "tolerance.json").write_text(json.dumps(tolerance, indent=2) + "\n")


if __name__ == "__main__":
    main()
