# SPDX-License-Identifier: MIT
"""Helpers of the scripts' tests."""
import importlib.util
import os
import pathlib
import stat
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def load(script):
    """Loads a script of the tree as a module; it may import those of its folder."""
    sys.path.insert(0, str((ROOT / script).parent))
    spec = importlib.util.spec_from_file_location(pathlib.Path(script).stem, ROOT / script)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(*command, **environment):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1200,
                          env={**os.environ, **environment}, check=False)


def fake_nvcc(folder, release, status=0):
    """Creates a program that answers --version like nvcc of that release."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "nvcc"
    path.write_text(f"#!/bin/sh\necho 'Cuda compilation tools, release {release}, V{release}.88'\nexit {status}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path
