# SPDX-License-Identifier: MIT
"""Norms of vectors."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import _core
from ._arrays import FLOAT64, NumPyArray, Output, axes_last, axes_of, describe, length_of, read
from ._reductions import SUM, Axis, _fold, _kept, _shape, count_nonzero, max, min, sum

SMALLEST, LARGEST = 2.0**-900, 2.0**1000  # sums of squares between them have lost nothing


def _sum_of_squares(array: NumPyArray, axes: tuple[int, ...]) -> NumPyArray:
    """In float64."""
    means, sums = (np.zeros(_shape(array, axes, False)) for _ in range(2))
    _core.squared_deviations(FLOAT64, describe(axes_last(array, axes)), length_of(array, axes), None,
                             describe(means), describe(sums))
    return sums


def _largest(array: NumPyArray, axes: tuple[int, ...]) -> NumPyArray:
    if length_of(array, axes) == 0:
        return np.zeros(_shape(array, axes, False), array.dtype)
    return np.asarray(np.maximum(np.abs(min(array, axes)), np.abs(max(array, axes))))


def _euclidean(array: NumPyArray, axes: tuple[int, ...]) -> NumPyArray:
    """Squares of float16 and float32 are exact in float64. Where those of float64 overflow or underflow, elements are
    multiplied by a power of two first."""
    sums = _sum_of_squares(array, axes)
    if array.dtype == np.float64 and array.size and not ((SMALLEST < sums) & (sums < LARGEST)).all():
        largest = _largest(array, axes)
        scalable = np.isfinite(largest) & (largest > 0) & ~((SMALLEST < sums) & (sums < LARGEST))
        if scalable.any():
            exponents = np.where(scalable, np.frexp(np.where(scalable, largest, 1))[1], 0)
            sums = _sum_of_squares(np.ldexp(array, -np.expand_dims(exponents, axes)), axes)
            with np.errstate(over="ignore"):
                return np.asarray(np.ldexp(np.sqrt(sums), exponents))
    return np.asarray(np.sqrt(sums))


def _sum_of_magnitudes(array: NumPyArray, axes: tuple[int, ...]) -> NumPyArray:
    sums = np.empty(_shape(array, axes, False), array.dtype)
    if not _core.sum_magnitudes(describe(axes_last(array, axes)), describe(sums)):
        _fold(SUM, np.abs(array), axes, None, sums)
    return sums


def _norm(array: NumPyArray, axes: tuple[int, ...], order: float) -> Any:
    if order == 2:
        return _euclidean(array, axes)
    if order == 1:
        return _sum_of_magnitudes(array, axes)
    if order == math.inf:
        return _largest(array, axes)
    if order == -math.inf:
        return min(np.abs(array), axes)
    if order == 0:
        return count_nonzero(array, axes)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.power(sum(np.abs(array) ** order, axes), 1 / order)


def norm(x: Any, ord: float | None = None, axis: Axis = None, keepdims: bool = False) -> Any:
    """Norm of vectors, as `numpy.linalg.norm`.

    The 2-norm does not overflow or underflow in between: squares are added in float64, and scaled where that is not
    enough. Its rounding error is less than that of NumPy for float16 and float32.

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
    source = read(x, "norm", "x")
    array = source.array if source.array.dtype.kind == "f" else source.array.astype(np.float64)
    if array.ndim == 0 and axis is not None:
        raise np.exceptions.AxisError(f"norm: x has no axes, and axis is {axis}")
    axes = axes_of(axis, array.ndim)
    if ord is not None:
        if isinstance(ord, str) or len(axes) != 1:
            raise ValueError(f"norm: x has shape {array.shape}, axis is {axis} and ord {ord!r}; with an order there is one "
                             "axis, norms of matrices are not offered")
        if not isinstance(ord, (int, float, np.integer, np.floating)):
            raise TypeError(f"norm: ord is {ord!r}, and must be a number or None")
    target = Output(None, _shape(array, axes, keepdims), array.dtype, source, "norm")
    with np.errstate(over="ignore"):
        _kept(target.array, axes, keepdims)[...] = _norm(array, axes, 2.0 if ord is None else float(ord))
    return target.finish()


__all__ = ["norm"]
