#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes docs/results/model-calls-CARD.md: what the model predicts of the library's calls, beside what was measured.

    model_calls.py --warpfold build/ci/tool/warpfold --calls build/ci/benchmarks/softgpu/benchmark_library_calls
                   [--card h200] [--keep predicted.json] [--kept predicted.json]

Measured: a graph of calls, cold and warm, of library-*-CARD.md; rows are those of the same name, type and n. Predicted: the
calls of benchmarks/softgpu/library_calls.cu. Why a call misses is in docs/results/model-notes.json, by hand: "CARD/calls/NAME"
or "CARD/calls/NAME/TYPE/N", or, for calls of that bound which the model has too long, "CARD/calls/BOUND". Exit status: 0; 2 if nothing can be compared.
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
    for page in sorted(RESULTS.glob(f"library-*-{card}.md")):
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
    """A call in a row of calls: each launch and each fill follows another one."""
    models = [launch["predictions"][card] for launch in launches]
    nanoseconds = sum(p["nanoseconds"] - p["launch_nanoseconds"] for p in models) + (len(models) + fills) * launch_next
    return nanoseconds / 1e3, max(models, key=lambda p: p["nanoseconds"])["bound"]


def predictions_of(lines, launches, card, launch_next):
    """(what, type, n): microseconds, bound and number of launches of a call, from the program's lines and its launches."""
    parts = between_marks(launches)
    calls = {}
    for k, line in enumerate(lines):
        what, kind, n, fills = line.split("\t")
        call = {}
        for state, part in zip(STATES, parts[3 * k + 1:3 * k + 3]):
            call[state], call[state + " bound"] = predicted_call(part, card, launch_next, int(fills))
        calls[what, kind, int(n)] = call | {"launches": len(parts[3 * k + 1]), "fills": int(fills)}
    return calls


def predict(warpfold, program, card, launch_next):
    with tempfile.TemporaryDirectory() as folder:
        counters = pathlib.Path(folder) / "counters.json"
        run = subprocess.run([warpfold, "run", "--card", "H100", "--predict", card, "--counters", str(counters), "--", program],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
        return predictions_of(run.stdout.splitlines(), json.loads(counters.read_text())["launches"], card, launch_next)


def cells_of(predicted, measured):
    """One a call that was measured and its state."""
    return [{"what": what, "type": kind, "n": n, "state": state, "measured": measured[what, kind, n][state],
             "predicted": call[state], "bound": call[state + " bound"], "launches": call["launches"], "fills": call["fills"]}
            for (what, kind, n), call in predicted.items() if (what, kind, n) in measured for state in STATES]


def reason_of(notes, card, cell):
    own = f"{card}/calls/{cell['what']}"
    bound = [f"{card}/calls/{cell['bound']}"] if error_of(cell) > 0 else []
    for key in (f"{own}/{cell['type']}/{cell['n']}", own, *bound):
        if key in notes:
            return notes[key]
    return "not known"


def page(cells, missing, card, notes, launch_next):
    lines = ["<!-- Made by measure/pages/model_calls.py; do not edit. -->",
             f"# The model beside the library's calls on the {card.upper()}", "",
             "Predicted by [the model](../model.md) from what the software GPU counted, beside graphs of calls as library-*-"
             f"{card}.md have them. Each launch and each fill of a call takes `launch_next` of the card, {launch_next / 1e3:.2f} µs, "
             "and the model's time of the kernel. Cold: each call on other memory, warm: on the same. Microseconds a call, worst "
             "first.", ""]
    for title, mine in [("All", cells)] + [(state.capitalize(), [c for c in cells if c["state"] == state]) for state in STATES]:
        lines.append(f"- {title}: {summary(mine, 'calls')}.")
    lines += ["", "| call | type | n | state | launches, fills | measured | predicted | error | bound | reason, as far as known |",
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
        predicted = {tuple(key): call for key, call in json.loads(o.kept.read_text())}
    else:
        predicted = predict(o.warpfold, o.calls, o.card, launch_next)
    if o.keep:
        o.keep.write_text(json.dumps(list(predicted.items())))
    measured = measured_of(o.card)
    cells = cells_of(predicted, measured)
    if not cells:
        print("model_calls: nothing to compare", file=sys.stderr)
        return 2
    notes = json.loads((RESULTS / "model-notes.json").read_text())
    missing = [key for key in predicted if key not in measured]
    (RESULTS / f"model-calls-{o.card}.md").write_text(page(cells, missing, o.card, notes, launch_next))
    return 0


if __name__ == "__main__":
    sys.exit(main())
