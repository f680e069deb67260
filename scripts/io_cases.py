"""Makes small files of each format and what other libraries read from them, in tests/cases/io."""

import gzip
import json
import wave
from pathlib import Path

import numpy as np
from PIL import Image
from scipy.io import wavfile

FOLDER = Path(__file__).parent.parent / "tests/cases/io"
CASES = []


def case(source, why, expected=None, **more):
    """A case, with the array that a library reads; or the error that it ends in."""
    if expected is not None:
        more["expected"] = f"expected/made{len(CASES)}.npy"
        np.save(FOLDER / more["expected"], expected)
    CASES.append({"source": source, **more, "why": why})


def path(name):
    path = FOLDER / "made" / name
    path.parent.mkdir(exist_ok=True)
    return path


def npy():
    numbers = np.arange(24, dtype=">c8").reshape(2, 3, 4) * (1 - 2j)
    np.save(path("fortran.npy"), np.asfortranarray(numbers))
    case('Npy(path: "made/fortran.npy")', "Fortran order, big-endian, complex", numbers.astype("<c8"))
    truths = np.array([True, False, True])
    with open(path("v2.npy"), "wb") as file:
        np.lib.format.write_array(file, truths, version=(2, 0))
    case('Npy(path: "made/v2.npy", type: "bool[3]")', "format version 2.0", truths)
    np.savez(path("stored.npz"), x=numbers.real.astype("<f8"), y=truths)
    case('Npz(path: "made/stored.npz", array: "x")', "stored", numbers.real.astype("<f8"))
    np.save(path("objects.npy"), np.array([{}, None], dtype=object), allow_pickle=True)
    case('Npy(path: "made/objects.npy")', "pickles run code", error="it holds Python objects")


def raw():
    numbers = np.array([[1, -2, 3], [4, 5, -6]], dtype=">i2")
    path("big.raw").write_bytes(b"head" + numbers.tobytes())
    source = 'Raw(path: "made/big.raw", type: "i16[n, 3]", offset: 4, byte_order: Big)'
    case(source, "an offset, and a size that the length tells", numbers.astype("<i2"))
    case(
        'Raw(path: "made/big.raw", type: "i16[3, 3]", offset: 4)',
        "a length that does not fit",
        error="it has 12 bytes of data, and i16[3, 3] has 18",
    )


def csv():
    table = np.array([[1.5, np.nan], [-2e-3, 4.0]])
    path("gaps.csv").write_bytes(b"\xef\xbb\xbf\"a\"\t\"b\"\r\n1.5\t\r\n-2e-3\t 4\r\n")
    case(
        'Csv(path: "made/gaps.csv", delimiter: "\\t", type: "f64[n, 2]")',
        "a byte order mark, tabs, a missing number",
        np.genfromtxt(path("gaps.csv"), delimiter="\t", skip_header=1),
    )
    case(
        'Csv(path: "made/gaps.csv", delimiter: "\\t", missing: -9, columns: [1], type: "i32[n, 1]")',
        "a column by its position, and what stands for the missing",
        np.array([[-9], [4]], dtype=np.int32),
    )
    case(
        'Csv(path: "made/gaps.csv", delimiter: "\\t", column: "b", type: "i32[n]")',
        "integers have no value for what is missing",
        error="line 2: column 2 `b`: the field is missing, and i32 has no value for that",
    )
    path("bad.csv").write_text("x\n1\ntwo\n300\n4,5\n6\n")
    case(
        'Csv(path: "made/bad.csv", column: "x", bad_rows: Skip, type: "i8[n]")',
        "rows that cannot be read are passed over",
        np.array([1, 6], dtype=np.int8),
    )
    case(
        'Csv(path: "made/bad.csv", column: "x", type: "f64[n]")',
        "a word among numbers",
        error="line 3: column 1 `x`: `two` is not a number",
    )
    path("range.csv").write_text("x,y\n1,2\n3,300\n")
    case(
        'Csv(path: "made/range.csv", type: "i8[n, 2]")',
        "a number that its dtype does not hold",
        error="line 3: column 2 `y`: `300` does not fit i8",
    )
    with open(path("table.csv.gz"), "wb") as file:
        with gzip.GzipFile(fileobj=file, mode="wb", mtime=0) as packed:
            np.savetxt(packed, table, delimiter=",")
    case('Csv(path: "made/table.csv.gz", header: false, type: "f64[2, 2]")', "gzip", table)


def image():
    ramp = np.arange(5 * 7 * 4, dtype=np.uint8).reshape(5, 7, 4)
    wide = (np.arange(5 * 7 * 3, dtype=np.uint16) * 599).reshape(5, 7, 3)

    def saved(name, picture, why, **options):
        picture.save(path(name), **options)
        read = np.asarray(Image.open(path(name)))
        tolerance = {"tolerance": 2} if name.endswith("jpg") else {}
        case(f'Image(path: "made/{name}")', why, read, **tolerance)

    grey, rgb, rgba = (Image.fromarray(ramp[:, :, :c].squeeze()) for c in (1, 3, 4))
    saved("grey.jpg", grey, "JPEG of grey", quality=95)
    saved("rgb.jpg", rgb, "JPEG of colour", quality=95, subsampling=0)
    saved("progressive.jpg", rgb, "JPEG by stages", quality=95, subsampling=0, progressive=True)
    grey.save(path("palette.bmp"))
    read = np.asarray(Image.open(path("palette.bmp")).convert("RGB"))
    case('Image(path: "made/palette.bmp")', "a palette that happens to be grey", read)
    saved("rgb_lzw.tif", rgb, "LZW", compression="tiff_lzw")
    saved("rgba_deflate.tif", rgba, "alpha, deflated", compression="tiff_adobe_deflate")
    saved("grey16.tif", Image.fromarray(wide[:, :, 0]), "16 bits stay 16 bits")
    saved("rgba.png", rgba, "alpha and colour")
    palette = rgb.quantize(4, dither=Image.Dither.NONE)
    palette.save(path("palette.png"), bits=2)
    case('Image(path: "made/palette.png")', "a palette of 2 bits", np.asarray(palette.convert("RGB")))
    rgb.convert("CMYK").save(path("cmyk.jpg"))
    case('Image(path: "made/cmyk.jpg")', "colours of print", error="images of CMYK are not read")


def wav():
    time = np.arange(40) / 8000
    tone = np.sin(2 * np.pi * 440 * time)
    stereo = np.stack([tone, -tone / 2], axis=1)
    samples = {
        "u8": np.uint8(tone * 100 + 128),
        "i16": np.int16(stereo * 32767),
        "i32": np.int32(tone * (2**31 - 1)),
        "f32": np.float32(stereo),
    }
    for name, data in samples.items():
        wavfile.write(path(f"{name}.wav"), 8000, data)
        _, read = wavfile.read(path(f"{name}.wav"))
        case(f'Wav(path: "made/{name}.wav")', f"samples of {name}", read)
    with wave.open(str(path("24_bits.wav")), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(3)
        file.setframerate(8000)
        whole = np.int32(tone * (2**23 - 1))
        file.writeframes(b"".join(int(n).to_bytes(3, "little", signed=True) for n in whole))
    _, read = wavfile.read(path("24_bits.wav"))
    case('Wav(path: "made/24_bits.wav", rate: 8000)', "24 bits", read)
    case(
        'Wav(path: "made/u8.wav", rate: 44100)',
        "another rate than declared",
        error="it has 8000 samples a second, not 44100 as declared",
    )


def jsonl():
    path("rows.jsonl").write_text("[1, 2.5]\n\n[-3e2, null]\n")
    rows = [json.loads(line) for line in path("rows.jsonl").read_text().split("\n") if line]
    numbers = np.array(rows, dtype="f8")
    case('Jsonl(path: "made/rows.jsonl", type: "f64[n, 2]")', "a blank line, a null", numbers)
    path("whole.jsonl").write_text(f"{2**63 - 1}\n{-2**63}\n")
    whole = np.array([2**63 - 1, -2**63])
    case('Jsonl(path: "made/whole.jsonl", type: "i64[n]")', "beyond 2^53", whole)
    path("open.jsonl").write_text("[1, 2]\n[3, 4\n")
    case('Jsonl(path: "made/open.jsonl", type: "f64[n, 2]")', "a list that is open", error="line 2")


npy()
raw()
csv()
image()
wav()
jsonl()
lines = ",\n".join("  " + json.dumps(case) for case in CASES)
(FOLDER / "made.json").write_text(f"[\n{lines}\n]\n")
