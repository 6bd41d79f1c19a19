#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws the ladder of reductions as bars: each step's share of the read ceiling, from a page of docs/results.

    ladder_chart.py docs/results/ladders/reduce-h100.md --n 2^28 --block 256 > docs/reduce-ladder.svg

The colours are readable on light and dark backgrounds. Exit status: 0, or 2 if the page has no such table.
"""
import argparse
import pathlib
import re
import sys
from xml.sax.saxutils import escape

from verdicts import BadInput

WIDTH, LEFT, RIGHT, TOP, ROW = 860, 290, 160, 60, 25  # pixels
TEXT, STEP, BEST, PEER, GRID = "#768390", "#3d86c6", "#2a9d5c", "#a07cc5", "#76839066"


def rows_of(page, n, block):
    """(step, title, microseconds, share of the read ceiling) of steps 1 to 12 and CUB, and the ceiling in GB/s."""
    found = re.search(rf"^## n = {re.escape(n)} .*, block {block}, (?P<type>\w+), \w+$(?P<text>.*?)(?=^## |\Z)", page,
                      re.M | re.S)
    if found is None:
        raise BadInput(f"there is no table for n = {n}, block {block}")
    ceiling = re.search(r"read (\d+) GB/s", found["text"])
    rows = []
    for line in found["text"].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 12 and (cells[0].isdigit() or cells[0] == "cub"):
            if cells[2] != "right":
                raise BadInput(f"step {cells[0]} is {cells[2]}")
            rows.append((cells[0], cells[1], float(cells[4]), float(cells[8].rstrip("%"))))
    if not rows or ceiling is None:
        raise BadInput("the table has no rows or no ceiling")
    return sorted(rows, key=lambda row: int(row[0]) if row[0].isdigit() else 99), ceiling[1], found["type"]


def label(step, title):
    return title if step == "cub" else f"{step}  {title}"


def chart(rows, ceiling, kind, n, block, device, date):
    height = TOP + ROW * len(rows) + 44
    whole = WIDTH - LEFT - RIGHT
    exponent = {c: s for c, s in zip("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")}
    power = re.sub(r"\^(\d+)", lambda m: "".join(exponent[c] for c in m[1]), n)
    title = f"Sum of {power} {kind}, blocks of {block} threads: share of the read ceiling, {ceiling} GB/s"
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
           f'font-family="sans-serif" font-size="13" fill="{TEXT}">', f"<title>{escape(title)}</title>",
           f'<text x="12" y="22" font-size="15" font-weight="bold">{escape(title)}</text>']
    bottom = TOP + ROW * len(rows)
    for share in (0, 25, 50, 75, 100):
        x = LEFT + whole * share / 100
        dash = ' stroke-dasharray="5 4"' if share == 100 else ""
        out.append(f'<path d="M{x:.1f} {TOP - 6}V{bottom}" stroke="{TEXT if share == 100 else GRID}"{dash}/>')
        out.append(f'<text x="{x:.1f}" y="{TOP - 12}" font-size="11" text-anchor="middle">{share} %</text>')
    best = max(row[3] for row in rows if row[0] != "cub")
    for k, (step, name, time, share) in enumerate(rows):
        y = TOP + ROW * k
        colour = PEER if step == "cub" else BEST if share == best else STEP
        bar = whole * share / 100
        out.append(f'<text x="{LEFT - 10}" y="{y + 16}" text-anchor="end">{escape(label(step, name))}</text>')
        out.append(f'<rect x="{LEFT}" y="{y + 3}" width="{bar:.1f}" height="{ROW - 7}" rx="2" fill="{colour}"/>')
        out.append(f'<text x="{WIDTH - 84}" y="{y + 16}" text-anchor="end">{share:.1f} %</text>')
        out.append(f'<text x="{WIDTH - 12}" y="{y + 16}" text-anchor="end">{time:,.0f} µs</text>')
    caption = f"{device}, {date}, cold L2 cache, medians; drawn by measure/pages/ladder_chart.py from docs/results"
    out.append(f'<text x="12" y="{height - 14}" font-size="11">{escape(caption)}</text>')
    return "\n".join([*out, "</svg>"]) + "\n"


def draw(path, n, block):
    try:
        page = pathlib.Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from error
    head = re.search(r"^# The reduction ladder on (.*)\n\nTaken (\d{4}-\d\d-\d\d)", page, re.M)
    if head is None:
        raise BadInput(f"{path} is no page of the reduction ladder")
    rows, ceiling, kind = rows_of(page, n, block)
    return chart(rows, ceiling, kind, n, block, head[1], head[2])


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("page")
    parser.add_argument("--n", default="2^28")
    parser.add_argument("--block", type=int, default=256)
    given = parser.parse_args(arguments)
    try:
        sys.stdout.write(draw(given.page, given.n, given.block))
    except BadInput as error:
        print(f"ladder_chart: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
