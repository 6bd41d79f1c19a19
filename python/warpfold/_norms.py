# SPDX-License-Identifier: MIT
"""Norms of vectors."""
from __future__ import annotations

import math
from typing import Any, SupportsFloat

import numpy as np

from . import _core
from ._arrays import FLOAT64, Array, Axis, Flag, NumPyArray, axes_last, axes_of, length_of
from ._calls import MAXIMUM as LARGER, MULTIPLY, Call, call_of, of_whole_arrays
from ._reductions import MAXIMUM, MINIMUM, SUM, _count, _fold, _kept, _shape

SMALLEST, LARGEST = 2.0**-900, 2.0**1000  # sums of squares between them have lost nothing


def _sum_of_squares(array: NumPyArray, axes: tuple[int, ...]) -> NumPyArray:
    """In float64."""
    means, sums = (np.zeros(_shape(array, axes, False)) for _ in range(2))
    _core.squared_deviations(FLOAT64, axes_last(array, axes), length_of(array, axes), None, means, sums)
    return sums


def _magnitudes(call: Call, array: Array) -> Array:
    """Absolute values."""
    turned = call.empty(array.shape, array.dtype)
    call.apply(MULTIPLY, array, -1, turned)
    call.apply(LARGER, array, turned, turned)
    return turned


def _largest(call: Call, array: Array, axes: tuple[int, ...], result: Array) -> None:
    if length_of(array, axes) == 0:
        call.copy(call.filled(result.shape, 0, result.dtype), result)
        return
    smallest = call.empty(result.shape, array.dtype)
    _fold(call, MINIMUM, array, axes, None, smallest)
    _fold(call, MAXIMUM, array, axes, None, result)
    call.apply(MULTIPLY, smallest, -1, smallest)
    call.apply(LARGER, result, smallest, result)


def _euclidean(call: Call, array: NumPyArray, axes: tuple[int, ...]) -> NumPyArray:
    """On the host. Squares of float16 and float32 are exact in float64. Where those of float64 overflow or underflow, elements
    are multiplied by a power of two first."""
    sums = _sum_of_squares(array, axes)
    if array.dtype == np.float64 and array.size and not ((SMALLEST < sums) & (sums < LARGEST)).all():
        largest = np.empty(sums.shape)
        _largest(call, array, axes, largest)
        scalable = np.isfinite(largest) & (largest > 0) & ~((SMALLEST < sums) & (sums < LARGEST))
        if scalable.any():
            exponents = np.where(scalable, np.frexp(np.where(scalable, largest, 1))[1], 0)
            with np.errstate(all="ignore"):
                sums = _sum_of_squares(np.ldexp(array, -np.expand_dims(exponents, axes)), axes)
                return np.asarray(np.ldexp(np.sqrt(sums), exponents))
    return np.asarray(np.sqrt(sums))


def _of_order(call: Call, array: NumPyArray, axes: tuple[int, ...], order: float, result: NumPyArray) -> None:
    """On the host."""
    if order == 2:
        call.copy(_euclidean(call, array, axes), result)
    elif order == 1:
        if not _core.sum_magnitudes(axes_last(array, axes), result):
            _fold(call, SUM, np.abs(array), axes, None, result)
    else:
        with np.errstate(all="ignore"):
            _fold(call, SUM, np.abs(array) ** order, axes, None, result)
            np.power(result, 1 / order, out=result)


def _norm(call: Call, array: Array, axes: tuple[int, ...], order: float, result: Array) -> None:
    if order == math.inf:
        _largest(call, array, axes, result)
    elif order == -math.inf:
        if length_of(array, axes) == 0:
            raise ValueError(f"norm: an extreme of no elements is not defined: x has shape {array.shape}")
        _fold(call, MINIMUM, _magnitudes(call, array), axes, None, result)
    elif order == 0:
        counts = call.empty(result.shape, np.int64)
        _count(call, array, axes, None, counts)
        call.copy(counts, result)
    elif call.is_on_host:
        _of_order(call, array, axes, order, result)
    else:
        norms = result if array.dtype.itemsize > 2 else call.empty(result.shape, np.float64)
        call.engine.norm(order, axes_last(array, axes), length_of(array, axes), norms)
        if norms is not result:
            call.copy(norms, result)


@of_whole_arrays
def norm(x: Any, ord: SupportsFloat | None = None, axis: Axis = None, keepdims: Flag = False) -> Any:
    """Norm of vectors, as `numpy.linalg.norm`.

    The 2-norm does not overflow or underflow in between: squares are added in float64, and scaled where that is not
    enough; on a GPU all orders are added in float64. Its rounding error is less than that of NumPy for float16 and float32.

    Parameters
    ----------
    x : array
        Integers and bool are converted to float64.
    ord : {None, inf, -inf, number}, optional
        The order p of the norm `sum(abs(x)**p)**(1/p)`; 0 counts the elements that are not zero. None is 2.
    axis : int, tuple of int or None
        The axis of the vectors. None: all, which only a vector or `ord=None` may have; so may a tuple with `ord=None`.
    keepdims : bool
        Whether reduced axes stay, with one element.

    Returns
    -------
    array or scalar
        Of the floating-point type of `x`, or float64.

    Raises
    ------
    TypeError, ValueError
        For another type or order; for norms of matrices (an order, and more than one axis); for order -inf of no
        elements.
    """
    with call_of("norm", x, "x") as call:
        array = call.array if call.array.dtype.kind == "f" else call.copied(call.array, np.float64)
        if array.ndim == 0 and axis is not None:
            raise np.exceptions.AxisError(f"norm: x has no axes, and axis is {axis}")
        axes = axes_of(axis, array.ndim)
        if ord is not None:
            if isinstance(ord, str) or len(axes) != 1:
                raise ValueError(f"norm: x has shape {array.shape}, axis is {axis} and ord {ord!r}; with an order there is one "
                                 "axis, norms of matrices are not offered")
            if not isinstance(ord, (int, float, np.integer, np.floating)):
                raise TypeError(f"norm: ord is {ord!r}, and must be a number or None")
        target = call.results(None, _shape(array, axes, keepdims), array.dtype)
        _norm(call, array, axes, 2.0 if ord is None else float(ord), _kept(target.array, axes, keepdims))
        return target.finish()


__all__ = ["norm"]
