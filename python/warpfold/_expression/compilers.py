# SPDX-License-Identifier: MIT
"""Compilers at run time: one of the host, and NVRTC. What they make is kept in a folder: WARPFOLD_CACHE, or warpfold in
XDG_CACHE_HOME, by default ~/.cache."""
from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from typing import Any

from .._devices import cuda_libraries

HOST_OPTIONS = ("-std=c++17", "-O3", "-fPIC", "-shared", "-fwrapv", "-ffp-contract=off", "-fno-math-errno",
                "-fno-trapping-math", "-w")
GPU_OPTIONS = ("--std=c++17", "--fmad=false")
PTX = "compute_75"
DIGEST_BYTES = hashlib.sha256().digest_size
NVRTC_NAMES = ("libnvrtc.so.13", "libnvrtc.so.12")


def _cache() -> pathlib.Path:
    """The folder, which is the user's own; a new one for this process if it cannot be."""
    chosen = os.environ.get("WARPFOLD_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = pathlib.Path(chosen or os.path.join(base, "warpfold"))
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        about = folder.stat()
        is_own = about.st_uid == os.getuid() and not about.st_mode & 0o022 and os.access(folder, os.W_OK)
    except OSError:
        is_own = False
    return folder if is_own else _folder_of_the_process()


@functools.cache
def _folder_of_the_process() -> pathlib.Path:
    room = tempfile.TemporaryDirectory(prefix="warpfold-")
    _ROOMS.append(room)
    return pathlib.Path(room.name)


_ROOMS: list[tempfile.TemporaryDirectory[str]] = []  # removed when the process ends


def _whole(place: pathlib.Path) -> bytes | None:
    """What `make` wrote to a file of the cache, which ends with its digest; None if the file is missing or damaged. The loader maps
    files: it kills the process where one is shorter than its headers say."""
    try:
        content = place.read_bytes()
    except FileNotFoundError:
        return None
    made, digest = content[:-DIGEST_BYTES], content[-DIGEST_BYTES:]
    return made if hashlib.sha256(made).digest() == digest else None


def _made(source: str, suffix: str, compiler: str, make: Callable[[pathlib.Path], None]) -> tuple[pathlib.Path, bytes]:
    """The file of this source in the cache, and what `make` wrote to it. Other processes see it when it is complete."""
    key = hashlib.sha256("\0".join((compiler, source)).encode()).hexdigest()
    place = _cache() / f"{key}{suffix}"
    made = _whole(place)
    if made is None:
        with tempfile.TemporaryDirectory(dir=place.parent) as room:
            written = pathlib.Path(room, f"made{suffix}")
            make(written)
            made = written.read_bytes()
            with written.open("ab") as file:
                file.write(hashlib.sha256(made).digest())
                file.flush()
                os.fsync(file.fileno())  # else the name may be on the disk before the bytes
            os.replace(written, place)
    return place, made


# The host.

@functools.cache
def host_compiler() -> tuple[str, str]:
    """Path and version. Raises RuntimeError if there is none."""
    for name in (os.environ.get("CXX", ""), "g++", "clang++", "c++"):
        path = shutil.which(name) if name else None
        if path:
            version = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
            return path, version
    raise RuntimeError("warpfold: op: on the host an operation needs a C++ compiler, and there is none: CXX names none, and g++, "
                       "clang++ and c++ are not on PATH")


@functools.cache
def host_function(source: str) -> int:
    """The address of the function `run` of C++."""
    path, version = host_compiler()

    def make(place: pathlib.Path) -> None:
        text = place.with_suffix(".cpp")
        text.write_text(source)
        done = subprocess.run([path, *HOST_OPTIONS, "-o", str(place), str(text)], capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"warpfold: op: {path} failed:\n{done.stderr}\n{source}")
        if not place.exists():
            raise RuntimeError(f"warpfold: op: {path} succeeded and wrote no file; CXX must name a C++ compiler\n{done.stderr}")

    made = functools.partial(_made, source, ".so", " ".join((path, version, *HOST_OPTIONS)), make)
    try:
        library = ctypes.CDLL(str(made()[0]))
    except OSError:  # made by another machine, whose libraries are newer
        made()[0].unlink(missing_ok=True)
        library = ctypes.CDLL(str(made()[0]))
    return ctypes.cast(library.run, ctypes.c_void_p).value or 0


# NVRTC.

@functools.cache
def nvrtc() -> Any:
    """The library. Raises RuntimeError if there is none."""
    for name in NVRTC_NAMES:
        for place in cuda_libraries(name):
            try:
                return ctypes.CDLL(place)
            except OSError:
                continue
    raise RuntimeError("warpfold: op: on a GPU an operation needs NVRTC, and there is none: install the CUDA toolkit, or "
                       "nvidia-cuda-nvrtc from PyPI")


def _checked(code: int, call: str) -> None:
    if code:
        describe = nvrtc().nvrtcGetErrorString
        describe.restype = ctypes.c_char_p
        raise RuntimeError(f"warpfold: op: {call}: {describe(code).decode()}")


def _output(program: ctypes.c_void_p, what: str) -> bytes:
    """The log, the PTX or the machine code, with the 0 behind a text."""
    size = ctypes.c_size_t()
    _checked(getattr(nvrtc(), f"nvrtcGet{what}Size")(program, ctypes.byref(size)), what)
    room = ctypes.create_string_buffer(size.value)
    _checked(getattr(nvrtc(), f"nvrtcGet{what}")(program, room), what)
    return room.raw


@functools.cache
def image(source: str, architecture: str) -> bytes:
    """PTX or machine code of CUDA C++: for "compute_75", "sm_90"."""
    library = nvrtc()
    major, minor = ctypes.c_int(), ctypes.c_int()
    _checked(library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)), "nvrtcVersion")
    options = (*GPU_OPTIONS, f"--gpu-architecture={architecture}")

    def make(place: pathlib.Path) -> None:
        program = ctypes.c_void_p()
        _checked(library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"operation.cu", 0, None, None),
                 "nvrtcCreateProgram")
        try:
            given = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
            if library.nvrtcCompileProgram(program, len(options), given):
                raise RuntimeError(f"warpfold: op: NVRTC failed:\n{_output(program, 'ProgramLog').decode()}\n{source}")
            place.write_bytes(_output(program, "PTX" if architecture == PTX else "CUBIN"))
        finally:
            library.nvrtcDestroyProgram(ctypes.byref(program))

    suffix = ".ptx" if architecture == PTX else ".cubin"
    return _made(source, suffix, f"NVRTC {major.value}.{minor.value} {' '.join(options)}", make)[1]
