# SPDX-License-Identifier: MIT
"""Arrays in device memory."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _gpu
from .._arrays import NumPyArray

Place = tuple[int, int]


class DeviceArray(_gpu.Elements):
    """An array in device memory: what calls give for arrays of packages that make none of it.

    CuPy, Numba, PyTorch and JAX read it in place, by `__cuda_array_interface__` or `__dlpack__`.

    Attributes
    ----------
    shape, strides, dtype : as of NumPy arrays; strides in bytes
    device, stream : the device's number; the CUDA stream in which the elements are computed
    address : the device address of the first element
    """

    __slots__ = ("__weakref__",)

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
        return _gpu.exported(self)

    def to_host(self) -> NumPyArray:
        """A copy as a NumPy array. Waits for the stream. Raises RuntimeError if its work has failed."""
        result: NumPyArray = np.empty(self.shape, self.dtype)
        if self.size == 0:
            return result
        source = self
        if not self.is_contiguous():
            room = _gpu.Memory(self.place, self.nbytes)
            source = DeviceArray(room.address, self.dtype, self.shape, None, self.place, room)
            _gpu.copy(self, source)
        _gpu.to_host(source, result)
        return result

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NumPyArray:
        if copy is False:
            raise ValueError("an array on a GPU is copied to become a NumPy array")
        return self.to_host().astype(dtype or self.dtype, copy=False)

    def item(self) -> Any:
        """The element of an array of one, as a Python number."""
        return self.to_host().item()

    def broadcast_to(self, shape: Sequence[int]) -> DeviceArray:
        """Raises ValueError, as numpy.broadcast_to, if the shapes do not fit."""
        if tuple(shape) == self.shape:
            return self
        probe = np.broadcast_to(np.empty(self.shape, np.bool_) if self.size < 2 else
                                np.lib.stride_tricks.as_strided(np.empty(1, np.bool_), self.shape, [0] * self.ndim), shape)
        missing = probe.ndim - self.ndim
        strides = [0] * missing + [0 if extent == 1 else stride for extent, stride in zip(self.shape, self.strides)]
        return DeviceArray(self.address, self.dtype, probe.shape, strides, self.place, self)


_gpu.set_array_class(DeviceArray)
