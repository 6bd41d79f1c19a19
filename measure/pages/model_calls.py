#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes docs/results/model/calls-CARD.md: what the model predicts of the library's calls, beside what was measured.

    model_calls.py --warpfold build/ci/tool/warpfold --calls build/ci/benchmarks/softgpu/library_calls
                   [--card h200] [--keep predicted.json] [--kept predicted.json]

Measured: a graph of calls, cold and warm, of library/*-CARD.md; rows are those of the same name, type and n. Predicted: the
calls of benchmarks/softgpu/library_calls.cu. Why a call misses is in docs/results/model/notes.json, by hand:
"CARD/calls/NAME", or of what the figures of too long a prediction leave as the only cause: "CARD/calls/launch" and
"CARD/calls/queue" (cause_of()). Exit status: 0; 2 if nothing can be compared.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from model_page import CLOSE, RESULTS, ROOT, error_of, summary

MARK = "(anonymous namespace)::mark()"
STATES = ("cold", "warm")


def measured_of(card):
    """(what, type, n): microseconds of a call, cold and warm."""
    calls = {}
    for page in sorted(RESULTS.glob(f"library/*-{card}.md")):
        for line in page.read_text().splitlines():
            columns = [c.strip() for c in line.strip("|").split("|")]
            if len(columns) >= 14 and re.fullmatch(r"(2\^)?\d+", columns[2]):
                n = 1 << int(columns[2][2:]) if columns[2].startswith("2^") else int(columns[2])
                calls[(*columns[:2], n)] = {"cold": float(columns[6]), "warm": float(columns[9])}
    return calls


def between_marks(launches):
    """Lists of the launches before, between and after the marks."""
    parts = [[]]
    for launch in launches:
        if launch["kernel"] == MARK:
            parts.append([])
        else:
            parts[-1].append(launch)
    return parts


def predicted_call(launches, card, launch_next, fills):
    """Microseconds of a call in a row of calls, where each launch and each fill follows another one: of these, of these
    without PDL, of the kernels, and what the kernels would take if the slowest bound of each alone limited it; and the bound
    of the longest."""
    models = [launch["predictions"][card] for launch in launches]
    kernels = sum(p["nanoseconds"] - p["launch_nanoseconds"] for p in models)
    launching = sum(min(p["launch_nanoseconds"], launch_next) for p in models)  # less where it starts early
    return {"launching": (launching + fills * launch_next) / 1e3, "kernels": kernels / 1e3,
            "ordinary": (len(models) + fills) * launch_next / 1e3,
            "slowest": sum(max(p["bounds"].values()) for p in models) / 1e3,
            "bound": max(models, key=lambda p: p["nanoseconds"])["bound"]}


def predictions_of(lines, launches, card, launch_next):
    """Cells without measured times, two a call, from the program's lines and its launches."""
    parts, cells = between_marks(launches), []
    for k, line in enumerate(lines):
        what, kind, n, fills, dependent = line.split("\t")
        for state, part in zip(STATES, parts[3 * k + 1:3 * k + 3]):
            call = predicted_call(part, card, launch_next, int(fills))
            cells.append({"what": what, "type": kind, "n": int(n), "state": state, "fills": int(fills), "launches": len(part),
                          "pdl": dependent == "1", "predicted": call["launching"] + call["kernels"], **call})
    return cells


def predict(warpfold, program, card, launch_next):
    with tempfile.TemporaryDirectory() as folder:
        counters = pathlib.Path(folder) / "counters.json"
        run = subprocess.run([warpfold, "run", "--card", "H100", "--predict", card, "--counters", str(counters), "--", program],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
        return predictions_of(run.stdout.splitlines(), json.loads(counters.read_text())["launches"], card, launch_next)


def key_of(cell):
    return cell["what"], cell["type"], cell["n"]


def cause_of(cell):
    """What alone can make the prediction miss by so much; else nothing."""
    if cell["pdl"] and cell["kernels"] <= cell["measured"] <= (cell["kernels"] + cell["ordinary"]) / (1 - CLOSE):
        return "launch"
    if cell["predicted"] <= cell["measured"]:
        return None
    return "queue" if cell["slowest"] <= (1 + CLOSE) * cell["measured"] else None


def reason_of(notes, card, cell):
    for name in (cell["what"], cause_of(cell)):
        if f"{card}/calls/{name}" in notes:
            return notes[f"{card}/calls/{name}"]
    return "not known"


PARTS = [("All", lambda c: True), ("Cold", lambda c: c["state"] == "cold"), ("Warm", lambda c: c["state"] == "warm"),
         ("Launched with PDL", lambda c: c["pdl"]), ("Launched without", lambda c: not c["pdl"])]


def page(cells, missing, card, notes, launch_next):
    lines = ["<!-- Made by measure/pages/model_calls.py; do not edit. -->",
             f"# The model beside the library's calls on the {card.upper()}", "",
             "Predicted by [the model](../../model.md) from what the software GPU counted, beside graphs of calls as [the library's pages]"
             "(../README.md) have them. Each launch and each fill of a call takes `launch_next` of the card, "
             f"{launch_next / 1e3:.2f} µs, or `launch_dependent` where PDL lets it start early, and the model's time of the "
             "kernel. Cold: each call on the memory that was used longest ago, of as many as the benchmark's graph has calls; "
             "short arrays stay in L2 so. Warm: on the same memory. Microseconds a call, worst first.", ""]
    for title, belongs in PARTS:
        mine = [c for c in cells if belongs(c)]
        if mine:
            lines.append(f"- {title}: {summary(mine, 'calls')}.")
    lines += ["", "| call | type | n | state | launches, fills | measured | predicted | error | bound | "
              "reason, as far as known |",
              "| --- | --- | ---: | --- | ---: | ---: | ---: | ---: | --- | --- |"]
    for c in sorted(cells, key=lambda c: -abs(error_of(c))):
        reason = reason_of(notes, card, c) if abs(error_of(c)) > CLOSE else ""
        lines.append(f"| {c['what']} | {c['type']} | {c['n']:,} | {c['state']} | {c['launches']}, {c['fills']} | "
                     f"{c['measured']:,.2f} | {c['predicted']:,.2f} | {100 * error_of(c):+.0f} % | {c['bound']} | {reason} |")
    if missing:
        lines += ["", "Not measured: " + "; ".join(f"{what}, {kind}, {n:,}" for what, kind, n in missing) + "."]
    return "\n".join(lines) + "\n"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--warpfold")
    options.add_argument("--calls")
    options.add_argument("--card", default="h200")
    options.add_argument("--keep", type=pathlib.Path)
    options.add_argument("--kept", type=pathlib.Path)
    o = options.parse_args()
    launch_next = json.loads((ROOT / f"softgpu/predict/cards/{o.card}.json").read_text())["figures"]["launch_next"]["value"]
    if o.kept:
        predicted = json.loads(o.kept.read_text())
    else:
        predicted = predict(o.warpfold, o.calls, o.card, launch_next)
    if o.keep:
        o.keep.write_text(json.dumps(predicted))
    measured = measured_of(o.card)
    cells = [c | {"measured": measured[key_of(c)][c["state"]]} for c in predicted if key_of(c) in measured]
    if not cells:
        print("model_calls: nothing to compare", file=sys.stderr)
        return 2
    notes = json.loads((RESULTS / "model/notes.json").read_text())
    missing = dict.fromkeys(key_of(c) for c in predicted if key_of(c) not in measured)
    (RESULTS / f"model/calls-{o.card}.md").write_text(page(cells, missing, o.card, notes, launch_next))
    return 0


if __name__ == "__main__":
    sys.exit(main())
