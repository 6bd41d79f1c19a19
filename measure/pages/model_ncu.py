#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes docs/results/model-ncu-CARD.md: every launch that Nsight Compute took, beside what the model predicts of it.

    model_ncu.py --warpfold build/ci/tool/warpfold --probe model.json --card h200 --date 2026-01-31
                 [--keep pairs.json] [--kept pairs.json]

--probe: the output of measure/session/model_probe.py on that card (./dev gpu 9 model). Caches are flushed before each
launch on both sides. Launches are paired by order and shape. Exit status: 0; 2 if nothing can be compared.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "measure/session"))
from compare_ncu import base_name  # noqa: E402
LATENCY_BELOW = 60  # ncu calls a launch bound by latency where no part is busier than so many per cent
PARTS = {"dram": "dram", "l2": "l2", "l1": "l1", "shared": "l1", "lsu": "l1", "latency": "latency", "launch": "latency",
         "blocks": "latency", "atomics": "l2", "slice": "latency", "link": "latency"}  # of the model, in ncu's words; the others are those of the multiprocessor


def predicted(warpfold, run, card, seconds):
    """Launches of the same steps on the software GPU, with their step."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "report.json"
        subprocess.run([warpfold, "ladder", run["ladder"], "--device", "softgpu", "--predict", card, "--no-claims", "--steps",
                        ",".join(run["steps"]), "--n", str(run["n"]), "--json", str(out)], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=seconds, check=False)
        steps = json.loads(out.read_text())["steps"] if out.exists() else []
    return [dict(step=s["id"], kernel=x["kernel"], grid=x["grid"], block=x["block"], model=x["predictions"][card])
            for s in steps for x in s["launches"] if x.get("predictions")]


def pairs_of(run, ours):
    """(ladder, n, ncu's launch, ours) as far as they come in one order."""
    pairs, at = [], 0
    for theirs in run["rows"]:
        found = next((k for k in range(at, len(ours))
                      if (ours[k]["grid"], ours[k]["block"]) == (theirs["grid"], theirs["block"])), None)
        if found is not None:
            pairs.append({"ladder": run["ladder"], "n": run["n"], "ncu": theirs, **ours[found]})
            at = found + 1
    return pairs


def ncu_bound(x):
    part = max(("sm", "l1", "l2", "dram"), key=lambda k: x[k] or 0)
    return part if (x[part] or 0) >= LATENCY_BELOW else "latency"


def model_bound(p):
    return PARTS.get(p["bound"], "sm")


def dram(pair):
    x, p = pair["ncu"], pair["model"]
    return x["dram_read_bytes"] + x["dram_write_bytes"], p["cold_dram_read_bytes"] + p["cold_dram_write_bytes"]


def is_close(a, b, by):
    return abs(a - b) <= by * max(a, 1)


def hits(pair):
    """L2's hit rates of reads; None where the model's warm figures are not those of a cold cache."""
    x, p = pair["ncu"], pair["model"]
    if not x["l2_reads"] or p["dram_read_bytes"] != p["cold_dram_read_bytes"]:
        return None
    return x["l2_read_hits"] / x["l2_reads"], p["l2_read_hit_rate"]


def error(pair):
    return pair["model"]["cold_nanoseconds"] / pair["ncu"]["nanoseconds"] - 1


def page(pairs, card, date, cut_off, notes):
    errors = [abs(error(p)) for p in pairs]
    # A few KiB are fetched for code and parameters, which the model does not have.
    moved = [dram(p) for p in pairs if dram(p)[0] >= 1 << 20]
    both = [h for h in map(hits, pairs) if h]
    same = sum(ncu_bound(p["ncu"]) == model_bound(p["model"]) for p in pairs)
    lines = ["<!-- Made by measure/pages/model_ncu.py; do not edit. -->",
             f"# The model beside Nsight Compute on the {card.upper()}", "",
             f"Taken on {date} with `./dev gpu 9 model`; clocks not locked, caches flushed before each launch. Predicted by "
             "[the model](../model.md), cold. Worst first.", "",
             "| | |", "| --- | --- |",
             f"| launches | {len(pairs)} |",
             f"| time, mean absolute error | {100 * sum(errors) / len(errors):.0f} %; median "
             f"{100 * sorted(errors)[len(errors) // 2]:.0f} % |",
             f"| time within 30 % | {sum(e <= 0.3 for e in errors)} of {len(errors)} |",
             f"| bound as ncu's | {same} of {len(pairs)} |",
             f"| DRAM bytes within 10 %, of launches with 1 MiB and more | "
             f"{sum(is_close(a, b, 0.1) for a, b in moved)} of {len(moved)} |",
             f"| hit rate of L2 within 10 points | {sum(abs(a - b) <= 0.1 for a, b in both)} of {len(both)} |", "",
             f"ncu's bound is the busiest of multiprocessor (`sm`), `l1`, `l2` and `dram`, or `latency` where none is busier "
             f"than {LATENCY_BELOW} %. A bound of the model counts as the part that has it: shared memory and load/store "
             "units are `l1`, starts of blocks and launches `latency`.", "",
             "| ladder | step | kernel | ncu, µs | model, µs | error | ncu's bound | model's | DRAM, MB | model, MB | L2 hits "
             "| model | reason |",
             "| --- | --- | --- | ---: | ---: | ---: | --- | --- | ---: | ---: | ---: | ---: | --- |"]
    for p in sorted(pairs, key=lambda p: -abs(error(p))):
        x, m = p["ncu"], p["model"]
        theirs, ours = dram(p)
        rates = hits(p)
        rates = [f"{100 * r:.0f} %" for r in rates] if rates else ["", ""]
        reason = notes.get(f"{p['ladder']}/{p['step']}", notes.get(m["bound"] if error(p) < 0 else "over", ""))
        name = base_name(p["kernel"])
        lines.append(f"| {p['ladder']} | {p['step']} | `{name}` | {x['nanoseconds'] / 1e3:,.1f} | "
                     f"{m['cold_nanoseconds'] / 1e3:,.1f} | {100 * error(p):+.0f} % | {ncu_bound(x)} | {m['bound']} | "
                     f"{theirs / 1e6:.1f} | {ours / 1e6:.1f} | {rates[0]} | {rates[1]} | "
                     f"{reason if abs(error(p)) > 0.3 else ''} |")
    if cut_off:
        ladders = sorted({c.split(",")[0] for c in cut_off if "cold by ncu" in c or "its steps" in c} -
                         {p["ladder"] for p in pairs})
        lines += ["", f"Time ran out before {', '.join(ladders)} and before smaller sizes and warm caches."] if ladders else []
    return "\n".join(lines) + "\n"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--warpfold")
    options.add_argument("--probe", type=pathlib.Path, required=True)
    options.add_argument("--card", required=True)
    options.add_argument("--date", required=True)
    options.add_argument("--seconds", type=float, default=300, help="for one ladder")
    options.add_argument("--keep", type=pathlib.Path)
    options.add_argument("--kept", type=pathlib.Path)
    o = options.parse_args()
    probe = json.loads(o.probe.read_text())
    if o.kept:
        pairs = json.loads(o.kept.read_text())
    else:
        pairs = [p for run in probe["runs"] if run["kind"] == "cold"
                 for p in pairs_of(run, predicted(o.warpfold, run, o.card, o.seconds))]
    if not pairs:
        print("model_ncu: nothing to compare", file=sys.stderr)
        return 2
    if o.keep:
        o.keep.write_text(json.dumps(pairs))
    notes = json.loads((ROOT / "docs/results/model-notes.json").read_text())
    (ROOT / f"docs/results/model-ncu-{o.card}.md").write_text(
        page(pairs, o.card, o.date, probe["cut_off"], notes.get("ncu", {})))
    return 0


if __name__ == "__main__":
    sys.exit(main())
