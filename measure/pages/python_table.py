#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""python_table.py TIMES: a page of docs/results/python on stdout: CARD.md from the table of python/tests/gpu/gpu_check.py, host.md
from that of python/tests/host_times.py."""
import sys

HEAD = """# The Python package beside PyTorch, CuPy and cuda.compute

{device}; made by `measure/pages/python_table.py` from a run of `python/tests/gpu/gpu_check.py`.

Microseconds a call. *Host*: until the call returns, on an idle GPU; the least of 20 means of five calls. *Device*: of calls one after the other,
between two events, so it is the host's time where that is longer. The ratio is that of device times, below 1 where ours is
faster than the package whose arrays it takes. Of {rows} rows of 10^6 elements and more, {ahead} are ahead of that package; of {compute_rows},
{compute_ahead} are ahead of cuda.compute, which writes into arrays that are there, and is told the range of a histogram.

| function | elements | arrays of | host: ours | package | cuda.compute | device: ours | package | cuda.compute | ratio |
| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"""

HOST_HEAD = """# The Python package on the host beside NumPy and PyTorch

{device};
made by `measure/pages/python_table.py` from the output of `python/tests/host_times.py`.

Microseconds a call of arrays in host memory, ours and the package's in turn, with a pause before each turn in which threads go to
sleep ([decision 80](../../decisions/python/0080-whole-arrays-on-the-host.md)); the ratio is ours by the package's, below 1 where ours is
faster, worst first. Of {rows} rows {ahead} are ahead, and {close} of the others within 10 %; of the {large_rows} of 10^6
elements and more {large_ahead} are ahead, {large_close} within 10 %. Functions that a package does not have are beside the nearest
that it has: `exact_sum` beside `sum`, which rounds at each addition.

| function | elements | arrays of | ours | package | ratio |
| --- | ---: | --- | ---: | ---: | ---: |"""

# Of rows on the host that are behind by more than 10 %, by function.
EXACT = "Exact sums, rounded once; the package's function rounds at each addition."
HOST_REASONS = {
    "bincount": "A pass for the extremes first; the shape of the results follows from them.",
    "correlate_channels": "PyTorch has oneDNN's products of matrices; ours adds four results of each vector of samples.",
    "exact_dot": EXACT, "exact_mean": EXACT, "exact_norm": EXACT, "exact_sum": EXACT, "exact_var": EXACT,
    "norm": "Squares are added in float64, such that nothing overflows.",
    "run_length_encode": "A pass first that counts the runs, as the results' shape follows from them.",
    "segment_max": "Extremes of short segments keep NaN, element by element.",
    "segment_min": "As `segment_max`.",
    "unique_consecutive": "As `run_length_encode`."}
SHORT = "The time of the call: [decision 80](../../decisions/python/0080-whole-arrays-on-the-host.md)."

# Of rows that are behind, by function: from profiles of the host's time (decision 34) and of launches.
REASONS = {
    "convolve": "The host's time of one launch.",
    "correlate_channels": "The kernel's time: 1.02 to 1.07 in four runs, 0.98 in another one.",
    "digitize": "The host's time: the edges, which the host has, are compared with those of the last call and sent with the launch; `torch.bucketize` has them there.",
    "gaussian_blur": "The host's time, which varies: 0.96 in a run of the same day.",
    "histogram": "The call waits for the extremes, from which NumPy computes the edges; `torch.histc` gives no edges.",
    "histogram, range": "NumPy's edges are sent to the device, as the call's second result; `torch.histc` gives none and computes bins.",
    "max": "The host's time, which varies: 0.68 in another run of the day, where both took less than half of it.",
    "minmax": "The host's time, which varies: 0.78 in another run of the day.",
    "op": "The host's time, which varies: 0.84 in a run with an H100.",
    "select": "The host's time, which varies, and the wait for the number of results: 0.96 in another run of the day.",
    "sum axis 0": "The host's time; with an H100 a second launch, which is gone since (decision 88), joined shares of the columns.",
    "sum axis 1": "Of 10^6 elements the host's time: it is that of `sum` of all elements. Of 10^8 elements both read at the memory's rate; 0.98 in the run before.",
    "unique_consecutive": "The call waits for the number of results, as PyTorch's does.",
}


def ratio_to(whose, times):
    """Our device time by another's; None where that is missing."""
    return float(times["warpfold"][1]) / float(times[whose][1]) if whose in times else None


def size(elements):
    return f"10^{len(elements) - 1}"


def row(key, times):
    """A row of the table, from (host, device) by who computed."""
    function, elements, package = key
    hosts, devices = zip(*(times.get(whose, ("–", "–")) for whose in ("warpfold", package, "cuda.compute")))
    ratio = ratio_to(package, times)
    cells = [function, size(elements), package, *hosts, *devices, "–" if ratio is None else f"{ratio:.2f}"]
    return f"| {' | '.join(cells)} |"


def reasons(behind, known):
    """A table of functions, {function: texts of rows}, and why they are behind."""
    if behind:
        print("\n| function | ratio | reason |\n| --- | --- | --- |")
    for function, rows in behind.items():
        reason = known.get(function, SHORT if all("(10^3" in one for one in rows) else "Not known.")
        print(f"| {function} | {', '.join(rows)} | {reason} |")


def host_page(device, lines):
    times = {}
    for function, elements, package, whose, time in lines:
        times.setdefault((function, elements, package), {})[whose] = float(time)
    rows = sorted(((times[key]["warpfold"] / times[key][key[2]], key) for key in times), reverse=True)

    def counts(chosen):
        return len(chosen), sum(ratio < 1 for ratio in chosen), sum(1 <= ratio <= 1.1 for ratio in chosen)

    number, ahead, close = counts([ratio for ratio, _ in rows])
    large, large_ahead, large_close = counts([ratio for ratio, key in rows if int(key[1]) >= 1_000_000])
    print(HOST_HEAD.format(device=device, rows=number, ahead=ahead, close=close, large_rows=large, large_ahead=large_ahead,
                           large_close=large_close))
    behind = {}
    for ratio, key in rows:
        function, elements, package = key
        print(f"| {function} | {size(elements)} | {package} | {times[key]['warpfold']:.4g} | {times[key][package]:.4g} | {ratio:.2f} |")
        if ratio > 1.1:
            behind.setdefault(function, []).append(f"{ratio:.2f} ({size(elements)}, {package})")
    if behind:
        print("\nWhere ours is behind by more than 10 %:")
    reasons(behind, HOST_REASONS)


def main():
    lines = open(sys.argv[1], encoding="utf-8").read().splitlines()
    device = next((line[2:] for line in lines if line.startswith("# ")), "The device is not named in the table")
    rows = [line.split("\t") for line in lines if line.count("\t") >= 4 and line.split("\t")[1].isdigit()]
    if rows and len(rows[0]) == 5:
        host_page(device, rows)
        return
    table = {}
    for cells in rows:
        table.setdefault(tuple(cells[:3]), {})[cells[3]] = (cells[4], cells[5])
    table = {key: times for key, times in table.items() if "warpfold" in times}
    large = [(key, times) for key, times in table.items() if int(key[1]) >= 1_000_000]
    to_package = [ratio_to(key[2], times) for key, times in large if key[2] in times]
    to_compute = [ratio_to("cuda.compute", times) for _, times in large if "cuda.compute" in times]
    print(HEAD.format(device=device, rows=len(to_package), ahead=sum(ratio < 1 for ratio in to_package),
                      compute_rows=len(to_compute), compute_ahead=sum(ratio < 1 for ratio in to_compute)))
    for key, times in table.items():
        print(row(key, times))
    behind = {}
    for key, times in large:
        if key[2] in times and ratio_to(key[2], times) >= 1:
            behind.setdefault(key[0], []).append(f"{ratio_to(key[2], times):.2f} (10^{len(key[1]) - 1}, {key[2]})")
    if behind:
        print("\nWhere ours is behind, from 10^6 elements on:")
    reasons(behind, REASONS)


if __name__ == "__main__":
    main()
