# SPDX-License-Identifier: MIT
"""Reports that the built command makes, for the tests of their pages."""
import json
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = os.environ.get("WARPFOLD_TOOL") or os.path.join(os.environ.get("WARPFOLD_BUILD", ""), "tool/warpfold")


def warpfold(*arguments, **environment):
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=400, check=False,
                          env={**os.environ, **environment})


def make(*arguments, **environment):
    """Runs the command, which has to succeed."""
    answer = warpfold(*arguments, **environment)
    if answer.returncode != 0:
        raise RuntimeError(f"{arguments}: {answer.returncode}, {answer.stderr}")


def data_of(text):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1])
