# SPDX-License-Identifier: MIT
"""A call on a GPU. It enqueues on the stream of its array, and returns before the work is done."""
from __future__ import annotations

import math
import struct
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import _gpu
from .._arrays import INT64, UINT64, Array, NumPyArray, Output, Source, check_dtype, count_write, fold_type, read
from .._calls import Call
from .._devices import is_on_device
from .array import DeviceArray
from .kinds import Kind, host_kind, kind_of, read_device

BYTES: np.dtype[Any] = np.dtype(np.uint8)
DOUBLE, BITS = struct.Struct("=d"), struct.Struct("=Q")
# Bytes of temporary memory that come from the caller's allocator, if there is one: the device's pool, which serves small arrays
# faster, gives so much back to the system at every wait.
POOL_KEEPS = 1 << 20


class GpuCall(Call):
    """A call on arrays in device memory. Its memory is freed, in the order of the stream, when the call ends.

    Parameters
    ----------
    name : str
        Of the call, for messages.
    x : array
        In device memory; or in host memory, and copied to the current device.
    argument : str
        The name of `x`, for messages.
    is_there : bool
        Whether `x` is in device memory.
    """

    engine = _gpu
    is_on_host = False

    def __init__(self, name: str, x: Any, argument: str, is_there: bool) -> None:
        self.name = name
        self._rooms: list[_gpu.Memory] = []
        self._kept: list[DeviceArray] = []
        self._operands: list[DeviceArray] = []
        self.host_source: Source | None = None  # of an array in host memory
        self.kind: Kind
        if is_there:
            self.kind, self.array = kind_of(x, name, argument)
        else:
            self.host_source = read(x, name, argument)
            self.kind = host_kind()
            self.array = self.uploaded(self.host_source.array)
        self.place = self.kind.place
        self.package = self.kind.package

    def __exit__(self, *_: object) -> None:
        for room in self._rooms:
            room.free()

    def empty(self, shape: Sequence[int], dtype: Any) -> DeviceArray:
        chosen: np.dtype[Any] = np.dtype(dtype)
        size = math.prod(shape) * chosen.itemsize
        if size > POOL_KEEPS and self.package is not None:
            array = self.kind.make((size,), BYTES)[1]
            self._kept.append(array)
            return DeviceArray(array.address, chosen, shape, None, self.kind.place, array)
        room = _gpu.Memory(self.kind.place, size)
        self._rooms.append(room)
        return DeviceArray(room.address, chosen, shape, None, self.kind.place, room)

    def uploaded(self, array: NumPyArray) -> DeviceArray:
        target = self.empty(array.shape, array.dtype)
        if array.size:
            _gpu.to_device(np.ascontiguousarray(array), target)
        return target

    def operand(self, x: Any, name: str) -> DeviceArray:
        if not is_on_device(x):
            return self.uploaded(read(x, self.name, name).array)
        array = read_device(x, self.place, self.name, name)
        self.check_device(array, name)
        self._operands.append(array)
        return array

    def inputs(self) -> list[DeviceArray]:
        """The arrays of the caller in device memory."""
        return [self.array, *self._operands]

    def check_device(self, array: DeviceArray, name: str) -> None:
        """Raises ValueError if an array is on another device."""
        if array.size and _gpu.device_of(array.address) != self.place[0]:
            raise ValueError(f"{self.name}: {name} is not on device {self.place[0]}, on which the call computes")

    def on_host(self, x: Any, name: str) -> NumPyArray:
        if is_on_device(x):
            return read_device(x, self.place, self.name, name).to_host()
        return read(x, self.name, name).array

    def to_host(self, array: Array) -> NumPyArray:
        found: NumPyArray = array.to_host()
        return found

    def copy(self, array: Array, out: Array) -> None:
        _gpu.copy(array, out)

    def copy_where(self, array: Array, mask: Array, out: Array) -> None:
        _gpu.copy_where(array, mask, out)

    def marked(self, size: int, places: Array) -> DeviceArray:
        marks: DeviceArray = self.filled((size,), False, np.bool_)
        _gpu.mark(places, marks)
        return marks

    def apply(self, op: int, array: Array, other: Any, out: Array) -> None:
        fold = fold_type(out.dtype if out.dtype.kind != "b" else array.dtype)
        operand, bits = None, 0
        if isinstance(other, DeviceArray):
            operand = other
        elif fold in (INT64, UINT64):
            bits = np.asarray(other).astype(np.int64 if fold == INT64 else np.uint64).view(np.uint64).item()
        else:
            (bits,) = BITS.unpack(DOUBLE.pack(other))
        _gpu.apply(op, fold, array, operand, bits, out)

    def broadcast(self, array: Array, shape: Sequence[int]) -> DeviceArray:
        view: DeviceArray = array.broadcast_to(shape)
        return view

    def results(self, out: Any, shape: tuple[int, ...], dtype: Any) -> NewResults | Results:
        if out is None and self.host_source is None:
            return NewResults(*self.kind.make(shape, np.dtype(dtype)), self.kind.hand_back)
        return Results(self, out, shape, np.dtype(dtype))

    def handed(self, array: Array) -> Any:
        if self.host_source is not None:
            return self.host_source.hand_back(array.to_host())
        target = NewResults(*self.kind.make(array.shape, array.dtype), self.kind.hand_back)
        self.copy(array, target.array)
        return target.finish()

    def sent(self, array: NumPyArray) -> Any:
        if self.host_source is not None:
            return self.host_source.hand_back(array if array.base is None else array.copy())
        target = NewResults(*self.kind.make(array.shape, array.dtype), self.kind.hand_back)
        if array.size:
            _gpu.to_device(np.ascontiguousarray(array), target.array)
        return target.finish()

    def shortened(self, target: NewResults | Results, number: int) -> Any:
        """See Call. They stay where they are if they are at least a quarter of all."""
        if isinstance(target, NewResults) and 4 * number >= target.array.size:
            return target.finish(number)
        return self.handed(target.array[:number])

    def contiguous(self, array: Array, dtype: Any = None) -> DeviceArray:
        chosen = array.dtype if dtype is None else np.dtype(dtype)
        is_plain = array.dtype == chosen and array.is_plain()
        plain: DeviceArray = array if is_plain else self.copied(array, chosen)
        return plain


class NewResults:
    """Results in a new array of the caller's kind."""

    __slots__ = ("_hand_back", "_made", "array")

    def __init__(self, made: Any, array: DeviceArray, hand_back: Callable[[Any], Any] | None) -> None:
        self._made = made
        self.array = array
        self._hand_back = hand_back

    @property
    def memory(self) -> None:
        """There is no `out` of the caller's."""
        return None

    def finish(self, number: int | None = None) -> Any:
        """All results, or the first `number`. To be called when they are enqueued."""
        made = self._made if number is None else self._made[:number]
        return made if self._hand_back is None else self._hand_back(made)


class Results:
    """Where results go: an array in host memory, or the caller's `out`.

    Parameters
    ----------
    out : array or None
        The argument of the call: of the same device, or in host memory if the array is.
    shape : tuple of int
        The shape that the caller sees.
    dtype : dtype
        The type in which results are computed. They are cast to the type of `out`.
    """

    def __init__(self, call: GpuCall, out: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
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
        self._call.check_device(target, "out")
        return target

    def _overlaps(self, target: DeviceArray) -> bool:
        begin, end = target.bounds()
        return any(begin < last and first < end for first, last in (array.bounds() for array in self._call.inputs()))

    @property
    def memory(self) -> NumPyArray | None:
        """The caller's `out`, as an array of addresses that must not be read."""
        if self._on_host is not None:
            return self._on_host.memory
        of = self._target
        return None if of is None else np.asarray(types.SimpleNamespace(__array_interface__={
            "data": (of.address, False), "shape": of.shape, "strides": of.strides, "typestr": of.dtype.str, "version": 3}))

    def finish(self) -> Any:
        """The caller's `out`, or the results in the caller's kind of array. Waits if they are in host memory."""
        if self._on_host is not None:
            np.copyto(self._on_host.array, self.array.to_host(), casting="unsafe")
            return self._on_host.finish()
        if self._target is not None and self._target is not self.array:
            _gpu.copy(self.array, self._target)
        count_write(self._given)
        return self._given

