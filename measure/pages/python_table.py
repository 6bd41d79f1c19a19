#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""python_table.py TIMES: the page docs/results/python-CARD.md on stdout, from the table of python/tests/gpu_check.py."""
import sys

HEAD = """# The Python package beside PyTorch and CuPy

{device}; made by `measure/pages/python_table.py` from a run of `python/tests/gpu_check.py`.

Microseconds a call. *Host*: until the call returns, on an idle GPU; the least of 20 means of five calls. *Device*: of calls one after the other,
between two events, so it is the host's time where that is longer. The ratio is that of device times, below 1 where ours is
faster. Of {rows} rows of 10^6 elements and more, {ahead} are ahead of the package whose arrays they take.

| function | elements | arrays of | host: ours | package | device: ours | package | ratio |
| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: |"""


def row(key, times):
    """A row of the table, from (host, device) by who computed; and the ratio, None without a peer."""
    function, elements, package = key
    ours, theirs = times["warpfold"], times.get(package)
    exponent = len(elements) - 1
    peer_host, peer_device, ratio = "–", "–", None
    if theirs:
        (peer_host, peer_device), ratio = theirs, float(ours[1]) / float(theirs[1])
    shown = f"{ratio:.2f}" if ratio is not None else "–"
    return f"| {function} | 10^{exponent} | {package} | {ours[0]} | {peer_host} | {ours[1]} | {peer_device} | {shown} |", ratio


def main():
    lines = open(sys.argv[1], encoding="utf-8").read().splitlines()
    device = next((line[2:] for line in lines if line.startswith("# ")), "The device is not named in the table")
    times = {}
    for line in lines:
        cells = line.split("\t")
        if len(cells) == 6 and cells[1].isdigit():
            times.setdefault(tuple(cells[:3]), {})[cells[3]] = (cells[4], cells[5])
    rows = [(key, *row(key, all_times)) for key, all_times in times.items() if "warpfold" in all_times]
    large = [ratio for key, _, ratio in rows if ratio is not None and int(key[1]) >= 1_000_000]
    print(HEAD.format(device=device, rows=len(large), ahead=sum(ratio < 1 for ratio in large)))
    for _, text, _ in rows:
        print(text)


if __name__ == "__main__":
    main()
