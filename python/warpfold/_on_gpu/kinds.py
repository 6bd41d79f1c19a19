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
from .._calls import add_whole_arrays, whole_on_gpu
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


def _add_whole_arrays(kind: type, package: _gpu.Package) -> None:
    whole_on_gpu[kind] = whole = _gpu.WholeArrays(package)
    add_whole_arrays(kind, whole.call)


@functools.cache
def torch_tensors() -> _gpu.Package:
    """What reads and makes PyTorch's tensors. On the current device they are made as by code that torch.compile generates,
    where PyTorch has this function: that takes a third of the time of torch.empty."""
    torch: Any = sys.modules["torch"]
    inner = getattr(torch, "_C", None)
    empty_here = getattr(getattr(getattr(inner, "_dynamo", None), "guards", None), "_empty_strided_cuda", None)
    get_device = getattr(inner, "_cuda_getDevice", None)
    tensors = _gpu.Tensors(torch.Tensor, tuple(getattr(torch, dtype.name, None) for dtype in TYPES), torch.strided, torch_stream(),
                           torch.empty, *((empty_here, get_device) if empty_here and get_device else (None, None)))
    _add_whole_arrays(torch.Tensor, tensors)
    return tensors


@functools.cache
def cupy_arrays() -> _gpu.Package:
    """What reads and makes CuPy's arrays."""
    cupy: Any = sys.modules["cupy"]

    def elsewhere(shape: tuple[int, ...], dtype: Any, device: int) -> Any:
        with cupy.cuda.Device(device):
            return cupy.ndarray(shape, dtype)

    arrays = _gpu.CuPyArrays(cupy.ndarray, elsewhere, cupy.cuda.get_current_stream)
    _add_whole_arrays(cupy.ndarray, arrays)
    return arrays


def _in_order_of(place: Place | None, array: DeviceArray) -> DeviceArray:
    """The array for a call on a place, whose stream waits for what is on the array's own."""
    if place is None or array.place == place:
        return array
    if array.device == place[0]:
        _gpu.wait_for(place, array.stream)
    return DeviceArray(array.address, array.dtype, array.shape, array.strides, place, array)


def read_torch(tensor: Any, place: Place | None, call: str, name: str) -> DeviceArray:
    """A tensor on a GPU. What is said of it at fault is what its interface says."""
    found: DeviceArray | None = torch_tensors().read(tensor)
    if found is not None:
        return _in_order_of(place, found)
    if not tensor.requires_grad and tensor.layout is sys.modules["torch"].strided and tensor.is_neg():
        return read_torch(tensor.resolve_neg(), place, call, name)
    device = tensor.device.index
    return read_interface(tensor, place or (device, torch_stream()(device)), call, name)


def read_cupy(array: Any, place: Place | None, call: str, name: str) -> DeviceArray:
    found: DeviceArray | None = cupy_arrays().read(array)
    return read_interface(array, place, call, name) if found is None else _in_order_of(place, found)


def read_device(x: Any, place: Place | None, call: str, name: str) -> DeviceArray:
    """An array in device memory, in place."""
    package = package_of(x)
    if package in ("torch", "cupy"):
        return (read_torch if package == "torch" else read_cupy)(x, place, call, name)
    if hasattr(x, "__cuda_array_interface__"):
        return read_interface(x, place, call, name)
    return read_dlpack(x, place, call, name)


class Kind:
    """Arrays of other packages. Results are a DeviceArray, or what `hand_back` makes of it once they are enqueued.

    Attributes
    ----------
    package : what `make` takes arrays from, if it does; the package gets their memory back, in the order of its stream, when no one has the
        array any more
    """

    __slots__ = ("hand_back", "place")
    package: _gpu.Package | None = None

    def __init__(self, place: Place, hand_back: Callable[[Any], Any] | None = None) -> None:
        self.place = place
        self.hand_back = hand_back

    def make(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[Any, DeviceArray]:
        """A new array of the kind, row-major, and its elements."""
        room = _gpu.Memory(self.place, math.prod(shape) * dtype.itemsize)
        array = DeviceArray(room.address, dtype, shape, None, self.place, room)
        return array, array


class PackageKind(Kind):
    """Arrays of PyTorch or CuPy, on its current stream of their device."""

    __slots__ = ("package",)
    package: _gpu.Package

    def __init__(self, place: Place, package: _gpu.Package) -> None:
        super().__init__(place)
        self.package = package

    def make(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[Any, DeviceArray]:
        return self.package.make(shape, dtype, self.place)


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
        return PackageKind(array.place, torch_tensors()), array
    if package == "cupy":
        array = read_cupy(x, None, call, name)
        return PackageKind(array.place, cupy_arrays()), array
    array = x if isinstance(x, DeviceArray) else read_device(x, None, call, name)
    return Kind(array.place, None if package else _maker_of(x)), array


def host_kind() -> Kind:
    """Where host arrays are computed: the default stream of the current device."""
    return Kind((_gpu.current_device(), DEFAULT_STREAM))
