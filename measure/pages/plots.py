#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws the measurements of `warpfold ladder occupancy --json` (or `ladder all --json`) on a GPU as SVG files.

    plots.py LADDERS.json --date 2026-01-31 FOLDER

Writes to FOLDER, where CARD is the card's short name:
    occupancy-bandwidth-CARD.svg    copy bandwidth over threads per multiprocessor, one line per kind of load
    occupancy-in-flight-CARD.svg    the same over bytes in flight, with the requirement of Little's law
    occupancy-latency-CARD.svg      cycles per dependent load, over the footprint of the chain
    occupancy-arithmetic-CARD.svg   multiply-adds a cycle over warps

Exit status: 0, or 2 if a file cannot be used.
"""
import argparse
import math
import pathlib
import re
import sys
from xml.sax.saxutils import escape

from verdicts import BadInput, load

WIDTH, HEIGHT = 860, 520
LEFT, RIGHT, TOP, BOTTOM = 84, 170, 56, 96  # margins
COLOURS = ["#1b6ca8", "#c8553d", "#2a9d5c", "#7b4fa3"]
DASHES = ["", "7 4", "2 3", "9 3 2 3"]


class Axis:
    """Maps values to positions; `log`: by powers of two."""

    def __init__(self, title, low, high, begin, end, log=False, name=str):
        self.title, self.low, self.high, self.begin, self.end, self.log, self.name = title, low, high, begin, end, log, name

    def __call__(self, value):
        scale = math.log2 if self.log else float
        span = scale(self.high) - scale(self.low)
        return self.begin + (self.end - self.begin) * (scale(value) - scale(self.low)) / span

    def ticks(self):
        if self.log:
            first, last = math.ceil(math.log2(self.low) - 1e-9), math.floor(math.log2(self.high) + 1e-9)
            step = max(1, math.ceil((last - first) / 12))
            return [2.0**k for k in range(first, last + 1, step)]
        raw = (self.high - self.low) / 6
        power = 10 ** math.floor(math.log10(raw))
        step = next(power * m for m in (1, 2, 5, 10) if power * m >= raw)
        return [k * step for k in range(math.ceil(self.low / step), math.floor(self.high / step + 1e-9) + 1)]


def size(value):
    for unit, power in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if value >= 2**power:
            return f"{value / 2**power:g} {unit}"
    return f"{value:g} B"


def count(value):
    return f"{value:,.0f}"


def text(x, y, words, anchor="middle", extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{extra}>{escape(words)}</text>'


def chart(title, caption, x, y, series, marks=()):
    """series: (label, points, colour, dash or None for points only); marks: (x value, words), vertical lines."""
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
           'font-family="sans-serif" font-size="12">',
           f"<title>{escape(title)}</title>", f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
           text(LEFT, 24, title, "start", ' font-size="15" font-weight="bold"')]
    for value in x.ticks():
        out.append(f'<path d="M{x(value):.1f} {y.begin}V{y.end}" stroke="#e4e4e4"/>')
        out.append(text(x(value), y.begin + 18, x.name(value)))
    for value in y.ticks():
        out.append(f'<path d="M{x.begin} {y(value):.1f}H{x.end}" stroke="#e4e4e4"/>')
        out.append(text(LEFT - 8, y(value) + 4, y.name(value), "end"))
    out.append(f'<path d="M{x.begin} {y.end}V{y.begin}H{x.end}" stroke="#333" fill="none"/>')
    out.append(text((x.begin + x.end) / 2, y.begin + 40, x.title))
    middle = (y.begin + y.end) / 2
    out.append(text(20, middle, y.title, extra=f' transform="rotate(-90 20 {middle:.1f})"'))
    for value, words in marks:
        out.append(f'<path d="M{x(value):.1f} {y.begin}V{y.end}" stroke="#555" stroke-dasharray="4 4"/>')
        out.append(text(x(value) + 6, y.end + 12, words, "start", ' fill="#555"'))
    for k, (label, points, colour, dash) in enumerate(series):
        places = [(x(a), y(b)) for a, b in points]
        if dash is not None:
            line = "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in places)
            out.append(f'<path d="{line}" stroke="{colour}" stroke-width="1.8" fill="none"'
                       + (f' stroke-dasharray="{dash}"' if dash else "") + "/>")
        out += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="2.8" fill="{colour}"/>' for a, b in places]
        if label:
            at = TOP + 8 + 19 * k
            out.append(f'<path d="M{x.end + 14} {at}h26" stroke="{colour}" stroke-width="1.8"'
                       + (f' stroke-dasharray="{dash}"' if dash else "") + "/>")
            out.append(f'<circle cx="{x.end + 27}" cy="{at}" r="2.8" fill="{colour}"/>')
            out.append(text(x.end + 46, at + 4, label, "start"))
    out.append(text(LEFT, HEIGHT - 18, caption, "start", ' fill="#555" font-size="11"'))
    return "\n".join([*out, "</svg>"]) + "\n"


def plane():
    return (LEFT, WIDTH - RIGHT), (HEIGHT - BOTTOM, TOP)


def table_of(study, beginning):
    for table in study["tables"]:
        if table["title"].startswith(beginning):
            return table
    raise BadInput(f"there is no table '{beginning}...': was it measured on a GPU?")


def needed_in_flight(study):
    """Bytes in flight per multiprocessor by Little's law, as the laboratory reports them; None if absent."""
    for step in study["steps"]:
        for claim in step["claims"]:
            found = re.search(r"([\d.]+) KB on each multiprocessor", claim["figure"])
            if found and "in flight" in claim["text"]:
                return float(found[1]) * 1000
    return None


def bandwidth(study, caption):
    table = table_of(study, "Copy bandwidth over occupancy")
    kinds = [head.replace("\n", " ").replace(" x ", " × ") for head in table["head"][1:]]
    rows = [[float(cell) for cell in row] for row in table["rows"]]
    across, up = plane()
    x = Axis("threads on a multiprocessor", rows[0][0], rows[-1][0], *across, log=True, name=count)
    y = Axis("GB/s, read and written", 0, 1.05 * max(max(row[1:]) for row in rows), *up, name=count)
    series = [(kind, [(row[0], row[1 + k]) for row in rows if 1 + k < len(row)], COLOURS[k // 4], DASHES[k % 4])
              for k, kind in enumerate(kinds)]
    return chart("Copy bandwidth over occupancy: bytes of a load × loads of a thread at once", caption, x, y, series)


def in_flight(study, caption):
    table = table_of(study, "Copy bandwidth over occupancy")
    kinds = [[int(part) for part in re.findall(r"\d+", head)] for head in table["head"][1:]]
    points = {}
    for row in table["rows"]:
        for (each, loads), cell in zip(kinds, row[1:]):
            points.setdefault(each, []).append((int(row[0]) * each * loads, float(cell)))
    values = [point for some in points.values() for point in some]
    across, up = plane()
    x = Axis("bytes in flight on a multiprocessor", min(v[0] for v in values), max(v[0] for v in values), *across, log=True,
             name=size)
    y = Axis("GB/s, read and written", 0, 1.05 * max(v[1] for v in values), *up, name=count)
    needed = needed_in_flight(study)
    marks = [(needed, f"Little's law: {size(round(needed / 1024, 1) * 1024)}")] if needed else []
    series = [(f"{each} B a load", some, COLOURS[k], None) for k, (each, some) in enumerate(points.items())]
    return chart("Copy bandwidth over bytes in flight", caption, x, y, series, marks)


def latency(study, caption):
    rows = [(float(row[0]) * 1024, float(row[1])) for row in table_of(study, "Latency of dependent loads")["rows"]]
    across, up = plane()
    x = Axis("bytes that the chain goes through", rows[0][0], rows[-1][0], *across, log=True, name=size)
    y = Axis("cycles a load", 0, 1.08 * max(row[1] for row in rows), *up, name=count)
    return chart("Latency of a load that waits for the one before it", caption, x, y, [("", rows, COLOURS[0], "")])


def arithmetic(study, caption):
    table = table_of(study, "Multiply-adds of float32")
    rows = [[float(cell) for cell in row[:4]] for row in table["rows"]]
    across, up = plane()
    x = Axis("warps on the multiprocessor", 0, rows[-1][0], *across, name=count)
    y = Axis("multiply-adds a cycle, float32", 0, 1.08 * max(max(row[1:]) for row in rows), *up, name=count)
    series = [(f"{head} a thread", [(row[0], row[1 + k]) for row in rows], COLOURS[k], DASHES[k])
              for k, head in enumerate(table["head"][1:4])]
    return chart("Arithmetic throughput over warps and chains", caption, x, y, series)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ladders")
    parser.add_argument("--date", required=True)
    parser.add_argument("folder", type=pathlib.Path)
    asked = parser.parse_args(arguments)
    document = load(asked.ladders)
    studies = document if isinstance(document, list) else [document]
    study = next((s for s in studies if s.get("ladder") == "occupancy"), None)
    if study is None:
        raise BadInput(f"{asked.ladders} holds no run of the laboratory of occupancy")
    name = study["device"]["name"]
    card = next((part.lower() for part in ("H100", "H200") if part in name), name.lower().replace(" ", "-"))
    caption = f"{name}, {asked.date}; warpfold ladder occupancy, drawn by measure/pages/plots.py"
    for what, draw in (("bandwidth", bandwidth), ("in-flight", in_flight), ("latency", latency),
                       ("arithmetic", arithmetic)):
        (asked.folder / f"occupancy-{what}-{card}.svg").write_text(draw(study, caption), encoding="utf-8")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except BadInput as error:
        print(f"plots: {error}", file=sys.stderr)
        sys.exit(2)
