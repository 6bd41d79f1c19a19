# SPDX-License-Identifier: MIT
"""The Python that PyTorch's own kernels are tested with: PyTorch 1.5.1 is the newest version of PyPI with PTX, and its newest
wheels are for Python 3.8."""
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = HERE.parents[1] / "build/stacks/torch"
PYTHON = FOLDER / "bin/python"
PINS = HERE / "requirements_torch.txt"


def is_there():
    copied = FOLDER / ".wheels"
    return copied.exists() and copied.read_text() == PINS.read_text()


def fetch():
    """Makes build/stacks/torch, 2 GB. Returns False, after one line, if there is no Python 3.8."""
    if is_there():
        return True
    python = shutil.which("python3.8")
    if python is None or subprocess.run([python, "-c", ""], stderr=subprocess.DEVNULL, check=False).returncode != 0:
        print("torch: needs python3.8 in PATH, for which the only wheels with PTX are", file=sys.stderr)
        return False
    print("torch: fetching PyTorch 1.5.1 into build/stacks/torch (2 GB)", file=sys.stderr)
    shutil.rmtree(FOLDER, ignore_errors=True)
    subprocess.run([python, "-m", "venv", FOLDER], check=True)
    subprocess.run([PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary=:all:",
                    "-r", PINS], check=True)
    shutil.copy(PINS, FOLDER / ".wheels")
    return True


def versions():
    asked = "import importlib.metadata as m; print('torch', m.version('torch'))"
    return subprocess.run([PYTHON, "-c", asked], capture_output=True, text=True, check=True).stdout.strip()
