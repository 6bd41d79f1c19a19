# SPDX-License-Identifier: MIT
"""The plot of docs/results/model/h200.md: predicted against measured times, as SVG. For model_page.py."""
import math
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 860, 620
LEFT, RIGHT, TOP, BOTTOM = 76, 190, 52, 84  # margins
TEXT, GRID, BAND = "#768390", "#76839044", "#2a9d5c"
COLOURS = ["#3d86c6", "#c8553d", "#2a9d5c", "#a07cc5", "#c79a21", "#d06ea5", "#5b9aa0", "#8a6d52"]
CARDS = [("h200", "H200", "circle"), ("g80", "8800 GTX", "square"), ("k40m", "Tesla K40m", "triangle"),
         ("t4", "Tesla T4", "diamond"), ("t4base", "T4 at its base clock", "plus"), ("h100", "H100", "cross")]


def decades(values):
    """The whole powers of ten around the values."""
    return math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))


def mark(shape, x, y, colour, title=""):
    """A symbol of about 7 pixels around (x, y), hollow unless it is a circle."""
    paths = {"square": f"M{x - 3:.1f} {y - 3:.1f}h6v6h-6z",
             "triangle": f"M{x:.1f} {y - 4:.1f}l4 7h-8z",
             "plus": f"M{x - 4:.1f} {y:.1f}h8m-4 -4v8", "cross": f"M{x - 3:.1f} {y - 3:.1f}l6 6m0 -6l-6 6",
             "diamond": f"M{x:.1f} {y - 4.5:.1f}l4 4.5l-4 4.5l-4 -4.5z"}
    inside = f"<title>{escape(title)}</title>" if title else ""
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.2" fill="{colour}" fill-opacity="0.75">{inside}</circle>'
    return f'<path d="{paths[shape]}" fill="none" stroke="{colour}" stroke-width="1.3">{inside}</path>'


def plot(cells, close):
    """`cells`: dicts with card, ladder, step, n, measured and predicted in µs. `close`: the band's share, 0.3 for 30 %."""
    first, last = decades([c["measured"] for c in cells] + [c["predicted"] for c in cells])
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM

    def x(value):
        return LEFT + (right - LEFT) * (math.log10(value) - first) / (last - first)

    def y(value):
        return bottom - (bottom - TOP) * (math.log10(value) - first) / (last - first)

    title = "Predicted by the model beside measured, µs"
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
           f'font-family="sans-serif" font-size="12" fill="{TEXT}">', f"<title>{title}</title>",
           f'<text x="12" y="24" font-size="15" font-weight="bold">{title}</text>']
    for power in range(first, last + 1):
        at = 10.0**power
        out.append(f'<path d="M{x(at):.1f} {TOP}V{bottom}M{LEFT} {y(at):.1f}H{right}" stroke="{GRID}" fill="none"/>')
        out.append(f'<text x="{x(at):.1f}" y="{bottom + 18}" text-anchor="middle">{at:,g}</text>')
        out.append(f'<text x="{LEFT - 8}" y="{y(at) + 4:.1f}" text-anchor="end">{at:,g}</text>')
    low, high = 10.0**first, 10.0**last
    corners = [(low, low * (1 + close)), (high / (1 + close), high), (high, high), (high, high * (1 - close)),
               (low / (1 - close), low), (low, low)]
    out.append(f'<path d="M{"L".join(f"{x(a):.1f} {y(b):.1f}" for a, b in corners)}z" fill="{BAND}" fill-opacity="0.14"/>')
    out.append(f'<path d="M{x(low):.1f} {y(low):.1f}L{x(high):.1f} {y(high):.1f}" stroke="{BAND}" stroke-dasharray="5 4"/>')
    ladders = sorted({c["ladder"] for c in cells})
    colour = {name: COLOURS[k % len(COLOURS)] for k, name in enumerate(ladders)}
    shape = {key: kind for key, _, kind in CARDS}
    for c in cells:
        tip = (f'{c["ladder"]}/{c["step"]}, {c["card"]}, n = {c["n"]:,}: measured {c["measured"]:,.1f}, '
               f'predicted {c["predicted"]:,.1f}')
        out.append(mark(shape[c["card"]], x(c["measured"]), y(c["predicted"]), colour[c["ladder"]], tip))
    at = TOP + 8
    for name in ladders:
        out += [mark("circle", right + 20, at - 4, colour[name]), f'<text x="{right + 32}" y="{at}">{escape(name)}</text>']
        at += 19
    at += 10
    for key, name, kind in CARDS:
        if any(c["card"] == key for c in cells):
            out += [mark(kind, right + 20, at - 4, TEXT), f'<text x="{right + 32}" y="{at}">{escape(name)}</text>']
            at += 19
    at += 10
    out += [f'<rect x="{right + 14}" y="{at - 10}" width="12" height="12" fill="{BAND}" fill-opacity="0.3"/>',
            f'<text x="{right + 32}" y="{at}">within {100 * close:.0f} %</text>',
            f'<text x="{(LEFT + right) / 2:.0f}" y="{bottom + 40}" text-anchor="middle">measured, µs</text>',
            f'<text transform="translate(18 {(TOP + bottom) / 2:.0f}) rotate(-90)" text-anchor="middle">predicted, µs</text>',
            f'<text x="12" y="{HEIGHT - 14}" font-size="11">Cold L2 cache, all launches of a step; drawn by '
            "measure/pages/model_page.py from docs/results/model/h200.md</text>", "</svg>"]
    return "\n".join(out) + "\n"
