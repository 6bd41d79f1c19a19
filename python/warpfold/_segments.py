# SPDX-License-Identifier: MIT
"""Reductions of segments between offsets."""
from __future__ import annotations

from typing import Any

import numpy as np

from ._arrays import Array, fold_type, read
from ._calls import Call, call_of, in_one_call
from ._docstrings import documented_as
from ._devices import is_on_device
from ._reductions import MAXIMUM, MINIMUM, PRODUCT, SUM, _sum_type


def _offsets(call: Call, offsets: Any) -> Array:
    """Contiguous int64. Those in host memory are checked; on a GPU that would need a wait."""
    name = call.name
    is_device = is_on_device(offsets)
    given = call.operand(offsets, "offsets") if is_device else read(offsets, name, "offsets").array
    if given.ndim != 1 or given.size == 0:
        raise ValueError(f"{name}: offsets has shape {given.shape}; it has one axis and an element more than segments")
    if given.dtype.kind not in "iu":
        raise TypeError(f"{name}: offsets has dtype {given.dtype}, and must be integers")
    if is_device:
        return call.contiguous(given, np.int64)
    bounds = np.require(given, np.int64, ["C", "A"])
    if bounds[0] < 0 or bounds[-1] > call.array.size:
        raise ValueError(f"{name}: offsets go from {given[0]} to {given[-1]}, and a has {call.array.size} elements")
    if np.any(bounds[1:] < bounds[:-1]):
        raise ValueError(f"{name}: the offsets decrease")
    return call.uploaded(bounds)


def _segment(name: str, op: int, a: Any, offsets: Any, out: Any) -> Any:
    try:
        found = in_one_call("segments", a, op, offsets) if out is None else None
    except ValueError:  # of the library; what follows names the call
        found = None
    if found is not None:
        return found
    with call_of(name, a) as call:
        array = call.array
        if array.ndim != 1:
            raise ValueError(f"{name}: a has shape {array.shape}, and must have one axis")
        bounds = _offsets(call, offsets)
        chosen = _sum_type(array.dtype) if op in (SUM, PRODUCT) else array.dtype
        target = call.results(out, (bounds.size - 1,), chosen)
        call.engine.segment_reduce(op, fold_type(chosen), array, bounds, target.array)
        return target.finish()


def segment_sum(a: Any, offsets: Any, out: Any = None) -> Any:
    """Sums of segments: result s is the sum of `a[offsets[s]:offsets[s + 1]]`.

    Parameters
    ----------
    a : array of one axis
        bool, integers or floating-point numbers.
    offsets : array of integers
        They do not decrease and lie between 0 and `len(a)`; one more than segments.
    out : array, optional
        Where results go.

    Returns
    -------
    array
        One element per segment, of the type of `sum`; 0 for an empty segment.

    Raises
    ------
    TypeError, ValueError
        For another type or shape, and for offsets that decrease or are outside `a`.
    """
    return _segment("segment_sum", SUM, a, offsets, out)


@documented_as(segment_sum)
def segment_prod(a: Any, offsets: Any, out: Any = None) -> Any:
    """Products of segments: result s is the product of `a[offsets[s]:offsets[s + 1]]`.

    Returns
    -------
    array
        One element per segment, of the type of `prod`; 1 for an empty segment.
    """
    return _segment("segment_prod", PRODUCT, a, offsets, out)


@documented_as(segment_sum)
def segment_min(a: Any, offsets: Any, out: Any = None) -> Any:
    """Minima of segments: result s is the smallest element of `a[offsets[s]:offsets[s + 1]]`.

    Returns
    -------
    array
        One element per segment, of the type of `a`; the type's largest value, or infinity, for an empty segment.
    """
    return _segment("segment_min", MINIMUM, a, offsets, out)


@documented_as(segment_min)
def segment_max(a: Any, offsets: Any, out: Any = None) -> Any:
    """Maxima of segments: result s is the largest element of `a[offsets[s]:offsets[s + 1]]`.

    Returns
    -------
    array
        One element per segment, of the type of `a`; the type's smallest value, or -infinity, for an empty segment.
    """
    return _segment("segment_max", MAXIMUM, a, offsets, out)


__all__ = ["segment_sum", "segment_prod", "segment_min", "segment_max"]
