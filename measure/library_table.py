#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""library_table.py --facts facts.json reduce.tsv > docs/results/library-CARD.md: the library beside its peer."""
import argparse
import json
import math


def size(n):
    exponent = int(math.log2(n))
    return f"2^{exponent}" if 1 << exponent == n else str(n)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", required=True)
    parser.add_argument("table")
    given = parser.parse_args()
    facts = json.load(open(given.facts))
    lines = [line.rstrip("\n") for line in open(given.table)]
    ceiling = next(line for line in lines if ", read " in line).lstrip("# ")
    read = float(ceiling.split(", read ")[1].split()[0])
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]

    print("# The library beside CUB\n")
    print(f"{ceiling}; driver {facts['driver_version']}, {facts['nvcc']}, {facts['date']}; taken with "
          "`./dev gpu 5 library`, written by `measure/library_table.py`.\n")
    print("Microseconds a call, medians; the ratio is ours over CUB's, below 1 where ours is faster. *stream*: single calls,\n"
          "device events around each, the host launching meanwhile, every call on memory that no cache holds. *graph, cold*:\n"
          "a graph of calls, each on other memory, together more than the L2 cache. *graph, warm*: a graph of calls on the same\n"
          "memory. Both sides get their working memory beforehand. GB/s and the share of the read ceiling are of ours,\n"
          "graph, cold. CUB has no min-max: its Min and Max stand there, one after the other.\n")
    print("| what | type | n | stream: ours | CUB | ratio | graph, cold: ours | CUB | ratio | graph, warm: ours | CUB "
          "| ratio | GB/s | of read |")
    print("| --- | --- | ---: |" + " ---: |" * 11)
    for row in rows:
        if len(row) != 13:
            print(f"| {row[0]} | {row[1]} | {size(int(row[2]))} | {' '.join(row[3:])} |" + " |" * 10)
            continue
        rate = float(row[12])
        print("| " + " | ".join([row[0], row[1], size(int(row[2])), *row[3:12], f"{rate:.0f}", f"{100 * rate / read:.1f} %"])
              + " |")
    slower = [row for row in rows if len(row) == 13 and max(float(row[k]) for k in (5, 8, 11)) > 1.02]
    print(f"\nSlower than CUB by more than 2 % in one of the three: {len(slower)} of {len(rows)} rows"
          + (": " + ", ".join(f"{r[0]} {r[1]} {size(int(r[2]))}" for r in slower) if slower else "") + ".")


if __name__ == "__main__":
    main()
