#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Distils the output of `warpfold ladder all --json` to its claims and their verdicts, one a line.

    verdicts.py ALL.json > docs/lectures/claims.json
    verdicts.py ALL.json --date 2026-01-31 [--gpus 2] > docs/results/ladders/ladders-CARD.json
    verdicts.py ALL.json --check docs/lectures/claims.json

A run on the software GPU gives every step with its claims and what the checks found. A run on a GPU gives the verdicts
that it reached. --check reports missing and surplus steps and claims, and different verdicts; figures may differ, because
some depend on scheduling. Exit status: 0; 1 if the check finds a difference; 2 if a file cannot be used.
"""
import argparse
import json
import pathlib
import sys

CHECKS = "the checks"  # whom the engine cites for what its checks say of a step
# Claims that no card can decide: figures with what was measured there instead.
INSTEAD = ("hardware that is gone", "needs two GPUs;")


class BadInput(Exception):
    """The input cannot be used; the message is one line."""


def load(path):
    try:
        return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise BadInput(f"{path}: {error}") from error


def steps_of(ladders):
    """Every step with its claims, sorted by ladder; steps stay in the order of their ladder."""
    steps = []
    for ladder in sorted(ladders, key=lambda each: each["ladder"]):
        for step in ladder["steps"]:
            place = f"{ladder['ladder']}/{step['id']}"
            said = [(claim["text"], claim["lecture"]) for claim in step["claims"]]
            for text, lecture in said:
                if said.count((text, lecture)) > 1:
                    raise BadInput(f"{place} claims twice: {text} [{lecture}]")
            found = [claim for claim in step["claims"] if claim["lecture"] == CHECKS]
            ought = step.get("ought_to_be") or "right"
            steps.append({"step": place, "title": step["title"], "source": step["source"],
                          "result": "right by luck" if ought == "right" and step.get("caution") else ought,
                          "checks": {"holds": found[0]["holds"], "figure": found[0]["figure"]} if found else None,
                          "claims": [claim_of(claim) for claim in step["claims"] if claim["lecture"] != CHECKS]})
    return steps


def claim_of(claim):
    out = {"claim": claim["text"], "lecture": claim["lecture"], "holds": claim["holds"], "figure": claim["figure"]}
    return {**out, **{key: claim[key] for key in ("qualified", "refuted_by") if key in claim}}


def on_a_gpu(name, steps, date, gpus):
    verdicts = [{"step": step["step"], **{key: value for key, value in claim.items() if key != "refuted_by"}}
                for step in steps for claim in step["claims"]
                if claim["holds"] is not None or claim["figure"].startswith(INSTEAD)]
    return {"card": name if gpus == 1 else f"{gpus} x {name}", "date": date, "verdicts": verdicts}


def text_of(steps):
    """JSON with a line for each step and each claim."""
    lines = []
    for step in steps:
        head = json.dumps({key: value for key, value in step.items() if key != "claims"}, ensure_ascii=False)
        claims = ",\n  ".join(json.dumps(claim, ensure_ascii=False) for claim in step["claims"])
        lines.append(f' {head[:-1]}, "claims": [' + (f"\n  {claims}]" if claims else "]") + "}")
    return "[\n" + ",\n".join(lines) + "\n]\n"


def essence(steps):
    """The steps and claims without figures."""
    rows = {(step["step"], step["title"], step["source"], step["result"]) for step in steps}
    rows |= {(step["step"], CHECKS, str(step["checks"] and step["checks"]["holds"])) for step in steps}
    return rows | {(step["step"], claim["claim"], claim["lecture"], str(claim["holds"]), str(claim.get("refuted_by", "")))
                   for step in steps for claim in step["claims"]}


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("all", help="what `warpfold ladder all --json` wrote")
    parser.add_argument("--date", help="of a run on a GPU")
    parser.add_argument("--gpus", type=int, default=1, help="that its machine had")
    parser.add_argument("--check", metavar="CLAIMS", help="compare with this file instead of printing one")
    asked = parser.parse_args(arguments)
    ladders = load(asked.all)
    names, software = {each["device"]["name"] for each in ladders}, {bool(each["device"].get("software")) for each in ladders}
    if len(names) != 1 or len(software) != 1:
        raise BadInput("the runs are not all of one device")
    steps = steps_of(ladders)
    if not software.pop():
        if not asked.date or asked.check:
            raise BadInput("verdicts of a GPU need --date, and take no --check")
        print(json.dumps(on_a_gpu(names.pop(), steps, asked.date, asked.gpus), indent=1, ensure_ascii=False))
        return 0
    if asked.date:
        raise BadInput("--date is for a run on a GPU, and this one is of the software GPU")
    if not asked.check:
        sys.stdout.write(text_of(steps))
        return 0
    there, wanted = essence(load(asked.check)), essence(steps)
    for what, rows in (("lacks", wanted - there), ("has, and should not", there - wanted)):
        for row in sorted(rows):
            print(f"{asked.check} {what}: {' | '.join(row)}")
    return 0 if there == wanted else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except BadInput as error:
        print(f"verdicts: {error}", file=sys.stderr)
        sys.exit(2)
