#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes docs/results/model/programs-CARD.md: launches of programs that the model has not seen, beside Nsight Compute.

    model_programs.py --predicted FOLDER --ncu FOLDER --card h200 --date 2026-11-30

--predicted: PROGRAM.json of each program, by `warpfold run --predict CARD --counters PROGRAM.json -- ./PROGRAM`.
--ncu: PROGRAM.csv of each, by `ncu --clock-control none --cache-control all --csv --page raw --print-units base --metrics METRICS
--log-file PROGRAM.csv ./PROGRAM` on that card; METRICS are those of measure/session/model_probe.py.
Exit status: 0; 2 if nothing can be compared.
"""
import argparse
import json
import pathlib
import sys

import model_ncu
from compare_ncu import base_name
from model_probe import launches_of


def launches(program, predicted, card):
    ours = [{"step": "", "kernel": base_name(x["kernel"]), "grid": x["grid"], "block": x["block"], "model": x["predictions"][card]}
            for x in json.loads(predicted.read_text())["launches"] if x.get("predictions")]
    return {"ladder": program, "n": 0}, ours


def different(pairs):
    """Launches of one kernel and shape that take about the same time on the GPU: the first one stands for all."""
    kept = []
    for p in pairs:
        if not any(all(p[k] == other[k] for k in ("ladder", "kernel", "grid", "block")) and
                   0.9 < p["ncu"]["nanoseconds"] / other["ncu"]["nanoseconds"] < 1.1 for other in kept):
            kept.append(p)
    return kept


def page(pairs, card, date, launch_next):
    def error(p):
        return model_ncu.kernel_time(p, launch_next) / p["ncu"]["nanoseconds"] - 1

    notes = json.loads((model_ncu.ROOT / "docs/results/model/notes.json").read_text())["programs"]
    programs = {p["ladder"] for p in pairs}
    lines = ["<!-- Made by measure/pages/model_programs.py; do not edit. -->",
             f"# The model beside Nsight Compute on the {card.upper()}: programs that it has not seen", "", notes["about"], "",
             f"Taken on {date}; clocks not locked, caches flushed before each launch. Columns and rules are those of "
             f"[the page of the ladders](ncu-{card}.md).", "",
             "| of | launches | time, mean absolute error | within 30 % | bound as ncu's | DRAM bytes within 10 % "
             "| L2 hit rate within 10 points |", "| --- | ---: | --- | ---: | ---: | ---: | ---: |",
             f"| {len(programs)} programs | {model_ncu.summary(pairs, error, launch_next)} |",
             *(f"| {row} |" for row in notes["before"]), "",
             "| program | kernel | blocks | threads | ncu, µs | model, µs | error | ncu's bound | model's | DRAM, MB | model, MB | L2 hits | model "
             "| reason, as far as known |",
             "| --- | --- | ---: | ---: | ---: | ---: | ---: | --- | --- | ---: | ---: | ---: | ---: | --- |"]
    for p in sorted(pairs, key=lambda p: -abs(error(p))):
        theirs, ours = model_ncu.dram(p)
        rates = [f"{100 * r:.0f} %" for r in model_ncu.hits(p) or []] or ["", ""]
        blocks, threads = (s[0] * s[1] * s[2] for s in (p["grid"], p["block"]))
        reason = notes["reasons"].get(f"{p['ladder']}/{p['kernel']}", "") if abs(error(p)) > 0.3 else ""
        lines.append(f"| {p['ladder']} | `{p['kernel']}` | {blocks:,} | {threads} | {p['ncu']['nanoseconds'] / 1e3:,.1f} | "
                     f"{model_ncu.kernel_time(p, launch_next) / 1e3:,.1f} | {100 * error(p):+.0f} % | {model_ncu.ncu_bound(p['ncu'])} | "
                     f"{model_ncu.model_bound(p, launch_next)} | {theirs / 1e6:.1f} | {ours / 1e6:.1f} | {rates[0]} | {rates[1]} | {reason} |")
    return "\n".join(lines) + "\n"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--predicted", type=pathlib.Path, required=True)
    options.add_argument("--ncu", type=pathlib.Path, required=True)
    options.add_argument("--card", required=True)
    options.add_argument("--date", required=True)
    o = options.parse_args()
    pairs = []
    for predicted in sorted(o.predicted.glob("*.json")):
        run, ours = launches(predicted.stem, predicted, o.card)
        pairs += model_ncu.pairs_of({**run, "rows": launches_of(o.ncu / f"{predicted.stem}.csv")}, ours)
    if not pairs:
        print("model_programs: nothing to compare", file=sys.stderr)
        return 2
    launch_next = json.loads((model_ncu.CARDS / f"{o.card}.json").read_text())["figures"]["launch_next"]["value"]
    (model_ncu.ROOT / f"docs/results/model/programs-{o.card}.md").write_text(page(different(pairs), o.card, o.date, launch_next))
    return 0


if __name__ == "__main__":
    sys.exit(main())
