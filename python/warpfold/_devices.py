# SPDX-License-Identifier: MIT
"""Where a call computes: on the host, on the GPU that holds its array, or on the one that WARPFOLD_DEVICE names."""
from __future__ import annotations

import ctypes
import functools
import importlib
import importlib.util
import os
import pathlib
import re
import sys
import sysconfig
from types import ModuleType
from typing import Any

import numpy as np

CHOICES = ("host", "gpu", "softgpu")
DEVICE_MEMORY = (2, 13)  # DLPack's kDLCUDA, kDLCUDAManaged
DLPACK_ERRORS = (AttributeError, BufferError, RuntimeError, TypeError, ValueError)  # what exporters raise
RUNTIME = re.compile(rb"libcudart\.so\.\d+")


@functools.cache
def host_arrays_go_to() -> str:
    """WARPFOLD_DEVICE, read once: where arrays in host memory are computed on. Raises ValueError for another value."""
    chosen = os.environ.get("WARPFOLD_DEVICE", "") or "host"
    if chosen not in CHOICES:
        raise ValueError(f"WARPFOLD_DEVICE is {chosen!r}, and must be one of {', '.join(CHOICES)}")
    return chosen


@functools.lru_cache(maxsize=256)
def package_of_type(kind: Any) -> str:
    """See package_of()."""
    if issubclass(kind, (np.ndarray, np.generic, list, tuple, int, float)):
        return "host"
    for package, name in (("torch", "Tensor"), ("cupy", "ndarray"), ("warpfold._on_gpu", "DeviceArray")):
        module = sys.modules.get(package)
        if module is not None and issubclass(kind, getattr(module, name, ())):
            return package.partition(".")[0]
    return ""


def package_of(x: Any) -> str:
    """Whose array an object is, of subclasses too: "torch", "cupy", "warpfold", "host" for NumPy and Python; else empty."""
    kind: Any = type(x)
    return package_of_type(kind)


def is_on_device(x: Any) -> bool:
    """Whether an object is an array in device memory."""
    package = package_of(x)
    if package:  # to make an interface takes longer
        return bool(x.is_cuda) if package == "torch" else package != "host"
    if hasattr(x, "__cuda_array_interface__"):
        return True
    try:
        return hasattr(x, "__dlpack_device__") and x.__dlpack_device__()[0] in DEVICE_MEMORY
    except DLPACK_ERRORS:  # whoever reads the array says more
        return False


def _software_runtime(name: str) -> list[str]:
    path = os.environ.get("WARPFOLD_SOFTGPU_RUNTIME", "")
    if not pathlib.Path(path).is_file():
        raise RuntimeError(f"warpfold: WARPFOLD_SOFTGPU_RUNTIME is {path!r}, and must name the software GPU's {name}: "
                           f"build/PRESET/softgpu/lib/{name} of a checkout")
    return [path]


def cuda_libraries(name: str) -> list[str]:
    """Where a library of NVIDIA's may be: where the loader finds it, in its wheels, in an installed toolkit."""
    packages = pathlib.Path(sysconfig.get_path("platlib"), "nvidia")
    found = [str(path) for path in sorted(packages.glob(f"*/lib/{name}"))]
    homes = [os.environ.get("CUDA_HOME", ""), "/usr/local/cuda"]
    return [name, *found, *(f"{home}/lib64/{name}" for home in homes if home)]


@functools.cache
def gpu_module() -> ModuleType:
    """The extension module, bound to the CUDA runtime of choice.

    The runtime is loaded first: the module needs a library of its name, and the loader takes the one that is there.

    Raises TypeError if the package was built without it, RuntimeError if there is no runtime.
    """
    spec = importlib.util.find_spec("warpfold._gpu")
    if spec is None or not spec.origin or spec.origin.endswith(".pyi"):
        raise TypeError("warpfold: this package was built without nvcc and does not compute on a GPU")
    needed = RUNTIME.search(pathlib.Path(spec.origin).read_bytes())
    name = needed.group().decode() if needed else "libcudart.so.13"
    failures = []
    for place in _software_runtime(name) if host_arrays_go_to() == "softgpu" else cuda_libraries(name):
        try:
            ctypes.CDLL(place, mode=ctypes.RTLD_GLOBAL)
            return importlib.import_module("warpfold._gpu")
        except OSError as error:
            failures.append(str(error))
    raise RuntimeError(f"warpfold: no CUDA runtime: {'; '.join(failures)}")
