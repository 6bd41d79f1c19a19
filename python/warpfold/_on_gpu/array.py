# SPDX-License-Identifier: MIT
"""Arrays in device memory."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _gpu
from .._arrays import NumPyArray, describe

Place = tuple[int, int]


def row_major(shape: Sequence[int], itemsize: int) -> tuple[int, ...]:
    """Strides in bytes of an array without gaps."""
    if not shape:
        return ()
    strides = []
    step = itemsize
    for extent in reversed(shape):
        strides.append(step)
        step *= extent if extent > 1 else 1
    return tuple(reversed(strides))


class DeviceArray:
    """An array in device memory: what calls give for arrays of packages other than CuPy and PyTorch.

    CuPy, Numba, PyTorch and JAX read it in place, by `__cuda_array_interface__` or `__dlpack__`.

    Attributes
    ----------
    shape, strides, dtype : as of NumPy arrays; strides in bytes
    device, stream : the device's number; the CUDA stream in which the elements are computed
    address : the device address of the first element
    """

    __slots__ = ("address", "dtype", "shape", "strides", "place", "owner", "__weakref__")

    def __init__(self, address: int, dtype: np.dtype[Any], shape: Sequence[int], strides: Sequence[int] | None,
                 place: Place, owner: object) -> None:
        self.address = address
        self.dtype = dtype
        self.shape = tuple(shape)
        self.strides = row_major(self.shape, dtype.itemsize) if strides is None else tuple(strides)
        self.place = place
        self.owner = owner

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    @property
    def device(self) -> int:
        return self.place[0]

    @property
    def stream(self) -> int:
        return self.place[1]

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array without axes")
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<warpfold array on device {self.device}: shape {self.shape}, {self.dtype}>"

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"shape": self.shape, "typestr": self.dtype.str, "data": (self.address, False),
                "strides": None if self.is_contiguous() else self.strides, "version": 3, "stream": self.stream or 1}

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, self.device  # kDLCUDA

    def __dlpack__(self, *, stream: int | None = None, **options: Any) -> Any:
        if stream not in (None, -1, self.stream):
            _gpu.wait_for((self.device, 0 if stream == 1 else int(stream or 0)), self.stream)
        return _gpu.exported(describe(self), self.device, self)

    def to_host(self) -> NumPyArray:
        """A copy as a NumPy array. Waits for the stream. Raises RuntimeError if its work has failed."""
        result: NumPyArray = np.empty(self.shape, self.dtype)
        if self.size == 0:
            return result
        source = self
        if not self.is_contiguous():
            room = _gpu.Memory(self.place, self.nbytes)
            source = DeviceArray(room.address, self.dtype, self.shape, None, self.place, room)
            _gpu.copy(self.place, describe(self), describe(source))
        _gpu.to_host(self.place, source.address, result.ctypes.data, self.nbytes)
        return result

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NumPyArray:
        if copy is False:
            raise ValueError("an array on a GPU is copied to become a NumPy array")
        return self.to_host().astype(dtype or self.dtype, copy=False)

    def item(self) -> Any:
        """The element of an array of one, as a Python number."""
        return self.to_host().item()

    def is_contiguous(self) -> bool:
        """Whether elements lie in row-major order without gaps."""
        step = self.dtype.itemsize
        for extent, stride in zip(reversed(self.shape), reversed(self.strides)):
            if extent != 1 and stride != step:
                return self.size == 0
            step *= extent
        return True

    def bounds(self) -> tuple[int, int]:
        """The addresses between which all elements are."""
        if self.size == 0:
            return self.address, self.address
        reach = [(extent - 1) * stride for extent, stride in zip(self.shape, self.strides)]
        return (self.address + sum(step for step in reach if step < 0),
                self.address + sum(step for step in reach if step > 0) + self.dtype.itemsize)

    # Views.

    def _view(self, address: int, shape: Sequence[int], strides: Sequence[int]) -> DeviceArray:
        return DeviceArray(address, self.dtype, shape, strides, self.place, self)

    def view(self, dtype: Any) -> DeviceArray:
        """The same bytes as another type of the same size."""
        return DeviceArray(self.address, np.dtype(dtype), self.shape, self.strides, self.place, self)

    def transpose(self, order: Sequence[int]) -> DeviceArray:
        return self._view(self.address, [self.shape[k] for k in order], [self.strides[k] for k in order])

    def squeeze(self, axes: Sequence[int]) -> DeviceArray:
        """Without these axes, of one element each."""
        return self.transpose([k for k in range(self.ndim) if k not in axes])

    def reshape(self, shape: int | tuple[int, ...]) -> DeviceArray:
        """Of an array without gaps; -1 means one axis of all elements."""
        chosen = shape if isinstance(shape, tuple) else (self.size if shape == -1 else shape,)
        return self._view(self.address, chosen, row_major(chosen, self.dtype.itemsize))

    def __getitem__(self, index: Any) -> DeviceArray:
        """Slices and numbers, and an ellipsis at most. Raises IndexError for a number outside."""
        given = index if isinstance(index, tuple) else (index,)
        if Ellipsis in given:
            k = given.index(Ellipsis)
            given = (*given[:k], *[slice(None)] * (self.ndim - len(given) + 1), *given[k + 1:])
        address, shape, strides = self.address, [], []
        rest = [slice(None)] * (self.ndim - len(given))
        for one, extent, stride in zip((*given, *rest), self.shape, self.strides):
            if isinstance(one, slice):
                places = range(*one.indices(extent))
                address += places.start * stride if places else 0
                shape.append(len(places))
                strides.append(places.step * stride)
            else:
                address += range(extent)[one] * stride
        return self._view(address, shape, strides)

    def broadcast_to(self, shape: Sequence[int]) -> DeviceArray:
        """Raises ValueError, as numpy.broadcast_to, if the shapes do not fit."""
        probe = np.broadcast_to(np.empty(self.shape, np.bool_) if self.size < 2 else
                                np.lib.stride_tricks.as_strided(np.empty(1, np.bool_), self.shape, [0] * self.ndim), shape)
        missing = probe.ndim - self.ndim
        strides = [0] * missing + [0 if extent == 1 else stride for extent, stride in zip(self.shape, self.strides)]
        return self._view(self.address, probe.shape, strides)
