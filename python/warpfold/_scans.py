# SPDX-License-Identifier: MIT
"""Scans along an axis."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ._arrays import Array, Flag, NumPyArray, OneAxis, axes_last, check_choice, fold_type, one_axis, read_scalar
from ._calls import Call, call_of, chosen_type, of_whole_arrays, in_one_call
from ._docstrings import documented_as
from ._reductions import MAXIMUM, MINIMUM, OPERATIONS, PRODUCT, SUM, _is_direct, result_type


class Extras(NamedTuple):
    """What `scan` has beside the functions of NumPy's names."""

    reverse: Flag = False
    exclusive: Flag = False
    initial: Any = None
    segments: Any = None


def scan_of(name: str, op: int, a: Any, axis: OneAxis, dtype: Any, out: Any, extras: Extras = Extras()) -> Any:
    """The scan of a function of this name."""
    with call_of(name, a) as call:
        array = call.array
        if axis is None or array.ndim == 0:
            if axis is not None:
                one_axis(axis, 1)
            array, axis = array if array.ndim == 1 else call.contiguous(array).reshape(-1), 0
        along = one_axis(axis, array.ndim)
        native = None if dtype is None else chosen_type(dtype).newbyteorder("=")  # as NumPy's results, of any byte order asked for
        chosen = array.dtype if op in (MINIMUM, MAXIMUM) else result_type(array, native, out, name)
        target = call.results(out, array.shape, chosen)
        if chosen.kind == "b" and op in (SUM, PRODUCT):  # logical or, logical and
            array, op = call.cast(array, np.bool_), MAXIMUM if op == SUM else MINIMUM
        elif op in (SUM, PRODUCT) and not _is_direct(array.dtype, chosen):
            array = call.copied(array, chosen)
        lines, places = axes_last(array, (along,)), axes_last(target.array, (along,))
        if extras.reverse:
            lines, places = lines[..., ::-1], places[..., ::-1]
        heads = None if extras.segments is None else _heads(call, array.shape[along], extras)
        first = _first(op, extras.initial, extras.exclusive, chosen)
        if first is not None and array.size:
            lines = _with_first(call, op, lines, heads, first, extras.exclusive)
        call.engine.scan(op, fold_type(chosen), lines, array.shape[along], heads, places)
        return target.finish()


def _heads(call: Call, length: int, extras: Extras) -> Array:
    """Whether a segment begins at each place, in the order of the scan."""
    given = call.on_host(extras.segments, "segments")
    if given.ndim != 1 or (given.dtype.kind not in "iu" and given.size):
        raise TypeError(f"scan: segments has dtype {given.dtype} and shape {given.shape}; it has integers along one axis")
    if given.size and (given[0] < 0 or given[-1] > length or np.any(given[1:] < given[:-1])):
        raise ValueError(f"scan: segments decrease, or lie outside of 0 to {length}: from {given[0]} to {given[-1]}")
    begins = given.astype(np.int64)
    return call.marked(length, call.uploaded(np.unique(np.append(length - begins if extras.reverse else begins, 0))))


def _first(op: int, initial: Any, exclusive: Flag, chosen: np.dtype[Any]) -> NumPyArray | None:
    """The value before each segment; None if there is none."""
    if initial is not None:
        return read_scalar(initial, chosen, "scan", "initial")
    if not exclusive:
        return None
    if op in (SUM, PRODUCT):
        return np.asarray(int(op == PRODUCT)).astype(chosen)
    if chosen.kind == "b":
        return np.asarray(op == MINIMUM)
    if chosen.kind == "f":
        return np.asarray(np.inf if op == MINIMUM else -np.inf).astype(chosen)
    limits = np.iinfo(chosen)
    return np.asarray(limits.max if op == MINIMUM else limits.min, chosen)


def _with_first(call: Call, op: int, lines: Array, heads: Array | None, first: NumPyArray, exclusive: Flag) -> Array:
    """Lines whose inclusive scan is the one that is wanted: `first` is, or has joined, the first value of each segment."""
    dtype = np.dtype(np.float32) if first.dtype == np.float16 else first.dtype
    room = call.empty(lines.shape, dtype)
    if exclusive:
        call.copy(lines[..., :-1], room[..., 1:])
        firsts = call.broadcast(call.uploaded(first.astype(dtype)), room.shape)
    else:
        call.copy(lines, room)
        begins = room[..., :1] if heads is None else room
        firsts = call.empty(begins.shape, dtype)
        call.apply(op, begins, first.astype(dtype), firsts)
    if heads is None:
        call.copy(firsts[..., :1], room[..., :1])
    else:
        call.copy_where(firsts, call.broadcast(heads, room.shape), room)
    return room


def scan(a: Any, op: str = "sum", axis: OneAxis = None, dtype: Any = None, out: Any = None, *, reverse: Flag = False,
         exclusive: Flag = False, initial: Any = None, segments: Any = None) -> Any:
    """Cumulative results of an operation along an axis, or of the flattened array: `cumsum` and its relatives in general.

    Parameters
    ----------
    a : array
        bool, integers or floating-point numbers.
    op : {'sum', 'prod', 'min', 'max'}
        The operation. Sums and products have the types of `cumsum` and `cumprod`, extremes the type of `a`.
    axis : int or None
        The axis; None: the flattened array.
    dtype : dtype, optional
        The type of sums and products.
    out : array, optional
        Where results go, in the shape of `a`.
    reverse : bool
        Whether lines are scanned from their last element to the first.
    exclusive : bool
        Whether each result leaves its own element out.
    initial : scalar, optional
        The value before the first element of each line and segment. With `exclusive`, by default 0, 1, or the type's
        largest or smallest value (infinity for floating point).
    segments : array of integers, optional
        Where parts of each line begin that are scanned by themselves; they do not decrease and lie between 0 and the
        length. A part begins at 0 in any case. Offsets of `segment_sum` that begin at 0 are such.

    Returns
    -------
    array
        `out` if it is given, else an array of the kind of `a`.

    Raises
    ------
    TypeError, ValueError
        For another type or operation, an `out` of another shape, a `dtype` of extremes, and segments that decrease or
        lie outside.
    numpy.exceptions.AxisError
        For an axis that `a` does not have.
    """
    check_choice(op, OPERATIONS, "scan", "op")
    number = OPERATIONS[op]
    if dtype is not None and number in (MINIMUM, MAXIMUM):
        raise TypeError(f"scan: extremes have the type of a, and dtype is {chosen_type(dtype)}")
    if axis is dtype is out is initial is segments is None:
        found = in_one_call("scan", a, number, bool(reverse), bool(exclusive))
        if found is not None:
            return found
    return scan_of("scan", number, a, axis, dtype, out, Extras(reverse, exclusive, initial, segments))


@of_whole_arrays
@documented_as(scan)
def cumsum(a: Any, axis: OneAxis = None, dtype: Any = None, out: Any = None) -> Any:
    """Cumulative sums along an axis, or of the flattened array, as `numpy.cumsum`.

    A floating-point result at k is a sum of a few partial sums, not the result at k - 1 plus an element; it has the same
    bits for any number of threads. float16 is summed in float32.

    Parameters
    ----------
    dtype : dtype, optional
        The type of the results. By default int64 for signed integers and bool, uint64 for unsigned ones, else that of `a`.

    Raises
    ------
    TypeError, ValueError
        For another type, and for an `out` of another shape.
    numpy.exceptions.AxisError
        For an axis that `a` does not have.
    """
    return scan_of("cumsum", SUM, a, axis, dtype, out)


@of_whole_arrays
@documented_as(cumsum)
def cumprod(a: Any, axis: OneAxis = None, dtype: Any = None, out: Any = None) -> Any:
    """Cumulative products along an axis, or of the flattened array, as `numpy.cumprod`.

    A floating-point result is a product of a few partial products, as in `cumsum`.
    """
    return scan_of("cumprod", PRODUCT, a, axis, dtype, out)


@of_whole_arrays
@documented_as(cumsum)
def cummax(a: Any, axis: OneAxis = None, out: Any = None) -> Any:
    """Cumulative maxima, as `numpy.maximum.accumulate`; of the flattened array if `axis` is None.

    From a NaN on, all results are NaN. They have the type of `a`.
    """
    return scan_of("cummax", MAXIMUM, a, axis, None, out)


@of_whole_arrays
@documented_as(cumsum)
def cummin(a: Any, axis: OneAxis = None, out: Any = None) -> Any:
    """Cumulative minima, as `numpy.minimum.accumulate`; of the flattened array if `axis` is None.

    From a NaN on, all results are NaN. They have the type of `a`.
    """
    return scan_of("cummin", MINIMUM, a, axis, None, out)


__all__ = ["scan", "cumsum", "cumprod", "cummax", "cummin"]
