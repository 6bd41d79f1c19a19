#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes docs/lectures.md from the output of `warpfold ladder all --json`: every claim of every step, and its verdict.

    lectures_table.py ALL.json [--gpu GPU.json]... > docs/lectures.md
    lectures_table.py ALL.json [--gpu GPU.json]... --check docs/lectures.md
    lectures_table.py --distil ALL_ON_A_GPU.json --date 2026-01-31 [--gpus 2] > docs/results/ladders-CARD.json

ALL.json is from the software GPU. GPU.json holds the verdicts of a run on a GPU, made by --distil; a second one adds
verdicts that the first machine could not reach, for example with two GPUs. --check reports missing and surplus steps and
claims, and different verdicts. Figures may differ, because some depend on scheduling. Exit status: 0; 1 if the check
finds a difference; 2 if a file cannot be used.
"""
import argparse
import json
import pathlib
import re
import sys

LECTURES = [
    ("759", "ECE/ME/EMA/CS 759, High Performance Computing for Engineering Applications (D. Negrut, University of "
            "Wisconsin-Madison, 2015): prefix scan, shared memory, reduction"),
    ("587", "ECE 587, Hardware/Software Co-Design (J. Wang, Illinois Institute of Technology, 2026): warp execution"),
    ("Kharagpur", "GPU Architectures and Programming (S. Dey, IIT Kharagpur): optimising reduction kernels"),
    ("Parallel patterns", "Performance, parallel patterns, error handling: histogram, convolution, reduction tree, prefix sum"),
    ("380", "CS 380, GPU and GPGPU Programming (M. Hadwiger, KAUST): CUDA memories, GPU reduction"),
    ("the checks", "What the software GPU's checks say of every step: they find nothing, or the fault that it is there for"),
    ("", "Beyond the lectures"),
]
MARKS = {True: "✓", False: "✗", None: "–"}
# Claims that no card can decide: figures with what was measured there instead.
INSTEAD = ("hardware that is gone", "needs two GPUs;")
HEAD = ["section", "ladder/step", "claim", "software GPU", "what was counted"]


class BadInput(Exception):
    """The input cannot be used; the message is one line."""


def load(path):
    try:
        return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise BadInput(f"{path}: {error}") from error


def group_of(lecture):
    """The claim's lecture and section."""
    name, _, section = lecture.partition(", ")
    known = {key.lower(): key for key, _ in LECTURES if key}
    known.update({"parallel-patterns": "Parallel patterns"})
    key = known.get(name.split(";")[0].strip().lower().replace(" lecture", ""))
    return (key, section) if key is not None else ("", lecture)


def claims(ladders):
    """Every claim as (lecture, section, ladder/step, text, holds, figure), each once."""
    rows, seen = [], set()
    for ladder in ladders:
        for step in ladder["steps"]:
            for claim in step["claims"]:
                lecture, section = group_of(claim["lecture"])
                place = f"{ladder['ladder']}/{step['id']}"
                if (place, claim["text"]) in seen:
                    raise BadInput(f"{place} claims twice: {claim['text']}")
                seen.add((place, claim["text"]))
                rows.append((lecture, section, place, claim["text"], claim["holds"], claim["figure"]))
    return rows


def cell(text):
    return re.sub(r"\s+", " ", str(text)).replace("|", "\\|").replace("<", "&lt;").strip()


def line(cells):
    return "| " + " | ".join(cell(c) for c in cells) + " |"


def steps_table(ladders):
    out = ["| ladder | step | what it is | source | result |", "| --- | --- | --- | --- | --- |"]
    for ladder in ladders:
        for step in ladder["steps"]:
            ought = step.get("ought_to_be") or ("right by luck" if step.get("caution") else "right")
            out.append(line([ladder["ladder"], step["id"], step["title"], f"`{step['source']}`", ought]))
    return out


def verdicts_of(gpus):
    """The verdict on each (step, claim): the first that a run reached."""
    found = {}
    for number, gpu in enumerate(gpus):
        for v in gpu["verdicts"]:
            key = v["step"], v["claim"]
            if key not in found or (found[key]["holds"] is None and v["holds"] is not None):
                where = f" ({gpu['card']}, {gpu['date']})" if number else ""
                found[key] = {**v, "figure": v["figure"] + where}
    return found


def page(ladders, gpus):
    rows = claims(ladders)
    gpu, on_gpu = gpus[0] if gpus else None, verdicts_of(gpus)
    head = HEAD + ([f"{gpu['card']}, {gpu['date']}"] if gpu else [])
    out = ["<!-- Made by measure/pages/lectures_table.py from what `warpfold ladder all --json` writes; do not edit. -->",
           "# The lectures, claim by claim", "",
           "Every kernel of the lectures is a step of a ladder or laboratory, and every claim about it is checked by machine:",
           "`warpfold ladder NAME` runs the steps and shows the claims beside what was counted or measured. ✓ holds, ✗ does not",
           "(the figure says what holds instead), – cannot be seen there (times need a GPU, counters the software GPU).", "",
           "## The steps", ""]
    out += steps_table(ladders)
    for key, name in LECTURES:
        chosen = [row for row in rows if row[0] == key]
        if not chosen:
            continue
        out += ["", f"## {key + ': ' if key and key != 'the checks' else ''}{name}", "",
                line(head), "| --- | --- | --- | :-: | --- |" + (" --- |" if gpu else "")]
        for _, section, place, text, holds, figure in chosen:
            cells = [section or "–", place, text, MARKS[holds], figure]
            if gpu:
                verdict = on_gpu.get((place, text))
                cells.append("–" if verdict is None else f"{MARKS[verdict['holds']]} {verdict['figure']}")
            out.append(line(cells))
    return "\n".join(out) + "\n"


def essence(text):
    """The rows of a page without their figures: step, claim and mark; and the steps."""
    rows = set()
    for row in text.splitlines():
        cells = [c.strip() for c in re.split(r"(?<!\\)\|", row)[1:-1]]
        if len(cells) >= 4 and cells[0] not in ("section", "ladder", "---"):
            rows.add(tuple(cells[1:4]) if cells[3] in MARKS.values() else tuple(cells[:2] + cells[3:5]))
    return rows


def distil(ladders, date, gpus):
    names = {ladder["device"]["name"] for ladder in ladders}
    if len(names) != 1 or any(ladder["device"].get("software") for ladder in ladders):
        raise BadInput("the runs are not all of one GPU")
    verdicts = [{"step": place, "claim": text, "holds": holds, "figure": figure}
                for _, _, place, text, holds, figure in claims(ladders)
                if holds is not None or figure.startswith(INSTEAD)]
    name = names.pop()
    return {"card": name if gpus == 1 else f"{gpus} x {name}", "date": date, "verdicts": verdicts}


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("all", help="what `warpfold ladder all --json` wrote")
    parser.add_argument("--gpu", action="append", default=[], help="verdicts of a GPU, made by --distil")
    parser.add_argument("--check", metavar="PAGE", help="compare with this page instead of printing one")
    parser.add_argument("--distil", action="store_true", help="print the verdicts of a run on a GPU")
    parser.add_argument("--date", help="of that run")
    parser.add_argument("--gpus", type=int, default=1, help="that its machine had")
    asked = parser.parse_args(arguments)
    ladders = load(asked.all)
    if asked.distil:
        if not asked.date:
            raise BadInput("--distil needs --date")
        print(json.dumps(distil(ladders, asked.date, asked.gpus), indent=1, ensure_ascii=False))
        return 0
    made = page(ladders, [load(path) for path in asked.gpu])
    if not asked.check:
        sys.stdout.write(made)
        return 0
    there, wanted = essence(pathlib.Path(asked.check).read_text(encoding="utf-8")), essence(made)
    for what, rows in (("lacks", wanted - there), ("has, and should not", there - wanted)):
        for row in sorted(rows):
            print(f"{asked.check} {what}: {' | '.join(row)}")
    return 0 if there == wanted else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except BadInput as error:
        print(f"lectures_table: {error}", file=sys.stderr)
        sys.exit(2)
