# SPDX-License-Identifier: MIT
"""examples/numba_tests does what docs/team-ci.md says. Environment: WARPFOLD_TOOL, the command."""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

answer = subprocess.run([sys.executable, "-B", "-m", "pytest", "-p", "no:cacheprovider", "-p", "warpfold_pytest", "--warpfold"],
                        cwd=ROOT / "examples/numba_tests", capture_output=True, text=True, check=False,
                        env={**os.environ, "PYTHONPATH": str(ROOT / "tool/pytest"), "WARPFOLD": os.environ["WARPFOLD_TOOL"]})
print(answer.stdout, answer.stderr)
assert answer.returncode == 1
page = (ROOT / "docs/team-ci.md").read_text()
# Every line of the page's sample, where paths and a mangled name are shortened.
for line in re.search(r"```text\n(.*?)```", page, re.S)[1].splitlines():
    words = re.escape(line.strip()).replace(r"\(\.\.\.\)", r"\S*\(.*\)").replace(r"test_reverse\.py", r"\S*test_reverse\.py")
    assert re.search(words, answer.stdout), line
