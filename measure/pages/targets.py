#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""targets.py FOLDER [--card h100]: writes FOLDER/library/targets-CARD.md, the library's targets and results.

Reads the tables that library_table.py, host_table.py, compile_time.py and, for h200, python_table.py wrote to FOLDER. The worst
row of a target counts. The targets are in target_lists.py.
"""
import argparse
import math
import pathlib
import re

import target_lists


def tables(text):
    """The rows of all tables of a page, as dictionaries; columns of the same name are numbered."""
    head = None
    for line in text.splitlines():
        if not line.startswith("|"):
            head = None
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if head is None:
            head = [name if cells.index(name) == k else f"{name} {cells[:k].count(name) + 1}" for k, name in enumerate(cells)]
        elif not cells[0].startswith("---"):
            yield dict(zip(head, cells))


def number(cell):
    found = re.match(r"[\d.]+", cell or "")
    return float(found[0]) if found else None


def power(size):
    return int(size[2:]) if size.startswith("2^") else math.log2(int(size))


def figure(row, kind):
    if kind == "ratio":
        return number(row.get("ratio 2"))
    if kind == "host":
        return number(row.get("host us"))
    if kind == "TFLOP/s":
        return number(row.get("TFLOP/s"))
    share = number(row.get("of read", row.get("of copy")))
    return 2 * share if share and kind == "two copies" else share


def verdict(name, kind, bound, rows):
    """One line of the table, of (label, figure)s."""
    most = kind in ("ratio", "host")
    unit = {"share": " %", "two copies": " %", "factor": " times", "TFLOP/s": " TFLOP/s", "ratio": "", "host": " µs"}[kind]
    target = ("at most " if most else "at least ") + f"{bound:g}{unit}"
    if not rows:
        if name not in target_lists.AWAITED:
            raise SystemExit(f"targets: no row for \"{name}\"")
        return [name, target, "unmeasured", "–", "0 of 0", "unmeasured"]
    holds = [value <= bound if most else value >= bound for _, value in rows]
    worst = (max if most else min)(rows, key=lambda row: row[1])
    digits = 1 if kind in ("share", "two copies", "TFLOP/s") else 2
    shown = lambda value: f"{value:.{digits}f}{unit}"
    return [name, target, shown(worst[1]), worst[0],
            f"{sum(holds)} of {len(holds)}", "yes" if all(holds) else "no"]


def page_rows(folder, name):
    """The rows of a page; none if there is no such page yet."""
    path = folder / name
    return list(tables(path.read_text())) if path.exists() else []


def card_rows(folder, card, targets):
    for name, page, what, types, (low, high), kind, bound in targets:
        rows = [(f"{row['what']} {row['type']} {row['n']}", figure(row, kind))
                for row in page_rows(folder, f"library/{page}-{card}.md")
                if re.fullmatch(what, row["what"]) and (types is None or row["type"] in types) and
                low <= power(row["n"]) <= high]
        yield verdict(name, kind, bound, [row for row in rows if row[1] is not None])


def host_rows(folder, targets):
    rows = page_rows(folder, "library/host.md")
    for name, what, kind, bound in targets:
        column = {"share": "of the ceiling", "factor": "factor"}[kind]
        found = [(row["what"], number(row[column])) for row in rows if re.fullmatch(what, row["what"])]
        yield verdict(name, kind, bound, [row for row in found if row[1] is not None])


def python_rows(folder, card):
    rows = [(f"{row['function']} {row['elements']}, {row['arrays of']}", number(row["ratio"]))
            for row in page_rows(folder, f"python/{card}.md") if int(row.get("elements", "10^0")[3:]) >= 6]
    yield verdict(target_lists.PYTHON[0], "ratio", target_lists.PYTHON[1], [row for row in rows if row[1] is not None])


def compile_rows(folder):
    rows = [(row["call"], number(row["ratio"])) for row in tables((folder / "library/compile-time.md").read_text())]
    yield verdict(target_lists.COMPILING[0], "ratio", target_lists.COMPILING[1], rows)


def slower(folder, card, targets):
    """The number of rows slower than the peer, from each page."""
    for page in sorted({page for _, page, *_ in targets} - {"exact-sum", "calls"}):
        found = re.search(r"^Slower than (.+) by more than 2 % in one of the three: (\d+) of (\d+) rows",
                          (folder / f"library/{page}-{card}.md").read_text(), re.M)
        if found:
            yield f"- {page.replace('-', ' ')}: {found[2]} of {found[3]} rows slower than {found[1]} by more than 2 %"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--card", default="h100", choices=target_lists.OF_CARD)
    given = parser.parse_args()
    targets, host, reasons, looked_at = target_lists.OF_CARD[given.card]
    lines = [*card_rows(given.folder, given.card, targets), *host_rows(given.folder, host)]
    lines += compile_rows(given.folder) if given.card == "h100" else python_rows(given.folder, given.card)
    out = ["# What the library set out to reach, and what it does", "",
           "Written by `measure/pages/targets.py` from the tables beside it, which have the dates, devices, peers and commands;",
           "figures are from graphs of calls with a cold cache. Of every target the worst row counts.", "",
           "| work | target | worst | of | rows that meet it | met |", "| --- | --- | ---: | --- | ---: | --- |"]
    out += ["| " + " | ".join(line) + " |" for line in lines]
    unmeasured = sum(line[-1] == "unmeasured" for line in lines)
    out += ["", f"{sum(line[-1] == 'yes' for line in lines)} of {len(lines)} targets are met" +
            (f", {unmeasured} are not measured" if unmeasured else "") + ". On the whole grid:", "",
            *slower(given.folder, given.card, targets)]
    if reasons:
        out += ["", f"## Why the others are not, as of {looked_at}", ""]
        out += [f"- **{line[0]}**: {reasons.get(line[0], 'not known.').format(met=line[-2])}"
                for line in lines if line[-1] == "no"]
    (given.folder / f"library/targets-{given.card}.md").write_text("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
