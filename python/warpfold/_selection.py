# SPDX-License-Identifier: MIT
"""Elements that are selected, and runs of equal neighbours."""
from __future__ import annotations

from typing import Any

import numpy as np

from ._arrays import Array, Flag, check_choice, fold_type
from ._calls import ADD, Call, call_of, in_one_call
from ._docstrings import documented_as
from ._reductions import MAXIMUM, MINIMUM, OPERATIONS, SUM, _count, _sum_type, condition


# Bytes of an array on a GPU whose selected elements are counted while they are moved, into room for all; those of longer ones
# are counted before: a pass over the conditions, which costs less than the room.
MOST_AT_ONCE = 1 << 23


def _conditions(call: Call, where: Any) -> Array:
    """The condition for each element in row-major order."""
    mask = condition(call, where)
    try:
        return call.contiguous(call.broadcast(mask, call.array.shape))
    except ValueError:
        raise ValueError(f"{call.name}: where has shape {mask.shape}, and a {call.array.shape}") from None


def _counted(call: Call, where: Any) -> tuple[Array, int]:
    """The condition for each element, and how many elements it selects. Waits on a GPU."""
    flags = _conditions(call, where)
    number = call.empty((), np.int64)
    _count(call, flags, range(flags.ndim), None, number)
    return flags, int(call.to_host(number))


def select(a: Any, where: Any) -> Any:
    """Elements where a condition holds, in row-major order: `a[where]`.

    `numpy.select` is another function.

    Parameters
    ----------
    a : array
        bool, integers or floating-point numbers, of any shape.
    where : array of bool
        Which elements are selected. It broadcasts to the shape of `a`.

    Returns
    -------
    array
        Of one axis, and of the type of `a`.

    Raises
    ------
    TypeError, ValueError
        For another type, and for a condition of another shape.
    """
    found = in_one_call("select", a, where, False)
    if found is not None:
        return found
    with call_of("select", a) as call:
        if not call.is_on_host and call.array.size * call.array.dtype.itemsize <= MOST_AT_ONCE:
            line = call.contiguous(call.array)
            target = call.results(None, (line.size,), line.dtype)
            return call.shortened(target, call.engine.select_and_count(line, _conditions(call, where), target.array))
        flags, number = _counted(call, where)
        target = call.results(None, (number,), call.array.dtype)
        if number:
            call.engine.select(call.contiguous(call.array), flags, target.array, None)
        return target.finish()


@documented_as(select)
def partition_by(a: Any, where: Any) -> tuple[Any, Any]:
    """Elements where a condition holds, and the others: `(a[where], a[~where])`, both in row-major order.

    `numpy.partition`, which divides by rank, is another function.

    Returns
    -------
    tuple of two arrays
        Of one axis, and of the type of `a`.
    """
    found: tuple[Any, Any] | None = in_one_call("select", a, where, True)
    if found is not None:
        return found
    with call_of("partition_by", a) as call:
        flags, number = _counted(call, where)
        array = call.contiguous(call.array)
        selected, rejected = (call.results(None, (n,), array.dtype) for n in (number, array.size - number))
        call.engine.select(array, flags, selected.array, rejected.array)
        return selected.finish(), rejected.finish()


def _runs(call: Call) -> tuple[Array, Array]:
    """The first element and the length of each run, in row-major order. Waits on a GPU."""
    line = call.contiguous(call.array)
    values, lengths = call.empty((line.size,), line.dtype), call.empty((line.size,), np.int64)
    number = call.engine.run_length_encode(line, values, lengths)
    return values[:number], lengths[:number]


def _offsets(call: Call, lengths: Array) -> Array:
    """Where runs begin, and the end of the last one."""
    offsets = call.empty((lengths.size + 1,), np.int64)
    call.copy(call.uploaded(np.zeros(1, np.int64)), offsets[:1])
    call.engine.scan(SUM, fold_type(offsets.dtype), lengths, lengths.size, None, offsets[1:])
    return offsets


def run_length_encode(a: Any) -> tuple[Any, Any]:
    """The first element of each run of equal neighbours, and the runs' lengths, as int64.

    Zeros of both signs are equal; every NaN is a run. An array of several axes is read in row-major order.

    Parameters
    ----------
    a : array
        bool, integers or floating-point numbers.

    Returns
    -------
    values, lengths : array
        One element per run. `numpy.repeat(values, lengths)` has the elements of `a`.

    Raises
    ------
    TypeError
        For another type.
    """
    found: tuple[Any, Any] | None = in_one_call("runs", a, True)
    if found is not None:
        return found
    with call_of("run_length_encode", a) as call:
        values, lengths = _runs(call)
        return call.handed(values), call.handed(lengths)


def unique_consecutive(a: Any, return_inverse: Flag = False, return_counts: Flag = False) -> Any:
    """The first element of each run of equal neighbours, as `torch.unique_consecutive` without `dim`.

    Parameters
    ----------
    a : array
        As for `run_length_encode`.
    return_inverse : bool
        Whether the index of each element's run is returned, in the shape of `a`.
    return_counts : bool
        Whether the lengths of the runs are returned.

    Returns
    -------
    values : array
    inverse, counts : array of int64
        In this order behind `values`, if they are asked for.

    Raises
    ------
    TypeError
        For another type.
    """
    found = in_one_call("runs", a, bool(return_counts)) if not return_inverse else None
    if found is not None:
        return found
    with call_of("unique_consecutive", a) as call:
        if not return_inverse and not return_counts:
            line = call.contiguous(call.array)
            target = call.results(None, (line.size,), line.dtype)
            return call.shortened(target, call.engine.unique(line, target.array))
        values, lengths = _runs(call)
        results = [values]
        if return_inverse:
            size = call.array.size
            inverse = call.empty((size,), np.int64)
            heads = call.marked(size, _offsets(call, lengths))
            call.engine.scan(SUM, fold_type(inverse.dtype), heads, size, None, inverse)
            call.apply(ADD, inverse, -1, inverse)
            results.append(inverse.reshape(call.array.shape))
        if return_counts:
            results.append(lengths)
        handed = tuple(map(call.handed, results))
        return handed if len(handed) > 1 else handed[0]


def reduce_by_key(keys: Any, values: Any, op: str = "sum") -> tuple[Any, Any]:
    """For each run of equal neighbouring keys: the key, and a reduction of its values.

    Runs are those of `run_length_encode`: for one result per key sort by key first.

    Parameters
    ----------
    keys : array of one axis
        bool, integers or floating-point numbers.
    values : array of one axis
        As many as keys.
    op : {'sum', 'prod', 'min', 'max'}
        How values are reduced. Results have the types of the function of this name.

    Returns
    -------
    keys, results : array
        One element per run, of the kind of `keys`.

    Raises
    ------
    TypeError, ValueError
        For another type, another number of values than keys, and an unknown operation.
    """
    check_choice(op, OPERATIONS, "reduce_by_key", "op")
    found: tuple[Any, Any] | None = in_one_call("reduce_by_key", keys, OPERATIONS[op], values)
    if found is not None:
        return found
    with call_of("reduce_by_key", keys, "keys") as call:
        of = call.operand(values, "values")
        if call.array.ndim != 1 or call.array.shape != of.shape:
            raise ValueError(f"reduce_by_key: keys have shape {call.array.shape}, and values {of.shape}; both have one axis "
                             "of one length")
        number = OPERATIONS[op]
        firsts, lengths = _runs(call)
        target = call.results(None, lengths.shape, of.dtype if number in (MINIMUM, MAXIMUM) else _sum_type(of.dtype))
        call.engine.segment_reduce(number, fold_type(target.array.dtype), of, _offsets(call, lengths), target.array)
        return call.handed(firsts), target.finish()


__all__ = ["select", "partition_by", "run_length_encode", "unique_consecutive", "reduce_by_key"]
