# SPDX-License-Identifier: MIT
"""One call on a GPU: its array, its temporary memory and its results."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _gpu
from .._arrays import FLOAT64, INT64, UINT64, NumPyArray, Output, Source, check_dtype, fold_type, read
from .._devices import is_on_device
from .array import DeviceArray
from .kinds import Kind, host_kind, kind_of, read_device, upload

ADD, MULTIPLY, MINIMUM, MAXIMUM, SUBTRACT, DIVIDE, EQUAL, NOT_EQUAL = range(8)  # `arithmetic` in python/src/gpu/calls.hpp


class Call:
    """The array of a call on its device, with memory that is freed, in the order of the stream, when the call ends.

    Parameters
    ----------
    name : str
        Of the call, for messages.
    x : array
        In device memory; or in host memory, and copied to the current device.
    argument : str
        The name of `x`, for messages.
    """

    def __init__(self, name: str, x: Any, argument: str = "a") -> None:
        self.name = name
        self._rooms: list[_gpu.Memory] = []
        self._source: Source | None = None
        self.kind: Kind
        self.array: DeviceArray
        if is_on_device(x):
            self.kind, self.array = kind_of(x, name, argument)
        else:
            self._source = read(x, name, argument)
            self.kind = host_kind()
            self.array = self.uploaded(self._source.array)
        self.place = self.kind.place

    def __enter__(self) -> Call:
        return self

    def __exit__(self, *_: object) -> None:
        for room in self._rooms:
            room.free()

    @property
    def host_source(self) -> Source | None:
        """The array in host memory, if there is one."""
        return self._source

    def empty(self, shape: Sequence[int], dtype: Any) -> DeviceArray:
        """A row-major array until the call ends."""
        chosen: np.dtype[Any] = np.dtype(dtype)
        room = _gpu.Memory(self.kind.place, math.prod(shape) * chosen.itemsize)
        self._rooms.append(room)
        return DeviceArray(room.address, chosen, shape, None, self.kind.place, room)

    def uploaded(self, array: NumPyArray) -> DeviceArray:
        """An array of the host, on the device until the call ends."""
        target = self.empty(array.shape, array.dtype)
        upload(np.ascontiguousarray(array), target)
        return target

    def operand(self, x: Any, name: str) -> DeviceArray:
        """Another array of the call, in place or copied to the device."""
        if is_on_device(x):
            array = read_device(x, self.place, self.name, name)
            self._check_device(array, name)
            return array
        return self.uploaded(read(x, self.name, name).array)

    def _check_device(self, array: DeviceArray, name: str) -> None:
        if array.size and _gpu.device_of(array.address) != self.place[0]:
            raise ValueError(f"{self.name}: {name} is not on device {self.place[0]}, on which the call computes")

    def on_host(self, x: Any, name: str) -> NumPyArray:
        """Another array of the call as a NumPy array. Waits if it is on the device."""
        if is_on_device(x):
            return read_device(x, self.place, self.name, name).to_host()
        return read(x, self.name, name).array

    def cast(self, array: DeviceArray, dtype: Any) -> DeviceArray:
        """The array itself if it has the type, else a row-major copy."""
        return array if array.dtype == np.dtype(dtype) else self.copied(array, dtype)

    def copied(self, array: DeviceArray, dtype: Any) -> DeviceArray:
        """A row-major copy."""
        result = self.empty(array.shape, dtype)
        _gpu.copy(self.place, array.description(), result.description())
        return result

    def contiguous(self, array: DeviceArray, dtype: Any = None) -> DeviceArray:
        """The array itself if it has the type, no gaps and an aligned address, else a copy."""
        chosen = array.dtype if dtype is None else np.dtype(dtype)
        if array.dtype == chosen and array.is_contiguous() and array.address % chosen.itemsize == 0:
            return array
        return self.copied(array, chosen)

    def apply(self, op: int, array: DeviceArray, other: Any, out: DeviceArray, fold: int | None = None) -> None:
        """out = array op other, in the type that elements of `out` are folded in, or in `fold`."""
        chosen = fold_type(out.dtype) if fold is None else fold
        operand, bits = None, 0
        if isinstance(other, DeviceArray):
            operand = other.description()
        else:
            wide = {INT64: np.int64, UINT64: np.uint64}.get(chosen, np.float64)
            bits = int(np.asarray(other).astype(wide).view(np.uint64))
        _gpu.apply(self.place, op, chosen, array.description(), operand, bits, out.description())

    def results(self, out: Any, shape: tuple[int, ...], dtype: Any) -> Results:
        return Results(self, out, shape, np.dtype(dtype))


class Results:
    """Where results go: a new array of the caller's kind, or the caller's `out`.

    Parameters
    ----------
    out : array or None
        The argument of the call: of the same device, or in host memory if the array is.
    shape : tuple of int
        The shape that the caller sees.
    dtype : dtype
        The type in which results are computed. They are cast to the type of `out`.
    """

    def __init__(self, call: Call, out: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self._call = call
        self._given = out
        self._target: DeviceArray | None = None
        self._on_host: Output | None = None
        source = call.host_source
        if source is not None:
            if out is not None and is_on_device(out):
                raise TypeError(f"{call.name}: out is on a GPU, and the array in host memory")
            self._on_host = Output(out, shape, dtype, source, call.name)
            self.array = call.empty(shape, dtype)
        elif out is None:
            self._given, self.array = call.kind.make(shape, dtype)
        else:
            self._target = self._checked(out, shape)
            is_direct = self._target.dtype == dtype and not self._overlaps(self._target)
            self.array = self._target if is_direct else call.empty(shape, dtype)

    def _checked(self, out: Any, shape: tuple[int, ...]) -> DeviceArray:
        name = self._call.name
        if not is_on_device(out):
            raise TypeError(f"{name}: out is of type {type(out).__name__}, and must be an array on the GPU of the input")
        target = read_device(out, self._call.place, name, "out")
        check_dtype(target.dtype, name, "out")
        if target.shape != shape:
            raise ValueError(f"{name}: out has shape {target.shape}, and the result {shape}")
        if hasattr(out, "__cuda_array_interface__") and out.__cuda_array_interface__["data"][1]:
            raise ValueError(f"{name}: out is read-only")
        self._call._check_device(target, "out")
        return target

    def _overlaps(self, target: DeviceArray) -> bool:
        begin, end = target.bounds()
        first, last = self._call.array.bounds()
        return begin < last and first < end

    def finish(self) -> Any:
        """The caller's `out`, or the results in the caller's kind of array. Waits if they are in host memory."""
        if self._on_host is not None:
            np.copyto(self._on_host.array, self.array.to_host(), casting="unsafe")
            return self._on_host.finish()
        if self._target is not None and self._target is not self.array:
            _gpu.copy(self._call.place, self.array.description(), self._target.description())
        return self._given


__all__ = ["ADD", "DIVIDE", "EQUAL", "FLOAT64", "MAXIMUM", "MINIMUM", "MULTIPLY", "NOT_EQUAL", "SUBTRACT", "Call", "Results"]
