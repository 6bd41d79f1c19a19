#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Records the golden counters of tests/counters with Nsight Compute, on a machine with a GPU.

    counter_goldens.py --program COUNTER_PROGRAM --out tests/counters/golden/CARD.json [--facts facts.json]
                       [--work FOLDER] [--seconds N]

Runs the program once by itself (it checks the results of its kernels) and then under ncu, once per group of metrics.
Groups that ncu does not finish and metrics that it does not have are skipped and reported. FOLDER keeps ncu's own
tables. Exit status: 0, 1 if a group is missing, 2 if nothing was recorded.
"""
import argparse
import csv
import json
import pathlib
import subprocess
import sys
import time

from compare_ncu import METRICS, BadInput, base_name, extent, figure

# Our counter, and the Nsight Compute metrics whose sum it equals.
L1 = "l1tex__t_{}_pipe_lsu_mem_{}_op_{}.sum"
COUNTERS = {ours: [theirs] for ours, theirs in METRICS.items()}
COUNTERS.update({
    "local_load_requests": [L1.format("requests", "local", "ld")],
    "local_load_sectors": [L1.format("sectors", "local", "ld")],
    "local_store_requests": [L1.format("requests", "local", "st")],
    "local_store_sectors": [L1.format("sectors", "local", "st")],
    "atomic_requests": [L1.format("requests", "global", op) for op in ("atom", "red")],
    "atomic_sectors": [L1.format("sectors", "global", op) for op in ("atom", "red")],
    "shared_atomic_requests": ["smsp__inst_executed_op_shared_atom.sum"],
    "shared_atomic_wavefronts": ["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum"],
    "shared_atomic_bank_conflicts": ["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum"],
})
# ncu counts these with inserted instructions: a separate run.
PATCHED = {
    "divergent_branches": ["smsp__sass_branch_targets_threads_divergent.sum"],
}
# Not compared; useful to find the cause of a difference. Bytes that several lanes request count once.
BESIDE = [
    "smsp__sass_data_bytes_mem_global_op_ld.sum",
    "smsp__sass_data_bytes_mem_global_op_st.sum",
    "smsp__sass_data_bytes_mem_shared_op_ld.sum",
    "smsp__sass_data_bytes_mem_shared_op_st.sum",
    "smsp__inst_executed_op_local_ld.sum",
    "smsp__inst_executed_op_local_st.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
    "l1tex__data_pipe_lsu_wavefronts.sum",
    "smsp__inst_executed_op_shared_atom_dot_alu.sum",
    "smsp__inst_executed_op_shared_atom_dot_cas.sum",
    "smsp__inst_executed_op_global_red.sum",
    "smsp__inst_executed_op_generic_ld.sum",
    "smsp__inst_executed_op_ldc.sum",
    "smsp__inst_executed_op_branch.sum",
    "smsp__sass_branch_targets.sum",
    "smsp__sass_branch_targets_threads_uniform.sum",
    "smsp__sass_inst_executed_op_shared_ld.sum",
    "smsp__sass_inst_executed_op_shared_st.sum",
    "idc__requests.sum",
    "smsp__inst_executed.sum",
    "smsp__thread_inst_executed.sum",
]


def known_metrics(ncu, chip):
    """This ncu's metric names for a chip, without suffixes; None if unknown."""
    found = set()
    for command in ([ncu, "--query-metrics", "--chips", chip], [ncu, "--query-metrics"]):
        try:
            text = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False).stdout
        except (OSError, subprocess.TimeoutExpired):
            continue
        found = {line.split()[0] for line in text.splitlines() if "__" in line}
        if found:
            break
    return found or None


def usable_of(metrics, known):
    """Splits metrics into known ones (all, if nothing is known) and those of the ladder, and the others."""
    have = [m for m in metrics if known is None or m.rsplit(".", 1)[0] in known or m in METRICS.values()]
    return have, [m for m in metrics if m not in have]


def read_table(path, metrics):
    """The launches of one CSV of ncu's raw page, in order: kernel, grid, block and the metrics."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        raise BadInput(f"{path}: no table of ncu's in it: {' / '.join(lines[-3:])}")
    launches = []
    for row in csv.DictReader(line for line in lines[start:] if line.startswith('"')):
        if (row.get("ID") or "").isdigit():
            launches.append({"kernel": base_name(row["Kernel Name"]), "grid": extent(row["Grid Size"]),
                             "block": extent(row["Block Size"]),
                             "metrics": {m: figure(row[m]) for m in metrics if row.get(m) is not None}})
    return launches


def take(options, names, label, metrics, seconds):
    """One run under ncu: {case: {metric: value}} with kernel and shape, or the reason for failure."""
    table = options.work / f"counters-{label}.csv"
    command = [options.ncu, "--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base",
               "--metrics", ",".join(metrics), "--log-file", str(table), str(options.program)]
    began = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=max(seconds, 1), check=False)
        print(f"ncu, {label}: {len(metrics)} metrics, status {done.returncode}, {time.monotonic() - began:.0f} s")
        if done.returncode != 0:
            print(done.stdout[-400:], done.stderr[-400:], sep="\n")
    except subprocess.TimeoutExpired:
        print(f"ncu, {label}: cut off after {seconds:.0f} s")
    except OSError as error:
        raise BadInput(f"{options.ncu}: {error.strerror}") from error
    launches = read_table(table, metrics) if table.exists() else []
    if len(launches) != len(names):
        raise BadInput(f"{table}: {len(launches)} launches of {len(names)}")
    return dict(zip(names, launches))


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=pathlib.Path, required=True, help="the built counter program")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="the golden file to write")
    parser.add_argument("--facts", type=pathlib.Path, help="facts.json of ./dev gpu")
    parser.add_argument("--ncu", default="ncu", help="Nsight Compute's command")
    parser.add_argument("--chip", default="gh100", help="whose metrics to ask for")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("."), help="where ncu's tables are left")
    parser.add_argument("--seconds", type=float, default=100, help="for all of it")
    options = parser.parse_args(arguments)
    options.program = options.program.resolve()
    options.work.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + options.seconds
    try:
        facts = json.loads(options.facts.read_text(encoding="utf-8")) if options.facts else {}
        names = subprocess.run([str(options.program), "--list"], capture_output=True, text=True, timeout=20,
                               check=True).stdout.split()
        subprocess.run([str(options.program)], capture_output=True, text=True, timeout=30, check=True)
    except subprocess.CalledProcessError as error:
        print(f"counter_goldens: {options.program} by itself fails: {error.stderr.strip()}", file=sys.stderr)
        return 2
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        print(f"counter_goldens: {error}", file=sys.stderr)
        return 2

    known = known_metrics(options.ncu, options.chip)
    if known is None:
        print("this ncu does not list its metrics: only those that count in hardware are asked for")
    golden = {"hardware": facts, "metrics": {}, "cases": {}}
    missing = 0
    for label, table in (("hardware", COUNTERS), ("patched", PATCHED), ("beside", {m: [m] for m in BESIDE})):
        if known is None and label != "hardware":
            continue
        wanted = sorted({m for metrics in table.values() for m in metrics})
        have, lacking = usable_of(wanted, known)
        if lacking:
            print(f"no such metrics here, left out: {', '.join(lacking)}")
        usable = {ours: metrics for ours, metrics in table.items() if set(metrics) <= set(have)}
        if not usable:
            continue
        try:
            taken = take(options, names, label, have, end - time.monotonic())
        except BadInput as error:
            print(f"counter_goldens: {label}: {error}")
            missing += label != "beside"
            continue
        if label == "beside":
            beside = {name: launch["metrics"] for name, launch in taken.items()}
            (options.work / "counters-beside.json").write_text(json.dumps(beside, indent=1), encoding="utf-8")
            continue
        golden["metrics"].update(usable)
        for name, launch in taken.items():
            case = golden["cases"].setdefault(
                name, {"kernel": launch["kernel"], "grid": launch["grid"], "block": launch["block"], "counters": {}})
            for ours, metrics in usable.items():
                values = [launch["metrics"].get(m) for m in metrics]
                if None not in values:
                    case["counters"][ours] = sum(values)
    if not golden["cases"]:
        print("counter_goldens: nothing was taken", file=sys.stderr)
        return 2
    text = json.dumps({"hardware": golden["hardware"], "metrics": golden["metrics"]}, indent=1)[:-2]
    cases = ",\n".join(f'  {json.dumps(name)}: {json.dumps(case)}' for name, case in golden["cases"].items())
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(f'{text},\n "cases": {{\n{cases}\n }}\n}}\n', encoding="utf-8")
    print(f"{len(golden['cases'])} cases, {len(golden['metrics'])} counters: {options.out}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
