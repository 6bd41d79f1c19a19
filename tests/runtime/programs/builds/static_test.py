# SPDX-License-Identifier: MIT
"""static_test.py WARPFOLD SHARED STATIC STRIP: both programs end well, with the same launches, counters and findings, and
--explain-setup tells them apart. A stripped copy of the second one is as that is."""
import json
import pathlib
import subprocess
import sys
import tempfile


def run(warpfold, program, folder):
    """The launches and the findings of a program, without times."""
    counters, findings = folder / "counters.json", folder / "findings.json"
    answer = subprocess.run([warpfold, "run", "--check", "all", "--error-exit", "0", "--counters", counters, "--check-json",
                             findings, "--", program], capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        sys.exit(f"{program} ended with {answer.returncode}\n{answer.stdout}\n{answer.stderr}")
    launches = json.loads(counters.read_text())["launches"]
    for launch in launches:
        for key in ("seconds", "process"):
            launch.pop(key, None)
    kinds = sorted((f["check"], f["kind"], f.get("kernel", "")) for f in json.loads(findings.read_text())["findings"])
    return sorted(launches, key=json.dumps), kinds


def expect_explanation(warpfold, program, runtime):
    answer = subprocess.run([warpfold, "run", "--explain-setup", "--", program], capture_output=True, text=True, check=False)
    if f"has the {runtime} CUDA runtime" not in answer.stderr:
        sys.exit(f"--explain-setup of {program}:\n{answer.stderr}")


def main():
    warpfold, shared, static, strip = sys.argv[1:]
    expect_explanation(warpfold, shared, "shared")
    expect_explanation(warpfold, static, "static")
    with tempfile.TemporaryDirectory() as folder:
        of_shared = run(warpfold, shared, pathlib.Path(folder))
        of_static = run(warpfold, static, pathlib.Path(folder))
        stripped = pathlib.Path(folder, "stripped")
        subprocess.run([strip, "-o", stripped, static], check=True)
        expect_explanation(warpfold, stripped, "static")
        of_stripped = run(warpfold, stripped, pathlib.Path(folder))
    if not of_static[0]:
        sys.exit("no launch was counted")
    if of_shared != of_static:
        sys.exit(f"shared: {of_shared}\nstatic: {of_static}")
    if of_stripped != of_static:
        sys.exit(f"static: {of_static}\nstripped: {of_stripped}")


if __name__ == "__main__":
    main()
