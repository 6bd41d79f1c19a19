#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes docs/results/model/h200.md and its plot: what the model of docs/model.md predicts, beside what was measured.

    model_page.py --warpfold build/ci/tool/warpfold --later build/model/tool/warpfold [--seconds 60] [--most 33554432]
                  [--keep predicted.json]
    model_page.py --kept predicted.json    # page and plot alone, from the predictions of an earlier run
    model_page.py                          # the plot alone, from the page's own tables

Measured: ladders-h200.md, ladders-h100.md and published-h200.json (cold L2), and docs/lectures/published.json (G80, K40m,
T4; the T4 is predicted at its boost clock and at its base clock).
Predicted: `warpfold ladder NAME --predict CARDS` at the same size, block and type, every step by itself, for all cards
that it was measured on; those of compute capability 9.0 by the command of --later, whose PTX is for that (docs/measuring.md). A step that takes longer than --seconds on this host, or that has more than --most elements
(K40m: 2^26), is left out, and the page says so. Why a step misses is in docs/results/model/notes.json, by hand: for a step, or for a bound whose predictions are
too short. Exit status: 0; 2 if an input cannot be used.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from model_plot import plot

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "results"
PAGE = RESULTS / "model/h200.md"
MADE = "<!-- Made by measure/pages/model_page.py; do not edit. -->"
SECONDS = {"ms": 1e3, "s": 1e6}  # microseconds
CLOSE = 0.3


def of_ladders(card):
    """Measured steps of ladders/ladders-CARD.md: cells without predictions."""
    cells, ladder = [], ""
    for line in (RESULTS / f"ladders/ladders-{card}.md").read_text().splitlines():
        if line.startswith("## "):
            ladder = line[3:].strip()
        columns = [c.strip() for c in line.strip("|").split("|")]
        if len(columns) == 8 and re.fullmatch(r"[\d,]+", columns[2]) and re.fullmatch(r"[\d,.]+", columns[4]):
            cells.append({"card": card, "ladder": ladder, "step": columns[0], "title": columns[1],
                          "n": int(columns[2].replace(",", "")), "measured": float(columns[4].replace(",", ""))})
    sizes = {}
    for cell in cells:
        sizes.setdefault(cell["ladder"], []).append(cell["n"])
    for cell in cells:
        own = sizes[cell["ladder"]]
        large = [n for n in own if n > max(own) / 2]
        cell["asked"] = max(large, key=large.count)  # a step takes its share of the ladder's n, or some more
    return cells


def of_sizes():
    """Measured cells of ladders/published-h200.json."""
    return [{"card": "h200", "ladder": "reduce", "step": step, "title": "", "n": run["n"], "asked": run["n"],
             "block": run["block"], "type": run["type"], "finish": run["finish"], "measured": microseconds}
            for run in json.loads((RESULTS / "ladders/published-h200.json").read_text())["runs"]
            for step, microseconds in run["time_us"].items()]


def of_lectures():
    """The lectures' printed times."""
    cells = []
    for table in json.loads((ROOT / "docs/lectures/published.json").read_text())["reductions"]:
        for step, rows in table.get("times", {}).items():
            for block, row in zip(table["block"], rows) if len(rows) == len(table["block"]) else []:
                for n, text in zip(table["n"], row):
                    if text is not None:
                        cells.append({"card": table["card"].lower(), "ladder": "reduce", "step": step, "title": "",
                                      "n": n, "asked": n, "block": block, "type": table["type"],
                                      "finish": table["finish"], "measured": float(text) * SECONDS[table["unit"]]})
    return cells + [c | BASE_CLOCK for c in cells if c["card"] == "t4"]


# NVIDIA's data sheet of the T4: 585 MHz, boost 1590. The lectures' times are single runs of a card at rest.
BASE_CLOCK = {"card": "t4base", "clock": 0.585}


def card_file(cell):
    """The tree's T4 with another clock, as a file."""
    card = json.loads((ROOT / "softgpu/predict/cards/t4.json").read_text())
    card["key"], card["figures"]["clock"]["value"] = cell["card"], cell["clock"]
    path = pathlib.Path(tempfile.gettempdir()) / f"{cell['card']}-{os.getpid()}-{cell['step']}-{cell['block']}.json"
    path.write_text(json.dumps(card))
    return ["--card-file", str(path)]


OPTIONS = ("block", "type", "finish")
LATER = ("h100", "h200")


def problem_of(cell):
    """What cells have in common that one run predicts."""
    return cell["card"] in LATER, *(cell.get(name) for name in ("ladder", "step", "asked", *OPTIONS))


def predict(warpfold, cells, seconds):
    """Adds what the model says of the cells, which are of one problem; `left_out` says why it does not."""
    first = cells[0]
    cards = {c["card"] for c in cells if "clock" not in c}
    command = [warpfold, "ladder", first["ladder"], "--device", "softgpu", "--no-claims", "--steps", first["step"],
               "--n", str(first["asked"]), "--json", "-"]
    command += ["--predict", ",".join(sorted(cards))] if cards else []
    for cell in cells:
        command += card_file(cell) if "clock" in cell else []
    for option in OPTIONS:
        if option in first:
            command += ["--" + option, str(first[option])]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
        step = json.loads(run.stdout)["steps"][0]
        for cell in cells:
            if step["n"] != cell["n"]:
                cell["left_out"] = "was measured at another size than the tree's step has now"
                continue
            p = step["predictions"][cell["card"]]
            one_after_the_other = p["cold_nanoseconds"] + p.get("fills_and_copies_nanoseconds", 0)
            nanoseconds = p.get("timeline_nanoseconds", one_after_the_other)
            cell.update(predicted=nanoseconds / 1e3, bound=p["bound"], launches=len(step["launches"]))
    except subprocess.TimeoutExpired:
        for cell in cells:
            cell["left_out"] = "takes too long on this host"
    except (KeyError, IndexError, ValueError):
        for cell in cells:
            cell["left_out"] = "launches no kernel that is predicted"


def error_of(cell):
    return cell["predicted"] / cell["measured"] - 1


def summary(cells, what="steps"):
    errors = [abs(error_of(c)) for c in cells]
    return (f"{len(cells)} {what}; mean absolute error {100 * sum(errors) / len(errors):.0f} %; median "
            f"{100 * sorted(errors)[len(errors) // 2]:.0f} %; within 30 %: {sum(e <= CLOSE for e in errors)} "
            f"({100 * sum(e <= CLOSE for e in errors) / len(errors):.0f} %)")


def order(cells):
    """Pairs of steps of one problem that differ by more than 10 %, and how many of them the model has in order."""
    groups, pairs, right = {}, 0, 0
    for c in cells:
        groups.setdefault((c["card"], c["ladder"], c["n"], c.get("block"), c.get("type")), []).append(c)
    for group in groups.values():
        for k, a in enumerate(group):
            for b in group[k + 1:]:
                if max(a["measured"], b["measured"]) > 1.1 * min(a["measured"], b["measured"]):
                    pairs += 1
                    right += (a["measured"] < b["measured"]) == (a["predicted"] < b["predicted"])
    return f"Order: {right} of {pairs} pairs of steps on one problem that differ by more than 10 %."


def table(cells, notes):
    lines = ["| ladder | step | n | block | measured, µs | predicted, µs | error | bound | reason, as far as known |",
             "| --- | --- | ---: | ---: | ---: | ---: | ---: | --- | --- |"]
    for c in sorted(cells, key=lambda c: -abs(error_of(c))):
        key = f"{c['card']}/{c['ladder']}/{c['step']}"
        supposed = notes.get(f"{c['card']}/{c['bound']}", "") if error_of(c) < 0 else "not known"
        note = notes.get(key, notes.get(f"{c['card']}/{c['ladder']}", supposed)) if abs(error_of(c)) > CLOSE else ""
        lines.append(f"| {c['ladder']} | {c['step']} | {c['n']:,} | {c.get('block', '')} | {c['measured']:,.1f} | "
                     f"{c['predicted']:,.1f} | {100 * error_of(c):+.0f} % | {c['bound']} | {note} |")
    return lines


# Their steps overlap copies and kernels, stop, or measure the host.
LABORATORIES = ("occupancy", "streams", "errors")


def is_laboratory(cell):
    return cell["ladder"] in LABORATORIES


PARTS = [("H200: the ladders", lambda c: c["card"] == "h200" and "block" not in c and not is_laboratory(c)),
         ("H200: the laboratories, whose steps may overlap or wait for the host",
          lambda c: c["card"] == "h200" and is_laboratory(c)),
         ("H200: the lectures' reductions", lambda c: c["card"] == "h200" and "block" in c),
         ("8800 GTX: the published table", lambda c: c["card"] == "g80"),
         ("Tesla K40m: the published table", lambda c: c["card"] == "k40m"),
         ("Tesla T4: the published table", lambda c: c["card"] == "t4"),
         ("Tesla T4 at its base clock: the published table", lambda c: c["card"] == "t4base"),
         ("H100, from its data sheet: the ladders", lambda c: c["card"] == "h100" and not is_laboratory(c)),
         ("H100, from its data sheet: the laboratories, whose steps may overlap or wait for the host",
          lambda c: c["card"] == "h100" and is_laboratory(c))]
CARDS = {"H200": "h200", "H100, from its data sheet": "h100", "Tesla T4 at its base clock": "t4base",
         "8800 GTX": "g80", "Tesla K40m": "k40m", "Tesla T4": "t4"}


def of_page(text):
    """The cells that page() has written, for the plot."""
    cells, card = [], ""
    for line in text.splitlines():
        if line.startswith("## "):
            card = CARDS[line[3:].split(":")[0]]
        columns = [c.strip() for c in line.strip("|").split("|")]
        if len(columns) == 9 and re.fullmatch(r"[\d,.]+", columns[4]) and re.fullmatch(r"[\d,.]+", columns[5]):
            n, measured, predicted = (float(columns[k].replace(",", "")) for k in (2, 4, 5))
            cells.append({"card": card, "ladder": columns[0], "step": columns[1], "n": int(n), "measured": measured,
                          "predicted": predicted})
    return cells


def page(cells, notes):
    lines = [MADE, "# The model beside measurements", "",
             "Predicted by [the model](../../model.md) from what the software GPU counted, beside what was measured. No "
             "figure of a card was chosen by these tables. Times are those of all launches of a step and of the fills and copies "
             "between them, with a cold L2 cache; of `streams` the end of the step's [timeline](../../timeline.md). Worst first.", "", "![Predicted against measured times](h200.svg)", ""]
    for title, belongs in PARTS:
        mine = [c for c in cells if belongs(c)]
        done = [c for c in mine if "predicted" in c]
        lines += [f"## {title}", ""]
        if done:
            lines += [summary(done) + ". " + order(done), ""] + table(done, notes) + [""]
        why = {}
        for c in mine:
            if "left_out" in c:
                why.setdefault(c["left_out"], []).append(f"{c['ladder']}/{c['step']} ({c['n']:,})")
        for reason, steps in why.items():
            lines += [f"Not predicted, {reason}: {', '.join(dict.fromkeys(steps))}.", ""]
    return "\n".join(lines).rstrip() + "\n"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--warpfold")
    options.add_argument("--later", help="a command with PTX for compute capability 9.0; default: that of --warpfold")
    options.add_argument("--seconds", type=float, default=60)
    options.add_argument("--most", type=int, default=1 << 25)
    options.add_argument("--ladders", default="", help="only these, with commas between")
    options.add_argument("--jobs", type=int, default=2, help="steps that run at the same time")
    options.add_argument("--keep")
    options.add_argument("--kept")
    o = options.parse_args()
    o.later = o.later or o.warpfold
    if o.kept:
        cells = json.loads(pathlib.Path(o.kept).read_text())
    elif o.warpfold:
        cells = of_lectures() + of_sizes() + of_ladders("h200") + of_ladders("h100")
        problems = {}
        for cell in cells:
            if cell["asked"] > (1 << 26 if cell["card"] == "k40m" else o.most):
                cell["left_out"] = "has more elements than were asked for"
            elif o.ladders and cell["ladder"] not in o.ladders.split(","):
                cell["left_out"] = "not asked for"
            else:
                problems.setdefault(problem_of(cell), []).append(cell)
        with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
            list(pool.map(lambda of_one: predict(o.later if of_one[0]["card"] in LATER else o.warpfold, of_one, o.seconds),
                          problems.values()))
        if o.keep:
            pathlib.Path(o.keep).write_text(json.dumps(cells, indent=1))
    else:
        cells = []
    if cells:
        notes = RESULTS / "model/notes.json"
        PAGE.write_text(page(cells, json.loads(notes.read_text()) if notes.exists() else {}))
    PAGE.with_suffix(".svg").write_text(plot(of_page(PAGE.read_text()), CLOSE))
    return 0


if __name__ == "__main__":
    sys.exit(main())
