# SPDX-License-Identifier: MIT
"""Arrays in the memory of the software GPU for the tests: they export __cuda_array_interface__, or DLPack alone."""
import ctypes
import os

import numpy as np

RUNTIME = ctypes.CDLL(os.environ["WARPFOLD_SOFTGPU_RUNTIME"], mode=ctypes.RTLD_GLOBAL) \
    if os.environ.get("WARPFOLD_DEVICE") == "softgpu" else None


def check(code):
    assert code == 0, f"CUDA error {code}"


class DeviceValues:
    """A copy of an array in device memory, `shift` bytes behind the beginning of an allocation.

    A device pointer of the software GPU is a host pointer: `host` is a view of the same memory, and other views of it
    are arrays of other layouts.
    """

    def __init__(self, values, shift=0, stream=None):
        values = np.asarray(values)
        self.room = ctypes.c_void_p()
        check(RUNTIME.cudaMalloc(ctypes.byref(self.room), ctypes.c_size_t(values.nbytes + shift + 1)))
        room = np.ctypeslib.as_array((ctypes.c_uint8 * (values.nbytes + shift)).from_address(self.room.value))
        copy = np.ascontiguousarray(values)
        check(RUNTIME.cudaMemcpy(ctypes.c_void_p(self.room.value + shift), ctypes.c_void_p(copy.ctypes.data),
                                 ctypes.c_size_t(values.nbytes), 1))
        check(RUNTIME.cudaDeviceSynchronize())  # the host reads it too
        self.host = np.ndarray(values.shape, values.dtype, room, shift)
        self.stream = stream
        self.base = None

    def __del__(self):
        if self.base is None:
            check(RUNTIME.cudaFree(self.room))

    def view(self, of):
        """Another view of the memory, by a function of the array."""
        other = object.__new__(type(self))
        other.base, other.stream, other.host = self.base or self, self.stream, of(self.host)
        return other

    def done(self):
        """The elements, when all calls are complete."""
        check(RUNTIME.cudaDeviceSynchronize())
        return self.host

    @property
    def __cuda_array_interface__(self):
        return {"shape": self.host.shape, "typestr": self.host.dtype.str, "strides": self.host.strides, "version": 3,
                "data": (self.host.ctypes.data, not self.host.flags.writeable), "stream": self.stream}


class ByDLPack:
    """An array of this package that another one sees by DLPack alone."""

    def __init__(self, array):
        self.array = array
        self.streams = []

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, *, stream=None, **options):
        self.streams.append(stream)
        return self.array.__dlpack__(stream=stream, **options)
