# SPDX-License-Identifier: MIT
"""example_test.py NAME: examples/NAME does what docs/team-ci.md says. Environment: WARPFOLD_TOOL, the command."""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAME = sys.argv[1]

answer = subprocess.run([sys.executable, "-B", "-m", "pytest", "-p", "no:cacheprovider", "-p", "warpfold_pytest", "--warpfold"],
                        cwd=ROOT / "examples" / NAME, capture_output=True, text=True, check=False,
                        env={**os.environ, "PYTHONPATH": str(ROOT / "tool/pytest"), "WARPFOLD": os.environ["WARPFOLD_TOOL"]})
print(answer.stdout, answer.stderr)
assert answer.returncode == 1
page = (ROOT / "docs/team-ci.md").read_text()
# Every line of the page's first sample behind the example's name, where paths and a mangled name are shortened.
for line in re.search(rf"examples/{NAME}\).*?```text\n(.*?)```", page, re.S)[1].splitlines():
    words = re.escape(line.strip()).replace(r"\(\.\.\.\)", r"\S*\(.*\)").replace(r"test_reverse\.py", r"\S*test_reverse\.py")
    assert re.search(words, answer.stdout), line
