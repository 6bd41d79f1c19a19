#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""host_table.py FOLDER [--keep RAW]: a page of docs/results with the library on the host's cores beside its peers.

FOLDER holds the benchmarks of benchmarks/library (build/<preset>/benchmarks/library). They run with five repetitions
each, and so do NumPy's scripts. --keep stores their output in a folder; --from RAW writes the page from there.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parents[2] / "benchmarks" / "library" / "host"
PROGRAMS = ["benchmark_library", "benchmark_sums", "benchmark_histogram", "benchmark_convolve"]
SCRIPTS = ["numpy_histogram.py", "numpy_convolve.py"]
PEERS = {"onetbb": "oneTBB", "openmp": "OpenMP", "one": "ours on one thread", "execution": "std::execution", "opencv": "OpenCV", "std": "the standard library",
         "numpy": "NumPy"}
TYPES = {"std::uint8_t": "u8", "std::int8_t": "i8", "std::int32_t": "i32", "float": "f32", "double": "f64"}
SINGLE = {"sum": "sum", "min_max": "min-max", "arg_max": "arg_max", "exact": "exact_sum, f32", "dot": "exact_dot, f32",
          "exact_of_any": "exact_sum, f32 of all exponents", "exact_of_doubles": "exact_sum, f64"}
KINDS = {"line": "convolve 1D f32", "square": "convolve 2D f32", "separable": "separable convolve f32"}


def case_of(name):
    """(what, who) of a benchmark's name; None for ceilings and benchmarks outside the table."""
    name = re.sub(r"/(process_time|real_time)", "", name)
    counting = re.fullmatch(r"counting<(\w+), ([\w:]+)>/(\d+)/([01])", name)
    if counting:
        who, kind, bins, constant = counting.groups()
        return f"histogram {TYPES[kind]}, {bins} bins" + (", constant input" if constant == "1" else ""), who
    convolve = re.fullmatch(r"(line|square|separable)_(\w+)/(\d+)", name)
    if convolve:
        return f"{KINDS[convolve[1]]}, k = {convolve[3]}", convolve[2]
    scan = re.fullmatch(r"(inclusive|exclusive)_(ours|onetbb|execution|std)<([\w:]+)>", name)
    if scan:
        return f"{scan[1]}_scan {TYPES[scan[3]]}", scan[2]
    segments = re.fullmatch(r"segments(?:_(\w+))?/(\d+)", name)
    if segments:
        return f"segmented sum f32, segments of {int(segments[2]):,}", segments[1] or "ours"
    single = re.fullmatch(r"(sum|min_max|arg_max)_(\w+)/(\d+)", name)
    if single:
        short = int(single[3]) != 1 << 26
        return SINGLE[single[1]] + " f32" + (f", {int(single[3]):,} elements" if short else ""), single[2]
    return (SINGLE[name], "ours") if name in SINGLE else None


def ceiling_of(name):
    name = re.sub(r"/(process_time|real_time)", "", name)
    if re.fullmatch(r"reading(/67108864)?", name):
        return "read"
    copying = re.fullmatch(r"copying(?:<([\w:]+)>)?", name)
    return None if not copying or copying[1] not in (None, "float") else "copy"


def take(folder, raw):
    raw.mkdir(parents=True, exist_ok=True)
    for program in PROGRAMS:
        subprocess.run([folder / program, "--benchmark_repetitions=5", "--benchmark_min_time=0.15",
                        "--benchmark_enable_random_interleaving=true", "--benchmark_out_format=json",
                        f"--benchmark_out={raw / program}.json"], check=True, stdout=subprocess.DEVNULL)
    for script in SCRIPTS:
        said = subprocess.run([sys.executable, HERE / script], capture_output=True, text=True)
        if said.returncode != 0:  # no NumPy, say
            print(f"host_table: no row of {script}: {said.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        (raw / f"{script}.tsv").write_text(said.stdout)


def peers_of(times, scale, digits):
    """The columns of the peers: the fastest, its time, the factor, the others."""
    ours = times["ours"][0]
    peers = sorted((time[0], PEERS[who]) for who, time in times.items() if who not in ("ours", "program"))
    if not peers:
        return "– | – | – | –"
    others = ", ".join(f"{who} {scale * time:.{digits}f}" for time, who in peers[1:]) or "–"
    return f"{peers[0][1]} | {scale * peers[0][0]:.{digits}f} | {peers[0][0] / ours:.2f} | {others}"


def page(raw):
    cases, limits, context = {}, {}, {}
    for program in PROGRAMS:
        document = json.loads((raw / f"{program}.json").read_text())
        context = context or document["context"]
        of_program = {}
        for one in document["benchmarks"]:
            if one.get("aggregate_name") != "median":
                continue
            if ceiling_of(one["run_name"]):
                of_program[ceiling_of(one["run_name"])] = one["bytes_per_second"] / 1e9
            elif case_of(one["run_name"]):
                what, who = case_of(one["run_name"])
                times = (one["real_time"], one.get("bytes_per_second", 0) / 1e9)
                cases.setdefault(what, {"program": program})[who] = times
        limits[program] = of_program
    for script in SCRIPTS:
        for line in (raw / f"{script}.tsv").read_text().splitlines():
            name, milliseconds = line.split("\t")[:2]
            what, who = case_of(name)
            if what in cases:
                cases[what][who] = (float(milliseconds.split()[0]), 0)
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    out = ["# The library on the host's cores beside its peers", "",
           f"{model}, {context['num_cpus']} threads; {context['date'][:16].replace('T', ' ')}; written by "
           "`measure/pages/host_table.py`.", "",
           "2^26 samples (bytes: as many). Milliseconds, medians of five runs in random order; NumPy, which has one thread, comes",
           "right after, in runs of its own. " + ("" if any("opencv" in times for times in cases.values()) else "OpenCV was not there. ") +
           "The factor is the fastest peer's time over ours: above 1 where ours is faster. The ceilings,",
           "reading and copying 2^26 floats with the same threads, are taken by each program anew. The bytes of segmented sums are",
           "those of elements, offsets and results.", ""]
    for program, limit in limits.items():
        out.append(f"- {program}: " + ", ".join(f"{what} {rate:.1f} GB/s" for what, rate in limit.items()))
    natural = {what: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", what.replace(",", ""))]
               for what in cases}
    ordered = sorted(cases.items(), key=lambda case: (PROGRAMS.index(case[1]["program"]), natural[case[0]]))
    ordered = [(what, times) for what, times in ordered if "ours" in times]
    out += ["", "| what | ours | GB/s | of the ceiling | fastest peer | its time | factor | others |",
            "| --- | ---: | ---: | ---: | --- | ---: | ---: | --- |"]
    for what, times in ordered:
        if "elements" in what:
            continue
        ours, rate = times["ours"]
        kind = "copy" if "scan" in what or "convolve" in what else "read"
        limit = limits[times["program"]].get(kind)
        share = f"{100 * rate / limit:.0f} % of {kind}" if limit and rate else "–"
        out.append(f"| {what} | {ours:.1f} | {rate:.1f} | {share} | {peers_of(times, 1, 1)} |")
    out += ["", "## Short arrays", "", "Microseconds, in the processor's caches.", "",
            "| what | ours | fastest peer | its time | factor | others |", "| --- | ---: | --- | ---: | ---: | --- |"]
    out += [f"| {what} | {1e3 * times['ours'][0]:.2f} | {peers_of(times, 1e3, 2)} |"
            for what, times in ordered if "elements" in what]
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, nargs="?")
    parser.add_argument("--keep", type=pathlib.Path, default=pathlib.Path("build/host-results"))
    parser.add_argument("--from", dest="raw", type=pathlib.Path)
    given = parser.parse_args()
    if (given.folder is None) == (given.raw is None):
        parser.error("either a folder of benchmarks, or --from")
    if given.raw is None:
        take(given.folder, given.keep)
    sys.stdout.write(page(given.raw or given.keep))


if __name__ == "__main__":
    main()
