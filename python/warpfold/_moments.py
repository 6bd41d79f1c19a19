# SPDX-License-Identifier: MIT
"""Means and variances along axes."""
from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _core
from ._arrays import FLOAT32, FLOAT64, NumPyArray, Output, Shaped, axes_last, axes_of, check_dtype, describe, length_of, read
from ._reductions import SUM, Axis, _count, _fold, _kept, _mask, _shape


def _chosen(array: NumPyArray, axes: Sequence[int], mask: NumPyArray | None, result: NumPyArray) -> Any:
    """How many elements each result is of."""
    if mask is None:
        return length_of(array, axes)
    counts = np.empty(result.shape, np.int64)
    _count(mask, tuple(range(result.ndim, mask.ndim)), None, counts)
    return counts


def _mean_types(array: Shaped, dtype: Any, call: str) -> tuple[np.dtype[Any], np.dtype[Any]]:
    """The type that means are computed in, and that of the results."""
    if dtype is not None:
        chosen = np.dtype(dtype)
        check_dtype(chosen, call, "the result")
        if chosen.kind != "f":
            raise TypeError(f"{call}: the result has dtype {chosen}; accepted are float16, float32 and float64")
    else:
        chosen = array.dtype if array.dtype.kind == "f" else np.dtype(np.float64)
    return np.dtype(np.float32) if chosen.itemsize == 2 else chosen, chosen


def _means(array: NumPyArray, axes: Sequence[int], mask: NumPyArray | None, means: NumPyArray) -> Any:
    """`means` of floating-point numbers. Returns the numbers of elements."""
    _fold(SUM, array, axes, mask, means)
    number = _chosen(array, axes, mask, means)
    with np.errstate(invalid="ignore", divide="ignore"):
        np.true_divide(means, number, out=means, casting="unsafe")
    return number


def mean(a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Any:
    """Arithmetic mean over axes, as `numpy.mean`.

    Integers and bool are averaged in float64, float16 in float32. `dtype` is a floating-point type. A mean of no
    elements is NaN, with a RuntimeWarning. Other parameters and errors are those of `sum`.
    """
    source = read(a, "mean")
    axes = axes_of(axis, source.array.ndim)
    mask = _mask(where, source.array, axes)
    fold, chosen = _mean_types(source.array, dtype, "mean")
    target = Output(out, _shape(source.array, axes, keepdims), chosen, source, "mean")
    result = _kept(target.array, axes, keepdims)
    means = result if fold == chosen and result.flags.c_contiguous else np.empty(result.shape, fold)
    number = _means(source.array, axes, mask, means)
    if np.any(np.equal(number, 0)):
        warnings.warn("Mean of empty slice.", RuntimeWarning, stacklevel=3)
    if means is not result:
        result[...] = means
    return target.finish()


def var(a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False, *,
        where: Any = True) -> Any:
    """Variance over axes, as `numpy.var`: the sum of squared deviations from the mean, divided by the number of elements
    less `ddof`.

    Two passes. Parameters and errors are those of `mean`.
    """
    source = read(a, "var")
    array = source.array
    axes = axes_of(axis, array.ndim)
    mask = _mask(where, array, axes)
    fold, chosen = _mean_types(array, dtype, "var")
    target = Output(out, _shape(array, axes, keepdims), chosen, source, "var")
    result = _kept(target.array, axes, keepdims)
    means = np.empty(result.shape, fold)
    squares = np.zeros(result.shape, fold)
    number = _means(array, axes, mask, means)
    _core.squared_deviations(FLOAT64 if fold.itemsize == 8 else FLOAT32, describe(axes_last(array, axes)),
                             length_of(array, axes), None if mask is None else describe(mask), describe(means),
                             describe(squares))
    divisor = np.maximum(np.subtract(number, ddof), 0)
    if np.any(np.less_equal(divisor, 0)):
        warnings.warn("Degrees of freedom <= 0 for slice", RuntimeWarning, stacklevel=3)
    with np.errstate(invalid="ignore", divide="ignore"):
        result[...] = np.true_divide(squares, divisor, dtype=fold, casting="unsafe")
    return target.finish()


__all__ = ["mean", "var"]
