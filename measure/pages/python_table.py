#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""python_table.py TIMES: the page docs/results/python-CARD.md on stdout, from the table of python/tests/gpu_check.py."""
import sys

HEAD = """# The Python package beside PyTorch, CuPy and cuda.compute

{device}; made by `measure/pages/python_table.py` from a run of `python/tests/gpu_check.py`.

Microseconds a call. *Host*: until the call returns, on an idle GPU; the least of 20 means of five calls. *Device*: of calls one after the other,
between two events, so it is the host's time where that is longer. The ratio is that of device times, below 1 where ours is
faster than the package whose arrays it takes. Of {rows} rows of 10^6 elements and more, {ahead} are ahead of that package; of {compute_rows},
{compute_ahead} are ahead of cuda.compute, which writes into arrays that are there, and is told the range of a histogram.

| function | elements | arrays of | host: ours | package | cuda.compute | device: ours | package | cuda.compute | ratio |
| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"""


def ratio_to(whose, times):
    """Our device time by another's; None where that is missing."""
    return float(times["warpfold"][1]) / float(times[whose][1]) if whose in times else None


def row(key, times):
    """A row of the table, from (host, device) by who computed."""
    function, elements, package = key
    hosts, devices = zip(*(times.get(whose, ("–", "–")) for whose in ("warpfold", package, "cuda.compute")))
    ratio = ratio_to(package, times)
    cells = [function, f"10^{len(elements) - 1}", package, *hosts, *devices, "–" if ratio is None else f"{ratio:.2f}"]
    return f"| {' | '.join(cells)} |"


def main():
    lines = open(sys.argv[1], encoding="utf-8").read().splitlines()
    device = next((line[2:] for line in lines if line.startswith("# ")), "The device is not named in the table")
    table = {}
    for line in lines:
        cells = line.split("\t")
        if len(cells) == 6 and cells[1].isdigit():
            table.setdefault(tuple(cells[:3]), {})[cells[3]] = (cells[4], cells[5])
    table = {key: times for key, times in table.items() if "warpfold" in times}
    large = [(key, times) for key, times in table.items() if int(key[1]) >= 1_000_000]
    to_package = [ratio_to(key[2], times) for key, times in large if key[2] in times]
    to_compute = [ratio_to("cuda.compute", times) for _, times in large if "cuda.compute" in times]
    print(HEAD.format(device=device, rows=len(to_package), ahead=sum(ratio < 1 for ratio in to_package),
                      compute_rows=len(to_compute), compute_ahead=sum(ratio < 1 for ratio in to_compute)))
    for key, times in table.items():
        print(row(key, times))


if __name__ == "__main__":
    main()
