#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a Markdown page of tables from the ladder's JSON files of one ./dev gpu session.

    results_tables.py --facts facts.json LADDER.json... > docs/results/ladders/reduce-h100.md

Every figure on the page comes from the files. Exit status: 0, or 2 if a file cannot be used.
"""
import argparse
import pathlib
import sys

from verdicts import BadInput, load


def number(value, form):
    return "–" if value is None else format(value, form)


def power(n):
    return f"2^{n.bit_length() - 1}" if n > 0 and n & (n - 1) == 0 else str(n)


def outcome(step):
    if step.get("skipped"):
        return f"skipped: {step['skipped']}"
    if step.get("error"):
        return f"failed: {step['error']}"
    return "right" if step["correct"] else "WRONG"


def spread(step):
    low, high = step.get("time_us_low"), step.get("time_us_high")
    return "–" if low is None or high is None else f"{low:.1f} to {high:.1f}"


COLUMNS = [
    ("step", "---", lambda s: s["id"]),
    ("", "---", lambda s: s["title"]),
    ("result", "---", outcome),
    ("launches", "---:", lambda s: str(len(s["launches"])) if s.get("launches") else "–"),
    ("cold, µs", "---:", lambda s: number(s["time_us"], ".1f")),
    ("5 to 95 %", "---:", spread),
    ("warm, µs", "---:", lambda s: number(s["warm_time_us"], ".1f")),
    ("GB/s", "---:", lambda s: number(s["gb_per_s"], ".0f")),
    ("of read ceiling", "---:", lambda s: number(s["share_of_read"], ".1%")),
    ("x step before", "---:", lambda s: number(s["speed_up_over_step_before"], ".2f")),
    ("x in all", "---:", lambda s: number(s["speed_up_in_all"], ".2f")),
    ("x CUB", "---:", lambda s: number(s["speed_of_cub"], ".2f")),
]


def escaped(text):
    return text.replace("|", "\\|").replace("\n", " ")


def table(report):
    n, block = report["n"], report["block"]
    lines = [f"## n = {power(n)} ({n}), block {block}, {report['type']}, {report['op']}", ""]
    device = report["device"]
    lines.append(f"Ceilings measured in the same run: read {number(device.get('read_gb_per_s'), '.0f')} GB/s, copy "
                 f"{number(device.get('copy_gb_per_s'), '.0f')} GB/s (read + written).")
    lines += [f"Command: `warpfold ladder reduce --device gpu --n {n} --block {block}`", ""]
    lines.append("| " + " | ".join(head for head, _, _ in COLUMNS) + " |")
    lines.append("| " + " | ".join(side for _, side, _ in COLUMNS) + " |")
    for step in report["steps"]:
        lines.append("| " + " | ".join(escaped(give(step)) for _, _, give in COLUMNS) + " |")
    failing = [(s["id"], c) for s in report["steps"] for c in s.get("claims", []) if c["holds"] is False]
    if failing:
        lines += ["", "Claims that do not hold here:", ""]
        lines += [f"- step {step}: {escaped(claim['text'])} ({escaped(claim['figure'])})" for step, claim in failing]
    return lines + [""]


def page(facts, reports):
    devices = {r["device"]["name"] for r in reports}
    if len(devices) != 1:
        raise BadInput(f"the files are from different devices: {', '.join(sorted(devices))}")
    if any(r["device"]["software"] for r in reports):
        raise BadInput("a file is from the software GPU, which has no times")
    device = reports[0]["device"]
    samples = sorted({s["samples"] for r in reports for s in r["steps"] if s.get("samples")})
    lines = [f"# The reduction ladder on {device['name']}", ""]
    lines.append(f"Taken {facts['date']} with `./dev gpu` on {facts['name']} (compute capability "
                 f"{facts['compute_cap']}, {device['multiprocessors']} multiprocessors, {facts['memory.total']}, driver "
                 f"{facts['driver_version']}), {facts['nvcc']}, {facts['system']}.")
    lines += ["", f"Times are medians of {' or '.join(map(str, samples))} samples by device events around the whole "
              "reduction, all launches of it. Cold: the L2 cache is flushed before each sample; warm: it is not. "
              "GB/s = bytes of the input / cold time / 1e9. The read ceiling is measured in the same run."]
    lines += [""]
    for report in sorted(reports, key=lambda r: (r["n"], r["block"])):
        lines += table(report)
    return lines


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--facts", type=pathlib.Path, required=True, help="facts.json of ./dev gpu")
    parser.add_argument("reports", type=pathlib.Path, nargs="+", help="JSON of warpfold ladder reduce")
    options = parser.parse_args(arguments)
    try:
        lines = page(load(options.facts), [load(path) for path in options.reports])
    except BadInput as error:
        print(f"results_tables: {error}", file=sys.stderr)
        return 2
    except KeyError as error:
        print(f"results_tables: a file has no {error}", file=sys.stderr)
        return 2
    print("\n".join(lines).rstrip())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
