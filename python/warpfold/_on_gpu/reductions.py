# SPDX-License-Identifier: MIT
"""Reductions along axes; see .._reductions."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _gpu
from .._arrays import axes_of, fold_type, length_of, one_axis
from .._reductions import MAXIMUM, MINIMUM, PRODUCT, SUM, Axis, _is_direct, _shape, result_type
from .array import DeviceArray
from .call import EQUAL, NOT_EQUAL, Call


def mask_of(call: Call, where: Any, axes: Sequence[int]) -> DeviceArray | None:
    """`where` as bool of the shape of the array, the reduced axes last; None if it chooses all elements."""
    if where is True or where is np._NoValue:
        return None
    mask = call.cast(call.operand(where, "where"), np.bool_)
    return mask.broadcast_to(call.array.shape).axes_last(axes)


def kept(result: DeviceArray, axes: Sequence[int], keepdims: bool) -> DeviceArray:
    """A view of results without the axes that were reduced."""
    return result.without(axes) if keepdims else result


def fold(call: Call, op: int, axes: Sequence[int], mask: DeviceArray | None, result: DeviceArray) -> None:
    """`result` gets the operation over the axes; it has the type of the results."""
    array = call.array
    if op in (SUM, PRODUCT) and not _is_direct(array.dtype, result.dtype):
        array = call.copied(array, result.dtype)
    _gpu.reduce(call.place, op, fold_type(result.dtype), array.axes_last(axes).description(), length_of(array, axes),
                None if mask is None else mask.description(), result.description())


def count_in(call: Call, array: DeviceArray, axes: Sequence[int], mask: DeviceArray | None, result: DeviceArray) -> None:
    _gpu.count_nonzero(call.place, array.axes_last(axes).description(), length_of(array, axes),
                       None if mask is None else mask.description(), result.description())


def chosen_in(call: Call, axes: Sequence[int], mask: DeviceArray | None, shape: Sequence[int]) -> Any:
    """How many elements each result is of: a number, or an array of int64."""
    if mask is None:
        return length_of(call.array, axes)
    counts = call.empty(shape, np.int64)
    count_in(call, mask, tuple(range(len(shape), mask.ndim)), None, counts)
    return counts


def logical(call: Call, every: bool, axes: Sequence[int], mask: DeviceArray | None, result: DeviceArray) -> None:
    counts = call.empty(result.shape, np.int64)
    count_in(call, call.array, axes, mask, counts)
    if every:
        call.apply(EQUAL, counts, chosen_in(call, axes, mask, result.shape), result)
    else:
        call.apply(NOT_EQUAL, counts, 0, result)


def _accumulate(name: str, op: int, a: Any, axis: Axis, dtype: Any, out: Any, keepdims: bool, initial: Any,
                where: Any) -> Any:
    with Call(name, a) as call:
        axes = axes_of(axis, call.array.ndim)
        chosen = result_type(call.array, dtype, out, name)
        mask = mask_of(call, where, axes)
        target = call.results(out, _shape(call.array, axes, keepdims), chosen)
        result = kept(target.array, axes, keepdims)
        if chosen.kind == "b":
            logical(call, op == PRODUCT, axes, mask, result)
        else:
            fold(call, op, axes, mask, result)
        if initial is not np._NoValue:
            call.apply(op, result, np.asarray(initial).astype(chosen), result)
        return target.finish()


def sum(a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: bool = False, initial: Any = np._NoValue,
        where: Any = True) -> Any:
    return _accumulate("sum", SUM, a, axis, dtype, out, keepdims, initial, where)


def prod(a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: bool = False,
         initial: Any = np._NoValue, where: Any = True) -> Any:
    return _accumulate("prod", PRODUCT, a, axis, dtype, out, keepdims, initial, where)


def _extreme(name: str, op: int, a: Any, axis: Axis, out: Any, keepdims: bool, initial: Any, where: Any) -> Any:
    with Call(name, a) as call:
        array = call.array
        axes = axes_of(axis, array.ndim)
        mask = mask_of(call, where, axes)
        has_initial = initial is not np._NoValue
        if mask is not None and not has_initial:
            raise ValueError(f"{name}: with `where`, `initial` is needed: an extreme of no elements is not defined")
        if length_of(array, axes) == 0 and not has_initial:
            raise ValueError(f"{name}: zero-size array to a reduction that has no identity: a has shape {array.shape}")
        target = call.results(out, _shape(array, axes, keepdims), array.dtype)
        result = kept(target.array, axes, keepdims)
        fold(call, op, axes, mask, result)
        if has_initial:
            call.apply(op, result, np.asarray(initial).astype(array.dtype), result)
        return target.finish()


def min(a: Any, axis: Axis = None, out: Any = None, keepdims: bool = False, initial: Any = np._NoValue,
        where: Any = True) -> Any:
    return _extreme("min", MINIMUM, a, axis, out, keepdims, initial, where)


def max(a: Any, axis: Axis = None, out: Any = None, keepdims: bool = False, initial: Any = np._NoValue,
        where: Any = True) -> Any:
    return _extreme("max", MAXIMUM, a, axis, out, keepdims, initial, where)


def minmax(a: Any, axis: Axis = None, keepdims: bool = False) -> tuple[Any, Any]:
    with Call("minmax", a) as call:
        array = call.array
        axes = axes_of(axis, array.ndim)
        shape = _shape(array, axes, keepdims)
        length = length_of(array, axes)
        if length == 0:
            raise ValueError(f"minmax: zero-size array to a reduction that has no identity: a has shape {array.shape}")
        smallest, largest = (call.results(None, shape, array.dtype) for _ in range(2))
        if 0 not in shape:
            _gpu.min_max(call.place, fold_type(array.dtype), array.axes_last(axes).description(), length,
                         kept(smallest.array, axes, keepdims).description(),
                         kept(largest.array, axes, keepdims).description())
        return smallest.finish(), largest.finish()


def _test(name: str, every: bool, a: Any, axis: Axis, out: Any, keepdims: bool, where: Any) -> Any:
    with Call(name, a) as call:
        axes = axes_of(axis, call.array.ndim)
        mask = mask_of(call, where, axes)
        target = call.results(out, _shape(call.array, axes, keepdims), np.bool_)
        logical(call, every, axes, mask, kept(target.array, axes, keepdims))
        return target.finish()


def any(a: Any, axis: Axis = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Any:
    return _test("any", False, a, axis, out, keepdims, where)


def all(a: Any, axis: Axis = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Any:
    return _test("all", True, a, axis, out, keepdims, where)


def count_nonzero(a: Any, axis: Axis = None, *, keepdims: bool = False) -> Any:
    with Call("count_nonzero", a) as call:
        axes = axes_of(axis, call.array.ndim)
        target = call.results(None, _shape(call.array, axes, keepdims), np.intp)
        count_in(call, call.array, axes, None, kept(target.array, axes, keepdims))
        return target.finish()


def _arg(name: str, smallest: bool, a: Any, axis: int | None, out: Any, keepdims: bool) -> Any:
    with Call(name, a) as call:
        array = call.array
        axes = axes_of(None, array.ndim) if axis is None else (one_axis(axis, array.ndim),) if array.ndim else ()
        if array.ndim == 0 and axis is not None:
            one_axis(axis, 1)
        shape = _shape(array, axes, keepdims)
        length = length_of(array, axes)
        if length == 0 and 0 not in shape:
            raise ValueError(f"{name}: attempt to get an index of an empty sequence: a has shape {array.shape}")
        if out is not None and hasattr(out, "dtype") and isinstance(out, np.ndarray) and \
                not np.can_cast(out.dtype, np.intp):
            raise TypeError(f"{name}: out has dtype {out.dtype}, and the result {np.dtype(np.intp)}")
        target = call.results(out, shape, np.intp)
        _gpu.arg_extreme(call.place, smallest, fold_type(array.dtype), array.axes_last(axes).description(), length,
                         kept(target.array, axes, keepdims).description())
        return target.finish()


def argmin(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Any:
    return _arg("argmin", True, a, axis, out, keepdims)


def argmax(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Any:
    return _arg("argmax", False, a, axis, out, keepdims)


count = count_nonzero
__all__ = ["sum", "prod", "min", "max", "minmax", "any", "all", "count", "count_nonzero", "argmin", "argmax"]
