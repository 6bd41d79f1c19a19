# SPDX-License-Identifier: MIT
"""The own tests of tinygrad and of cuda.core, which their wheels do not have: those of one release each, with the wheel of that
release. Environment: CUDA_HOME, a toolkit; WARPFOLD_TOOL; WARPFOLD_SUITES: see cpp_stacks.py."""
import os
import re
import subprocess

import cpp_stacks
import cpp_suites
from large_stacks import BUILD, TESTS

TINYGRAD = cpp_suites.Suite("tinygrad/tinygrad", "v0.12.0", None)
CUDA_PYTHON = cpp_suites.Suite("NVIDIA/cuda-python", "cuda-core-v0.5.1", None)


def python_for(stack):
    """Of the environment with the release, which is made if it is not there."""
    TESTS[stack].fetch()
    return TESTS[stack].python


def files_of(name, suite, folder, pattern):
    """The checkout, and its files of tests by the names that the table gives them."""
    checkout = cpp_stacks.sources_of(name, suite, BUILD / "sources")
    return checkout, {".".join(file.relative_to(checkout / folder).with_suffix("").parts): file
                      for file in sorted((checkout / folder).glob(pattern))}


def tinygrads_libraries(python, place):
    """tinygrad 0.12 looks for the driver and for headers in CUDA_PATH alone, and for NVRTC where a toolkit would be installed."""
    place.mkdir(parents=True, exist_ok=True)
    folder = subprocess.run([os.environ["WARPFOLD_TOOL"], "run", "--", "sh", "-c", "echo ${LD_LIBRARY_PATH%%:*}"],
                            capture_output=True, text=True, check=True).stdout.strip()
    for link, target in {"libcuda.so.1": f"{folder}/libcuda.so.1", "include": f"{os.environ['CUDA_HOME']}/include"}.items():
        (place / link).unlink(missing_ok=True)
        (place / link).symlink_to(target)
    (nvrtc,) = python.parents[1].glob("lib/python3*/site-packages/nvidia/cu13/lib/libnvrtc.so.13")
    return {"CUDA_PATH": str(place), "NVRTC_PATH": str(nvrtc)}


def tinygrad_suite(pytest_module, limit, only):
    """Each file of tinygrad's tests twice: by CUDA C++, and by its PTX renderer."""
    python = python_for("tinygrad")
    checkout, files = files_of("tinygrad", TINYGRAD, "test", "test_*.py")
    environment = {"CUDA": "1", "PYTHONPATH": str(checkout), "CACHEDB": str(BUILD / "tinygrad-cache.db"),
                   **tinygrads_libraries(python, BUILD / "tinygrad-cuda")}
    renderers = {"cuda": {}, "ptx": {"CUDA_PTX": "1"}}
    return [pytest_module(f"{renderer}.{name}", file, limit, python=python, **environment, **more)
            for renderer, more in renderers.items() for name, file in files.items() if re.search(only or "", f"{renderer}.{name}")]


def cuda_core_suite(pytest_module, limit, only):
    """Each file of cuda.core's tests, without those that need Cython or run its examples."""
    python = python_for("cuda_core")
    checkout, files = files_of("cuda-python", CUDA_PYTHON, "cuda_core", "tests/**/test_*.py")
    fixtures = [f"--rootdir={checkout}", f"--confcutdir={checkout}"]  # conftest.py is above some of them
    return [pytest_module(name, file, limit, fixtures, python, CUDA_PATH=os.environ["CUDA_HOME"])
            for name, file in files.items()
            if not name.startswith(("tests.cython", "tests.example_tests")) and re.search(only or "", name)]
