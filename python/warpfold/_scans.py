# SPDX-License-Identifier: MIT
"""Scans along an axis."""
from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._arrays import NumPyArray, Output, axes_last, describe, fold_type, one_axis, read
from ._reductions import MAXIMUM, MINIMUM, PRODUCT, SUM, _is_direct, result_type


def _scan(call: str, op: int, a: Any, axis: int | None, dtype: Any, out: Any) -> Any:
    source = read(a, call)
    array: NumPyArray = source.array
    if axis is None or array.ndim == 0:
        if axis is not None:
            one_axis(axis, 1)
        array, axis = array.reshape(-1), 0
    along = one_axis(axis, array.ndim)
    chosen = array.dtype if op in (MINIMUM, MAXIMUM) else result_type(array, dtype, out, call)
    target = Output(out, array.shape, chosen, source, call)
    result = target.array
    if chosen.kind == "b" and op in (SUM, PRODUCT):  # logical or, logical and
        array, op = array.astype(bool, copy=False), MAXIMUM if op == SUM else MINIMUM
    elif op in (SUM, PRODUCT) and not _is_direct(array.dtype, chosen):
        array = array.astype(chosen)
    _core.scan(op, fold_type(chosen), describe(axes_last(array, (along,))), array.shape[along],
               describe(axes_last(result, (along,))))
    return target.finish()


def cumsum(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """Cumulative sums along an axis, or of the flattened array, as `numpy.cumsum`.

    A floating-point result at k is a sum of a few partial sums, not the result at k - 1 plus an element; it has the same
    bits for any number of threads. float16 is summed in float32. Types, `dtype`, `out` and errors are those of `sum`.
    """
    return _scan("cumsum", SUM, a, axis, dtype, out)


def cumprod(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """Cumulative products, as `numpy.cumprod`; see `cumsum`."""
    return _scan("cumprod", PRODUCT, a, axis, dtype, out)


def cummax(a: Any, axis: int | None = None, out: Any = None) -> Any:
    """Cumulative maxima, as `numpy.maximum.accumulate`; of the flattened array if `axis` is None.

    From a NaN on, all results are NaN.
    """
    return _scan("cummax", MAXIMUM, a, axis, None, out)


def cummin(a: Any, axis: int | None = None, out: Any = None) -> Any:
    """Cumulative minima, as `numpy.minimum.accumulate`; see `cummax`."""
    return _scan("cummin", MINIMUM, a, axis, None, out)


__all__ = ["cumsum", "cumprod", "cummax", "cummin"]
