#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""library_table.py --facts facts.json [--log session.log] FOLDER NAME.tsv ...: pages FOLDER/NAME-CARD.md."""
import argparse
import json
import math
import pathlib
import re

# The peer of a table's ratios, and the ceiling of its GB/s.
SUBJECTS = {
    "reduce": ("Reductions", "CUB", "read", "CUB has no min-max: its Min and Max stand there, one after the other."),
    "scan": ("Scans", "CUB", "copy", "GB/s count every element as read once and written once."),
    "histogram": ("Histograms", "CUB", "read", ""),
    "segmented_reduce": ("Segmented sums", "CUB", "read", "GB/s count values, offsets and results as moved once."),
    "exact_sum": ("Exact sums", "CUB's plain sum", "read",
                  "The peer's sums of floating-point numbers are rounded at every addition, ours once."),
    "convolve": ("Convolutions", "a tiled kernel", "copy",
                 "CUB has none: the peer is the lectures' kernel, a tile with its halo in shared memory and the mask in "
                 "constant memory."),
    "compact": ("Compactions and reductions by key", "CUB", "copy",
                "GB/s count what has to be read and the results. CUB's partition writes both sides into one array."),
    "along_axis": ("Calls along axes", "CUB or a plain kernel", "copy",
                   "Of rows the peer is CUB's segmented sum, and its scan by key with row numbers for keys. For columns, and the "
                   "middle one of three axes, CUB has no call: the peer is a kernel with a thread for each column, or where these "
                   "are fewer than 4,096 ours again (alone)."),
}
COLUMNS = 13


def size(n):
    exponent = int(math.log2(n))
    return f"2^{exponent}" if 1 << exponent == n else str(n)


def page(subject, lines, facts):
    title, peer, ceiling, remark = SUBJECTS[subject]
    device = next(line for line in lines if ", read " in line).lstrip("# ")
    limit = float(device.split(f", {ceiling} ")[1].split()[0])
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    out = [f"# {title} of the library beside {peer}", "",
           f"{device}; driver {facts['driver_version']}, {facts['nvcc']}, {facts['date']}; taken with `./dev gpu 9 library`, "
           "written by `measure/pages/library_table.py`.", "",
           "Microseconds a call, medians; the ratio is ours over the peer's, below 1 where ours is faster. *stream*: single",
           "calls, device events around each, the host launching meanwhile, every call on memory that no cache holds. *graph,",
           "cold*: a graph of calls on many arrays in turn, together more than the L2 cache unless they are short. *graph,",
           "warm*: a graph of calls on the same memory. Both sides get their working memory beforehand. GB/s and their share of the ceiling are of ours,",
           f"graph, cold. {remark}".rstrip(), "",
           f"| what | type | n | stream: ours | peer | ratio | graph, cold: ours | peer | ratio | graph, warm: ours | peer | "
           f"ratio | GB/s | of {ceiling} |" + (" TFLOP/s |" if subject == "convolve" else ""),
           "| --- | --- | ---: |" + " ---: |" * (11 + (subject == "convolve"))]
    whole = []
    for row in rows:
        cells = [row[0], row[1], size(int(row[2]))] if len(row) > 2 else row
        if len(row) < COLUMNS:
            out.append("| " + " | ".join([*cells, " ".join(row[3:])]) + " |")
            continue
        whole.append(row)
        rate = float(row[12])
        out.append("| " + " | ".join([*cells, *row[3:12], f"{rate:.0f}", f"{100 * rate / limit:.1f} %", *row[13:]]) + " |")
    whole = [row for row in whole if "(peer: ours" not in row[0]]
    slower = [row for row in whole if max(float(row[k]) for k in (5, 8, 11)) > 1.02]
    names = ", ".join(f"{row[0]} {row[1]} {size(int(row[2]))}" for row in slower)
    out += ["", f"Slower than {peer} by more than 2 % in one of the three: {len(slower)} of {len(whole)} rows"
            + (f": {names}." if slower else ".")]
    return "\n".join(out) + "\n"


# Tables with columns of their own: title, and what the figures are.
OWN_COLUMNS = {
    "chunked": ("Chunked calls of the library beside a copy of everything", [
        "Milliseconds of whole calls by the host's clock, medians, on arrays of 4 GiB where nothing else is said; the rate",
        "is that of one copy of 4 GiB of pinned memory to the device. A peer copies all by `cudaMemcpy` (Thrust: into a",
        "`device_vector`) and then calls CUB or Thrust; the ratio is ours over the peer's, below 1 where ours is faster.",
        "GB/s count elements that are read; a scan writes as many."]),
    "calls": ("The host's time of the library's calls", [
        "Microseconds until a call returns, on a stream without a graph and with a workspace, the GPU idle: the least of 200 means",
        "of five calls. *a launch*: of an empty kernel, in the same way."]),
}


def own_page(subject, lines, facts):
    title, remarks = OWN_COLUMNS[subject]
    notes = [line.lstrip("# ") for line in lines if line.startswith("#")]
    names = notes.pop().split("\t")
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    out = [f"# {title}", "",
           f"{notes[0]}; driver {facts['driver_version']}, {facts['nvcc']}, {facts['date']}; taken with `./dev gpu 9 library`, "
           "written by `measure/pages/library_table.py`.", "", *remarks, "",
           *[f"- {note}" for note in notes[1:]], *([""] if notes[1:] else []),
           "| " + " | ".join(names) + " |", "| --- | --- | --- |" + " ---: |" * (len(names) - 3)]
    out += ["| " + " | ".join(row + [""] * (len(names) - len(row))) + " |" for row in rows]
    return "\n".join(out) + "\n"


def sanitizer_page(log, facts):
    """compute-sanitizer's output for every test of the library, from the session's log."""
    tools = ["memcheck", "racecheck", "synccheck", "initcheck"]
    found = {}
    for line in log:
        parts = re.match(r"\s*\d+ s  library, (\w+), (\w+): =* ?(.*)", line)
        if parts:
            said = parts[3].split(": ", 1)[-1]
            missing = re.search(r"no time left|cut off after|[Tt]arget application", parts[3])
            found.setdefault(parts[1], {})[parts[2]] = "not run" if missing else said
    out = ["# The library's tests under compute-sanitizer", "",
           f"{facts['name']}, driver {facts['driver_version']}, {facts['nvcc']}, {facts['date']}; taken with `./dev gpu 9 library`, "
           "written by `measure/pages/library_table.py`. The tests are those of `tests/library`, and are right on the card.", "",
           "| test | " + " | ".join(tools) + " |", "| --- |" + " --- |" * len(tools)]
    for test, said in found.items():
        out.append(f"| {test} | " + " | ".join(said.get(tool, "not run") for tool in tools) + " |")
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", required=True)
    parser.add_argument("--log", type=pathlib.Path, help="session.log, for the page of compute-sanitizer")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("tables", nargs="+", type=pathlib.Path)
    given = parser.parse_args()
    facts = json.load(open(given.facts))
    card = "h200" if "H200" in facts["name"] else "h100" if "H100" in facts["name"] else facts["name"].lower().replace(" ", "-")
    if given.log:
        text = sanitizer_page(given.log.read_text().splitlines(), facts)
        (given.folder / f"sanitizer-{card}.md").write_text(text)
    for table in given.tables:
        lines = table.read_text().splitlines()
        text = (own_page if table.stem in OWN_COLUMNS else page)(table.stem, lines, facts)
        (given.folder / f"{table.stem.replace('_', '-')}-{card}.md").write_text(text)


if __name__ == "__main__":
    main()
