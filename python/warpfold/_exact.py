# SPDX-License-Identifier: MIT
"""Exact sums."""
from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ._arrays import Array, axes_last, axes_of, describe
from ._calls import call_of, of_whole_arrays
from ._devices import is_on_device
from ._reductions import Axis, _kept, _shape


def _check(array: Array, name: str, argument: str) -> None:
    if array.dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise TypeError(f"{name}: {argument} has dtype {array.dtype}; accepted are float32, float64, complex64 and complex128")


class _Complex:
    """A complex array as real ones of its own package: NumPy, CuPy or PyTorch; others in host memory become NumPy's."""

    def __init__(self, x: Any, name: str, argument: str) -> None:
        self._package: Any = sys.modules.get(type(x).__module__.partition(".")[0])
        if not hasattr(self._package, "stack"):
            if is_on_device(x):
                raise TypeError(f"{name}: {argument} has dtype {x.dtype} on a GPU; complex arrays there are CuPy's or PyTorch's")
            self._package, x = np, np.asarray(x)
        if isinstance(x, np.ndarray):
            x = x.astype(x.dtype.newbyteorder("="), copy=False)
        if hasattr(x, "resolve_conj"):  # PyTorch's conjugates are views
            x = x.resolve_conj()
        self.shape = tuple(x.shape)
        self.dtype = x.dtype
        self.real, self.imag = x.real, x.imag

    def interleaved(self, first: Any, second: Any) -> Any:
        """first[0], second[0], first[1], ..."""
        return self._package.stack((first, second), -1).reshape(-1)

    def joined(self, real: Any, imag: Any) -> Any:
        """Complex numbers of two results. No arithmetic: an infinity stays in its part."""
        if hasattr(self._package, "complex"):
            return self._package.complex(real, imag)
        return self._package.stack((real, imag), -1).view(self.dtype)[..., 0][()]


def _is_complex(x: Any) -> bool:
    if isinstance(x, (list, tuple)):
        x = np.asarray(x)
    dtype = getattr(x, "dtype", type(x).__name__)
    return getattr(dtype, "kind", "") == "c" or "complex" in str(dtype)  # PyTorch's types have no kind


@of_whole_arrays
def exact_sum(a: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """The true sum of the elements over axes, rounded once: the same bits on every machine and for every order.

    Parameters
    ----------
    a : array of float32, float64, complex64 or complex128
        Of any shape and strides. Complex arrays are in host memory, or CuPy's or PyTorch's.
    axis : int, tuple of int or None
        The axes that are reduced; None: all.
    keepdims : bool
        Whether reduced axes stay, with one element.

    Returns
    -------
    array or scalar
        Of the type of `a`. NaN if there is a NaN or infinities of both signs. Of complex numbers each part is the true sum of
        the parts, rounded once.

    Raises
    ------
    TypeError
        For another type.
    numpy.exceptions.AxisError
        For an axis that `a` does not have.
    """
    if _is_complex(a):
        numbers = _Complex(a, "exact_sum", "a")
        return numbers.joined(exact_sum(numbers.real, axis, keepdims), exact_sum(numbers.imag, axis, keepdims))
    with call_of("exact_sum", a) as call:
        _check(call.array, "exact_sum", "a")
        axes = axes_of(axis, call.array.ndim)
        target = call.results(None, _shape(call.array, axes, keepdims), call.array.dtype)
        call.engine.exact_sum(describe(axes_last(call.array, axes)), describe(_kept(target.array, axes, keepdims)))
        return target.finish()


def _check_shapes(left: Any, right: Any) -> None:
    if len(left.shape) != 1 or left.shape != right.shape:
        raise ValueError(f"exact_dot: a has shape {left.shape}, and b {right.shape}; both have one axis of one length")


def exact_dot(a: Any, b: Any) -> Any:
    """The true sum of the products of two arrays' elements, rounded once; see `exact_sum`.

    Both arrays have the same type, one axis and the same number of elements; else ValueError or TypeError is raised.

    Complex numbers are not conjugated, as in `numpy.dot`; `exact_dot(a.conj(), b)` is that of `numpy.vdot`. Each part is the
    true sum of its 2 n products, rounded once. Copies of both arrays are made.
    """
    if _is_complex(a) or _is_complex(b):
        return _complex_dot(a, b)
    with call_of("exact_dot", a) as call:
        left, right = call.array, call.operand(b, "b")
        _check(left, "exact_dot", "a")
        _check(right, "exact_dot", "b")
        if left.dtype != right.dtype:
            raise TypeError(f"exact_dot: a has dtype {left.dtype}, and b {right.dtype}")
        _check_shapes(left, right)
        target = call.results(None, (), left.dtype)
        call.engine.exact_dot(describe(left), describe(right), describe(target.array))
        return target.finish()


def _complex_dot(a: Any, b: Any) -> Any:
    if not (_is_complex(a) and _is_complex(b)):
        raise TypeError("exact_dot: one of a and b is complex, the other is not")
    left, right = _Complex(a, "exact_dot", "a"), _Complex(b, "exact_dot", "b")
    if left.dtype != right.dtype:
        raise TypeError(f"exact_dot: a has dtype {left.dtype}, and b {right.dtype}")
    _check_shapes(left, right)
    numbers = left.interleaved(left.real, left.imag)
    return left.joined(exact_dot(numbers, right.interleaved(right.real, -right.imag)),
                       exact_dot(numbers, right.interleaved(right.imag, right.real)))


__all__ = ["exact_sum", "exact_dot"]
