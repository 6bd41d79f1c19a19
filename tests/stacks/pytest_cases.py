# SPDX-License-Identifier: MIT
"""Runs a file of thousands of cases in parts, each in a process, which may end in the middle; and the plug-in of pytest that does
it in the process. Its environment:

WARPFOLD_FIRST    the number of the case with which to begin
WARPFOLD_ANSWERS  a file: a line of JSON for each case, once when it begins, and once when it is over
WARPFOLD_LIMIT    seconds for a case: then the process ends
WARPFOLD_ONLY     only functions whose names match
WARPFOLD_CASES    at most so many cases of a function: every k-th
"""
import collections
import faulthandler
import json
import os
import pathlib
import re
import tempfile

PART = 300  # cases of a process, which keeps the kernels of all of them
NO_TESTS = 5  # pytest's exit status


def chosen(items):
    """Every k-th case of each function whose name matches."""
    functions = collections.defaultdict(list)
    for item in items:
        if re.search(os.environ.get("WARPFOLD_ONLY", ""), item.originalname):
            functions[item.originalname].append(item)
    most = int(os.environ.get("WARPFOLD_CASES", len(items)))
    return [item for cases in functions.values() for item in cases[::-(-len(cases) // most)]]


def pytest_collection_modifyitems(items):
    first = int(os.environ["WARPFOLD_FIRST"])
    items[:] = chosen(items)[first:first + PART]


def answer(**line):
    with open(os.environ["WARPFOLD_ANSWERS"], "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def pytest_runtest_logstart(nodeid):
    answer(test=nodeid.split("::")[-1], outcome="begins")
    faulthandler.dump_traceback_later(float(os.environ["WARPFOLD_LIMIT"]), exit=True)


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        answer(test=report.nodeid.split("::")[-1], outcome=report.outcome, seconds=report.duration,
               message=report.longreprtext if report.outcome == "failed" else "")


def pytest_runtest_logfinish():
    faulthandler.cancel_dump_traceback_later()


def read_answers(lines):
    """Of each function: status and seconds of its tests, and the counts and failures as of read_junit()."""
    functions = {}
    for line in lines:
        function = line["test"].split("[")[0]
        status, seconds, read = functions.setdefault(function, (0, 0.0, {"ran": 0, "skipped": 0, "failed": 0, "failures": []}))
        if line["outcome"] == "begins":
            continue
        if line["outcome"] == "ends":  # with its process
            status = line["status"]
        else:
            read["ran"] += 1
            read["skipped"] += line["outcome"] == "skipped"
            if line["outcome"] == "failed":
                read["failures"].append((line["test"], line["message"]))
                read["failed"] += 1
        functions[function] = status, seconds + line["seconds"], read
    return functions


def run_all(run, options, python, limit, **environment):
    """Runs all cases, in as many processes as it takes; `run`: that of stacks.py. Returns read_answers()."""
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        answers = pathlib.Path(folder, "answers")
        first = 0
        while True:
            answers.write_text("")
            arguments = ["-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "pytest_cases", *options]
            status, output, _ = run(arguments, None, python, PYTHONPATH=str(pathlib.Path(__file__).parent),
                                    WARPFOLD_ANSWERS=str(answers), WARPFOLD_FIRST=str(first), WARPFOLD_LIMIT=str(limit),
                                    **environment)
            part = [json.loads(line) for line in answers.read_text().splitlines()]
            begun = sum(line["outcome"] == "begins" for line in part)
            if part and part[-1]["outcome"] == "begins":
                over = "Timeout (" in output  # faulthandler's word
                part.append({"test": part[-1]["test"], "outcome": "ends", "status": None if over else status,
                             "seconds": limit if over else 0})
            elif not begun:
                if status != NO_TESTS:
                    raise ValueError(f"pytest ran no test:\n{output[-2000:]}")
                return read_answers(lines)
            lines += part
            first += begun
