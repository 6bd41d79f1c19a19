#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the model of docs/model.md is held against: Nsight Compute's figures of every launch of every ladder.

    model_probe.py --tool build/gpu/tool/warpfold --out model.json --work FOLDER [--seconds 200] [--ladders scan,reduce] [--parts 8,64]

Three sizes of each ladder: its own, an 8th and a 64th, or those of --parts. Of each size ncu takes every launch of one run of all steps, with caches
flushed before it. There is no warm run: between two launches ncu itself takes the cache. The output is written after every run
and says what was cut off. Exit status: 0; 1 if a run failed; 2 if none gave figures.
"""
import argparse
import concurrent.futures
import csv
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

from compare_ncu import base_name, extent

LADDERS = ["convolution", "memory", "histogram", "reduce", "shared", "warps", "matmul", "transpose", "occupancy", "streams", "scan"]
OWN_SIZE = {"reduce": 1 << 24}  # as `warpfold ladder all` has it on a GPU
MOST_LAUNCHES = 400
LONGEST = 180  # seconds for one run

# The last four are ncu's speed of light: parts of the device, in per cent of what they can do in the time that the launch takes.
METRICS = {
    "nanoseconds": "gpu__time_duration.sum",
    "dram_read_bytes": "dram__bytes_read.sum",
    "dram_write_bytes": "dram__bytes_write.sum",
    "l2_reads": "lts__t_sectors_srcunit_tex_op_read.sum",
    "l2_read_hits": "lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum",
    "sm": "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "l1": "l1tex__throughput.avg.pct_of_peak_sustained_elapsed",
    "l2": "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "dram": "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
}


def number(text):
    """A value of ncu's CSV, or None for n/a and nan."""
    try:
        value = float((text or "").replace(",", ""))
    except ValueError:
        return None
    return None if value != value else int(value) if value.is_integer() else value


def launches_of(path):
    """The launches in one CSV of ncu's raw page, in order."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else []
    start = next((k for k, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        return []
    rows = csv.DictReader(line for line in lines[start:] if line.startswith('"'))
    return [{"kernel": base_name(row["Kernel Name"]), "grid": extent(row["Grid Size"]), "block": extent(row["Block Size"]),
             **{ours: number(row.get(theirs)) for ours, theirs in METRICS.items()}}
            for row in rows if (row.get("ID") or "").isdigit()]


class Probe:
    def __init__(self, tool, out, work, seconds):
        self.tool, self.out, self.work, self.deadline = tool, out, work, time.monotonic() + seconds
        self.sizes, self.steps = {}, {}
        self.found = {"metrics": METRICS, "runs": [], "cut_off": []}

    def within(self, what, command, out):
        """Whether the command came to its end; its output goes to a file."""
        left = min(self.deadline - time.monotonic(), LONGEST)
        if left < 2:
            self.found["cut_off"].append(what + ": no time left")
            return False
        begin = time.monotonic()
        with open(out, "w", encoding="utf-8") as to:
            run = subprocess.Popen(command, stdout=to, stderr=to, start_new_session=True)
            try:
                status = run.wait(left)
                wrong = f"ended with {status}" if status not in (0, 1) else ""  # 1: a step is not as it ought to be
            except subprocess.TimeoutExpired:
                wrong = f"no end within {left:.0f} s"
                self.stop(run)
        print(f"{what}: {time.monotonic() - begin:.1f} s {wrong}", flush=True)
        if wrong:
            self.found["cut_off"].append(f"{what}: {wrong}")
        return not wrong

    @staticmethod
    def stop(run):
        """Interrupted, ncu writes what it has."""
        run.send_signal(signal.SIGINT)
        try:
            run.wait(5)
        except subprocess.TimeoutExpired:
            pass
        try:
            os.killpg(run.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        run.wait()

    def ladder(self, name, part, report):
        n = self.sizes.get(name, OWN_SIZE.get(name))
        command = [str(self.tool), "ladder", name, "--device", "gpu", "--no-claims", "--no-times", "--json", str(report)]
        if name in self.steps:
            command += ["--steps", ",".join(self.steps[name])]
        return command + (["--n", str(max(n // part, 1))] if n else [])

    def names(self, name):
        """Learns the ladder's size and the steps that run on the device."""
        report = self.work / f"{name}-list.json"
        if name in self.steps or not self.within(f"{name}, its steps", self.ladder(name, 1, report),
                                                 report.with_suffix(".txt")):
            return name in self.steps
        told = json.loads(report.read_text())
        self.sizes[name] = told["n"]
        self.steps[name] = [s["id"] for s in told["steps"] if not s["skipped"] and s["on_device"] and not s.get("apart")]
        return bool(self.steps[name])

    def ncu(self, name, part):
        place = self.work / f"{name}-{part}"
        command = ["ncu", "--clock-control", "none", "--cache-control", "all", "--csv", "--page", "raw", "--print-units", "base",
                   "--launch-count", str(MOST_LAUNCHES), "--metrics", ",".join(METRICS.values()), "--log-file", f"{place}.csv",
                   *self.ladder(name, part, f"{place}.json")]
        self.within(f"{name}, n / {part}", command, f"{place}.txt")
        if rows := launches_of(pathlib.Path(f"{place}.csv")):
            self.found["runs"].append({"ladder": name, "n": max(self.sizes[name] // part, 1), "steps": self.steps[name],
                                       "rows": rows})
        self.out.write_text(json.dumps(self.found))

    def go(self, ladders, parts):
        with concurrent.futures.ThreadPoolExecutor(len(ladders)) as pool:
            list(pool.map(self.names, ladders))
        for part in parts:
            for name in ladders:
                if self.steps.get(name):
                    self.ncu(name, part)
        self.out.write_text(json.dumps(self.found))


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--tool", required=True, type=pathlib.Path)
    options.add_argument("--out", required=True, type=pathlib.Path)
    options.add_argument("--work", required=True, type=pathlib.Path)
    options.add_argument("--seconds", type=float, default=200)
    options.add_argument("--ladders", default=",".join(LADDERS))
    options.add_argument("--parts", default="1,8,64")
    o = options.parse_args()
    o.work.mkdir(parents=True, exist_ok=True)
    probe = Probe(o.tool, o.out, o.work, o.seconds)
    probe.go(o.ladders.split(","), [int(part) for part in o.parts.split(",")])
    return 2 if not probe.found["runs"] else 1 if probe.found["cut_off"] else 0


if __name__ == "__main__":
    sys.exit(main())
