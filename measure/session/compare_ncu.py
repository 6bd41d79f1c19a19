#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares Nsight Compute's counters with those of the software GPU, launch by launch, as a Markdown table.

    compare_ncu.py --ncu DIRECTORY --softgpu LADDER.json [--notes NOTES.json] [--facts facts.json] > TABLE.md
    compare_ncu.py --metrics        the list for ncu's option --metrics

DIRECTORY holds one STEP.csv per step (ncu --csv --page raw). LADDER.json is the output of `warpfold ladder reduce
--json` on the software GPU at the same n, block and type. NOTES.json, {"STEP": "why"}, explains differences. Exit
status: 0, 1 if a difference has no note, 2 if the input cannot be used.
"""
import argparse
import csv
import json
import pathlib
import re
import sys

# Our counter, and Nsight Compute's metric with the same definition.
METRICS = {
    "global_load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "global_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global_store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "global_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "shared_load_requests": "smsp__inst_executed_op_shared_ld.sum",
    "shared_load_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared_load_bank_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "shared_store_requests": "smsp__inst_executed_op_shared_st.sum",
    "shared_store_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "shared_store_bank_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
}

HEADS = {
    "global_load_requests": "global load requests",
    "global_load_sectors": "sectors",
    "global_store_requests": "global store requests",
    "global_store_sectors": "sectors",
    "shared_load_requests": "shared load requests",
    "shared_load_wavefronts": "wavefronts",
    "shared_load_bank_conflicts": "conflicts",
    "shared_store_requests": "shared store requests",
    "shared_store_wavefronts": "wavefronts",
    "shared_store_bank_conflicts": "conflicts",
}


class BadInput(Exception):
    """The input cannot be used; the message is one line."""


def base_name(kernel):
    """The function's own name: no result type, namespaces, template arguments or parameters."""
    text = kernel.replace("(anonymous namespace)::", "").replace("<unnamed>::", "").replace("unnamed>::", "")
    out, depth = [], 0
    for c in text:
        if c == "<":
            depth += 1
        elif c == ">":
            depth -= 1
        elif c == "(" and depth == 0:
            break
        elif depth == 0:
            out.append(c)
    return re.split(r"::|\s", "".join(out).strip())[-1]


def extent(text):
    """"(128, 1, 1)" as [128, 1, 1]."""
    numbers = [int(n) for n in re.findall(r"\d+", text)]
    return (numbers + [1, 1, 1])[:3]


def figure(text):
    """A value of ncu's CSV: an integer, or None for n/a and nan."""
    try:
        return round(float(text.replace(",", "")))
    except ValueError:
        return None


def read_ncu(path):
    """The launches of one CSV of ncu's raw page, in order: base name, grid, block and our counters."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        raise BadInput(f"{path}: no table of ncu's in it")
    rows = list(csv.DictReader(line for line in lines[start:] if line.startswith('"')))
    launches = []
    for row in rows:
        if not (row.get("ID") or "").isdigit():
            continue  # the row of units
        missing = [m for m in METRICS.values() if row.get(m) is None]
        if missing:
            raise BadInput(f"{path}: no column {missing[0]}")
        launches.append({
            "name": base_name(row["Kernel Name"]),
            "grid": extent(row["Grid Size"]),
            "block": extent(row["Block Size"]),
            "counters": {ours: figure(row[theirs]) for ours, theirs in METRICS.items()},
        })
    return launches


def matching(ours, theirs):
    """For each of our launches the matching ncu launch of the first reduction, by name, shape and order, or None."""
    out, at = [], 0
    for launch in ours:
        wanted = (base_name(launch["kernel"]), launch["grid"], launch["block"])
        found = next((i for i in range(at, len(theirs))
                      if (theirs[i]["name"], theirs[i]["grid"], theirs[i]["block"]) == wanted), None)
        out.append(None if found is None else theirs[found])
        if found is not None:
            at = found + 1
    return out


def cell(hardware, software):
    if hardware is None:
        return f"? / {software}"
    return f"{software}" if hardware == software else f"**{hardware} / {software}**"


def shape(launch):
    return " x ".join("·".join(str(n) for n in e if n != 1) or "1" for e in (launch["grid"], launch["block"]))


def compare(report, directory, notes):
    """(Markdown lines, number of differences without a note)."""
    head = ["step", "kernel", "grid x block"] + list(HEADS.values())
    lines = ["| " + " | ".join(head) + " |", "| --- | --- | --- |" + " ---: |" * len(HEADS)]
    differing, unexplained, compared, equal = {}, 0, 0, 0
    for step in report["steps"]:
        if step.get("skipped") or not step.get("launches"):
            continue
        path = directory / f"{step['id']}.csv"
        if not path.exists():
            lines.append(f"| {step['id']} | no {path.name} |" + " |" * (len(head) - 2))
            unexplained += 1
            continue
        for launch, hardware in zip(step["launches"], matching(step["launches"], read_ncu(path))):
            row = [step["id"], f"`{base_name(launch['kernel'])}`", shape(launch)]
            if hardware is None:
                lines.append("| " + " | ".join(row + ["no such launch under ncu"]) + " |" + " |" * (len(HEADS) - 1))
                differing.setdefault(step["id"], []).append(f"no launch of {shape(launch)} under ncu")
                continue
            for name in METRICS:
                theirs, mine = hardware["counters"][name], launch["counters"][name]
                row.append(cell(theirs, mine))
                compared += 1
                equal += theirs == mine
                if theirs != mine:
                    differing.setdefault(step["id"], []).append(f"{name} {theirs} / {mine}")
            lines.append("| " + " | ".join(row) + " |")
    if compared == 0:
        raise BadInput(f"nothing to compare: {directory} holds no CSV of a step in the report")
    lines += ["", f"{equal} of {compared} figures are equal."]
    if differing:
        lines += ["", "## Differences", ""]
        for step, what in differing.items():
            note = notes.get(step)
            unexplained += note is None
            lines.append(f"- **{step}**: {'; '.join(what)}. {note or 'Not explained yet.'}")
    return lines, unexplained


def load(path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise BadInput(f"{path}: {error}") from error


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--metrics", action="store_true", help="print the metrics for ncu's --metrics and end")
    parser.add_argument("--ncu", type=pathlib.Path, help="folder with one STEP.csv a step")
    parser.add_argument("--softgpu", type=pathlib.Path, help="the ladder's JSON from the software GPU")
    parser.add_argument("--notes", type=pathlib.Path, help="JSON: why a step differs")
    parser.add_argument("--facts", type=pathlib.Path, help="facts.json of ./dev gpu")
    options = parser.parse_args(arguments)
    if options.metrics:
        print(",".join(METRICS.values()))
        return 0
    if not options.ncu or not options.softgpu:
        parser.error("--ncu and --softgpu are needed")
    try:
        report = load(options.softgpu)
        if not report.get("device", {}).get("software"):
            raise BadInput(f"{options.softgpu}: not from the software GPU")
        facts = load(options.facts) if options.facts else {}
        lines, unexplained = compare(report, options.ncu, load(options.notes) if options.notes else {})
    except BadInput as error:
        print(f"compare_ncu: {error}", file=sys.stderr)
        return 2
    print("# The software GPU's counters beside Nsight Compute's\n")
    print(f"`warpfold ladder reduce --n {report['n']} --block {report['block']}`, {report['type']}, {report['op']}. "
          "Where both agree one figure stands; where not, **ncu / software GPU**; `?`: ncu gave none.")
    if facts:
        print(f"\nHardware: {facts['name']}, driver {facts['driver_version']}, ncu {facts['ncu']}, {facts['date']}. "
              f"Software: {report['device']['name']}.")
    print("\nMetrics: " + ", ".join(f"{ours} = `{theirs}`" for ours, theirs in METRICS.items()) + ".\n")
    print("\n".join(lines))
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
