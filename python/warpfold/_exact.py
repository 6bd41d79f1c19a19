# SPDX-License-Identifier: MIT
"""Exact sums."""
from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ._arrays import Array, axes_last, axes_of, describe, one_axis
from ._calls import call_of, of_whole_arrays
from ._devices import is_on_device
from ._reductions import Axis, _kept, _shape


def _check(array: Array, name: str, argument: str) -> None:
    if array.dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise TypeError(f"{name}: {argument} has dtype {array.dtype}; accepted are float32, float64, complex64 and complex128")


class _Complex:
    """A complex array as real ones of its own package: NumPy, CuPy or PyTorch; others in host memory become NumPy's."""

    def __init__(self, x: Any, name: str, argument: str) -> None:
        self._name = name
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

    def lines(self, axis: int) -> _Complex:
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
            result = self._package.stack((real, imag), -1).view(self.dtype)[..., 0][()]
        if out is None:
            return result
        if not hasattr(out, "shape"):
            raise TypeError(f"{self._name}: out is of type {type(out).__name__}, and must be an array")
        if not _is_complex(out):
            raise TypeError(f"{self._name}: out has dtype {out.dtype}, and the result {self.dtype}")
        if tuple(out.shape) != tuple(result.shape):
            raise ValueError(f"{self._name}: out has shape {tuple(out.shape)}, and the result {tuple(result.shape)}")
        if isinstance(out, np.ndarray) and not out.flags.writeable:
            raise ValueError(f"{self._name}: out is read-only")
        out[...] = result
        return out


def _is_complex(x: Any) -> bool:
    if isinstance(x, (list, tuple)):
        try:
            x = np.asarray(x)
        except ValueError:  # rows of several lengths, which the call reports
            return False
    dtype = getattr(x, "dtype", type(x).__name__)
    return getattr(dtype, "kind", "") == "c" or "complex" in str(dtype)  # PyTorch's types have no kind


@of_whole_arrays
def exact_sum(a: Any, axis: Axis = None, keepdims: bool = False, *, out: Any = None) -> Any:
    """The true sum of the elements over axes, rounded once: the same bits on every machine and for every order.

    Parameters
    ----------
    a : array of float32, float64, complex64 or complex128
        Of any shape and strides. Complex arrays are in host memory, or CuPy's or PyTorch's.
    axis : int, tuple of int or None
        The axes that are reduced; None: all.
    keepdims : bool
        Whether reduced axes stay, with one element.
    out : array, optional
        Where results go, in the results' shape. They are cast to its type; those of complex numbers go to complex ones.

    Returns
    -------
    array or scalar
        `out` if it is given, else of the type of `a`. NaN if there is a NaN or infinities of both signs. Of complex numbers each part is the true sum of
        the parts, rounded once.

    Raises
    ------
    TypeError
        For another type.
    numpy.exceptions.AxisError, ValueError
        For an axis that `a` does not have, or that is given twice; for an `out` of another shape.
    """
    if _is_complex(a):
        numbers = _Complex(a, "exact_sum", "a")
        return numbers.joined(exact_sum(numbers.real, axis, keepdims), exact_sum(numbers.imag, axis, keepdims), out)
    with call_of("exact_sum", a) as call:
        _check(call.array, "exact_sum", "a")
        axes = axes_of(axis, call.array.ndim)
        target = call.results(out, _shape(call.array, axes, keepdims), call.array.dtype)
        call.engine.exact_sum(describe(axes_last(call.array, axes)), describe(_kept(target.array, axes, keepdims)))
        return target.finish()


def _shape_of_dots(left: tuple[int, ...], right: tuple[int, ...], axis: int) -> tuple[int, ...]:
    """The shape of the results of arrays of these shapes, which have the axis last."""
    if left[-1] != right[-1]:
        raise ValueError(f"exact_dot: a has {left[-1]} elements along axis {axis}, and b {right[-1]}")
    try:
        return np.broadcast_shapes(left[:-1], right[:-1])
    except ValueError:
        raise ValueError(f"exact_dot: beside axis {axis} a has shape {left[:-1]}, and b {right[:-1]}; they do not "
                         "broadcast") from None


def exact_dot(a: Any, b: Any, axis: int = -1, *, out: Any = None) -> Any:
    """The true sums of the products of two arrays' elements along an axis, each rounded once; see `exact_sum`.

    Parameters
    ----------
    a, b : array of float32, float64, complex64 or complex128
        Both of one type, and of one length along the axis. The other axes broadcast, as in `numpy.vecdot`.
    axis : int
        The axis of each array that is summed.
    out : array, optional
        Where results go, in the results' shape.

    Returns
    -------
    array or scalar
        `out` if it is given, else of the type of `a`. Complex numbers are not conjugated, as in `numpy.dot`;
        `exact_dot(a.conj(), b)` is that of `numpy.vdot`. Each part is the true sum of its 2 n products, rounded once; copies
        of both arrays are made.

    Raises
    ------
    TypeError
        For another type, and for two types.
    numpy.exceptions.AxisError, ValueError
        For an axis that an array does not have; for shapes that do not fit, also that of `out`.
    """
    if _is_complex(a) or _is_complex(b):
        return _complex_dot(a, b, axis, out)
    with call_of("exact_dot", a) as call:
        left, right = call.array, call.operand(b, "b")
        _check(left, "exact_dot", "a")
        _check(right, "exact_dot", "b")
        if left.dtype != right.dtype:
            raise TypeError(f"exact_dot: a has dtype {left.dtype}, and b {right.dtype}")
        left, right = (axes_last(x, (one_axis(axis, x.ndim),)) for x in (left, right))
        shape = _shape_of_dots(left.shape, right.shape, axis)
        target = call.results(out, shape, left.dtype)
        left, right = (call.broadcast(x, (*shape, x.shape[-1])) for x in (left, right))
        call.engine.exact_dot(describe(left), describe(right), describe(target.array))
        return target.finish()


def _complex_dot(a: Any, b: Any, axis: int, out: Any) -> Any:
    if not (_is_complex(a) and _is_complex(b)):
        raise TypeError("exact_dot: one of a and b is complex, the other is not")
    left, right = (_Complex(x, "exact_dot", name).lines(axis) for x, name in ((a, "a"), (b, "b")))
    if left.dtype != right.dtype:
        raise TypeError(f"exact_dot: a has dtype {left.dtype}, and b {right.dtype}")
    _shape_of_dots(left.shape, right.shape, axis)
    numbers = left.interleaved(left.real, left.imag)
    return left.joined(exact_dot(numbers, right.interleaved(right.real, -right.imag)),
                       exact_dot(numbers, right.interleaved(right.imag, right.real)), out)


__all__ = ["exact_sum", "exact_dot"]
