#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a page of times from the output of `warpfold ladder all --json` on a GPU, one table per ladder.

    ladders_page.py ALL.json --date 2026-01-31 [--driver 580.1] > docs/results/ladders/ladders-CARD.md

The ladder of reductions has its own page (results_tables.py) and is skipped. Exit status: 0, or 2 if a file cannot be
used.
"""
import argparse
import sys

from verdicts import BadInput, load


def outcome(step):
    if step.get("skipped"):
        return "skipped"
    if step.get("error"):
        return "failed"
    if step["as_told"]:
        return {"right": "right", "wrong": "wrong, as told"}.get(
            step["ought_to_be"], "right by luck" if step["correct"] else "wrong, as told")
    return "WRONG"


def microseconds(value):
    return "–" if value is None else f"{value:.1f}" if value < 1000 else f"{value:,.0f}"


def row(step, copy):
    time, least = step.get("time_us"), step.get("least_bytes")
    rate = least / time / 1e3 if time and least else None
    share = rate / copy if rate and copy and step["on_device"] else None
    cells = [step["id"], step["title"].replace("|", "\\|"), f"{step['n']:,}", outcome(step), microseconds(time),
             microseconds(step.get("warm_time_us")), "–" if rate is None else f"{rate:,.1f}",
             "–" if share is None else f"{share:.1%}"]
    return "| " + " | ".join(cells) + " |"


def numeric(rows, column):
    return all(column >= len(row) or not row[column] or row[column][0] in "0123456789+-–." for row in rows)


def table(ladder):
    copy = ladder["device"].get("copy_gb_per_s")
    out = [f"## {ladder['ladder']}", "", f"{ladder['data'][0].upper()}{ladder['data'][1:]}. Copy ceiling of the run: "
           f"{'–' if not copy else f'{copy:,.0f} GB/s'}.", "",
           "| step | | n | result | cold, µs | warm, µs | GB/s | of copy |",
           "| --- | --- | ---: | --- | ---: | ---: | ---: | ---: |"]
    out += [row(step, copy) for step in ladder["steps"]]
    for extra in ladder.get("tables", []):
        heads = [head.replace("\n", " ") for head in extra["head"]]
        sides = ["---:" if numeric(extra["rows"], k) else "---" for k in range(len(heads))]
        out += ["", extra["title"] + ".", "", "| " + " | ".join(heads) + " |", "| " + " | ".join(sides) + " |"]
        for figures in extra["rows"]:  # a row may be shorter than the head
            cells = [cell.replace("|", "\\|").replace("<", "&lt;") for cell in figures]
            out.append("| " + " | ".join(cells + [""] * (len(heads) - len(figures))) + " |")
    return out


def page(ladders, date, driver):
    studies = [ladder for ladder in ladders if ladder["ladder"] != "reduce"]
    names = {ladder["device"]["name"] for ladder in studies}
    if len(names) != 1 or any(ladder["device"]["software"] for ladder in studies):
        raise BadInput("the runs are not all of one GPU")
    out = ["<!-- Made by measure/pages/ladders_page.py; do not edit. -->", f"# The ladders on an {names.pop()}", "",
           f"Taken on {date}{f', driver {driver}' if driver else ''}. Times are medians of device events around all launches "
           "of a step, with the L2", "cache flushed before each sample (cold) and without (warm). GB/s are the bytes that have "
           "to be read and written at least,", "over the cold time. Steps of one block run on a block's worth of elements: their "
           "n is small, and so are their GB/s.", ""]
    for ladder in studies:
        out += table(ladder) + [""]
    return "\n".join(out).rstrip() + "\n"


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("all")
    parser.add_argument("--date", required=True)
    parser.add_argument("--driver")
    asked = parser.parse_args(arguments)
    sys.stdout.write(page(load(asked.all), asked.date, asked.driver))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except BadInput as error:
        print(f"ladders_page: {error}", file=sys.stderr)
        sys.exit(2)
