# SPDX-License-Identifier: MIT
"""Means and variances along axes."""
from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from ._arrays import (FLOAT32, FLOAT64, Array, Shaped, axes_last, axes_of, check_dtype, describe, describe_optional,
                      length_of, read_scalar)
from ._calls import DIVIDE, MAXIMUM, SUBTRACT, Call, call_of, of_whole_arrays
from ._reductions import SUM, Axis, _chosen, _fold, _kept, _mask, _shape


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


def _means(call: Call, axes: Sequence[int], mask: Array | None, means: Array) -> Any:
    """`means` of floating-point numbers. Returns the numbers of elements."""
    number = _chosen(call, axes, mask, means.shape)
    if call.is_on_host or mask is not None or not call.engine.mean_of_all(call.array, means):
        _fold(call, SUM, call.array, axes, mask, means)
        call.apply(DIVIDE, means, number, means)
    return number


def _has_one_below(call: Call, numbers: Any, limit: float) -> bool:
    """Whether a result is of fewer elements. Those on a GPU are not looked at: that would need a wait."""
    if isinstance(numbers, (int, float)):
        return numbers < limit
    return bool(np.any(np.less(numbers, limit))) if call.is_on_host else False


@of_whole_arrays
def mean(a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Any:
    """Arithmetic mean over axes, as `numpy.mean`.

    Integers and bool are averaged in float64, float16 in float32. `dtype` is a floating-point type. A mean of no
    elements is NaN, with a RuntimeWarning. Other parameters and errors are those of `sum`.
    """
    with call_of("mean", a) as call:
        axes = axes_of(axis, call.array.ndim)
        mask = _mask(call, where, axes)
        inner, chosen = _mean_types(call.array, dtype, "mean")
        target = call.results(out, _shape(call.array, axes, keepdims), chosen)
        result = _kept(target.array, axes, keepdims)
        means = result if inner == chosen else call.empty(result.shape, inner)
        number = _means(call, axes, mask, means)
        if _has_one_below(call, number, 1):
            warnings.warn("Mean of empty slice.", RuntimeWarning, stacklevel=3)
        if means is not result:
            call.copy(means, result)
        return target.finish()


@of_whole_arrays
def var(a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False, *,
        where: Any = True) -> Any:
    """Variance over axes, as `numpy.var`: the sum of squared deviations from the mean, divided by the number of elements
    less `ddof`.

    Two passes on the host, one on a GPU. Parameters and errors are those of `mean`.
    """
    with call_of("var", a) as call:
        array = call.array
        axes = axes_of(axis, array.ndim)
        ddof = read_scalar(ddof, np.float64, "var", "ddof").item()
        mask = _mask(call, where, axes)
        inner, chosen = _mean_types(array, dtype, "var")
        target = call.results(out, _shape(array, axes, keepdims), chosen)
        result = _kept(target.array, axes, keepdims)
        if call.is_on_host:
            squares = call.filled(result.shape, 0, inner)
        else:
            squares = result if out is None and inner == chosen else call.empty(result.shape, inner)
        number: Any = length_of(array, axes)
        means = None
        if call.is_on_host or mask is not None:  # a GPU finds the means of all elements in the same pass
            means = call.empty(result.shape, inner)
            number = _means(call, axes, mask, means)
        call.engine.squared_deviations(FLOAT64 if inner.itemsize == 8 else FLOAT32, describe(axes_last(array, axes)),
                                       length_of(array, axes), describe_optional(mask), describe_optional(means),
                                       describe(squares))
        if mask is None:
            divisor = max(number - ddof, 0)
        else:
            divisor = call.empty(number.shape, np.float64)
            call.apply(SUBTRACT, number, ddof, divisor)
            call.apply(MAXIMUM, divisor, 0, divisor)
        if _has_one_below(call, divisor, np.nextafter(0, 1)):
            warnings.warn("Degrees of freedom <= 0 for slice", RuntimeWarning, stacklevel=3)
        call.apply(DIVIDE, squares, divisor, result)
        return target.finish()


__all__ = ["mean", "var"]
