#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ranks_page.py LOG DATE [NOTES]: docs/results/ranks/CARD-xN.md of what benchmarks/ranks/ranks.sh printed, on standard output.

NOTES is Markdown that goes below the table of targets as it is.
"""
import pathlib
import re
import sys

TARGETS = [("reductions", ["reduce", "exact_sum"], 0.95), ("histograms", ["histogram, 256 bins", "histogram, 2^20 bins"], 0.95),
           ("scans", ["inclusive_scan"], 0.9)]
SUMS = {"reduce": "`reduce`", "CUB's sum, NCCL": "CUB, NCCL"}
SCAN_NOTE = "[the bound is two thirds](../../decisions/ranks/0030-calls-over-ranks.md), since parts are read twice"


def cells_of(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


class Log:
    def __init__(self, text):
        self.latencies = {}  # call: {gpus: us}
        self.scaling = {"a GPU": [], "in all": []}  # rows of cells
        self.arrays = []  # of exact_sum of several arrays: rows of cells
        self.peers = {}  # peer: {log2: ms}
        self.facts = dict(re.findall(r"^(card|driver|nvcc|calls in a round): (.*)$", text, re.M))
        self.gpus, version = map(int, re.search(r"GPUs: (\d+), NCCL (\d+)", text).groups())
        self.nccl = f"{version // 10000}.{version // 100 % 100}.{version % 100}"
        self.checks, self.wrong = map(int, re.search(r"checks: (\d+), wrong: (\d+)", text).groups())
        self.fault_checks = re.search(r"checks of faults: (\d+), wrong: (\d+)", text)
        table = None
        for line in text.splitlines():
            if head := re.match(r"\| one double a GPU, (\d+) GPUs", line):
                table = self.latency_row, int(head[1])
            elif head := re.match(r"\| call, float \| elements (a GPU|in all)", line):
                table = self.scaling_row, head[1]
            elif head := re.match(r"\| exact_sum of (\d+) arrays of floats", line):
                table = self.arrays_row, head[1]
            elif not line.startswith("|"):
                table = None
            elif table and "---" not in line:
                table[0](table[1], cells_of(line))
            if peer := re.match(r"\| sum, all.reduce: (\w+) *\|", line):
                self.peer_row(peer[1], cells_of(line))

    def latency_row(self, gpus, cells):
        self.latencies.setdefault(cells[0], {})[gpus] = float(cells[1])

    def peer_row(self, peer, cells):
        log2, ms = int(cells[1][2:]), float(cells[3])
        if log2 == 0:
            self.latencies.setdefault(f"{peer}'s sum and all-reduce, one float", {})[self.gpus] = ms * 1e3
        else:
            self.peers.setdefault(peer, {})[log2] = ms

    def arrays_row(self, arrays, cells):
        self.arrays.append([arrays, *cells])

    def scaling_row(self, which, cells):
        self.scaling[which].append(cells)

    def ms(self, call, log2, gpus):
        for cells in self.scaling["a GPU"]:
            if cells[0] == call and cells[1] == f"2^{log2}" and cells[2].split()[0] == str(gpus) and \
                    (gpus > 1 or "over" not in cells[2]):
                return float(cells[3])
        raise KeyError((call, log2, gpus))

    def logs(self):
        return sorted({int(cells[1][2:]) for cells in self.scaling["a GPU"]})


def scaling(log, which):
    out = [f"| call, float | elements {which} | GPUs | ms | GB/s | of linear |", "| --- | --- | --- | ---: | ---: | ---: |"]
    return out + ["| " + " | ".join(cells) + " |" for cells in log.scaling[which]] + [""]


def targets(log):
    out = ["| target | on " + str(log.gpus) + " GPUs | met |", "| --- | --- | --- |"]
    for name, calls, least in TARGETS:
        shares = {call: log.ms(call, 28, 1) / log.ms(call, 28, log.gpus) for call in calls}
        met = min(shares.values()) >= least
        text = ", ".join(f"`{call}` {share:.3f}" for call, share in shares.items())
        out.append(f"| {name}, 2^28 a GPU: {least} of linear | {text} | {'yes' if met else 'no: ' + SCAN_NOTE if name == 'scans' else 'no'} |")
    small, nccl = log.latencies["reduce, enqueued"][log.gpus], log.latencies["ncclAllReduce, enqueued"][log.gpus]
    out.append(f"| small calls: the local call and NCCL's all-reduce of 8 bytes | `reduce` {small:.1f} µs, `ncclAllReduce` alone {nccl:.1f} µs "
               f"| {'yes' if small <= nccl + 5 else 'no'} |")
    ratios = {k: log.ms("exact_sum", k, log.gpus) / log.ms("reduce", k, log.gpus) for k in log.logs()}
    good = [k for k, ratio in ratios.items() if ratio <= 1.05]
    out.append("| `exact_sum`: 1.05 of `reduce` | " + ", ".join(f"{ratio:.2f} at 2^{k}" for k, ratio in ratios.items()) + " a GPU | "
               + ("yes" if len(good) == len(ratios) else "at " + ", ".join(f"2^{k}" for k in good) if good else "no") + " |")
    return out + [""]


def main():
    log = Log(pathlib.Path(sys.argv[1]).read_text())
    notes = pathlib.Path(sys.argv[3]).read_text().strip() if len(sys.argv) > 3 else ""
    card, date = log.facts["card"], sys.argv[2]
    faults = log.fault_checks
    out = [f"# Calls over {log.gpus} GPUs of one host, {card}", "",
           f"{log.gpus} × {card}, NVLink between all of them, NVLink multicast off; NCCL {log.nccl}, nvcc {log.facts['nvcc']}, driver {log.facts['driver']},",
           f"{date}; the programs of `benchmarks/ranks/ranks.sh`, made into this page by `measure/pages/ranks_page.py`. {log.checks} checks of all",
           f"calls over 1 to {log.gpus} GPUs, against one call on the host, also of calls in a graph: {log.wrong or 'none'} wrong. {faults[1]} checks of ranks that",
           f"do not call and end the others at their time limit: {int(faults[2]) or 'none'} wrong.", "",
           f"Times are the host's, for a call: the least of seven rounds of {log.facts['calls in a round']} calls, of 200 for the first table, from the first rank's",
           "beginning to the last rank's end. Elements are uniform in [0, 1). *1* is the library's call on one GPU, *1 over* the same through a",
           "communicator of one rank, *2 over* and *4 over* the call on as many GPUs. *Of linear* compares with one GPU. *CUB* is CUB's reduction or",
           "scan of each part with NCCL's calls between, written by hand.", ""]
    counts = sorted({g for of in log.latencies.values() for g in of})
    out += ["| one double a GPU, µs | " + " | ".join(f"{g} GPUs" for g in counts) + " |", "| --- |" + " ---: |" * len(counts)]
    for call, of in log.latencies.items():
        out.append(f"| {call} | " + " | ".join(f"{of[g]:.1f}" if g in of else "" for g in counts) + " |")
    out += ["", "## Targets", ""] + targets(log) + ([notes, ""] if notes else [])
    if log.arrays:
        out += [f"`exact_sum` of {log.arrays[0][0]} arrays of floats on {log.gpus} GPUs, a call for each: in one stream, and in turn in two streams with a",
                "communicator each, where a pass runs beside the exchange of the array before:", "",
                "| an array | one stream, µs | two streams, µs |", "| --- | ---: | ---: |"]
        out += ["| " + " | ".join(cells[1:]) + " |" for cells in log.arrays] + [""]
    out += ["## The same elements a GPU", ""] + scaling(log, "a GPU")
    if log.peers:
        logs = sorted({k for of in log.peers.values() for k in of})
        out += [f"The peers in Python, on {log.gpus} GPUs, in ms:", "", "| sum of a part, all-reduce of the sums | "
                + " | ".join(f"2^{k} a GPU" for k in logs) + " |", "| --- |" + " ---: |" * len(logs)]
        for call, name in SUMS.items():
            out.append(f"| {name} | " + " | ".join(f"{log.ms(call, k, log.gpus):.3f}" for k in logs) + " |")
        for peer, of in log.peers.items():
            out.append(f"| {peer} | " + " | ".join(f"{of[k]:.3f}" if k in of else "" for k in logs) + " |")
        out.append("")
    out += ["## The same elements in all", ""] + scaling(log, "in all")
    print("\n".join(out).rstrip())


if __name__ == "__main__":
    main()
