#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes docs/lectures/tables.md: the times that the lectures print, beside ours at the same size, block and type.

    lecture_tables.py [docs/lectures]            # writes tables.md
    lecture_tables.py [docs/lectures] --check    # compares with the page that is there
    lecture_tables.py --shapes                   # what a GPU has to run: n, block, type, finish and steps, one shape a line
    lecture_tables.py --distil LADDER.json... --date 2026-01-31 > docs/results/ladders/published-CARD.json

Theirs: published.json, by hand, as printed, with a sentence where the order of two steps changed. Ours, of docs/results/ladders:
published-*.json (from `warpfold ladder reduce --json` of the shapes), reduce-*.md, and ladders-*.md for the scan. Exit
status: 0; 1 where the order changed and no sentence says why, or --check finds a difference; 2 if an input cannot be used.
"""
import argparse
import json
import pathlib
import re
import sys

from lectures import sentence, row
from verdicts import BadInput, load

ROOT = pathlib.Path(__file__).resolve().parents[2]
SECONDS = {"ms": 1e-3, "s": 1}
BYTES = {"int32": 4, "float": 4}
MADE = "<!-- Made by measure/pages/lecture_tables.py; edit published.json, not this page. -->"
MISSING = "not measured"


def card_of(name):
    """"H100" of "NVIDIA H100 80GB HBM3"."""
    return name.split()[1] if " " in name else name


def steps_of(table):
    return table.get("steps") or list(table["times"])


def shapes(published):
    """{(n, block, type, finish): steps} of the published reductions."""
    found = {}
    for table in published["reductions"]:
        for block in table["block"]:
            for n in table["n"]:
                found.setdefault((n, block, table["type"], table["finish"]), []).extend(steps_of(table))
    return {shape: list(dict.fromkeys(steps)) for shape, steps in found.items()}


def command(n, block, kind, finish):
    options = ("" if kind == "int32" else f" --type {kind}") + ("" if finish == "device" else f" --finish {finish}")
    return f"./dev ladder reduce --device gpu --n {n} --block {block}{options}"


def distil(paths, date):
    runs, names = [], set()
    for path in paths:
        run = load(path)
        if run["device"].get("software"):
            raise BadInput(f"{path} is from the software GPU, which has no times")
        names.add(run["device"]["name"])
        runs.append({**{key: run[key] for key in ("n", "block", "type", "finish")},
                     "time_us": {step["id"]: round(step["time_us"], 3) for step in run["steps"]
                                 if step["time_us"] is not None and step["on_device"]}})
    if len(names) != 1:
        raise BadInput("the runs are not all of one card")
    lines = ",\n  ".join(json.dumps(run) for run in sorted(runs, key=lambda r: (r["type"], r["block"], r["n"])))
    return f'{{"card": {json.dumps(names.pop())}, "date": {json.dumps(date)}, "runs": [\n  {lines}]}}\n'


def reductions_of_page(text):
    """{(n, block, type, finish): {step: µs}} of a page that results_tables.py made."""
    found = {}
    for part in re.split(r"^## ", text, flags=re.M)[1:]:
        head = re.match(r"n = .*\((\d+)\), block (\d+), (\w+), sum$", part.splitlines()[0])
        cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines() if line.startswith("|")]
        if head:
            found[int(head[1]), int(head[2]), head[3], "device"] = {c[0]: float(c[4]) for c in cells if c[2:3] == ["right"]}
    return found


def scans_of_page(text):
    """{n: (CPU ms, GPU ms)} of a page that ladders_page.py made."""
    table = re.search(r"^The table of Harris, Sengupta and Owens.*?\n\n(.*?)\n\n", text, re.M | re.S)
    rows = [re.findall(r"[\d.]+", line) for line in table[1].splitlines()[2:]] if table else []
    return {int(cells[0]): (float(cells[4]), float(cells[5])) for cells in rows if len(cells) == 7}


class Ours:
    """What docs/results/ladders has, by card."""

    def __init__(self, folder):
        self.reductions, self.scans, self.taken = {}, {}, {}
        for path in sorted(folder.glob("reduce-*.md")):
            text = path.read_text(encoding="utf-8")
            head = re.match(r"# The reduction ladder on (.*)\n\nTaken (\S+)", text)
            if head:
                self.reductions.setdefault(card_of(head[1]), {}).update(reductions_of_page(text))
                self.taken.setdefault(card_of(head[1]), []).append(f"[{path.name}](../results/ladders/{path.name}), {head[2]}")
        for path in sorted(folder.glob("published-*.json")):
            data = load(path)
            self.taken.setdefault(card_of(data["card"]), []).append(f"[{path.name}](../results/ladders/{path.name}), {data['date']}")
            for run in data["runs"]:
                key = run["n"], run["block"], run["type"], run["finish"]
                self.reductions.setdefault(card_of(data["card"]), {})[key] = run["time_us"]
        for path in sorted(folder.glob("ladders-*.md")):
            text = path.read_text(encoding="utf-8")
            head, scans = re.search(r"^# .* on an? (.*)$", text, re.M), scans_of_page(text)
            if head and scans:
                self.scans[card_of(head[1])] = scans
                self.taken.setdefault(card_of(head[1]), []).append(f"[{path.name}](../results/ladders/{path.name})")

    def time(self, card, shape, step):
        return self.reductions.get(card, {}).get(shape, {}).get(step)


class Page:
    def __init__(self, published, ours):
        self.published, self.ours, self.problems = published, ours, []
        self.cards = sorted(set(ours.reductions) | set(ours.scans))

    def changed(self, then, now):
        """Whether two ratios, of a step to the one before, are on different sides of 1."""
        return bool(then and now) and (then > 1) != (now > 1)

    def reduction(self, table):
        steps = steps_of(table)
        printed = "times" in table
        shapes_ = [(n, block, table["type"], table["finish"]) for block in table["block"] for n in table["n"]]
        cells_of = {card: [self.ours.time(card, shape, step) for shape in shapes_ for step in steps] for card in self.cards}
        cards = [card for card, times in cells_of.items() if 2 * times.count(None) <= len(times)]
        out = [f"## {table['name']}", "", f"{table['lectures']}. Type {table['type']}, finished on the {table['finish']}.", "",
               row(["n", "block", "step", *([f"{table['card']}, {table['unit']}", "GB/s", "x before"] if printed else []),
                    *[head for card in cards for head in (f"{card}, µs", "GB/s", "x before")]])]
        out.append(row(["---:", "---:", "---", *["---:"] * (out[-1].count("|") - 4)]))
        for b, block in enumerate(table["block"]):
            for k, n in enumerate(table["n"]):
                shape = n, block, table["type"], table["finish"]
                before = {}
                for step in steps:
                    cells = [f"{n:,}", str(block), step]
                    shown = table["times"][step][b][k] if printed else None
                    theirs = float(shown) if shown else None
                    then = before["theirs"] / theirs if theirs and before.get("theirs") else None
                    if printed:
                        cells += [shown or "–", table.get("gb_per_s", {}).get(step, [["–"]])[0][0], ratio(then)]
                    before["theirs"] = theirs
                    for card in cards:
                        time = self.ours.time(card, shape, step)
                        now = before[card] / time if time and before.get(card) else None
                        cells += [f"{time:,.1f}", f"{n * BYTES[table['type']] / time / 1e3:,.0f}"] if time else [MISSING, "–"]
                        cells.append(ratio(now) + (" †" if self.changed(then, now) else ""))
                        before[card] = time
                        if self.changed(then, now) and not any(each["step"] == step for each in table.get("order", [])):
                            self.problems.append(f"{table['name']}: the order changed at step {step}, n = {n}, block {block} "
                                                 f"on the {card}, and published.json does not say why")
                    if printed or cards:
                        out.append(row(cells))
        out += ["", *[f"- † Step {each['step']}: {sentence(each['why'])}" for each in table.get("order", [])], ""]
        missing = [card for card in self.cards if None in cells_of[card]]
        if missing:
            out += [f"Not all is measured on the {', the '.join(missing)}:" if cards != self.cards else "Not all is measured:", "",
                    "```sh", *dict.fromkeys(command(*shape) for shape in shapes_), "```", ""]
        return out

    def scan(self, table):
        cards = [card for card in self.cards if card in self.ours.scans]
        out = [f"## {table['name']}", "", f"{table['lectures']}. Ours: std::inclusive_scan on one core, and step 11.", "",
               row(["n", "CPU 2007", "GPU 2007", "speed-up",
                    *[head for card in cards for head in (f"CPU beside the {card}", card, "speed-up")]])]
        out.append(row(["---:"] * (out[-1].count("|") - 1)))
        for n, *shown in table["rows"]:
            cpu, gpu = map(float, shown)
            cells = [f"{n:,}", *shown, f"{cpu / gpu:.2f}"]
            for card in cards:
                ours = self.ours.scans[card].get(n)
                changed = ours and self.changed(cpu / gpu, ours[0] / ours[1])
                cells += [f"{ours[0]:.6f}", f"{ours[1]:.6f}", f"{ours[0] / ours[1]:.2f}" + (" †" if changed else "")] \
                    if ours else [MISSING, MISSING, "–"]
                if changed and not any(each["n"] == n for each in table["order"]):
                    self.problems.append(f"{table['name']}: the order changed at n = {n} on the {card}, and published.json "
                                         "does not say why")
            out.append(row(cells))
        return out + ["", *[f"- † n = {each['n']:,}: {each['why']}" for each in table["order"]], "",
                      "Measured by `./dev warpfold ladder scan --device gpu`.", ""]

    def text(self):
        out = [MADE, "# The lectures' tables, then and now", "",
               "Theirs as printed, ours at the same n, block and element type: medians with a cold L2 cache. GB/s: bytes of the",
               "input over the time. x before: how much faster than the step above. `./dev gpu 9 published` measures all cells.", "",
               *[f"- {card}: {', '.join(dict.fromkeys(sources))}" for card, sources in sorted(self.ours.taken.items())], ""]
        for table in self.published["reductions"]:
            out += self.reduction(table)
        out += self.scan(self.published["scan"])
        return re.sub(r"\n{3,}", "\n\n", "\n".join(out)).rstrip() + "\n"


def ratio(value):
    return "–" if value is None else f"{value:.2f}"


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", type=pathlib.Path, help="docs/lectures, or with --distil the ladder's JSON files")
    parser.add_argument("--check", action="store_true", help="compare with the page that is there instead of writing it")
    parser.add_argument("--shapes", action="store_true", help="print what a GPU has to run")
    parser.add_argument("--distil", action="store_true", help="print the times of runs on a GPU")
    parser.add_argument("--date", help="of these runs")
    asked = parser.parse_args(arguments)
    if asked.distil:
        if not asked.date or not asked.paths:
            raise BadInput("--distil needs --date and files")
        sys.stdout.write(distil(asked.paths, asked.date))
        return 0
    folder = asked.paths[0] if asked.paths else ROOT / "docs/lectures"
    published = load(folder / "published.json")
    if asked.shapes:
        for shape, steps in shapes(published).items():
            print(*shape, ",".join(steps))
        return 0
    page = Page(published, Ours(folder / "../results/ladders"))
    made, path = page.text(), folder / "tables.md"
    if not asked.check:
        path.write_text(made, encoding="utf-8")
    elif not path.exists() or path.read_text(encoding="utf-8") != made:
        page.problems.append(f"{path} is not what measure/pages/lecture_tables.py makes: run it")
    for problem in page.problems:
        print(problem)
    return 1 if page.problems else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except BadInput as error:
        print(f"lecture_tables: {error}", file=sys.stderr)
        sys.exit(2)
