#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the table of docs/model.md, Cost: the processor time of the command with --predict, beside that without.

    predict_cost.py --warpfold build/ci/tool/warpfold [--card h200] [--runs 5]

Each row is one step of a ladder. User and system time of the whole command, which other work on the host changes little;
medians of runs by turns. Exit status: 0; 2 if a command fails.
"""
import argparse
import datetime
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/model.md"
BEGIN, END = "<!-- cost, by measure/pages/predict_cost.py -->", "<!-- end of cost -->"
MOST = 3  # times
STEPS = [("reduce", "1", 1 << 22, "shared memory, divergent"), ("reduce", "7", 1 << 24, "shared memory, unrolled"),
         ("scan", "8", 1 << 22, "tree in shared memory"), ("scan", "12", 1 << 24, "one pass"),
         ("scan", "15", 1 << 16, "126 launches"), ("histogram", "3", 1 << 22, "global atomics"),
         ("histogram", "9", 1 << 24, "the library's call"), ("convolution", "5", 1 << 20, "loads by L1, arithmetic"),
         ("convolution", "9", 1 << 24, "the library's call"), ("matmul", "4", 1 << 18, "two loads by L1 for a product"),
         ("matmul", "5", 1 << 18, "tiles in shared memory"),
         ("transpose", "1", 1 << 22, "scattered stores")]


def seconds(command):
    """Processor time of a command that succeeds."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, command)
    return used.ru_utime + used.ru_stime


def medians(commands, runs):
    """Of each command, all by turns."""
    rounds = [[seconds(c) for c in commands] for _ in range(runs)]
    return [statistics.median(of_one) for of_one in zip(*rounds)]


def table(rows, card, date):
    """`rows`: ladder, step, n, what it is, seconds without and with --predict."""
    lines = [f"Processor seconds of the whole command, with `--predict {card}` and without, {date}:", "",
             "| step | n | what | without | with | times |", "| --- | ---: | --- | ---: | ---: | ---: |"]
    for ladder, step, n, what, plain, predicted in rows:
        lines.append(f"| `{ladder}` {step} | {n:,} | {what} | {plain:.2f} | {predicted:.2f} | {predicted / plain:.1f} |")
    return lines + ["", f"{sum(p <= MOST * q for *_, q, p in rows)} of {len(rows)} take at most {MOST} times as long."]


def with_table(page, lines):
    before, rest = page.split(BEGIN)
    return "\n".join([before + BEGIN, *lines, END + rest.split(END)[1]])


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--warpfold", required=True)
    options.add_argument("--card", default="h200")
    options.add_argument("--runs", type=int, default=5)
    o = options.parse_args()
    rows = []
    for ladder, step, n, what in STEPS:
        plain = [o.warpfold, "ladder", ladder, "--device", "softgpu", "--no-claims", "--steps", step, "--n", str(n)]
        try:
            rows.append((ladder, step, n, what, *medians([plain, [*plain, "--predict", o.card]], o.runs)))
        except subprocess.CalledProcessError as failure:
            print(f"predict_cost: {failure}", file=sys.stderr)
            return 2
    PAGE.write_text(with_table(PAGE.read_text(), table(rows, o.card, datetime.date.today())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
