# SPDX-License-Identifier: MIT
"""Kinds of arrays: how they are read, on which stream their package computes, and how results become one of them."""
from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _gpu
from .._arrays import TYPES, check_dtype, from_dlpack_of
from .._calls import add_whole_arrays
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
def torch_stream() -> Callable[[int], int]:
    """The handle of PyTorch's current stream of a device."""
    torch: Any = sys.modules["torch"]
    # Without an object for the stream.
    raw: Callable[[int], int] | None = getattr(getattr(torch, "_C", None), "_cuda_getCurrentRawStream", None)
    return raw or (lambda device: int(torch.cuda.current_stream(device).cuda_stream))


@functools.cache
def torch_tensors() -> _gpu.Tensors:
    """What reads and makes PyTorch's tensors. On the current device they are made as by code that torch.compile generates,
    where PyTorch has this function: that takes a third of the time of torch.empty."""
    torch: Any = sys.modules["torch"]
    inner = getattr(torch, "_C", None)
    empty_here = getattr(getattr(getattr(inner, "_dynamo", None), "guards", None), "_empty_strided_cuda", None)
    get_device = getattr(inner, "_cuda_getDevice", None)
    tensors = _gpu.Tensors(tuple(getattr(torch, dtype.name, None) for dtype in TYPES), torch.strided, torch_stream(), torch.empty,
                           *((empty_here, get_device) if empty_here and get_device else (None, None)))
    add_whole_arrays(torch.Tensor, _gpu.WholeArrays(torch.Tensor, tensors).call)
    return tensors


def read_torch(tensor: Any, place: Place | None, call: str, name: str) -> DeviceArray:
    """A tensor on a GPU. What is said of it at fault is what its interface says."""
    found: DeviceArray | None = torch_tensors().read(tensor, place)
    if found is not None:
        return found
    if not tensor.requires_grad and tensor.layout is sys.modules["torch"].strided and tensor.is_neg():
        return read_torch(tensor.resolve_neg(), place, call, name)
    device = tensor.device.index
    return read_interface(tensor, place or (device, torch_stream()(device)), call, name)


def read_cupy(array: Any, place: Place, call: str, name: str) -> DeviceArray:
    check_dtype(array.dtype, call, name)
    return DeviceArray(array.data.ptr, array.dtype, array.shape, array.strides, place, array)


def read_device(x: Any, place: Place | None, call: str, name: str) -> DeviceArray:
    """An array in device memory, in place."""
    if package_of(x) == "torch":
        return read_torch(x, place, call, name)
    if hasattr(x, "__cuda_array_interface__"):
        return read_interface(x, place, call, name)
    return read_dlpack(x, place, call, name)


class Kind:
    """Arrays of other packages. Results are a DeviceArray, or what `hand_back` makes of it once they are enqueued.

    Attributes
    ----------
    has_allocator : whether `make` takes memory of the package, which gets it back, in the order of its stream, when no one has the
        array any more
    """

    __slots__ = ("hand_back", "place")
    has_allocator = False

    def __init__(self, place: Place, hand_back: Callable[[Any], Any] | None = None) -> None:
        self.place = place
        self.hand_back = hand_back

    def make(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[Any, DeviceArray]:
        """A new array of the kind, row-major, and its elements."""
        room = _gpu.Memory(self.place, math.prod(shape) * dtype.itemsize)
        array = DeviceArray(room.address, dtype, shape, None, self.place, room)
        return array, array


class TorchKind(Kind):
    """Tensors, on PyTorch's current stream of their device."""

    __slots__ = ("_device",)
    has_allocator = True

    def __init__(self, place: Place, device: Any) -> None:
        super().__init__(place)
        self._device = device

    def make(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[Any, DeviceArray]:
        return torch_tensors().make(shape, dtype, self.place, self._device)


class CuPyKind(Kind):
    """CuPy's arrays, on its current stream of their device."""

    __slots__ = ()
    has_allocator = True

    def make(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[Any, DeviceArray]:
        cupy: Any = sys.modules["cupy"]
        if _gpu.current_device() == self.place[0]:
            array = cupy.empty(shape, dtype)
        else:
            with cupy.cuda.Device(self.place[0]):
                array = cupy.empty(shape, dtype)
        return array, DeviceArray(array.data.ptr, dtype, shape, None, self.place, array)


def _maker_of(x: Any) -> Callable[[Any], Any] | None:
    """What makes an array of the package of `x` from a DeviceArray; None if there is nothing that does."""
    if type(x).__module__.partition(".")[0] in ("numba", "numba_cuda"):
        return functools.partial(sys.modules["numba.cuda"].as_cuda_array, sync=False)
    return from_dlpack_of(x)


def kind_of(x: Any, call: str, name: str) -> tuple[Kind, DeviceArray]:
    """The kind of an array in device memory, and its elements."""
    package = package_of(x)
    if package == "torch":
        array = read_torch(x, None, call, name)
        return TorchKind(array.place, x.device), array
    if package == "cupy":
        device = x.data.device_id
        place = device, sys.modules["cupy"].cuda.get_current_stream(device).ptr
        return CuPyKind(place), read_cupy(x, place, call, name)
    array = x if isinstance(x, DeviceArray) else read_device(x, None, call, name)
    return Kind(array.place, None if package else _maker_of(x)), array


def host_kind() -> Kind:
    """Where host arrays are computed: the default stream of the current device."""
    return Kind((_gpu.current_device(), DEFAULT_STREAM))
