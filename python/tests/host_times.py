#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""host_times.py [--rounds N] [--sizes 1000,1000000,100000000] [--only NAME,...]: functions on the host beside NumPy and PyTorch.

A table on stdout, separated by tabs: function, elements, package whose arrays are computed, who computes, microseconds a call. Ours
and the package's take turns; the times are medians of N rounds (7) of a few milliseconds each. Run it where `warpfold` is
importable, on a quiet machine; real-time priority (`chrt -f 1`) keeps other programs off its cores, and stops them for minutes.
measure/pages/python_table.py makes the page docs/results/python/host.md of the table.
"""
import argparse
import importlib
import os
import pathlib
import platform
import re
import statistics
import sys
import time

import numpy as np

import warpfold as wf

sys.path.insert(0, str(pathlib.Path(__file__).parent / "gpu"))
from gpu_check import OURS, arguments, module_functions, torch_functions  # noqa: E402

ROUND = 0.004  # seconds
PAUSE = 0.01  # seconds before each turn: OpenMP's threads poll for milliseconds after PyTorch's last call, on the cores of the next one
LONGEST = 20  # seconds: a call that takes more is left out at larger sizes
TAPS = np.full(9, 1 / 9, np.float32)


# Beside those of gpu_check.py: ours, NumPy's, PyTorch's; the latter two of what is nearest to it, or None.
def more_functions(t):
    """{name: (ours, NumPy's, PyTorch's)}. `t`: torch, or None."""
    offsets = {}

    def offsets_of(a):  # segments of 100
        return offsets.setdefault(len(a), np.arange(0, len(a), 100))

    def lengths_of(a):
        return offsets.setdefault((len(a),), t.full((len(a) // 100,), 100))

    def keys_of(a):
        return offsets.setdefault(-len(a), np.arange(len(a)) // 100)

    def conv2d(a, v):
        return t.nn.functional.conv2d(a[None, None], v[None, None])

    return {
        "min": (wf.min, np.min, t and t.min), "all": (wf.all, np.all, t and t.all), "argmin": (wf.argmin, np.argmin, t and t.argmin),
        "cumprod": (wf.cumprod, np.cumprod, t and (lambda a: t.cumprod(a, 0))),
        "cummin": (wf.cummin, np.minimum.accumulate, t and (lambda a: t.cummin(a, 0))),
        "cummax": (wf.cummax, np.maximum.accumulate, None),
        "scan reverse": (lambda a: wf.scan(a, reverse=True), lambda a: np.cumsum(a[::-1])[::-1], t and (lambda a: t.cumsum(a.flip(0), 0).flip(0))),
        "scan exclusive": (lambda a: wf.scan(a, exclusive=True), lambda a: np.cumsum(a) - a, t and (lambda a: t.cumsum(a, 0) - a)),
        "segment_sum": (lambda a: wf.segment_sum(a, offsets_of(a)), lambda a: np.add.reduceat(a, offsets_of(a)),
                        t and (lambda a: t.segment_reduce(a, "sum", lengths=lengths_of(a)))),
        "segment_max": (lambda a: wf.segment_max(a, offsets_of(a)), lambda a: np.maximum.reduceat(a, offsets_of(a)),
                        t and (lambda a: t.segment_reduce(a, "max", lengths=lengths_of(a)))),
        "reduce_by_key": (lambda a: wf.reduce_by_key(keys_of(a), a),
                          lambda a: np.add.reduceat(a, np.flatnonzero(np.diff(keys_of(a), prepend=-1))), None),
        "run_length_encode": (wf.run_length_encode, None, t and (lambda a: t.unique_consecutive(a, return_counts=True))),
        "partition_by": (lambda a: wf.partition_by(a, a > 0.5), lambda a: (a[a > 0.5], a[~(a > 0.5)]), t and (lambda a: (a[a > 0.5], a[~(a > 0.5)]))),
        "histogram2d": (lambda a: wf.histogram2d(a, a, 10), lambda a: np.histogram2d(a, a, 10), None),
        "histogramdd": (lambda a: wf.histogramdd((a, a, a), 8), lambda a: np.histogramdd((a, a, a), 8),
                        t and (lambda a: t.histogramdd(t.stack((a, a, a), 1), [8, 8, 8]))),
        "correlate": (lambda a, v: wf.correlate(a, v, "same"), lambda a, v: np.correlate(a, v, "same"),
                      t and (lambda a, v: t.nn.functional.conv1d(a[None, None], v[None, None], padding="same"))),
        "correlate2d": (lambda a, v: wf.correlate2d(a, v, "valid"), None, t and conv2d),
        "convolve2d": (lambda a, v: wf.convolve2d(a, v, "valid"), None, t and (lambda a, v: conv2d(a, v.flip(0, 1)))),
        "separable_filter": (lambda a: wf.separable_filter(a, TAPS, TAPS), None, None),
        "exact_dot": (wf.exact_dot, np.dot, t and t.dot),
        "exact_sum": (wf.exact_sum, np.sum, t and t.sum), "exact_mean": (wf.exact_mean, np.mean, t and t.mean),
        "exact_var": (wf.exact_var, np.var, t and (lambda a: t.var(a, correction=0))),
        "exact_norm": (wf.exact_norm, np.linalg.norm, t and t.linalg.vector_norm)}


class OnHost:
    """A package's arrays in host memory."""

    def __init__(self, name, array):
        self.name = name
        self.array = array


def inputs(package, name, n):
    """Arrays for a row: those of gpu_check.py, of its names or of names that take the same."""
    same = {"correlate": "convolve", "correlate2d": "gaussian_blur", "convolve2d": "gaussian_blur", "separable_filter": "gaussian_blur"}
    arrays = arguments(package, same.get(name, name), n)
    if name in ("correlate2d", "convolve2d"):
        return (*arrays, arrays[0][:7, :7])
    return arrays * 2 if name == "exact_dot" else arrays


def seconds(work, repeats):
    begin = time.perf_counter()
    for _ in range(repeats):
        work()
    return (time.perf_counter() - begin) / repeats


def medians(works, rounds):
    """Seconds a call of each of several functions that take turns; None if one takes too long."""
    repeats = []
    for work in works:
        work()
        taken = seconds(work, 1)
        if taken > LONGEST:
            return None
        repeats.append(max(1, min(1000, int(ROUND / max(taken, 1e-7)))))
    taken = [[] for _ in works]
    for k in range(rounds):
        for j in range(len(works)):
            which = (j + k) % len(works)  # each one is first in its turn
            time.sleep(PAUSE)
            taken[which].append(seconds(works[which], repeats[which]))
    return [statistics.median(one) for one in taken]


def measure(package, ours, theirs, sizes, rounds):
    """The rows of a package's arrays, on stdout."""
    for name, function in ours.items():
        other = theirs.get(name)
        if other is None:
            continue
        for n in sizes:
            arrays = inputs(package, name, n)
            try:
                taken = medians([lambda: function(*arrays), lambda: other(*arrays)], rounds)  # pylint: disable=cell-var-from-loop
            except Exception as error:  # pylint: disable=broad-except
                print(f"{name} {n} of {package.name}: {type(error).__name__}: {error}", file=sys.stderr)
                continue
            if taken is None:
                print(f"{name} {n} of {package.name}: too long", file=sys.stderr)
                break
            for whose, one in zip(("warpfold", package.name), taken):
                print(f"{name}\t{n}\t{package.name}\t{whose}\t{one * 1e6:.2f}", flush=True)


def processor():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            return re.search(r"model name\s*:\s*(.+)", lines.read())[1]
    except (OSError, TypeError):
        return platform.processor()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--sizes", default="1000,1000000,100000000")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    try:
        torch = importlib.import_module("torch")
    except ImportError as error:
        print(f"PyTorch is not here: {error}", file=sys.stderr)
        torch = None
    threads = len(os.sched_getaffinity(0))
    versions = [f"NumPy {np.__version__}"]
    if torch:
        torch.set_num_threads(threads)
        versions.append(f"PyTorch {torch.__version__}")
    print(f"# {processor()}, {threads} threads; {', '.join(versions)}; {time.strftime('%Y-%m-%d')}; medians of {options.rounds} rounds")
    print("function\telements\tarrays of\tcomputed by\tus")
    more = more_functions(torch)
    ours = {**OURS, **{name: all_three[0] for name, all_three in more.items()}}
    if options.only:
        ours = {name: ours[name] for name in options.only.split(",")}
    theirs = {**module_functions(np), **{name: all_three[1] for name, all_three in more.items()}}
    measure(OnHost("numpy", lambda values: values), ours, theirs, sizes, options.rounds)
    if torch:
        theirs = {**torch_functions(torch, "cpu"), **{name: all_three[2] for name, all_three in more.items() if all_three[2]}}
        measure(OnHost("torch", torch.from_numpy), ours, theirs, sizes, options.rounds)


if __name__ == "__main__":
    main()
