# SPDX-License-Identifier: MIT
"""Reductions along axes."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._arrays import (Array, Axis, Flag, NumPyArray, OneAxis, Shaped, axes_last, axes_of, check_dtype, fold_type, length_of,
                      one_axis, read_scalar)
from ._calls import EQUAL, NOT_EQUAL, Call, call_of, chosen_type, of_whole_arrays, type_of_out
from ._docstrings import documented_as

SUM, PRODUCT, MINIMUM, MAXIMUM = range(4)  # `operation` in python/src/calls.hpp
OPERATIONS = {"sum": SUM, "prod": PRODUCT, "min": MINIMUM, "max": MAXIMUM}
NO_VALUE: Any = np._NoValue
INTEGERS: tuple[np.dtype[Any], np.dtype[Any]] = np.dtype(np.int64), np.dtype(np.uint64)


def _shape(array: Shaped, axes: Sequence[int], keepdims: Flag) -> tuple[int, ...]:
    if not isinstance(keepdims, (int, np.integer, np.bool_)):
        raise TypeError(f"keepdims is {keepdims!r}, of type {type(keepdims).__name__}, and must be a bool")
    if len(axes) == len(array.shape) and not keepdims:
        return ()
    if keepdims:
        return tuple(1 if k in axes else extent for k, extent in enumerate(array.shape))
    return tuple(extent for k, extent in enumerate(array.shape) if k not in axes)


def _kept(result: Array, axes: Sequence[int], keepdims: Flag) -> Array:
    """A view of results without the axes that were reduced."""
    return result.squeeze(tuple(axes)) if keepdims else result


def condition(call: Call, where: Any) -> Array:
    """`where`, which is of bool."""
    mask = call.operand(where, "where")
    if mask.size == 0 and isinstance(where, (list, tuple)):  # NumPy makes float64 of no elements
        return call.empty(mask.shape, np.bool_)
    if mask.dtype != np.bool_:
        raise TypeError(f"{call.name}: where has dtype {mask.dtype}, and must be of bool")
    return mask


def _mask(call: Call, where: Any, axes: Sequence[int]) -> Array | None:
    """`where` as bool of the shape of the array, the reduced axes last; None if it chooses all elements."""
    if where is True or where is NO_VALUE:
        return None
    mask = condition(call, where)
    try:
        return axes_last(call.broadcast(mask, call.array.shape), axes)
    except ValueError:
        raise ValueError(f"{call.name}: where has shape {mask.shape}, and does not broadcast to that of a, "
                         f"{call.array.shape}") from None


def _is_direct(source: np.dtype[Any], target: np.dtype[Any]) -> bool:
    """Whether elements may be converted while they are folded, with the result of converting them first."""
    if target.kind in "iu":
        return source.kind in "iub"
    return target.kind == "f" and (target.itemsize > 2 or source == target)


def _fold(call: Call, op: int, array: Array, axes: Sequence[int], mask: Array | None, result: Array,
          first: NumPyArray | None = None) -> None:
    """`result`, without the reduced axes, gets the operation over the others, and over `first`; it has the type of the results."""
    if op in (SUM, PRODUCT) and not _is_direct(array.dtype, result.dtype):
        array = call.copied(array, result.dtype)
    is_wider = first is not None and result.dtype == np.float16  # rounded when `first` has joined
    folded = call.empty(result.shape, np.float32) if is_wider else result
    call.engine.reduce(op, fold_type(result.dtype), axes_last(array, axes), length_of(array, axes), mask, folded)
    if first is not None:
        call.apply(op, folded, first, folded)
    if is_wider:
        call.copy(folded, result)


def _count(call: Call, array: Array, axes: Sequence[int], mask: Array | None, result: Array) -> None:
    call.engine.count_nonzero(axes_last(array, axes), length_of(array, axes), mask, result)


def _chosen(call: Call, axes: Sequence[int], mask: Array | None, shape: Sequence[int]) -> Any:
    """How many elements each result is of: a number, or an array of int64."""
    if mask is None:
        return length_of(call.array, axes)
    counts = call.empty(shape, np.int64)
    _count(call, mask, tuple(range(len(shape), mask.ndim)), None, counts)
    return counts


def _sum_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type of a sum or product: integers widen to 64 bits."""
    if dtype.kind in "ib":
        return INTEGERS[0]
    return INTEGERS[1] if dtype.kind == "u" else dtype


def result_type(array: Shaped, dtype: Any, out: Any, call: str) -> np.dtype[Any]:
    """The type in which a sum or product is computed: with `out`, as in NumPy, the common type of both."""
    if dtype is not None:
        chosen = chosen_type(dtype)
        check_dtype(chosen, call, "the result")
        return chosen
    of_out = type_of_out(out)
    return _sum_type(array.dtype) if of_out is None else np.result_type(array.dtype, of_out)


def _accumulate(name: str, op: int, a: Any, axis: Axis, dtype: Any, out: Any, keepdims: Flag, initial: Any,
                where: Any) -> Any:
    with call_of(name, a) as call:
        array = call.array
        axes = axes_of(axis, array.ndim)
        chosen = result_type(array, dtype, out, name)
        mask = _mask(call, where, axes)
        first = _first(call, initial, chosen)
        target = call.results(out, _shape(array, axes, keepdims), chosen)
        result = _kept(target.array, axes, keepdims)
        if chosen.kind == "b":
            _logical(call, op == PRODUCT, axes, mask, result)
            if first is not None:
                call.apply(op, result, first, result)
        else:
            _fold(call, op, array, axes, mask, result, first)
        return target.finish()


def _first(call: Call, initial: Any, dtype: np.dtype[Any]) -> NumPyArray | None:
    """`initial` as a number of the results' type, a copy: `out` may be its memory. None if there is none."""
    return None if initial is NO_VALUE else read_scalar(initial, dtype, call.name, "initial")


def _logical(call: Call, every: bool, axes: Sequence[int], mask: Array | None, result: Array) -> None:
    if call.is_on_host and mask is None:
        call.engine.test_nonzero(every, axes_last(call.array, axes), length_of(call.array, axes), result)
        return
    counts = call.empty(result.shape, np.int64)
    _count(call, call.array, axes, mask, counts)
    if every:
        call.apply(EQUAL, counts, _chosen(call, axes, mask, result.shape), result)
    else:
        call.apply(NOT_EQUAL, counts, 0, result)


@of_whole_arrays
def sum(a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: Flag = False, initial: Any = NO_VALUE,
        where: Any = True) -> Any:
    """Sum of elements over axes, as `numpy.sum`.

    Integers are summed in 64 bits and wrap there. float16 is summed in float32 and rounded once. The order of
    floating-point additions is fixed: results have the same bits for any number of threads.

    Parameters
    ----------
    a : array
        bool, integers, float16, float32 or float64, of any strides.
    axis : int, tuple of int or None
        The axes that are reduced; None: all.
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


@of_whole_arrays
@documented_as(sum)
def prod(a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: Flag = False,
         initial: Any = NO_VALUE, where: Any = True) -> Any:
    """Product of elements over axes, as `numpy.prod`, in the types of `sum`.

    Parameters
    ----------
    initial : scalar, optional
        A value that is multiplied.
    """
    return _accumulate("prod", PRODUCT, a, axis, dtype, out, keepdims, initial, where)


def _check_extreme(name: str, array: Array, axes: Sequence[int], mask: Array | None, has_initial: bool) -> None:
    if mask is not None and not has_initial:
        raise ValueError(f"{name}: with `where`, `initial` is needed: an extreme of no elements is not defined")
    if length_of(array, axes) == 0 and not has_initial:
        raise ValueError(f"{name}: zero-size array to a reduction that has no identity: a has shape {array.shape}")


def _extreme_type(array: Shaped, out: Any) -> np.dtype[Any]:
    """The type in which elements are compared with an initial value: with `out`, as in NumPy, the common type of both."""
    of_out = type_of_out(out)
    return array.dtype if of_out is None else np.result_type(array.dtype, of_out)


def _extreme(name: str, op: int, a: Any, axis: Axis, out: Any, keepdims: Flag, initial: Any, where: Any) -> Any:
    with call_of(name, a) as call:
        array = call.array
        axes = axes_of(axis, array.ndim)
        mask = _mask(call, where, axes)
        _check_extreme(name, array, axes, mask, initial is not NO_VALUE)
        if initial is not NO_VALUE:
            array = call.cast(array, _extreme_type(array, out))
        first = _first(call, initial, array.dtype)
        target = call.results(out, _shape(array, axes, keepdims), array.dtype)
        _fold(call, op, array, axes, mask, _kept(target.array, axes, keepdims), first)
        return target.finish()


@of_whole_arrays
@documented_as(sum)
def min(a: Any, axis: Axis = None, out: Any = None, keepdims: Flag = False, initial: Any = NO_VALUE,
        where: Any = True) -> Any:
    """Smallest element over axes, as `numpy.min`. A NaN among the elements gives NaN.

    Parameters
    ----------
    initial : scalar, optional
        A value that takes part; needed with `where`.

    Returns
    -------
    array or scalar
        `out` if it is given, else an array of the kind and type of `a`.

    Raises
    ------
    TypeError
        For another type of elements.
    numpy.exceptions.AxisError, ValueError
        For an axis that `a` does not have, or that is given twice; for an `out` of another shape; without `initial` for no
        elements and for `where`.
    """
    return _extreme("min", MINIMUM, a, axis, out, keepdims, initial, where)


@of_whole_arrays
@documented_as(min)
def max(a: Any, axis: Axis = None, out: Any = None, keepdims: Flag = False, initial: Any = NO_VALUE,
        where: Any = True) -> Any:
    """Largest element over axes, as `numpy.max`. A NaN among the elements gives NaN."""
    return _extreme("max", MAXIMUM, a, axis, out, keepdims, initial, where)


def _pair(given: Any, argument: str) -> tuple[Any, Any]:
    """An argument of `minmax` for each of its results."""
    if not isinstance(given, tuple):
        raise TypeError(f"minmax: {argument} is of type {type(given).__name__}, and must be a tuple of two")
    if len(given) != 2:
        raise ValueError(f"minmax: {argument} has {len(given)} entries, and must have two")
    return given


@of_whole_arrays
@documented_as(min)
def minmax(a: Any, axis: Axis = None, keepdims: Flag = False, *, out: Any = None, initial: Any = NO_VALUE,
           where: Any = True) -> tuple[Any, Any]:
    """Smallest and largest elements over axes: `(min(a, axis), max(a, axis))`. Over all axes of an array without gaps in one pass.

    Parameters
    ----------
    out : tuple of two arrays, optional
        Where the smallest and the largest elements go. One of them may be None, for a new array.
    initial : tuple of two scalars, optional
        The largest value of the smallest elements, and the smallest value of the largest ones; needed with `where`.

    Returns
    -------
    tuple of two arrays or scalars
        Those of `out` that are given, else of the kind and type of `a`.

    Raises
    ------
    TypeError, ValueError
        As `min`; for an `out` or `initial` that is no tuple of two; for two outputs that share memory.
    """
    with call_of("minmax", a) as call:
        array = call.array
        axes = axes_of(axis, array.ndim)
        mask = _mask(call, where, axes)
        has_initial = initial is not NO_VALUE
        _check_extreme("minmax", array, axes, mask, has_initial)
        shape = _shape(array, axes, keepdims)
        outs = _pair((None, None) if out is None else out, "out")
        types = [_extreme_type(array, one) if has_initial else array.dtype for one in outs]
        firsts = [_first(call, *of) for of in zip(_pair(initial, "initial"), types)] if has_initial else []
        targets = [call.results(*of) for of in zip(outs, (shape, shape), types)]
        memory = [target.memory for target in targets]
        if memory[0] is not None and memory[1] is not None and np.shares_memory(memory[0], memory[1]):
            raise ValueError("minmax: the two arrays of out share memory")
        results = [_kept(target.array, axes, keepdims) for target in targets]
        if has_initial:
            for op, result, first in zip((MINIMUM, MAXIMUM), results, firsts):
                _fold(call, op, call.cast(array, result.dtype), axes, mask, result, first)
        elif 0 not in shape:
            call.engine.min_max(fold_type(array.dtype), axes_last(array, axes), length_of(array, axes), *results)
        return targets[0].finish(), targets[1].finish()


def _extremes(call: Call, array: Array) -> tuple[Any, Any]:
    """The smallest and the largest element, of an array that has some. Waits."""
    both = call.empty((2,), array.dtype)
    call.engine.min_max(fold_type(array.dtype), array, array.size, both[0, ...], both[1, ...])
    found = call.to_host(both)
    return found[0], found[1]


def _test(name: str, every: bool, a: Any, axis: Axis, out: Any, keepdims: Flag, where: Any) -> Any:
    with call_of(name, a) as call:
        axes = axes_of(axis, call.array.ndim)
        mask = _mask(call, where, axes)
        target = call.results(out, _shape(call.array, axes, keepdims), np.bool_)
        _logical(call, every, axes, mask, _kept(target.array, axes, keepdims))
        return target.finish()


@of_whole_arrays
@documented_as(sum)
def any(a: Any, axis: Axis = None, out: Any = None, keepdims: Flag = False, *, where: Any = True) -> Any:
    """Whether an element is not zero, over axes, as `numpy.any`. Results are bool."""
    return _test("any", False, a, axis, out, keepdims, where)


@of_whole_arrays
@documented_as(sum)
def all(a: Any, axis: Axis = None, out: Any = None, keepdims: Flag = False, *, where: Any = True) -> Any:
    """Whether no element is zero, over axes, as `numpy.all`. Results are bool."""
    return _test("all", True, a, axis, out, keepdims, where)


@of_whole_arrays
@documented_as(sum)
def count_nonzero(a: Any, axis: Axis = None, *, keepdims: Flag = False) -> Any:
    """Number of elements that are not zero, over axes, as `numpy.count_nonzero`.

    Returns
    -------
    array or scalar
        int64, an array of the kind of `a`.

    Raises
    ------
    TypeError
        For another type of elements.
    numpy.exceptions.AxisError, ValueError
        For an axis that `a` does not have, or that is given twice.
    """
    with call_of("count_nonzero", a) as call:
        axes = axes_of(axis, call.array.ndim)
        target = call.results(None, _shape(call.array, axes, keepdims), np.intp)
        _count(call, call.array, axes, None, _kept(target.array, axes, keepdims))
        return target.finish()


def _arg(name: str, smallest: bool, a: Any, axis: OneAxis, out: Any, keepdims: Flag) -> Any:
    with call_of(name, a) as call:
        array = call.array
        axes = axes_of(None, array.ndim) if axis is None else (one_axis(axis, array.ndim),) if array.ndim else ()
        if array.ndim == 0 and axis is not None:
            one_axis(axis, 1)
        shape = _shape(array, axes, keepdims)
        length = length_of(array, axes)
        if length == 0:
            raise ValueError(f"{name}: attempt to get an index of an empty sequence: a has shape {array.shape}")
        target = call.results(out, shape, np.intp)
        if target.memory is not None and not np.can_cast(target.memory.dtype, np.intp):
            raise TypeError(f"{name}: out has dtype {target.memory.dtype}, and the result {np.dtype(np.intp)}")
        call.engine.arg_extreme(smallest, fold_type(array.dtype), axes_last(array, axes), length,
                                _kept(target.array, axes, keepdims))
        return target.finish()


@of_whole_arrays
@documented_as(sum)
def argmin(a: Any, axis: OneAxis = None, out: Any = None, *, keepdims: Flag = False) -> Any:
    """Index of the smallest element along an axis, or in the flattened array, as `numpy.argmin`.

    The first of equal elements; the first NaN if there is one.

    Parameters
    ----------
    axis : int or None
        The axis; None: the flattened array.
    out : array, optional
        Where results go, in the results' shape; of int64, or a type that converts to it.

    Returns
    -------
    array or scalar
        `out` if it is given, else int64, an array of the kind of `a`.

    Raises
    ------
    TypeError
        For another type of elements, or of `out`.
    numpy.exceptions.AxisError, ValueError
        For an axis that `a` does not have, for results of no elements, and for an `out` of another shape.
    """
    return _arg("argmin", True, a, axis, out, keepdims)


@of_whole_arrays
@documented_as(argmin)
def argmax(a: Any, axis: OneAxis = None, out: Any = None, *, keepdims: Flag = False) -> Any:
    """Index of the largest element along an axis, or in the flattened array, as `numpy.argmax`.

    The first of equal elements; the first NaN if there is one.
    """
    return _arg("argmax", False, a, axis, out, keepdims)


count = count_nonzero
__all__ = ["sum", "prod", "min", "max", "minmax", "any", "all", "count", "count_nonzero", "argmin", "argmax"]
