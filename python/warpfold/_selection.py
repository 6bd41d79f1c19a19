# SPDX-License-Identifier: MIT
"""Elements that are selected, and runs of equal neighbours."""
from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._arrays import NumPyArray, Source, contiguous, describe, fold_type, read
from ._reductions import MAXIMUM, MINIMUM, OPERATIONS, _count, _sum_type


def _chosen(call: str, source: Source, where: Any) -> tuple[NumPyArray, int]:
    """The condition for each element in row-major order, and how many elements it selects."""
    condition = np.asarray(where)
    if condition.dtype != bool:
        raise TypeError(f"{call}: where has dtype {condition.dtype}, and must be bool")
    try:
        flags = np.broadcast_to(condition, source.array.shape)
    except ValueError:
        raise ValueError(f"{call}: where has shape {condition.shape}, and a {source.array.shape}") from None
    number = np.empty((), np.int64)
    flags = contiguous(flags)
    _count(flags, range(flags.ndim), None, number)
    return flags, int(number)


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
    source = read(a, "select")
    flags, number = _chosen("select", source, where)
    array, selected = contiguous(source.array), np.empty(number, source.array.dtype)
    _core.select(describe(array), describe(flags), describe(selected), None)
    return source.hand_back(selected)


def partition_by(a: Any, where: Any) -> tuple[Any, Any]:
    """Elements where a condition holds, and the others: `(a[where], a[~where])`, both in row-major order.

    `numpy.partition`, which divides by rank, is another function. Parameters and errors are those of `select`.
    """
    source = read(a, "partition_by")
    flags, number = _chosen("partition_by", source, where)
    array = contiguous(source.array)
    selected, rejected = (np.empty(n, array.dtype) for n in (number, array.size - number))
    _core.select(describe(array), describe(flags), describe(selected), describe(rejected))
    return source.hand_back(selected), source.hand_back(rejected)


def _runs(array: NumPyArray) -> tuple[NumPyArray, NumPyArray]:
    """The first element and the length of each run, in row-major order."""
    values, lengths = np.empty(array.size, array.dtype), np.empty(array.size, np.int64)
    line = contiguous(array)
    number = _core.run_length_encode(describe(line), describe(values), describe(lengths))
    for results in (values, lengths):
        results.resize(number, refcheck=False)  # gives the memory behind them back
    return values, lengths


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
    source = read(a, "run_length_encode")
    values, lengths = _runs(source.array)
    return source.hand_back(values), source.hand_back(lengths)


def unique_consecutive(a: Any, return_inverse: bool = False, return_counts: bool = False) -> Any:
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
    source = read(a, "unique_consecutive")
    values, lengths = _runs(source.array)
    results = [values]
    if return_inverse:
        results.append(np.repeat(np.arange(lengths.size), lengths).reshape(source.array.shape))
    if return_counts:
        results.append(lengths)
    handed = tuple(map(source.hand_back, results))
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
        One element per run, of the kinds of `keys` and `values`.

    Raises
    ------
    TypeError, ValueError
        For another type, another number of values than keys, and an unknown operation.
    """
    if op not in OPERATIONS:
        raise ValueError(f"reduce_by_key: op is {op!r}, and must be one of {', '.join(map(repr, OPERATIONS))}")
    by, of = read(keys, "reduce_by_key", "keys"), read(values, "reduce_by_key", "values")
    if by.array.ndim != 1 or by.array.shape != of.array.shape:
        raise ValueError(f"reduce_by_key: keys have shape {by.array.shape}, and values {of.array.shape}; both have one axis "
                         "of one length")
    number = OPERATIONS[op]
    firsts, lengths = _runs(by.array)
    offsets = np.zeros(lengths.size + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    results = np.empty(lengths.size, of.array.dtype if number in (MINIMUM, MAXIMUM) else _sum_type(of.array.dtype))
    _core.segment_reduce(number, fold_type(results.dtype), describe(of.array), describe(offsets), describe(results))
    return by.hand_back(firsts), of.hand_back(results)


__all__ = ["select", "partition_by", "run_length_encode", "unique_consecutive", "reduce_by_key"]
