# SPDX-License-Identifier: MIT
"""Reductions of segments between offsets; see .._segments."""
from __future__ import annotations

from typing import Any

import numpy as np

from .. import _gpu
from .._arrays import fold_type, read
from .._devices import is_on_device
from .._reductions import MAXIMUM, MINIMUM, SUM, _sum_type
from .array import DeviceArray
from .call import Call


def _offsets(call: Call, offsets: Any) -> DeviceArray:
    """Contiguous int64. Those in host memory are checked; on the device that would need a wait."""
    name = call.name
    given = call.operand(offsets, "offsets") if is_on_device(offsets) else None
    host = None if given is not None else read(offsets, name, "offsets").array
    for one in (given, host):
        if one is None:
            continue
        if one.ndim != 1 or one.size == 0:
            raise ValueError(f"{name}: offsets has shape {one.shape}; it has one axis and an element more than segments")
        if one.dtype.kind not in "iu":
            raise TypeError(f"{name}: offsets has dtype {one.dtype}, and must be integers")
    if given is not None:
        return call.contiguous(given, np.int64)
    assert host is not None
    bounds = host.astype(np.int64)
    if bounds[0] < 0 or bounds[-1] > call.array.size:
        raise ValueError(f"{name}: offsets go from {bounds[0]} to {bounds[-1]}, and a has {call.array.size} elements")
    if np.any(bounds[1:] < bounds[:-1]):
        raise ValueError(f"{name}: the offsets decrease")
    return call.uploaded(bounds)


def _segment(name: str, op: int, a: Any, offsets: Any, out: Any) -> Any:
    with Call(name, a) as call:
        array = call.array
        if array.ndim != 1:
            raise ValueError(f"{name}: a has shape {array.shape}, and must have one axis")
        bounds = _offsets(call, offsets)
        chosen = _sum_type(array.dtype) if op == SUM else array.dtype
        target = call.results(out, (bounds.size - 1,), chosen)
        _gpu.segment_reduce(call.place, op, fold_type(chosen), array.description(), bounds.description(),
                            target.array.description())
        return target.finish()


def segment_sum(a: Any, offsets: Any, out: Any = None) -> Any:
    return _segment("segment_sum", SUM, a, offsets, out)


def segment_min(a: Any, offsets: Any, out: Any = None) -> Any:
    return _segment("segment_min", MINIMUM, a, offsets, out)


def segment_max(a: Any, offsets: Any, out: Any = None) -> Any:
    return _segment("segment_max", MAXIMUM, a, offsets, out)


__all__ = ["segment_sum", "segment_min", "segment_max"]
