"""Times `haul check`, `haul plan` and `haul diff` on pipelines of many stages, and prints a table.

    cargo build --release
    python3 scripts/scaling.py target/release/haul

A chain has each stage read the one before; independent stages all read one input. `diff` compares with
the same stages of which one computes something else. Each figure is the
median processor time of five runs, reading and writing included. Needs only the standard library.
"""

import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

SIZES = [1_000, 10_000, 100_000]
RUNS = 5


def chain(count):
    return ["x + 1"] + [f"s{i - 1} * 2 + {i}" for i in range(1, count)]


def independent(count):
    return [f"x * {i}" for i in range(count)]


def pipeline(formulas):
    last = len(formulas) - 1
    stages = ",\n".join(f'"s{i}": (do: "{formula}")' for i, formula in enumerate(formulas))
    return (
        'Pipeline(version: 1, inputs: {"x": Random(seed: 1, type: "f32[64]")},\n'
        f"stages: {{\n{stages}\n}},\n"
        f'outputs: {{"out": Npy(path: "out.npy", from: "s{last}")}})\n'
    )


def seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    # 1 says that there is a difference.
    assert done.returncode == (1 if "diff" in command else 0), command
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    haul = sys.argv[1]
    print("| shape | stages | file | check | plan | diff |")
    print("| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for shape in (chain, independent):
            for count in SIZES:
                file = Path(folder) / "many.ron"
                formulas = shape(count)
                file.write_text(pipeline(formulas))
                formulas[count // 2] += " + 1"
                changed = Path(folder) / "changed.ron"
                changed.write_text(pipeline(formulas))
                commands = [
                    [haul, "check", str(file)],
                    [haul, "plan", str(file), "--target", "cpu", "--format", "snapshot"],
                    [haul, "diff", str(file), str(changed), "--target", "cpu"],
                ]
                times = [
                    statistics.median(seconds(command) for _ in range(RUNS)) for command in commands
                ]
                size = file.stat().st_size / 1e6
                figures = " | ".join(f"{time:.2f} s" for time in times)
                print(f"| {shape.__name__} | {count:,} | {size:.1f} MB | {figures} |")


if __name__ == "__main__":
    main()
