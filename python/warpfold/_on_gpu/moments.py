# SPDX-License-Identifier: MIT
"""Means and variances; see .._moments."""
from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _gpu
from .._arrays import FLOAT32, FLOAT64, axes_of, length_of
from .._moments import _mean_types
from .._reductions import SUM, Axis, _shape
from .array import DeviceArray
from .call import DIVIDE, MAXIMUM, SUBTRACT, Call
from .reductions import chosen_in, fold, kept, mask_of


def _means(call: Call, axes: Sequence[int], mask: DeviceArray | None, means: DeviceArray) -> Any:
    """`means` of floating-point numbers. Returns the numbers of elements."""
    fold(call, SUM, axes, mask, means)
    number = chosen_in(call, axes, mask, means.shape)
    call.apply(DIVIDE, means, number, means)
    return number


def mean(a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Any:
    with Call("mean", a) as call:
        axes = axes_of(axis, call.array.ndim)
        mask = mask_of(call, where, axes)
        inner, chosen = _mean_types(call.array, dtype, "mean")
        target = call.results(out, _shape(call.array, axes, keepdims), chosen)
        result = kept(target.array, axes, keepdims)
        means = result if inner == chosen else call.empty(result.shape, inner)
        _means(call, axes, mask, means)
        if length_of(call.array, axes) == 0:
            warnings.warn("Mean of empty slice.", RuntimeWarning, stacklevel=3)
        if means is not result:
            _gpu.copy(call.place, means.description(), result.description())
        return target.finish()


def var(a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False, *,
        where: Any = True) -> Any:
    with Call("var", a) as call:
        array = call.array
        axes = axes_of(axis, array.ndim)
        mask = mask_of(call, where, axes)
        inner, chosen = _mean_types(array, dtype, "var")
        target = call.results(out, _shape(array, axes, keepdims), chosen)
        result = kept(target.array, axes, keepdims)
        length = length_of(array, axes)
        squares = call.empty(result.shape, inner)
        number: Any = length
        means = None
        if mask is not None:
            means = call.empty(result.shape, inner)
            number = _means(call, axes, mask, means)
        _gpu.squared_deviations(call.place, FLOAT64 if inner.itemsize == 8 else FLOAT32,
                                array.axes_last(axes).description(), length,
                                None if mask is None else mask.description(),
                                None if means is None else means.description(), squares.description())
        if isinstance(number, DeviceArray):
            divisor: Any = call.empty(number.shape, np.float64)
            call.apply(SUBTRACT, number, ddof, divisor)
            call.apply(MAXIMUM, divisor, 0, divisor)
        else:
            divisor = max(number - ddof, 0)
            if divisor <= 0:
                warnings.warn("Degrees of freedom <= 0 for slice", RuntimeWarning, stacklevel=3)
        call.apply(DIVIDE, squares, divisor, result)
        return target.finish()


__all__ = ["mean", "var"]
