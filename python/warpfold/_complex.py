# SPDX-License-Identifier: MIT
"""Complex arrays as two arrays of real numbers, their parts."""
from __future__ import annotations

import sys
from typing import Any, SupportsIndex

import numpy as np

from ._arrays import masked_array, one_axis
from ._devices import is_on_device, package_of


class Complex:
    """A complex array as real ones of its own package: NumPy, CuPy or PyTorch; others in host memory become NumPy's."""

    def __init__(self, x: Any, name: str, argument: str) -> None:
        if isinstance(x, np.ma.MaskedArray):
            raise masked_array(name, argument)
        self._name = name
        package = package_of(x)
        self._package: Any = sys.modules[package] if package in ("torch", "cupy") else np
        if self._package is np:
            if is_on_device(x):
                raise TypeError(f"{name}: {argument} has dtype {x.dtype} on a GPU; complex arrays there are CuPy's or PyTorch's")
            x = np.asarray(x)
            x = x.astype(x.dtype.newbyteorder("="), copy=False)
        if hasattr(x, "resolve_conj"):  # PyTorch's conjugates are views
            x = x.resolve_conj()
        self.shape = tuple(x.shape)
        self.dtype = x.dtype
        self.real, self.imag = x.real, x.imag

    def lines(self, axis: SupportsIndex) -> Complex:
        """The same numbers with an axis moved to the end."""
        if one_axis(axis, len(self.shape)) != len(self.shape) - 1:
            self.real, self.imag = (self._package.moveaxis(part, axis, -1) for part in (self.real, self.imag))
            self.shape = tuple(self.real.shape)
        return self

    def interleaved(self, first: Any, second: Any) -> Any:
        """first[0], second[0], first[1], ... along the last axis"""
        return self._package.stack((first, second), -1).reshape((*self.shape[:-1], 2 * self.shape[-1]))

    def joined(self, real: Any, imag: Any, out: Any) -> Any:
        """Complex numbers of two results, in `out` if it is given. No arithmetic: an infinity stays in its part."""
        if hasattr(self._package, "complex"):
            result = self._package.complex(real, imag)
        else:
            result = self._package.stack((real, imag), -1).view(np.result_type(real.dtype, np.complex64))[..., 0][()]
        return self.put(result, out)

    def put(self, result: Any, out: Any) -> Any:
        """A result, in `out` if it is given."""
        if out is None:
            return result
        if not hasattr(out, "shape"):
            raise TypeError(f"{self._name}: out is of type {type(out).__name__}, and must be an array")
        if is_complex(result) and not is_complex(out):
            raise TypeError(f"{self._name}: out has dtype {out.dtype}, and the result {result.dtype}")
        if tuple(out.shape) != tuple(result.shape):
            raise ValueError(f"{self._name}: out has shape {tuple(out.shape)}, and the result {tuple(result.shape)}")
        if isinstance(out, np.ndarray) and not out.flags.writeable:
            raise ValueError(f"{self._name}: out is read-only")
        out[...] = result
        return out


def is_complex(x: Any) -> bool:
    if isinstance(x, (list, tuple)):
        try:
            x = np.asarray(x)
        except ValueError:  # rows of several lengths, which the call reports
            return False
    try:
        dtype = x.dtype if hasattr(x, "dtype") else np.asarray(memoryview(x)).dtype
    except (BufferError, TypeError, ValueError):  # no memory, or not of elements
        dtype = type(x).__name__
    kind = getattr(dtype, "kind", None)  # PyTorch's types have none
    return "complex" in str(dtype) if kind is None else bool(kind == "c")


__all__ = ["Complex", "is_complex"]
