# SPDX-License-Identifier: MIT
"""Scans along an axis; see .._scans."""
from __future__ import annotations

from typing import Any

import numpy as np

from .. import _gpu
from .._arrays import fold_type, one_axis
from .._reductions import MAXIMUM, MINIMUM, PRODUCT, SUM, _is_direct, result_type
from .call import Call


def _scan(name: str, op: int, a: Any, axis: int | None, dtype: Any, out: Any) -> Any:
    with Call(name, a) as call:
        array = call.array
        if axis is None or array.ndim == 0:
            if axis is not None:
                one_axis(axis, 1)
            array, axis = call.contiguous(array).flat(), 0
        along = one_axis(axis, array.ndim)
        chosen = array.dtype if op in (MINIMUM, MAXIMUM) else result_type(array, dtype, out, name)
        target = call.results(out, array.shape, chosen)
        if chosen.kind == "b" and op in (SUM, PRODUCT):  # logical or, logical and
            array, op = call.cast(array, np.bool_), MAXIMUM if op == SUM else MINIMUM
        elif op in (SUM, PRODUCT) and not _is_direct(array.dtype, chosen):
            array = call.copied(array, chosen)
        _gpu.scan(call.place, op, fold_type(chosen), array.axes_last((along,)).description(), array.shape[along],
                  target.array.axes_last((along,)).description())
        return target.finish()


def cumsum(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    return _scan("cumsum", SUM, a, axis, dtype, out)


def cumprod(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    return _scan("cumprod", PRODUCT, a, axis, dtype, out)


def cummax(a: Any, axis: int | None = None, out: Any = None) -> Any:
    return _scan("cummax", MAXIMUM, a, axis, None, out)


def cummin(a: Any, axis: int | None = None, out: Any = None) -> Any:
    return _scan("cummin", MINIMUM, a, axis, None, out)


__all__ = ["cumsum", "cumprod", "cummax", "cummin"]
