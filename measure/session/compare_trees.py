# SPDX-License-Identifier: MIT
"""compare_trees.py FOLDER [--limit 0.02]: two trees' benchmarks, NAME.before.TURN.tsv beside NAME.after.TURN.tsv.

For every row and way of calling (stream, graph cold, graph warm): the time after over the time before, medians over the
turns. Prints the rows beyond the limit, worst first, and a line of totals for each benchmark. A row counts as slower
only if every turn after is slower than every turn before.
"""
import argparse
import collections
import pathlib
import re
import statistics
import sys

WAYS = {"stream": 3, "cold": 6, "warm": 9}


def read(folder):
    """{(benchmark, row, way): {"before": [microseconds], "after": [...]}}, and the same for the peer's times."""
    ours, peers = collections.defaultdict(dict), collections.defaultdict(dict)
    for file in sorted(folder.glob("*.tsv")):
        name, side, _ = re.fullmatch(r"(.+)\.(before|after)\.(\d+)\.tsv", file.name).groups()
        for line in file.read_text().splitlines():
            cells = line.split("\t")
            if line.startswith("#") or len(cells) < 11:
                continue
            for way, column in WAYS.items():
                key = (name, " ".join(cells[:3]), way)
                ours[key].setdefault(side, []).append(float(cells[column]))
                peers[key].setdefault(side, []).append(float(cells[column + 1]))
    return ours, peers


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", type=pathlib.Path)
    options.add_argument("--limit", type=float, default=0.02)
    options = options.parse_args()
    ours, peers = read(options.folder)
    rows, ratios, lost = [], collections.defaultdict(list), []
    for key, sides in ours.items():
        if set(sides) != {"before", "after"}:
            lost.append(key)
            continue
        before, after = (statistics.median(sides[side]) for side in ("before", "after"))
        ratios[key[0]].append(after / before)
        apart = min(sides["after"]) > max(sides["before"]) or max(sides["after"]) < min(sides["before"])
        peer = statistics.median(peers[key]["before"] + peers[key]["after"])
        if apart and abs(after / before - 1) > options.limit:
            rows.append((after / before, key, before, after, peer))
    for ratio, (name, row, way), before, after, peer in sorted(rows, reverse=True):
        print(f"{ratio:6.3f}  {name:18} {row:44} {way:7} before {before:9.2f} us  after {after:9.2f}  peer {peer:9.2f}")
    for name, values in sorted(ratios.items()):
        slower = sum(1 for row in rows if row[1][0] == name and row[0] > 1)
        print(f"# {name}: {len(values)} rows, median ratio {statistics.median(values):.4f}, {slower} slower by more than "
              f"{options.limit:.0%}, {sum(1 for row in rows if row[1][0] == name and row[0] < 1)} faster")
    for key in lost:
        print("# only in one of the trees:", *key)
    return 0 if ratios else 1


if __name__ == "__main__":
    sys.exit(main())
