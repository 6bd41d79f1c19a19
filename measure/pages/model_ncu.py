#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes docs/results/model/ncu-CARD.md: every launch that Nsight Compute took, beside what the model predicts of it.

    model_ncu.py --warpfold build/ci/tool/warpfold --probe model.json --card h200 --date 2026-01-31
                 [--keep pairs.json] [--kept pairs.json]

--probe: the output of measure/session/model_probe.py on that card (./dev gpu 9 model). Launches are paired by kernel, shape and
order. ncu's time has no way of the launch from the host to the device: it is compared with `launch_next` of the card and the
model's time of the kernel. Exit status: 0; 2 if nothing can be compared.
"""
import argparse
import collections
import json
import math
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CARDS = ROOT / "softgpu/predict/cards"
sys.path.insert(0, str(ROOT / "measure/session"))
from compare_ncu import base_name  # noqa: E402
LATENCY_BELOW = 0.6  # ncu calls a launch bound by latency where no part is busier
MIB = 1 << 20
# Of the model's bounds, in ncu's parts; those that are not here limit single places of the device, or nothing that works.
PARTS = {"dram": "dram", "l2": "l2", "atomics": "l2", "l1": "l1", "shared": "l1", "lsu": "l1", "texture": "l1",
         **dict.fromkeys(("issue", "integer", "multiply", "shift", "logic", "fp32", "fp64", "half", "special", "convert",
                          "shuffle", "vote", "match", "tensor", "constant"), "sm")}


def predicted(warpfold, run, card, seconds):
    """Launches of the same steps on the software GPU, with their step. On a GPU a step with a timeline runs once more for it."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "report.json"
        subprocess.run([warpfold, "ladder", run["ladder"], "--device", "softgpu", "--predict", card, "--no-claims", "--steps",
                        ",".join(run["steps"]), "--n", str(run["n"]), "--json", str(out)], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=seconds, check=False)
        steps = json.loads(out.read_text())["steps"] if out.exists() else []
    return [dict(step=s["id"], kernel=base_name(x["kernel"]), grid=x["grid"], block=x["block"], model=x["predictions"][card])
            for s in steps for _ in range(2 if "timeline" in s else 1) for x in s["launches"] if x.get("predictions")]


def pairs_of(run, ours):
    """ncu's launches with ours, each kernel of one shape in order."""
    waiting = collections.defaultdict(collections.deque)
    for launch in ours:
        waiting[(launch["kernel"], *launch["grid"], *launch["block"])].append(launch)
    pairs = []
    for theirs in run["rows"]:
        same = waiting[(theirs["kernel"], *theirs["grid"], *theirs["block"])]
        if same:
            pairs.append({"ladder": run["ladder"], "n": run["n"], "ncu": theirs, **same.popleft()})
    return pairs


def kernel_time(pair, launch_next):
    """The model's, in nanoseconds, of what ncu times."""
    return pair["model"]["cold_nanoseconds"] - pair["model"]["launch_nanoseconds"] + launch_next


def bound_of(shares):
    part = max(shares, key=shares.get)
    return part if shares[part] >= LATENCY_BELOW else "latency"


def ncu_bound(x):
    return bound_of({part: (x[part] or 0) / 100 for part in ("sm", "l1", "l2", "dram")})


def model_bound(pair, launch_next):
    """ncu's rule, with the model's figures: how much of the kernel's time each part is busy."""
    shares = dict.fromkeys(("sm", "l1", "l2", "dram"), 0)
    for bound, nanoseconds in pair["model"]["cold_bounds"].items():
        if bound in PARTS:
            shares[PARTS[bound]] = max(shares[PARTS[bound]], nanoseconds / kernel_time(pair, launch_next))
    return bound_of(shares)


def dram(pair):
    x, p = pair["ncu"], pair["model"]
    return x["dram_read_bytes"] + x["dram_write_bytes"], p["cold_dram_read_bytes"] + p["cold_dram_write_bytes"]


def hits(pair):
    """L2's hit rates of reads, of launches that read 1 MiB and more; else None."""
    x = pair["ncu"]
    if (x["l2_reads"] or 0) * 32 < MIB:
        return None
    return x["l2_read_hits"] / x["l2_reads"], pair["model"]["cold_l2_read_hit_rate"]


def is_close(a, b, by):
    return abs(a - b) <= by * max(a, 1)


def merged(pairs):
    """Launches of one step, kernel and shape that do the same, with predictions within about 2 %: the first one stands for all."""
    first = {}
    for p in pairs:
        key = (p["ladder"], p["n"], p["step"], p["kernel"], *p["grid"], *p["block"],
               round(50 * math.log(p["model"]["cold_nanoseconds"])), *dram(p)[1:])
        first.setdefault(key, {**p, "times": 0})["times"] += 1
    return list(first.values())


def summary(pairs, error, launch_next):
    errors = [abs(error(p)) for p in pairs]
    # A few KiB are fetched for code and parameters, which the model does not have.
    moved = [dram(p) for p in pairs if dram(p)[0] >= MIB]
    rates = [h for h in map(hits, pairs) if h]
    bounds = [ncu_bound(p["ncu"]) == model_bound(p, launch_next) for p in pairs]
    of = [f"{len(pairs)}", f"{100 * sum(errors) / len(errors):.0f} %; median {100 * sorted(errors)[len(errors) // 2]:.0f} %",
          f"{sum(e <= 0.3 for e in errors)}", f"{sum(bounds)}",
          f"{sum(is_close(a, b, 0.1) for a, b in moved)} of {len(moved)}",
          f"{sum(abs(a - b) <= 0.1 for a, b in rates)} of {len(rates)}"]
    return " | ".join(of)


def reason_of(notes, card, p):
    for key in (f"{p['ladder']}/{p['step']}/{p['kernel']}", f"{p['ladder']}/{p['step']}"):
        for where, name in ((notes.get("ncu", {}), key), (notes, f"{card}/{key}")):
            if where.get(name):
                return where[name]
    return notes.get("ncu", {}).get("few microseconds", "") if p["ncu"]["nanoseconds"] < 6000 else ""


def page(pairs, card, date, cut_off, notes, launch_next):
    def error(p):
        return kernel_time(p, launch_next) / p["ncu"]["nanoseconds"] - 1

    pairs = merged(pairs)
    lines = ["<!-- Made by measure/pages/model_ncu.py; do not edit. -->",
             f"# The model beside Nsight Compute on the {card.upper()}", "",
             f"Taken on {date} with `./dev gpu 9 model`; clocks not locked, caches flushed before each launch. Predicted by "
             "[the model](../../model.md), cold. Launches of one step that do the same count once.", "",
             "| of | launches | time, mean absolute error | within 30 % | bound as ncu's | DRAM bytes within 10 % "
             "| L2 hit rate within 10 points |", "| --- | ---: | --- | ---: | ---: | ---: | ---: |"]
    sizes = {ladder: max(p["n"] for p in pairs if p["ladder"] == ladder) for ladder in dict.fromkeys(p["ladder"] for p in pairs)}
    for part, name in ((1, "the ladder's own"), (8, "an 8th"), (64, "a 64th")):
        some = [p for p in pairs if p["n"] == sizes[p["ladder"]] // part]
        if some:
            lines.append(f"| {name} | {summary(some, error, launch_next)} |")
    for ladder in sizes:
        lines.append(f"| `{ladder}` | {summary([p for p in pairs if p['ladder'] == ladder], error, launch_next)} |")
    lines += [f"| all | {summary(pairs, error, launch_next)} |", "",
              "Time: ncu's has no way from the host to the device. It stands beside `launch_next` of the card, which a kernel "
              "that follows another one takes, and the model's time of the kernel. Bound: the busiest of multiprocessor (`sm`), "
              f"`l1`, `l2` and `dram`, or `latency` where none is busy for {100 * LATENCY_BELOW:.0f} % of the kernel's time; on "
              "both sides the same rule. DRAM and L2: of launches that move 1 MiB and more there. After its flush ncu "
              "leaves 2.4 MB in L2 that launches which fill it write back.", "",
              "| ladder | step | n | kernel | ncu, µs | model, µs | error | ncu's bound | model's | DRAM read, written, MB | "
              "model, MB | L2 hits | model | reason |",
              "| --- | --- | ---: | --- | ---: | ---: | ---: | --- | --- | ---: | ---: | ---: | ---: | --- |"]
    for p in sorted(pairs, key=lambda p: -abs(error(p))):
        x = p["ncu"]
        rates = [f"{100 * r:.0f} %" for r in hits(p) or []] or ["", ""]
        ours = [p["model"][f"cold_dram_{way}_bytes"] / 1e6 for way in ("read", "write")]
        lines.append(
            f"| {p['ladder']} | {p['step']} | {p['n']:,} | `{p['kernel']}` | {x['nanoseconds'] / 1e3:,.1f} | "
            f"{kernel_time(p, launch_next) / 1e3:,.1f} | {100 * error(p):+.0f} % | {ncu_bound(x)} | "
            f"{model_bound(p, launch_next)} | {x['dram_read_bytes'] / 1e6:.1f}, {x['dram_write_bytes'] / 1e6:.1f} | "
            f"{ours[0]:.1f}, {ours[1]:.1f} | {rates[0]} | {rates[1]} | "
            f"{reason_of(notes, card, p) if abs(error(p)) > 0.3 else ''} |")
    if cut_off:
        lines += ["", "Not taken: " + "; ".join(cut_off) + "."]
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
        pairs, made = [], {}
        for run in probe["runs"]:
            key = run["ladder"], run["n"]
            if key not in made:
                try:
                    made[key] = predicted(o.warpfold, run, o.card, o.seconds)
                except subprocess.TimeoutExpired:
                    made[key] = []
                    probe["cut_off"].append(f"{run['ladder']}, {run['n']:,}: not predicted within {o.seconds:.0f} s")
            pairs += pairs_of(run, made[key])
    if not pairs:
        print("model_ncu: nothing to compare", file=sys.stderr)
        return 2
    if o.keep:
        o.keep.write_text(json.dumps(pairs))
    notes = json.loads((ROOT / "docs/results/model/notes.json").read_text())
    launch_next = json.loads((CARDS / f"{o.card}.json").read_text())["figures"]["launch_next"]["value"]
    (ROOT / f"docs/results/model/ncu-{o.card}.md").write_text(page(pairs, o.card, o.date, probe["cut_off"], notes, launch_next))
    return 0


if __name__ == "__main__":
    sys.exit(main())
