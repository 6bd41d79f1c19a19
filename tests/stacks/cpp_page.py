# SPDX-License-Identifier: MIT
"""The tables of the C++ suites in docs/stacks.md, from the results of cpp_stacks.py."""
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


def suites_table(results):
    lines = ["| suite | programs | tests | pass | skipped | fail | not over | seconds | all checks: fail | not over | seconds | "
             "findings |",
             "| --- |" + " ---: |" * 11]
    for name, suite in results.items():
        groups = collections.defaultdict(list)
        for program in suite["programs"]:
            groups[program["group"]].append(program)
        lines += [f"| {name}, `{group}` | {sums(programs)} |" for group, programs in groups.items()]
    lines.append(f"| all | {sums([program for suite in results.values() for program in suite['programs']])} |")
    return lines


def failures_table(results):
    """By reason: how many tests, without checks and with them, and of which programs."""
    tests, programs = collections.Counter(), collections.defaultdict(set)
    for suite in results.values():
        for program in suite["programs"]:
            if "compile_error" in program:
                programs["does not compile"].add(program["program"])
                continue
            for mode, said in (("plain", ""), ("check", " under all checks")):
                for failure in program[mode]["failures"]:
                    tests[failure["reason"] + said] += 1
                    programs[failure["reason"] + said].add(failure["test"] if len(failure["test"]) < 40 else program["program"])
                if program[mode]["not_over"]:
                    programs[f"not over after {program['limit']:.0f} seconds{said}"].add(program["program"])
    if not programs:
        return ["Nothing."]
    lines = ["| reason | tests | programs |", "| --- | ---: | --- |"]
    for reason, names in sorted(programs.items(), key=lambda item: (-tests[item[0]], item[0])):
        lines.append(f"| {reason} | {tests[reason] or '–'} | {', '.join(f'`{name}`' for name in sorted(names))} |")
    return lines


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


def findings_table(results):
    """One row for each kind in one kernel of one program."""
    runs, times, lines = collections.defaultdict(set), collections.Counter(), collections.defaultdict(set)
    for name, suite in results.items():
        for program in suite["programs"]:
            for finding in program.get("check", {}).get("findings", []):
                key = (name, program["program"], finding["kind"], kernel_name(finding.get("kernel", "")))
                runs[key].add(finding["run"])
                times[key] += finding["times"]
                lines[key].add(line_of(finding))
    if not runs:
        return ["Nothing."]
    table = ["| suite | program | finding | kernel | lines | runs | times |", "| --- | --- | --- | --- | --- | ---: | ---: |"]
    for key in sorted(runs):
        suite, program, kind, kernel = key
        places = ", ".join(sorted(lines[key], key=lambda text: (len(text), text)))
        table.append(f"| {suite} | `{program}` | {kind} | {kernel} | {places} | {len(runs[key])} | {times[key]} |")
    return table


def tables(results):
    """Name and lines of every table."""
    dates = sorted({suite["date"] for suite in results.values()})
    limits = sorted({program["limit"] for suite in results.values() for program in suite["programs"]})
    said = (f"{' to '.join(dict.fromkeys([dates[0], dates[-1]]))}, at most "
            f"{limits[-1]:.0f} seconds a run.")
    return {"cpp suites": [said, "", *suites_table(results)], "cpp failures": failures_table(results),
            "cpp findings": findings_table(results)}
