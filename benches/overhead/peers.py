"""The same graphs for Dask and Ray: `python3 peers.py dask 10000`."""

import sys
import time

THREADS = 2
RUNS = 3


def graph(shape, count):
    """Of each task, those that it waits for."""
    leaves = (count + 1) // 2
    before = {
        "independent": lambda at: [],
        "chain": lambda at: [at - 1][: at],
        "diamonds": lambda at: ([at - 2, at - 1] if at % 3 == 0 else [at - at % 3])[: 2 * at],
        "tree": lambda at: [] if at < leaves else [2 * (at - leaves), 2 * (at - leaves) + 1],
    }[shape]
    return [before(at) for at in range(count)]


def dask(tasks):
    from dask.threaded import get

    def work(*_):
        return None

    read = {index for before in tasks for index in before}
    last = [at for at in range(len(tasks)) if at not in read]
    get({at: (work, *before) for at, before in enumerate(tasks)}, last, num_workers=THREADS)


def ray(tasks):
    import ray

    @ray.remote
    def work(*_):
        return None

    made = []
    for before in tasks:
        made.append(work.remote(*(made[at] for at in before)))
    ray.get(made)


def main():
    system, count = sys.argv[1], int(sys.argv[2])
    if system == "ray":
        import ray as library

        library.init(num_cpus=THREADS, log_to_driver=False, include_dashboard=False, logging_level="error")
    run = {"dask": dask, "ray": ray}[system]
    in_tree = 2 ** (count.bit_length() - 1) - 1
    shapes = {"independent": count, "chain": count, "diamonds": count // 3 * 3, "tree": in_tree}
    for shape, count in shapes.items():
        tasks = graph(shape, count)
        run(tasks)  # Not counted.
        times = []
        for _ in range(RUNS):
            start = time.perf_counter_ns()
            run(tasks)
            times.append((time.perf_counter_ns() - start) / count)
        print(system.title(), shape, count, *(f"{each:.1f}" for each in times), flush=True)


main()
