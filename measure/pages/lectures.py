#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the pages of docs/lectures: each lecture slide by slide, with the claims that cite the slide and their verdicts.

    lectures.py [docs/lectures]            # writes the pages
    lectures.py [docs/lectures] --check    # compares with the pages that are there

Input: slides/*.json (by hand: titles in order, a sentence, steps), reasons.json (by hand: why a claim does not hold),
claims.json (by verdicts.py, from the software GPU) and ../results/ladders/ladders-*.json (by verdicts.py, from GPUs).
A claim cites "759, Slide Title", or several slides with "; " in between; a beginning of the title at the end of a word
will do. Exit status: 0; 1 where a slide is not covered, a claim that does not hold has no reason, or --check finds a
difference, with a line for each; 2 if an input cannot be used: a claim cites a slide that its lecture does not have, or
a file names a step that no ladder has.
"""
import argparse
import pathlib
import re
import sys

from verdicts import BadInput, load

MARKS = {True: "✓", False: "✗", None: "–"}
SOFTWARE = "software GPU"
LECTURES = ["759", "587", "kharagpur", "parallel-patterns", "380"]
MADE = "<!-- Made by measure/pages/lectures.py; edit slides/{}.json and reasons.json, not this page. -->"


def cell(text):
    return re.sub(r"\s+", " ", str(text)).replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*").replace("__", r"\_\_").strip()


def sentence(text):
    """Ours: `code` stays, names of pages of docs/results/ladders become links, and __names__ stay plain."""
    parts = text.split("`")
    parts[::2] = [part.replace("__", r"\_\_") for part in parts[::2]]
    text = "`".join(parts)
    return re.sub(r"(?<![\w/\[])([\w-]+\.md)\b", r"[\1](../results/ladders/\1)", text)


def row(cells):
    return "| " + " | ".join(cells) + " |"


def is_remark(claim):
    """Whether nothing refutes the claim's check."""
    return claim.get("refuted_by", "?") is None


def plain(title):
    """A title without typography, for comparison."""
    title = title.strip().lower().replace("’", "'").replace("…", "...")
    return re.sub(r"\s+", " ", re.sub(r"^slide\b(?! at)", "", title)).strip(" .'\"")


def begins(title, cited):
    return title == cited or (title.startswith(cited) and not title[len(cited)].isalnum())


class Lecture:
    def __init__(self, path):
        data = load(path)
        self.key, self.name, self.slides, self.page = data["lecture"], data["name"], data["slides"], f"{path.stem}.md"
        self.whole = []  # claims that cite no slide
        for slide in self.slides:
            slide.setdefault("steps", [])
            slide["claims"] = []
            if not slide.get("title") or (slide.get("nothing") and (slide["steps"] or slide.get("says"))):
                raise BadInput(f"{path}: a slide without a title, or with nothing to run and steps: {slide}")

    def slide(self, cited):
        """The slide of that title: the whole of it, or without [parts], or a beginning, or what follows a colon."""
        cited = plain(cited)
        names = [(slide, plain(name)) for slide in self.slides for name in [slide["title"], *slide.get("also", [])]]
        bare = [(slide, plain(re.sub(r"\[[^]]*\]", "", name))) for slide, name in names]
        fits = [lambda name: name == cited, lambda name: begins(name, cited), lambda name: name.endswith(f": {cited}")]
        for fit in fits:
            for known in (names, bare):
                for slide, name in known:
                    if cited and fit(name):
                        return slide
        return None


class Pages:
    def __init__(self, folder):
        self.lectures = [Lecture(folder / "slides" / f"{name}.json") for name in LECTURES]
        self.steps = {step["step"]: step for step in load(folder / "claims.json")}
        self.reasons = load(folder / "reasons.json")
        self.cards = {}  # "H100" -> {(step, claim, lecture): verdict}; older runs have no lecture
        self.taken = []  # "NVIDIA H100 80GB HBM3, 2026-11-21"
        self.beyond, self.problems, self.used = [], [], set()
        for path in sorted((folder / "../results/ladders").glob("ladders-*.json")):
            self.add_card(load(path))
        self.check_names()
        self.place_claims()

    def add_card(self, run):
        """A second run on a card, for example with two GPUs, adds the verdicts that the first could not reach."""
        self.taken.append(f"{run['card']}, {run['date']}")
        gpus, _, name = run["card"].rpartition(" x ")
        card = self.cards.setdefault(name.split()[1] if " " in name else name, {})
        for verdict in run["verdicts"]:
            key = verdict["step"], verdict["claim"], verdict.get("lecture")
            if key not in card or (card[key]["holds"] is None and verdict["holds"] is not None):
                card[key] = {**verdict, "figure": verdict["figure"] + (f" ({run['card']})" if gpus else "")}

    def check_names(self):
        named = [(f'{lecture.key}, "{slide["title"]}"', step) for lecture in self.lectures for slide in lecture.slides
                 for step in slide["steps"]] + [("reasons.json", reason["step"]) for reason in self.reasons]
        unknown = [f"{where}: no ladder has the step {step}" for where, step in named if step not in self.steps]
        if unknown:
            raise BadInput("\n".join(unknown))

    def place_claims(self):
        known, unknown = {lecture.key.lower(): lecture for lecture in self.lectures}, []
        for step in self.steps.values():
            for claim in step["claims"]:
                claim["step"], placed = step["step"], False
                for part in claim["lecture"].split(";"):
                    name, _, title = part.strip().partition(",")
                    lecture = known.get(name.lower().replace(" lecture", "").replace("parallel patterns", "parallel-patterns"))
                    if lecture is None:
                        continue
                    slide, placed = lecture.slide(title), True
                    if slide is None and title.strip():
                        unknown.append(f'{step["step"]} cites a slide that {lecture.key} does not have: "{title.strip()}"')
                    elif slide is None:
                        lecture.whole.append(claim)
                    elif claim not in slide["claims"]:
                        slide["claims"].append(claim)
                if not placed:
                    self.beyond.append(claim)
        if unknown:
            raise BadInput("\n".join(unknown))

    def verdicts(self, claim):
        """(device, verdict) of the software GPU and of each card."""
        yield SOFTWARE, claim
        for name, card in self.cards.items():
            key = claim["step"], claim["claim"]
            yield name, card.get((*key, claim["lecture"])) or card.get((*key, None))

    def why(self, claim, device, fails):
        for number, reason in enumerate(self.reasons):
            if (reason["step"] == claim["step"] and reason.get("about", "").lower() in claim["claim"].lower()
                    and device in reason.get("on", [device]) and (fails or reason.get("differs"))):
                self.used.add(number)
                return reason["why"]
        return None

    def table(self, claims):
        out = [row(["claim", "step", SOFTWARE, *self.cards, "checks"]),
               row(["---"] * (len(self.cards) + 4))]
        reasons = {}  # text -> [(step, device)]
        for claim in claims:
            verdicts = list(self.verdicts(claim))
            reached = any(verdict and verdict["holds"] is not None for _, verdict in verdicts)
            cells = []
            for device, verdict in verdicts:
                fails = bool(verdict) and verdict["holds"] is False
                why = self.why(claim, device, fails) if verdict and verdict["holds"] is not None else None
                if why:
                    reasons.setdefault(why, []).append((claim["step"], device, fails))
                elif fails and not is_remark(claim):
                    self.problems.append(f'no reason: {claim["step"]} on {device}: "{claim["claim"]}" ({verdict["figure"]})')
                cells.append(self.verdict(verdict, reached, is_remark(claim)))
            checks = self.steps[claim["step"]]["checks"]
            against = f"<br>_against: {cell(claim['refuted_by'])}_" if claim.get("refuted_by") else ""
            out.append(row([cell(claim["claim"]) + against, cell(claim["step"]), *cells,
                            "–" if not checks else cell(checks["figure"]) if checks["holds"] else self.verdict(checks, True)]))
        return out + [""] + [f"- {self.whom(where)}: {sentence(why)}" for why, where in reasons.items()]

    def whom(self, where):
        steps = list(dict.fromkeys(step for step, _, _ in where))
        devices = list(dict.fromkeys(device for _, device, _ in where))
        mark = "✗ " if any(fails for *_, fails in where) else ""
        return f"{mark}{', '.join(map(cell, steps))} ({', '.join(devices)})"

    @staticmethod
    def verdict(verdict, reached, remark=False):
        if not verdict or (verdict["holds"] is None and reached):
            return "–"
        qualified = f"{verdict['qualified']}: " if verdict.get("qualified") else ""
        return f"{'' if remark else MARKS[verdict['holds']]} {cell(qualified + verdict['figure'])}".strip()

    def shown(self, steps):
        """The links to the steps' sources, and a command for each ladder."""
        links, ladders = [], {}
        for name in steps:
            step = self.steps[name]
            result = "" if step["result"] == "right" else f" ({step['result']})"
            links.append(f"[{cell(name)}](../../{step['source']}), {cell(step['title'])}{result}")
            ladders.setdefault(name.split("/")[0], []).append(name.partition("/")[2])
        commands = []
        for ladder, ids in ladders.items():
            ids = ",".join(ids)
            quoted = f'"{ids}"' if re.search(r"[^\w,.-]", ids) else ids
            commands.append(f"`./dev warpfold ladder {ladder} --claims --steps {quoted}`")
        return "Steps: " + "; ".join(links) + ".  \n" + "  \n".join(commands)

    def page(self, lecture):
        out = [MADE.format(pathlib.Path(lecture.page).stem), f"# {lecture.key}, slide by slide", "", f"{lecture.name}.", ""]
        for slide in lecture.slides:
            if slide.get("nothing"):
                continue
            steps = list(dict.fromkeys(slide["steps"] + [claim["step"] for claim in slide["claims"]]))
            if not steps and not slide.get("says"):
                self.problems.append(f'not covered: {lecture.key}, "{slide["title"]}": neither a step nor a sentence')
            tables = " Theirs and ours: [the tables](tables.md)." if slide.get("tables") else ""
            out += [f"## {cell(slide['title'])}", "", sentence(slide.get("says", "")) + tables, "",
                    self.shown(steps) if steps else "Nothing to run.", ""]
            out += self.table(slide["claims"]) + [""] if slide["claims"] else []
        if lecture.whole:
            out += ["## The lecture as a whole", "", "Claims that cite no slide.", ""] + self.table(lecture.whole) + [""]
        return out

    def index(self):
        devices = [SOFTWARE, *self.cards]
        out = [MADE.format("*"), "# The lectures, slide by slide", "",
               "Every kernel of five lectures is a step of a ladder, and every claim about it is checked by machine. The pages",
               "follow the slides: what a slide says, which step runs it, and whether its claims hold, on the software GPU and on",
               "the cards of " + "; ".join(self.taken) + ".", "",
               "✓ holds; ✗ does not hold: the figure says what holds instead, the line below the table why; – cannot be seen",
               "there: times need a GPU, counters the software GPU; no mark: a remark, whose check nothing refutes. Against: the",
               "counter-example that the check of a claim fails on, as it must. Checks: what the",
               "software GPU's checks find in the step.",
               "Where a claim compares two steps, both must run: leave `--steps` out.", "",
               row(["lecture", "slides", *devices]), row(["---", "---:", *["---"] * len(devices)])]
        for lecture in self.lectures:
            claims = lecture.whole + [claim for slide in lecture.slides for claim in slide["claims"]]
            shown = sum(not slide.get("nothing") for slide in lecture.slides)
            out.append(row([f"[{lecture.key}]({lecture.page}): {cell(lecture.name)}", str(shown), *self.counts(claims)]))
        out += [row(["[beyond the lectures](beyond.md)", "–", *self.counts(self.beyond)]), "",
                "[Errata](errata.md): mistakes of the slides. [Tables](tables.md): the published times beside ours.",
                "[claims.json](claims.json): every claim as data. [HACKING.md](../../HACKING.md#how-to-add): adding a slide or claim."]
        return out

    def counts(self, claims):
        """"✓ 12, ✗ 3, – 4" for each device."""
        out = []
        for k in range(len(self.cards) + 1):
            seen = [verdict["holds"] if verdict else None for claim in claims if not is_remark(claim) for verdict in [list(self.verdicts(claim))[k][1]]]
            out.append(", ".join(f"{mark} {seen.count(holds)}" for holds, mark in MARKS.items()))
        return out

    def all(self):
        pages = {lecture.page: self.page(lecture) for lecture in self.lectures}
        pages["beyond.md"] = [MADE.format("*"), "# Beyond the lectures", "", "Claims of steps that no slide has.", ""] + \
            self.table(self.beyond)
        pages["README.md"] = self.index()
        for number, reason in enumerate(self.reasons):
            if number not in self.used:
                print(f"note: a reason for what holds: {reason['step']}, {reason['why']}", file=sys.stderr)
        return {name: re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n" for name, lines in pages.items()}


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", default=pathlib.Path(__file__).resolve().parents[2] / "docs/lectures",
                        type=pathlib.Path)
    parser.add_argument("--check", action="store_true", help="compare with the pages that are there instead of writing them")
    asked = parser.parse_args(arguments)
    made = Pages(asked.folder)
    for name, text in made.all().items():
        path = asked.folder / name
        if not asked.check:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            made.problems.append(f"{path} is not what measure/pages/lectures.py makes: run it")
    for problem in dict.fromkeys(made.problems):
        print(problem)
    return 1 if made.problems else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except BadInput as error:
        print("\n".join(f"lectures: {line}" for line in str(error).splitlines()), file=sys.stderr)
        sys.exit(2)
