#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks and times a submission by the rules of GPU MODE's pmpp_v2.

    harness.py vectorsum test             all tests; status 1 if a result is wrong
    harness.py vectorsum benchmark        a check, then times; needs a GPU
    harness.py vectorsum test --submission other/submission.py

A submission is a module with `custom_kernel(data)`. It needs PyTorch and `warpfold`. Without a GPU tests run on the CPU.

Tests. The submission gets a copy of the input; its result has the shape and the elements of the expected one.

Benchmarks. After one check there are 3 to 100 runs on the same input. Before each the L2 cache is overwritten. A run is timed
by events around the call, so launches and Python count. It ends when the standard error of the mean is below 0.1%, when the
runs took 10 s together, or after two minutes. Times are microseconds: mean, its standard error, best, worst.
"""
import argparse
import importlib.util
import math
import pathlib
import statistics
import sys
import time

import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from problems import PROBLEMS, Problem  # noqa: E402


def load(path):
    """`custom_kernel` of a submission."""
    spec = importlib.util.spec_from_file_location(f"submission_{path.parent.name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.custom_kernel


def fault(problem: Problem, data, result):
    """What is wrong with a result; empty if nothing is."""
    expected = problem.expected(*data)
    if not isinstance(result, torch.Tensor) or result.shape != expected.shape:
        return f"the result is {tuple(getattr(result, 'shape', ()))}, and must be {tuple(expected.shape)}"
    tolerance = problem.tolerance(*data)
    differs = (result.double() - expected.double()).abs() > tolerance * (1 + expected.double().abs())
    differs |= ~torch.isfinite(result.double())
    if not differs.any():
        return ""
    place = tuple(differs.nonzero()[0].tolist())
    return f"{int(differs.sum())} results are wrong, e.g. at {place} {result[place].item()} instead of {expected[place].item()}"


def test(name, kernel, device, most=None):
    """Runs the tests, or the first `most`, and prints a line for each. The number of failures."""
    problem, failures = PROBLEMS[name], 0
    for sizes in problem.tests[:most]:
        data = problem.generate(device, **sizes)
        wrong = fault(problem, data, kernel(tuple(x.clone() for x in data)))
        failures += bool(wrong)
        print(f"{name} {sizes}: {wrong or 'pass'}", flush=True)
    return failures


def standard_error(times):
    return statistics.stdev(times) / math.sqrt(len(times))


def measure(kernel, data):
    """Times of runs in microseconds."""
    cache = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
    times, begin = [], time.monotonic()
    while len(times) < 100:
        cache.zero_()
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        first.record()
        kernel(data)
        last.record()
        torch.cuda.synchronize()
        times.append(first.elapsed_time(last) * 1000)
        is_long = sum(times) > 10e6 or time.monotonic() - begin > 120
        if len(times) >= 3 and (is_long or standard_error(times) < 0.001 * statistics.mean(times)):
            break
    return times


def benchmark(name, kernel):
    """Prints a table, separated by tabs. The number of failures."""
    problem, failures = PROBLEMS[name], 0
    measure(kernel, problem.generate("cuda", **problem.benchmarks[0]))  # to warm up
    print("problem\tsizes\truns\tmean us\terror us\tbest us\tworst us")
    for sizes in problem.benchmarks:
        data = problem.generate("cuda", **sizes)
        wrong = fault(problem, data, kernel(tuple(x.clone() for x in data)))
        if wrong:
            failures += 1
            print(f"{name}\t{sizes}\t{wrong}", flush=True)
            continue
        times = measure(kernel, data)
        print(f"{name}\t{sizes}\t{len(times)}\t{statistics.mean(times):.1f}\t{standard_error(times):.2f}\t{min(times):.1f}\t"
              f"{max(times):.1f}", flush=True)
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problem", choices=[*PROBLEMS, "all"])
    parser.add_argument("mode", choices=["test", "benchmark"])
    parser.add_argument("--submission", type=pathlib.Path, help="by default that of this folder")
    arguments = parser.parse_args()
    has_gpu = torch.cuda.is_available()
    if arguments.mode == "benchmark" and not has_gpu:
        parser.error("a benchmark needs a GPU")
    failures = 0
    for name in PROBLEMS if arguments.problem == "all" else [arguments.problem]:
        kernel = load(arguments.submission or HERE / name / "submission.py")
        failures += test(name, kernel, "cuda" if has_gpu else "cpu") if arguments.mode == "test" else benchmark(name, kernel)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
