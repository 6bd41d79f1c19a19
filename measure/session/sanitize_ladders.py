#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs every step of every ladder under compute-sanitizer, on a machine with a GPU.

    sanitize_ladders.py LADDERS.json --tool build/gpu/tool/warpfold --out FOLDER [--seconds 120] [--jobs 8]

LADDERS.json is the output of `warpfold ladder all --json` on that machine. Order: memcheck over everything; faulty steps
one by one, under memcheck and the check that should find the fault (FAULTS); the other checks over the rest, on few
elements (SIZES) and without timing, because they take up to a thousand times as long. Prints a line per run and stores
the tools' output in FOLDER, CHECK-LADDER[-STEP].log. Faulty steps may have findings, which are printed. Peers are
skipped. --checks selects checks.
Exit status: 0; 1 where something was found in a step that claims to be right, or a run of memcheck did not come to its
end; 2 where the file cannot be used.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

from compare_ncu import BadInput

CHECKS = ["memcheck", "racecheck", "synccheck", "initcheck"]
FOUND = 9  # exit status of compute-sanitizer where it has found something

# The check that finds the fault of a faulty step. No check finds the others: races in global memory (histogram 1 and 2,
# memory colliding, streams no wait), stale caches (memory stale, occupancy stale lines), missing work (memory int4 slide,
# warps stride > 1), letters that are not counted (histogram capitals).
FAULTS = {
    ("reduce", "5"): "racecheck", ("reduce", "6"): "racecheck", ("reduce", "7"): "racecheck",
    ("reduce", "sum_warp"): "racecheck", ("scan", "3a"): "racecheck", ("scan", "3b"): "synccheck",
    ("matmul", "2s"): "racecheck", ("warps", "lockstep"): "racecheck", ("warps", "no barrier"): "racecheck",
    ("warps", "tid <= 32"): "racecheck", ("warps", "no bound"): "initcheck", ("histogram", "4s"): "memcheck",
    ("warps", "not volatile"): "racecheck", ("errors", "crash"): "memcheck", ("errors", "sticky"): "memcheck",
    ("errors", "process"): "memcheck", ("errors", "misaligned"): "memcheck", ("errors", "assert"): "memcheck",
}
# Ladders with runtime calls that must fail: memcheck reports these as errors.
ASK_TOO_MUCH = ["errors", "histogram", "occupancy"]
# Elements for the checks other than memcheck, which follow every access; default 2048.
SIZES = {"reduce": 16384, "occupancy": 1024}
# Steps whose lanes wait for each other: separate runs, so that a timeout affects nothing else.
WAITING = {("warps", "chain"), ("warps", "lock"), ("occupancy", "grid barrier"), ("occupancy", "fresh lines"),
           ("scan", "11")}
# racecheck understands barriers only, not locks; lanes of a warp that wait for each other make no progress under it.
NOT_FOR_RACECHECK = {("warps", "chain"), ("warps", "lock")}
LONGEST = 100  # seconds for one run


class Run:
    """One call of compute-sanitizer: `steps` of `ladder`; all of them if none are named."""

    def __init__(self, check, ladder, steps, told=False, apart=False):
        self.check, self.ladder, self.steps, self.told, self.apart = check, ladder, steps, told, apart
        self.status, self.said, self.seconds = None, "", 0

    def name(self):
        step = "-" + re.sub(r"\W+", "_", self.steps[0]) if self.told or len(self.steps) == 1 else ""
        return f"{self.check}-{self.ladder}{step}"

    def command(self, tool, log):
        if self.check == "memcheck":
            n, small = 65536 if self.ladder == "reduce" else 16384, ["--no-times"] if self.apart else []
        else:
            n, small = SIZES.get(self.ladder, 2048), ["--no-times"]
        shape = ["--n", str(n), *(["--block", "128"] if self.ladder == "reduce" else ["--no-claims"]), *small]
        only = ["--steps", ",".join(self.steps)] if self.steps else []
        answers = ["--report-api-errors", "no"] if self.check == "memcheck" and self.ladder in ASK_TOO_MUCH else []
        return ["compute-sanitizer", "--tool", self.check, "--error-exitcode", str(FOUND), "--log-file", str(log), *answers,
                "--target-processes", "all" if self.apart else "application-only",
                str(tool), "ladder", self.ladder, "--device", "gpu", "--samples", "1", *shape, *only]

    def go(self, tool, folder, deadline):
        left = deadline - time.monotonic()
        if left <= 1:
            return
        left = min(left, LONGEST)
        begin = time.monotonic()
        log = folder / f"{self.name()}.log"
        with open(folder / f"{self.name()}.out", "w") as out:
            process = subprocess.Popen(self.command(tool, log), stdout=out, stderr=out, start_new_session=True)
            try:
                self.status = process.wait(timeout=left)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        self.seconds = time.monotonic() - begin
        lines = log.read_text(errors="replace").splitlines() if log.exists() else []
        summaries = [line for line in lines if "SUMMARY" in line]
        self.said = (summaries or lines or [""])[-1].lstrip("= ")

    def failed(self):
        if self.told:
            return False
        return self.status not in (0, None) or (self.status is None and self.check == "memcheck")

    def in_words(self):
        what = f"step {self.steps[0]}" if self.told or len(self.steps) == 1 else f"{len(self.steps)} steps" if self.steps else "all steps"
        if self.status is None:
            outcome = f"no end within {self.seconds:.0f} s" if self.seconds else "no time left"
        elif self.status == 0:
            outcome = "nothing found"
        elif self.status == FOUND:
            outcome = ("found, as told: " if self.told else "FOUND: ") + self.said
        else:
            outcome = f"ended with {self.status}: {self.said}"
        ought = FAULTS.get((self.ladder, self.steps[0])) if self.told else None
        if ought == self.check and self.status == 0:
            outcome += ", and its fault is of the kind that this check is for"
        return f"{self.check}, {self.ladder}, {what}: {outcome}"


def parts(name, steps):
    """The steps of each run: waiting steps one by one, all others together."""
    alone = [s for s in steps if (name, s) in WAITING]
    return [p for p in [[s for s in steps if s not in alone], *([s] for s in alone)] if p]


def runs_of(ladders):
    """In order of usefulness."""
    sure, told, named = [], [], {}
    for one in ladders:
        name = one.get("ladder", "reduce")
        steps = [s for s in one["steps"] if not s["skipped"] and s.get("on_device") and not s.get("peer")]
        lucky = [s for s in steps if s.get("caution") or s.get("ought_to_be", "right") != "right" or s.get("apart")]
        right = [s["id"] for s in steps if s not in lucky]
        told += [(name, s["id"], bool(s.get("apart"))) for s in lucky if not s.get("error")]
        named[name] = right
        # All steps, including the sweeps of the tables.
        sure.append((name, right if lucky or name == "reduce" else []))
    sure = [(name, steps) for name, steps in sure if steps or not any(t[0] == name for t in told)]
    first = [Run("memcheck", name, steps) for name, steps in sure]
    second = [Run(check, name, [step], told=True, apart=apart) for name, step, apart in told
              for check in CHECKS if check in ("memcheck", FAULTS.get((name, step)))]
    third = [Run(check, name, steps) for check in CHECKS[1:] for name, _ in sure for steps in parts(name, named[name])
             if check != "racecheck" or (name, steps[0]) not in NOT_FOR_RACECHECK]
    return first + second + third


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ladders", type=pathlib.Path)
    parser.add_argument("--tool", required=True, type=pathlib.Path)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--jobs", type=int, default=8)
    parser.add_argument("--checks", default=",".join(CHECKS), help="some of " + ", ".join(CHECKS))
    options = parser.parse_args()
    try:
        runs = runs_of(json.loads(options.ladders.read_text()))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as problem:
        raise BadInput(f"{options.ladders}: {problem}") from problem
    wanted = options.checks.split(",")
    if not set(wanted) <= set(CHECKS):
        raise BadInput(f"--checks {options.checks}: there are {', '.join(CHECKS)}")
    runs = [run for run in runs if run.check in wanted]
    options.out.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + options.seconds
    with concurrent.futures.ThreadPoolExecutor(max(options.jobs, 1)) as pool:
        waiting = [(run, pool.submit(run.go, options.tool, options.out, deadline)) for run in runs]
        for run, done in waiting:
            done.result()
            print(run.in_words(), flush=True)
    failed = [run for run in runs if run.failed()]
    print(f"{len(runs)} runs, {len(failed)} of them with findings where there ought to be none, or without an end")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BadInput as problem:
        print(f"sanitize_ladders: {problem}", file=sys.stderr)
        sys.exit(2)
