# SPDX-License-Identifier: MIT
"""The checks find the mistakes of mistakes.py, in the lines that have them. Environment: WARPFOLD_TOOL, the command."""
import json
import os
import pathlib
import subprocess
import sys

import pytest

MISTAKES = pathlib.Path(__file__).with_name("mistakes.py")
LINES = MISTAKES.read_text().splitlines()


def line_of(name):
    return next(number for number, line in enumerate(LINES, 1) if line.endswith(f"# mistake: {name}") or f"# mistake: {name}:" in line)


@pytest.mark.parametrize("name, check", [("no_mask", "memory"), ("no_store_mask", "memory"), ("no_atomic", "race"),
                                         ("in_a_function", "race"), ("early_unlock", "race"), ("unwritten", "init"),
                                         ("exchange", "race"), ("assertion", "memory")])
def test_mistake(name, check, tmp_path):
    found = tmp_path / "found.json"
    answer = subprocess.run([os.environ["WARPFOLD_TOOL"], "run", "--check", "all", "--check-json", found, "--", sys.executable,
                             MISTAKES, name], capture_output=True, text=True, check=False)
    findings = [f for f in json.loads(found.read_text())["findings"] if f["check"] != "leak"]
    assert answer.returncode == 1 and {f["check"] for f in findings} == {check}, answer.stderr
    assert f"mistakes.py:{line_of(name)}" in answer.stderr, answer.stderr
