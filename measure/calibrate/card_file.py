#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes a card's file (docs/model.md) of what measure/calibrate/calibrate.cu measured, on standard output.

    card_file.py figures.json --date 2026-01-31 [--key mine] [--like h200] > card.json

Figures that were not measured are copied from the card that --like names, by default from one of the same compute
capability or the last one before it, and their sources say so. So is a measured figure that is out of the bounds of
softgpu/predict/figures.def, with a line on stderr. Exit status: 0, or 2 if an input cannot be used.
"""
import argparse
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CARDS = ROOT / "softgpu/predict/cards"


class BadInput(Exception):
    """The input cannot be used; the message is one line."""


def figures():
    """name: (unit, least, most) of every figure, in order."""
    text = (ROOT / "softgpu/predict/figures.def").read_text(encoding="utf-8")
    found = re.findall(r'^SOFTGPU_FIGURE\((\w+), "([^"]*)", ([^,]+), ([^)]+)\)', text, re.M)
    return {name: (unit, float(least), float(most)) for name, unit, least, most in found}


def capability(text):
    return tuple(int(part) for part in text.split("."))


def like(measured, wanted):
    """The card's file that the rest is copied from."""
    cards = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(CARDS.glob("*.json"))}
    if wanted is not None:
        if wanted not in cards:
            raise BadInput(f"--like: '{wanted}' is none of {', '.join(cards)}")
        return cards[wanted]
    own = capability(measured["compute_capability"])
    before = [card for card in cards.values() if capability(card["compute_capability"]) <= own]
    return max(before or cards.values(), key=lambda card: capability(card["compute_capability"]))


def card_of(measured, date, key, base):
    """The card's file, and a line for each measured figure that it does not take."""
    left_out, lines = [], {}
    for name, (unit, least, most) in figures().items():
        own = measured["figures"].get(name)
        copied = base["figures"][name]
        if own is not None and least <= own["value"] <= most:
            source = f"{own['how']} {date}, {measured['device']}"
            lines[name] = {"value": own["value"], "unit": unit, "source": source}
            continue
        why = ""
        if own is not None:
            left_out.append(f"{name} was measured as {own['value']:g}, outside {least:g} to {most:g} {unit}")
            why = " (what was measured is out of bounds)"
        lines[name] = {**copied, "source": f"copied from {base['key']}{why}: {copied['source']}"}
    unknown = set(measured["figures"]) - set(figures())
    if unknown:
        raise BadInput(f"there are no figures {', '.join(sorted(unknown))}")
    return {"key": key, "name": measured["device"], "compute_capability": measured["compute_capability"],
            "figures": lines}, left_out


def text_of(card):
    """As the tree's own files: a figure a line."""
    head = ",\n".join(f'  "{name}": {json.dumps(card[name])}' for name in ("key", "name", "compute_capability"))
    body = ",\n".join(f'    "{name}": {json.dumps(figure)}' for name, figure in card["figures"].items())
    return "{\n" + head + ',\n  "figures": {\n' + body + "\n  }\n}\n"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("measured")
    options.add_argument("--date", required=True)
    options.add_argument("--key", default="measured")
    options.add_argument("--like")
    o = options.parse_args()
    try:
        try:
            measured = json.loads(pathlib.Path(o.measured).read_text(encoding="utf-8"))
            if not isinstance(measured["figures"], dict) or "device" not in measured:
                raise KeyError("device")
            card, left_out = card_of(measured, o.date, o.key, like(measured, o.like))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as problem:
            raise BadInput(f"{o.measured} is no output of calibrate: {problem!r}") from problem
    except BadInput as problem:
        print(f"card_file.py: {problem}", file=sys.stderr)
        return 2
    for line in left_out:
        print(f"card_file.py: {line}", file=sys.stderr)
    sys.stdout.write(text_of(card))
    return 0


if __name__ == "__main__":
    sys.exit(main())
