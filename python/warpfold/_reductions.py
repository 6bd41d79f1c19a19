# SPDX-License-Identifier: MIT
"""Reductions along axes. Every call reaches the extension module through `_fold`, `_count` or `_arg`."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _core
from ._arrays import (NumPyArray, Output, Shaped, axes_last, axes_of, check_dtype, describe, fold_type,
                      length_of, one_axis, read)

SUM, PRODUCT, MINIMUM, MAXIMUM = range(4)  # `operation` in python/src/calls.hpp
OPERATIONS = {"sum": SUM, "prod": PRODUCT, "min": MINIMUM, "max": MAXIMUM}
JOIN = {SUM: np.add, PRODUCT: np.multiply, MINIMUM: np.minimum, MAXIMUM: np.maximum}
Axis = int | Sequence[int] | None
INTEGERS: tuple[np.dtype[Any], np.dtype[Any]] = np.dtype(np.int64), np.dtype(np.uint64)


def _shape(array: Shaped, axes: Sequence[int], keepdims: bool) -> tuple[int, ...]:
    if keepdims:
        return tuple(1 if k in axes else extent for k, extent in enumerate(array.shape))
    return tuple(extent for k, extent in enumerate(array.shape) if k not in axes)


def _kept(result: NumPyArray, axes: Sequence[int], keepdims: bool) -> NumPyArray:
    """A view of results without the axes that were reduced."""
    return result.squeeze(tuple(axes)) if keepdims else result


def _mask(where: Any, array: NumPyArray, axes: Sequence[int]) -> NumPyArray | None:
    if where is True or where is np._NoValue:
        return None
    return axes_last(np.broadcast_to(np.asarray(where).astype(bool, copy=False), array.shape), axes)


def _is_direct(source: np.dtype[Any], target: np.dtype[Any]) -> bool:
    """Whether elements may be converted while they are folded, with the result of converting them first."""
    if target.kind in "iu":
        return source.kind in "iub"
    return target.kind == "f" and (target.itemsize > 2 or source == target)


def _fold(op: int, array: NumPyArray, axes: Sequence[int], mask: NumPyArray | None, result: NumPyArray) -> None:
    """`result`, without the reduced axes, gets the operation over the others; it has the type of the results."""
    if op in (SUM, PRODUCT) and not _is_direct(array.dtype, result.dtype):
        array = array.astype(result.dtype)
    fold = fold_type(result.dtype)
    view = axes_last(array, axes)
    _core.reduce(op, fold, describe(view), length_of(array, axes), None if mask is None else describe(mask),
                 describe(result))


def _count(array: NumPyArray, axes: Sequence[int], mask: NumPyArray | None, result: NumPyArray) -> None:
    _core.count_nonzero(describe(axes_last(array, axes)), length_of(array, axes),
                        None if mask is None else describe(mask), describe(result))


def _sum_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type of a sum or product: integers widen to 64 bits."""
    if dtype.kind in "ib":
        return INTEGERS[0]
    return INTEGERS[1] if dtype.kind == "u" else dtype


def result_type(array: Shaped, dtype: Any, out: Any, call: str) -> np.dtype[Any]:
    """The type in which a sum or product is computed."""
    if dtype is not None:
        chosen: np.dtype[Any] = np.dtype(dtype)
        check_dtype(chosen, call, "the result")
        return chosen
    default = _sum_type(array.dtype)
    if isinstance(out, np.ndarray) and out.dtype.isnative and np.can_cast(default, out.dtype) and out.dtype.kind in "iuf":
        default = out.dtype
        check_dtype(default, call, "out")
    return default


def _accumulate(call: str, op: int, a: Any, axis: Axis, dtype: Any, out: Any, keepdims: bool, initial: Any,
                where: Any) -> Any:
    source = read(a, call)
    array = source.array
    axes = axes_of(axis, array.ndim)
    chosen = result_type(array, dtype, out, call)
    mask = _mask(where, array, axes)
    target = Output(out, _shape(array, axes, keepdims), chosen, source, call)
    result = _kept(target.array, axes, keepdims)
    if chosen.kind == "b":
        _logical(op == PRODUCT, array, axes, mask, result)
    else:
        _fold(op, array, axes, mask, result)
    if initial is not np._NoValue:
        JOIN[op](result, np.asarray(initial).astype(chosen), out=result)
    return target.finish()


def _logical(every: bool, array: NumPyArray, axes: Sequence[int], mask: NumPyArray | None, result: NumPyArray) -> None:
    counts = np.empty(result.shape, np.int64)
    _count(array, axes, mask, counts)
    if not every:
        np.not_equal(counts, 0, out=result)
    elif mask is None:
        np.equal(counts, length_of(array, axes), out=result)
    else:
        chosen = np.empty(result.shape, np.int64)
        places = tuple(range(result.ndim, mask.ndim))
        _count(mask, places, None, chosen)
        np.equal(counts, chosen, out=result)


def sum(a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: bool = False, initial: Any = np._NoValue,
        where: Any = True) -> Any:
    """Sum of elements over axes, as `numpy.sum`.

    Integers are summed in 64 bits and wrap there. float16 is summed in float32 and rounded once. The order of
    floating-point additions is fixed: results have the same bits for any number of threads.

    Parameters
    ----------
    a : array
        bool, integers, float16, float32 or float64, of any strides.
    axis : int, tuple of int or None
        The axes that are summed; None: all.
    dtype : dtype, optional
        The type of the results. By default int64 for signed integers and bool, uint64 for unsigned ones, else that of `a`.
    out : array, optional
        Where results go, in the results' shape. They are cast to its type.
    keepdims : bool
        Whether reduced axes stay, with one element.
    initial : scalar, optional
        A value that is added.
    where : array of bool, optional
        The elements that count. It broadcasts to the shape of `a`.

    Returns
    -------
    array or scalar
        `out` if it is given, else an array of the kind of `a`.

    Raises
    ------
    TypeError
        For another type of elements.
    numpy.exceptions.AxisError, ValueError
        For an axis that `a` does not have, or that is given twice; for an `out` of another shape.
    """
    return _accumulate("sum", SUM, a, axis, dtype, out, keepdims, initial, where)


def prod(a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: bool = False,
         initial: Any = np._NoValue, where: Any = True) -> Any:
    """Product of elements over axes, as `numpy.prod`. Parameters, results and errors are those of `sum`."""
    return _accumulate("prod", PRODUCT, a, axis, dtype, out, keepdims, initial, where)


def _extreme(call: str, op: int, a: Any, axis: Axis, out: Any, keepdims: bool, initial: Any, where: Any) -> Any:
    source = read(a, call)
    array = source.array
    axes = axes_of(axis, array.ndim)
    mask = _mask(where, array, axes)
    has_initial = initial is not np._NoValue
    if mask is not None and not has_initial:
        raise ValueError(f"{call}: with `where`, `initial` is needed: an extreme of no elements is not defined")
    shape = _shape(array, axes, keepdims)
    length = length_of(array, axes)
    if length == 0 and not has_initial:
        raise ValueError(f"{call}: zero-size array to a reduction that has no identity: a has shape {array.shape}")
    target = Output(out, shape, array.dtype, source, call)
    result = _kept(target.array, axes, keepdims)
    first = np.asarray(initial).astype(array.dtype) if has_initial else None
    if length == 0:
        if first is not None:
            result[...] = first
    else:
        _fold(op, array, axes, mask, result)
        if first is not None:
            JOIN[op](result, first, out=result)
    return target.finish()


def min(a: Any, axis: Axis = None, out: Any = None, keepdims: bool = False, initial: Any = np._NoValue,
        where: Any = True) -> Any:
    """Smallest element over axes, as `numpy.min`. A NaN among the elements gives NaN.

    Parameters and errors are those of `sum`, without `dtype`. No elements raise ValueError, unless there is an `initial`;
    `where` needs one.
    """
    return _extreme("min", MINIMUM, a, axis, out, keepdims, initial, where)


def max(a: Any, axis: Axis = None, out: Any = None, keepdims: bool = False, initial: Any = np._NoValue,
        where: Any = True) -> Any:
    """Largest element over axes, as `numpy.max`; see `min`."""
    return _extreme("max", MAXIMUM, a, axis, out, keepdims, initial, where)


def minmax(a: Any, axis: Axis = None, keepdims: bool = False) -> tuple[Any, Any]:
    """Smallest and largest elements over axes: `(min(a, axis), max(a, axis))`. Over all axes of an array without gaps in one pass."""
    source = read(a, "minmax")
    array = source.array
    axes = axes_of(axis, array.ndim)
    shape = _shape(array, axes, keepdims)
    length = length_of(array, axes)
    if length == 0:
        raise ValueError(f"minmax: zero-size array to a reduction that has no identity: a has shape {array.shape}")
    smallest, largest = (Output(None, shape, array.dtype, source, "minmax") for _ in range(2))
    _core.min_max(fold_type(array.dtype), describe(axes_last(array, axes)), length,
                  describe(_kept(smallest.array, axes, keepdims)), describe(_kept(largest.array, axes, keepdims)))
    return smallest.finish(), largest.finish()


def _test(call: str, every: bool, a: Any, axis: Axis, out: Any, keepdims: bool, where: Any) -> Any:
    source = read(a, call)
    axes = axes_of(axis, source.array.ndim)
    mask = _mask(where, source.array, axes)
    target = Output(out, _shape(source.array, axes, keepdims), np.dtype(bool), source, call)
    _logical(every, source.array, axes, mask, _kept(target.array, axes, keepdims))
    return target.finish()


def any(a: Any, axis: Axis = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Any:
    """Whether an element is not zero, over axes, as `numpy.any`. Parameters and errors are those of `sum`."""
    return _test("any", False, a, axis, out, keepdims, where)


def all(a: Any, axis: Axis = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Any:
    """Whether no element is zero, over axes, as `numpy.all`. Parameters and errors are those of `sum`."""
    return _test("all", True, a, axis, out, keepdims, where)


def count_nonzero(a: Any, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """Number of elements that are not zero, over axes, as `numpy.count_nonzero`."""
    source = read(a, "count_nonzero")
    axes = axes_of(axis, source.array.ndim)
    target = Output(None, _shape(source.array, axes, keepdims), np.dtype(np.intp), source, "count_nonzero")
    _count(source.array, axes, None, _kept(target.array, axes, keepdims))
    return target.finish()


def _arg(call: str, smallest: bool, a: Any, axis: int | None, out: Any, keepdims: bool) -> Any:
    source = read(a, call)
    array = source.array
    axes = axes_of(None, array.ndim) if axis is None else (one_axis(axis, array.ndim),) if array.ndim else ()
    if array.ndim == 0 and axis is not None:
        one_axis(axis, 1)
    shape = _shape(array, axes, keepdims)
    length = length_of(array, axes)
    if length == 0 and 0 not in shape:
        raise ValueError(f"{call}: attempt to get an index of an empty sequence: a has shape {array.shape}")
    if isinstance(out, np.ndarray) and not np.can_cast(out.dtype, np.intp):
        raise TypeError(f"{call}: out has dtype {out.dtype}, and the result {np.dtype(np.intp)}")
    target = Output(out, shape, np.dtype(np.intp), source, call)
    _core.arg_extreme(smallest, fold_type(array.dtype), describe(axes_last(array, axes)), length,
                      describe(_kept(target.array, axes, keepdims)))
    return target.finish()


def argmin(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """Index of the smallest element along an axis, or in the flattened array, as `numpy.argmin`.

    The first of equal elements; the first NaN if there is one. Results are int64.
    """
    return _arg("argmin", True, a, axis, out, keepdims)


def argmax(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """Index of the largest element, as `numpy.argmax`; see `argmin`."""
    return _arg("argmax", False, a, axis, out, keepdims)


count = count_nonzero
__all__ = ["sum", "prod", "min", "max", "minmax", "any", "all", "count", "count_nonzero", "argmin", "argmax"]
