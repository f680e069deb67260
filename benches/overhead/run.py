"""What scheduling a task that does nothing takes: haul beside rayon, oneTBB, StarPU, Dask and Ray.

    python3 benches/overhead/run.py

Prints a table of medians, in nanoseconds a task. Each system runs the same graphs on two threads.
What is not installed is said to be missing: on Debian `apt install g++ libtbb-dev libstarpu-dev`, and
`pip install dask ray`. Needs only the standard library itself.
"""

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
TASKS = 100_000
# Slow enough that fewer tell.
PYTHON_TASKS = {"dask": 10_000, "ray": 2_000}


def lines(command):
    """What a command prints, or nothing where it cannot run."""
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError:
        return []
    return done.stdout.splitlines() if done.returncode == 0 else []


def compiled(folder, compiler, source, libraries):
    program = Path(folder) / source.replace(".", "_")
    build = [compiler, "-O2", str(HERE / source), "-o", str(program), *libraries]
    try:
        built = subprocess.run(build, capture_output=True).returncode == 0
    except FileNotFoundError:
        built = False
    return lines([program, str(TASKS)]) if built else []


def starpu_flags():
    packages = lines(["pkg-config", "--list-package-names"])
    versions = sorted(name for name in packages if name.startswith("starpu-1."))
    return lines(["pkg-config", "--cflags", "--libs", versions[-1]])[0].split() if versions else []


def main():
    with tempfile.TemporaryDirectory() as folder:
        results = {
            "haul": lines(["cargo", "bench", "--quiet", "--bench", "overhead"]),
            "oneTBB": compiled(folder, "g++", "tbb.cpp", ["-ltbb"]),
            "StarPU": compiled(folder, "gcc", "starpu.c", starpu_flags()),
        }
    for system, count in PYTHON_TASKS.items():
        command = [sys.executable, str(HERE / "peers.py"), system, str(count)]
        results[system.title()] = lines(command)
    print("| shape | tasks | system | median | fastest | slowest |")
    print("| --- | --- | --- | --- | --- | --- |")
    rows = [line.split() for found in results.values() for line in found]
    shapes = ["independent", "chain", "diamonds", "tree"]
    for system, shape, tasks, *times in sorted(rows, key=lambda row: shapes.index(row[1])):
        times = [float(time) for time in times]
        figures = [statistics.median(times), min(times), max(times)]
        figures = " | ".join(f"{figure:,.0f} ns" for figure in figures)
        print(f"| {shape} | {int(tasks):,} | {system} | {figures} |")
    for system in (system for system, found in results.items() if not found):
        print(f"{system} is missing.")


main()
