# SPDX-License-Identifier: MIT
"""The tables of docs/stacks/cpp.md, from the results of cpp_stacks.py. Rows of other days, which the page has,
stay: of failures and suites all, of findings those of programs that the results do not have."""
import collections
import pathlib
import re


def sums(programs):
    """Cells of a row: what the programs' runs without checks and with all of them add up to."""
    compiled = [program for program in programs if "compile_error" not in program]
    plain, check = ([program[mode] for program in compiled] for mode in ("plain", "check"))
    tests, skipped = (sum(run[key] for run in plain) for key in ("tests", "skipped"))
    failed = sum(len(run["failures"]) for run in plain)
    cells = [len(programs), tests, tests - skipped - failed, skipped, failed, sum(run["not_over"] for run in plain),
             f"{sum(run['seconds'] for run in plain):.0f}", sum(len(run["failures"]) for run in check),
             sum(run["not_over"] for run in check), f"{sum(run['seconds'] for run in check):.0f}",
             sum(len(run["findings"]) for run in check)]
    return " | ".join(str(cell) for cell in cells)


def earlier_rows(page, name):
    """The rows that the page has in a table, as lists of cells."""
    table = re.search(f"<!-- cpp {name}, by.*?<!-- end of cpp {name} -->", page, re.S)
    lines = [line for line in (table[0] if table else "").splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def table_of(head, rows, texts=99):
    """texts: columns on the left that are no numbers."""
    columns = head.count("|") - 1
    return [head, "|" + " --- |" * min(texts, columns) + " ---: |" * (columns - texts), *(f"| {' | '.join(row)} |" for row in rows)]


def suites_table(results, page):
    """One row for each group of a suite and day; the last one has the sums."""
    rows = {}
    for name, suite in results.items():
        groups = collections.defaultdict(list)
        for program in suite["programs"]:
            groups[program["group"]].append(program)
        for group, programs in groups.items():
            rows[f"{name}, `{group}`", suite["date"]] = sums(programs).split(" | ")
    for suite, date, *cells in earlier_rows(page, "suites"):
        if suite != "all":
            rows.setdefault((suite, date), cells)
    in_order = [[*key, *cells] for key, cells in sorted(rows.items())]
    added = [str(sum(int(row[column]) for row in in_order)) for column in range(2, len(in_order[0]))]
    return table_of("| suite | date | programs | tests | pass | skipped | fail | not over | seconds | all checks: fail | "
                    "not over | seconds | findings |", [*in_order, ["all", "", *added]], texts=2)


def failures_table(results, page):
    """By day and reason: how many tests, without checks and with them, and of which programs."""
    tests, programs = collections.Counter(), collections.defaultdict(set)
    for suite in results.values():
        for program in suite["programs"]:
            if "compile_error" in program:
                programs[suite["date"], "does not compile"].add(program["program"])
                continue
            for mode, said in (("plain", ""), ("check", " under all checks")):
                for failure in program[mode]["failures"]:
                    key = suite["date"], failure["reason"] + said
                    tests[key] += 1
                    programs[key].add(failure["test"] if len(failure["test"]) < 40 else program["program"])
                if program[mode]["not_over"]:
                    programs[suite["date"], f"not over after {program['limit']:.0f} seconds{said}"].add(program["program"])
    rows = [[*key, str(tests[key] or "–"), ", ".join(f"`{name}`" for name in sorted(names))]
            for key, names in sorted(programs.items(), key=lambda item: (item[0][0], -tests[item[0]], item[0][1]))]
    days = {suite["date"] for suite in results.values()}
    rows = [row for row in earlier_rows(page, "failures") if row[0] not in days] + rows
    return table_of("| date | reason | tests | programs |", rows) if rows else ["Nothing."]


def kernel_name(kernel):
    """A demangled kernel without its parameters and template arguments."""
    plain = re.sub(r"<.*", "", re.sub(r"[(].*", "", kernel.replace("(anonymous namespace)::", "")))
    return f"`{plain.split()[-1].split('::')[-1]}`" if plain else "–"


def line_of(finding):
    """The line of the program that its first access belongs to: not one of the toolkit's headers that it calls."""
    where = next((access["where"] for access in finding["accesses"] if access.get("where", {}).get("file")), None)
    if where is None:
        return "–"
    places = [where, *where.get("called_from", [])]
    place = next((place for place in places if "/cuda/" not in place["file"] and "/targets/" not in place["file"]), places[0])
    return f"{pathlib.Path(place['file']).name}:{place['line']}"


def findings_table(results, page):
    """One row for each kind in one kernel of one program."""
    runs, times, lines = collections.defaultdict(set), collections.Counter(), collections.defaultdict(set)
    for name, suite in results.items():
        for program in suite["programs"]:
            for finding in program.get("check", {}).get("findings", []):
                key = (name, program["program"], finding["kind"], kernel_name(finding.get("kernel", "")))
                runs[key].add(finding["run"])
                times[key] += finding["times"]
                lines[key].add(line_of(finding))
    ran = {(name, f"`{program['program']}`") for name, suite in results.items() for program in suite["programs"]}
    rows = [row for row in earlier_rows(page, "findings") if tuple(row[:2]) not in ran]
    for key in runs:
        suite, program, kind, kernel = key
        places = ", ".join(sorted(lines[key], key=lambda text: (len(text), text)))
        rows.append([suite, f"`{program}`", kind, kernel, places, str(len(runs[key])), str(times[key])])
    return table_of("| suite | program | finding | kernel | lines | runs | times |", sorted(rows)) if rows else ["Nothing."]


def tables(results, page):
    """Name and lines of every table. page: the text that has the earlier ones."""
    return {"cpp suites": suites_table(results, page), "cpp failures": failures_table(results, page),
            "cpp findings": findings_table(results, page)}
