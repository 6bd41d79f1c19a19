# SPDX-License-Identifier: MIT
"""Means and variances along axes."""
from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, SupportsFloat

import numpy as np

from ._arrays import (FLOAT32, FLOAT64, TYPES, Array, Axis, Flag, Shaped, axes_last, axes_of, length_of,
                      read_scalar)
from ._calls import DIVIDE, MAXIMUM, SUBTRACT, Call, call_of, chosen_type, of_whole_arrays, type_of_out
from ._complex import Complex, is_complex
from ._docstrings import documented_as
from ._reductions import NO_VALUE, SUM, _chosen, _fold, _kept, _mask, _shape, sum

LEAST = 5e-324  # above 0
PARTS: dict[np.dtype[Any], np.dtype[Any]] = {np.dtype(np.complex64): np.dtype(np.float32),
                                             np.dtype(np.complex128): np.dtype(np.float64)}


def _mean_types(array: Shaped, dtype: Any, out: Any, call: str) -> tuple[np.dtype[Any], np.dtype[Any]]:
    """The type that means are computed in, and that of the results. For an `out` they are not rounded to float16 in between."""
    if dtype is not None:
        chosen = chosen_type(dtype)
        if chosen.kind != "f" or chosen not in TYPES:
            raise TypeError(f"{call}: the result has dtype {chosen}; accepted are float16, float32 and float64")
    else:
        of_out = type_of_out(out)
        is_wider = of_out is not None and of_out.kind == array.dtype.kind == "f"
        common = np.result_type(array.dtype, of_out) if is_wider else array.dtype
        chosen = common if common.kind == "f" else np.dtype(np.float64)
    inner = np.dtype(np.float32) if chosen.itemsize == 2 else chosen
    return inner, chosen if out is None or dtype is not None else inner


def _takes_scalars(where: Any) -> bool:
    """Whether an array of no axes has axes 0 and -1: with `where`, as in NumPy."""
    return where is not True and where is not NO_VALUE


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


def _mean(a: Any, axis: Axis, dtype: Any, out: Any, keepdims: Flag, where: Any) -> tuple[Any, bool]:
    """The means of real numbers, and whether one is of no elements."""
    with call_of("mean", a) as call:
        axes = axes_of(axis, call.array.ndim, _takes_scalars(where))
        mask = _mask(call, where, axes)
        inner, chosen = _mean_types(call.array, dtype, out, "mean")
        target = call.results(out, _shape(call.array, axes, keepdims), chosen)
        result = _kept(target.array, axes, keepdims)
        means = result if inner == chosen else call.empty(result.shape, inner)
        number = _means(call, axes, mask, means)
        if means is not result:
            call.copy(means, result)
        return target.finish(), _has_one_below(call, number, 1)


def _part_type(dtype: Any, call: str) -> Any:
    """The type of the parts of a complex type. None stays None."""
    if dtype is None:
        return None
    chosen = chosen_type(dtype)
    if chosen not in PARTS:
        raise TypeError(f"{call}: a is complex, and the result has dtype {chosen}; accepted are complex64 and complex128")
    return PARTS[chosen]


@of_whole_arrays
@documented_as(sum)
def mean(a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: Flag = False, *, where: Any = True) -> Any:
    """Arithmetic mean over axes, as `numpy.mean`.

    Integers and bool are averaged in float64, float16 in float32, of complex numbers the parts. A mean of no elements is NaN,
    with a RuntimeWarning.

    Parameters
    ----------
    a : array
        bool, integers, floating-point or complex numbers. Complex ones are in host memory, or CuPy's or PyTorch's.
    dtype : dtype, optional
        The type of the results: a floating-point type, of complex numbers a complex one. By default that of `a`, or float64.
    """
    if is_complex(a):
        numbers = Complex(a, "mean", "a")
        part_type = _part_type(dtype, "mean")
        (real, is_empty), (imag, _) = (_mean(part, axis, part_type, None, keepdims, where)
                                       for part in (numbers.real, numbers.imag))
        result = numbers.joined(real, imag, out)
    else:
        result, is_empty = _mean(a, axis, dtype, out, keepdims, where)
    if is_empty:
        warnings.warn("Mean of empty slice.", RuntimeWarning, stacklevel=3)
    return result


def _without_gaps(part: Any) -> Any:
    """A part of complex numbers; in host memory a copy, of which a variance takes half the time."""
    return np.array(part) if isinstance(part, np.ndarray) else part


def _given_means(call: Call, mean: Any, axes: Sequence[int], dtype: np.dtype[Any]) -> Array:
    """The caller's means, without the reduced axes."""
    shape = _shape(call.array, axes, True)
    means = call.cast(call.operand(mean, "mean"), dtype)
    try:
        spread = call.broadcast(means, shape)
    except ValueError:
        raise ValueError(f"{call.name}: mean has shape {means.shape}, and does not broadcast to that of the means with keepdims, "
                         f"{shape}") from None
    return call.contiguous(_kept(spread, axes, True), dtype)


def _var(a: Any, axis: Axis, dtype: Any, out: Any, ddof: SupportsFloat, keepdims: Flag, where: Any, mean: Any) -> tuple[Any, bool]:
    """The variances of real numbers, and whether one is of too few elements."""
    with call_of("var", a) as call:
        array = call.array
        axes = axes_of(axis, array.ndim, _takes_scalars(where))
        ddof = read_scalar(ddof, np.float64, "var", "ddof").item()
        mask = _mask(call, where, axes)
        inner, chosen = _mean_types(array, dtype, out, "var")
        target = call.results(out, _shape(array, axes, keepdims), chosen)
        result = _kept(target.array, axes, keepdims)
        if call.is_on_host:
            squares = call.filled(result.shape, 0, inner)
        else:
            squares = result if out is None and inner == chosen else call.empty(result.shape, inner)
        number: Any = length_of(array, axes)
        means = None
        if mean is not NO_VALUE:
            means = _given_means(call, mean, axes, inner)
            number = _chosen(call, axes, mask, means.shape)
        elif call.is_on_host or mask is not None:  # a GPU finds the means of all elements in the same pass
            means = call.empty(result.shape, inner)
            number = _means(call, axes, mask, means)
        call.engine.squared_deviations(FLOAT64 if inner.itemsize == 8 else FLOAT32, axes_last(array, axes),
                                       length_of(array, axes), mask, means, squares)
        if mask is None:
            divisor = max(number - ddof, 0)
        else:
            divisor = call.empty(number.shape, np.float64)
            call.apply(SUBTRACT, number, ddof, divisor)
            call.apply(MAXIMUM, divisor, 0, divisor)
        call.apply(DIVIDE, squares, divisor, result)
        return target.finish(), _has_one_below(call, divisor, LEAST)


@of_whole_arrays
@documented_as(mean)
def var(a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, ddof: SupportsFloat = 0, keepdims: Flag = False, *,
        where: Any = True, mean: Any = NO_VALUE, correction: Any = NO_VALUE) -> Any:
    """Variance over axes, as `numpy.var`: the sum of squared deviations from the mean, divided by the number of elements
    less `ddof`.

    Two passes on the host, one on a GPU. The variance of complex numbers is the sum of those of the parts, a real number.

    Parameters
    ----------
    dtype : dtype, optional
        The type of the results, a floating-point type; none for complex numbers. By default that of `a`, or float64.
    ddof : float
        What the divisor is less than the number of elements.
    mean : array, optional
        The means, in the shape that they have with `keepdims`.
    correction : float, optional
        Another name of `ddof`.
    """
    if correction is not NO_VALUE:
        if ddof != 0:
            raise ValueError("var: ddof and correction are given; they are one argument")
        ddof = correction
    if is_complex(a):
        numbers = Complex(a, "var", "a")
        if dtype is not None:
            raise TypeError(f"var: a is complex, and dtype is {chosen_type(dtype)}; it must be None")
        means = [mean, 0] if mean is not NO_VALUE else [NO_VALUE] * 2
        if is_complex(mean):
            given = Complex(mean, "var", "mean")
            means = [given.real, given.imag]
        (real, has_few), (imag, _) = (_var(part, axis, None, None, ddof, keepdims, where, of_part)
                                      for part, of_part in zip(map(_without_gaps, (numbers.real, numbers.imag)), means))
        result = numbers.put(real + imag, out)
    else:
        result, has_few = _var(a, axis, dtype, out, ddof, keepdims, where, mean)
    if has_few:
        warnings.warn("Degrees of freedom <= 0 for slice", RuntimeWarning, stacklevel=3)
    return result


__all__ = ["mean", "var"]
