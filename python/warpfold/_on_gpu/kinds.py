# SPDX-License-Identifier: MIT
"""Kinds of arrays: how they are read, on which stream their package computes, and how results become one of them."""
from __future__ import annotations

import functools
import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _gpu
from .._arrays import TYPES, NumPyArray, check_dtype
from .._devices import package_of
from .array import DeviceArray, Place

DEFAULT_STREAM, LEGACY_STREAM = 0, 1  # one stream: handles may be 0, those of the interfaces not


def read_interface(x: Any, place: Place | None, call: str, name: str) -> DeviceArray:
    """The array of a `__cuda_array_interface__`. Without a place it is on its own device and stream.

    Raises TypeError for a type that the package does not take, and for masks.
    """
    interface = x.__cuda_array_interface__
    if not {"shape", "typestr", "data"} <= set(interface):
        raise TypeError(f"{call}: {name} has a __cuda_array_interface__ without shape, typestr or data")
    dtype: np.dtype[Any] = np.dtype(interface["typestr"])
    if not dtype.isnative:
        raise TypeError(f"{call}: {name} has elements of the other byte order, {dtype.str}, on a GPU")
    check_dtype(dtype, call, name)
    if interface.get("mask") is not None:
        raise TypeError(f"{call}: {name} has a mask; pass it as `where`")
    address = int(interface["data"][0])
    stream = interface.get("stream") or DEFAULT_STREAM
    if place is None:
        place = (_device_of(address, call, name), stream)
    elif interface.get("stream") and stream != (place[1] or LEGACY_STREAM):
        _gpu.wait_for(place, stream)
    return DeviceArray(address, dtype, interface["shape"], interface.get("strides"), place, x)


def _device_of(address: int, call: str, name: str) -> int:
    if not address:
        return _gpu.current_device()
    device = _gpu.device_of(address)
    if device < 0:
        raise TypeError(f"{call}: {name} has a __cuda_array_interface__, and is not in device memory")
    return device


def read_dlpack(x: Any, place: Place | None, call: str, name: str) -> DeviceArray:
    """The array that an object exports by DLPack for the place's stream, or for the default stream."""
    stream = place[1] if place else DEFAULT_STREAM
    tensor = _gpu.Imported(x.__dlpack__(stream=stream or LEGACY_STREAM))
    if tensor.type == "unknown":
        raise TypeError(f"{call}: {name} has elements of a type that the package does not take")
    dtype: np.dtype[Any] = np.dtype(tensor.type)
    check_dtype(dtype, call, name)
    return DeviceArray(tensor.address, dtype, tensor.shape, tensor.strides, place or (tensor.device, stream), tensor)


@functools.cache
def torch_types() -> dict[Any, np.dtype[Any]]:
    """NumPy's types of PyTorch's."""
    torch: Any = sys.modules["torch"]
    return {getattr(torch, dtype.name): dtype for dtype in TYPES if hasattr(torch, dtype.name)}


def read_torch(tensor: Any, place: Place, call: str, name: str) -> DeviceArray:
    """A tensor on a GPU. What is said of it at fault is what its interface says."""
    dtype = torch_types().get(tensor.dtype)
    if dtype is None or tensor.requires_grad or tensor.layout is not sys.modules["torch"].strided:
        return read_interface(tensor, place, call, name)
    if tensor.is_neg():
        tensor = tensor.resolve_neg()
    strides = [step * dtype.itemsize for step in tensor.stride()]
    return DeviceArray(tensor.data_ptr(), dtype, tensor.shape, strides, place, tensor)


def read_cupy(array: Any, place: Place, call: str, name: str) -> DeviceArray:
    check_dtype(array.dtype, call, name)
    return DeviceArray(array.data.ptr, array.dtype, array.shape, array.strides, place, array)


def read_device(x: Any, place: Place | None, call: str, name: str) -> DeviceArray:
    """An array in device memory, in place."""
    if hasattr(x, "__cuda_array_interface__"):
        return read_interface(x, place, call, name)
    return read_dlpack(x, place, call, name)


class Kind:
    """Arrays of other packages. Results are a DeviceArray.

    Attributes
    ----------
    has_allocator : whether `make` takes memory of the package, which gets it back, in the order of its stream, when no one has the
        array any more
    """

    has_allocator = False

    def __init__(self, place: Place) -> None:
        self.place = place

    def make(self, shape: Sequence[int], dtype: np.dtype[Any]) -> tuple[Any, DeviceArray]:
        """A new array of the kind, row-major, and its elements."""
        size = math.prod(shape) * dtype.itemsize
        room = _gpu.Memory(self.place, size)
        array = DeviceArray(room.address, dtype, shape, None, self.place, room)
        return array, array


class TorchKind(Kind):
    """Tensors, on PyTorch's current stream of their device."""

    has_allocator = True

    def __init__(self, tensor: Any) -> None:
        self.device = tensor.device
        super().__init__((self.device.index, self._stream(self.device.index)))

    @staticmethod
    def _stream(device: int) -> int:
        torch: Any = sys.modules["torch"]
        raw = getattr(getattr(torch, "_C", None), "_cuda_getCurrentRawStream", None)  # without an object for it
        return int(raw(device) if raw else torch.cuda.current_stream(device).cuda_stream)

    def make(self, shape: Sequence[int], dtype: np.dtype[Any]) -> tuple[Any, DeviceArray]:
        torch: Any = sys.modules["torch"]
        tensor = torch.empty(tuple(shape), dtype=getattr(torch, dtype.name), device=self.device)
        return tensor, DeviceArray(tensor.data_ptr(), dtype, shape, None, self.place, tensor)


class CuPyKind(Kind):
    """CuPy's arrays, on its current stream of their device."""

    has_allocator = True

    def __init__(self, array: Any) -> None:
        self.cupy: Any = sys.modules["cupy"]
        device = array.data.device_id
        super().__init__((device, self.cupy.cuda.get_current_stream(device).ptr))

    def make(self, shape: Sequence[int], dtype: np.dtype[Any]) -> tuple[Any, DeviceArray]:
        with self.cupy.cuda.Device(self.place[0]):
            array = self.cupy.empty(tuple(shape), dtype)
        return array, DeviceArray(array.data.ptr, dtype, shape, None, self.place, array)


def kind_of(x: Any, call: str, name: str) -> tuple[Kind, DeviceArray]:
    """The kind of an array in device memory, and its elements."""
    package = package_of(x)
    if package == "torch":
        torch_kind = TorchKind(x)
        return torch_kind, read_torch(x, torch_kind.place, call, name)
    if package == "cupy":
        cupy_kind = CuPyKind(x)
        return cupy_kind, read_cupy(x, cupy_kind.place, call, name)
    array = x if isinstance(x, DeviceArray) else read_device(x, None, call, name)
    return Kind(array.place), array


def host_kind() -> Kind:
    """Where host arrays are computed: the default stream of the current device."""
    return Kind((_gpu.current_device(), DEFAULT_STREAM))


def upload(array: NumPyArray, target: DeviceArray) -> None:
    """Copies a row-major array of the host; it may be changed or freed afterwards."""
    if array.size:
        _gpu.to_device(target.place, array.ctypes.data, target.address, array.nbytes)
