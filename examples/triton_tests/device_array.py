# SPDX-License-Identifier: MIT
"""NumPy arrays in device memory, by the CUDA driver alone: what a Triton kernel takes where PyTorch is not installed."""
import ctypes
import functools
import math

import numpy as np


def _check(error):
    if error != 0:
        raise RuntimeError(f"error {error} of the CUDA driver")


@functools.cache
def _driver():
    driver = ctypes.CDLL("libcuda.so.1")
    _check(driver.cuInit(0))
    context = ctypes.c_void_p()
    _check(driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    _check(driver.cuCtxSetCurrent(context))
    return driver


class DeviceArray:
    """An array of a shape and a NumPy dtype (ml_dtypes too), row by row. Its memory is unwritten, and freed with the object.

    Triton reads `data_ptr()` and `dtype`. Raises RuntimeError for an error of the driver.
    """

    def __init__(self, shape, dtype=np.float32):
        self.shape, self.dtype = (shape,) if isinstance(shape, int) else tuple(shape), np.dtype(dtype)
        self.nbytes = math.prod(self.shape) * self.dtype.itemsize
        self._address = ctypes.c_uint64()
        _check(_driver().cuMemAlloc_v2(ctypes.byref(self._address), ctypes.c_size_t(max(self.nbytes, 1))))

    def __del__(self):
        if self._address:
            _driver().cuMemFree_v2(self._address)

    def data_ptr(self):
        return self._address.value

    def numpy(self):
        """Its values after all kernels so far. Raises RuntimeError if one of them has failed."""
        host = np.empty(self.shape, self.dtype)
        _check(_driver().cuMemcpyDtoH_v2(ctypes.c_void_p(host.ctypes.data), self._address, ctypes.c_size_t(self.nbytes)))
        return host


def to_device(values):
    """A copy of a NumPy array."""
    host = np.ascontiguousarray(values)
    array = DeviceArray(host.shape, host.dtype)
    _check(_driver().cuMemcpyHtoD_v2(array._address, ctypes.c_void_p(host.ctypes.data), ctypes.c_size_t(array.nbytes)))
    return array
