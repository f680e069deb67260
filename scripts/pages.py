"""What fresh pages cost beside reused ones: why freed buffers are kept for the next of their size.

Fills a buffer of each size, which is either taken of the operating system each time or is the one
that was filled before. Prints the median of the passes, in GB/s, and how many times longer a fresh
one takes. Run: python scripts/pages.py
"""

import mmap
import statistics
import time

import numpy

PASSES = 40


def seconds(size, fresh):
    """The median time of filling a buffer."""
    times = []
    kept = mmap.mmap(-1, size)
    for _ in range(PASSES):
        start = time.perf_counter()
        buffer = mmap.mmap(-1, size) if fresh else kept
        numpy.frombuffer(buffer, dtype=numpy.float32).fill(1)
        times.append(time.perf_counter() - start)
        if fresh:
            buffer.close()
    return statistics.median(times)


print(f"{'MiB':>5}{'fresh GB/s':>12}{'reused GB/s':>13}{'ratio':>7}")
for mib in [1, 4, 16, 64, 256]:
    size = mib << 20
    fresh, reused = seconds(size, True), seconds(size, False)
    print(f"{mib:5}{size / fresh / 1e9:12.2f}{size / reused / 1e9:13.2f}{fresh / reused:7.1f}")
