#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""climate_sums.py PROGRAM [--log2 N] [--splits N]: docs/results/ranks/climate-sums.md, of benchmarks/ranks/climate_sums.cpp.

Runs the program with mpirun on 1 to 8 ranks and counts the results' different bits. --from RAW writes the page from the
lines of an earlier run, which --keep RAW stored.
"""
import argparse
import collections
import datetime
import json
import os
import pathlib
import platform
import subprocess

RANKS = [1, 2, 3, 4, 6, 8]
FIELDS = {"mass": "all positive", "flux": "both signs, nearly balanced over the hemispheres", "wide": "both signs, 80 binary orders",
          "tendency": "pairs that cancel to 2^-40 of themselves, 80 binary orders"}


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return platform.machine()


def measured(program, log2, splits):
    lines = []
    for ranks in RANKS:
        done = subprocess.run(["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(ranks), program, str(log2), str(splits)],
                              check=True, capture_output=True, text=True)
        lines += [line for line in done.stdout.splitlines() if line.startswith("{")]
    mpi = subprocess.run(["mpirun", "--version"], check=True, capture_output=True, text=True).stdout.splitlines()[0]
    about = {"mpi": mpi, "cores": os.cpu_count(), "processor": processor(), "date": datetime.date.today().isoformat(), "splits": splits}
    return [json.dumps(about)] + lines


def page(lines):
    about, *rows = [json.loads(line) for line in lines]
    runs = len({(r["ranks"], r["split"]) for r in rows})
    out = ["# Global sums over decompositions", "",
           f"{rows[0]['elements']:,} doubles over {', '.join(map(str, RANKS[:-1]))} and {RANKS[-1]} ranks, {about['splits']} decompositions each: {runs} runs. One is even, the",
           "others are random; all keep the order of the elements. *Bits* is the number of different results in these runs, *error* the",
           f"largest one relative to the exact sum. {about['mpi']}, {about['processor']}, {about['cores']} cores that other programs shared, {about['date']};",
           "made by `measure/pages/climate_sums.py`. With more ranks than cores the times are those of the scheduler.", "",
           "*Integer vectors* is the method of E3SM's and CESM's shr_reprosum, written from its description for this comparison; it keeps",
           "all bits and adds the last integers in double precision. Kahan and double-double are of each part; MPI adds the parts, plain or",
           "with an operation for pairs.", ""]
    for name, text in FIELDS.items():
        of_field = [r for r in rows if r["field"] == name]
        out += [f"## {name.capitalize()}: {text}", "", f"Condition number (sum of magnitudes over magnitude of the sum): {of_field[0]['condition']:.2g}.", "",
                "| way | bits | error | ms, 1 rank | ms, 2 ranks | ms, 8 ranks |", "| --- | ---: | ---: | ---: | ---: | ---: |"]
        ways = collections.defaultdict(list)
        for r in of_field:
            ways[r["way"]].append(r)
        for way, all_of in ways.items():
            at = {r["ranks"]: r["ms"] for r in all_of if r["split"] == 0}
            worst = max(r["error"] for r in all_of)
            out.append(f"| {way} | {len({r['bits'] for r in all_of})} | {'0' if worst == 0 else f'{worst:.1e}'} | {at[1]:.2f} | {at[2]:.2f} | {at[8]:.2f} |")
        out.append("")
    return "\n".join(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?")
    parser.add_argument("--log2", type=int, default=22)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--from", dest="raw", type=pathlib.Path)
    asked = parser.parse_args()
    if asked.raw is None and asked.program is None:
        parser.error("which program?")
    lines = asked.raw.read_text().splitlines() if asked.raw else measured(asked.program, asked.log2, asked.splits)
    if asked.keep:
        asked.keep.write_text("\n".join(lines) + "\n")
    target = pathlib.Path(__file__).resolve().parents[2] / "docs" / "results" / "climate-sums.md"
    target.write_text(page(lines))
    print(target)


main()
