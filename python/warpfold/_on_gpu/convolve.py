# SPDX-License-Identifier: MIT
"""Convolution and correlation; see .._convolve."""
from __future__ import annotations

from typing import Any

import numpy as np

from .. import _gpu
from .._arrays import FLOAT64, UINT64, check_dtype
from .._convolve import MODES
from .array import DeviceArray
from .call import Call


def _correlate(call: Call, mode: str, v: Any, turned: bool, takes_scalars: bool) -> Any:
    """Result i is the sum over j of longer[i - lead + j] * mask[j]. The mask is read by the host: a wait if it is on the
    device."""
    name = call.name
    if mode not in MODES:
        raise ValueError(f"{name}: mode is {mode!r}, and must be 'full', 'same' or 'valid'")
    second = call.operand(v, "v")
    for argument, array in zip("av", (call.array, second)):
        if array.ndim > 1 or (array.ndim == 0 and not takes_scalars):
            raise ValueError(f"{name}: {argument} has shape {array.shape}, and must have one axis")
        if array.size == 0:
            raise ValueError(f"{name}: {argument} cannot be empty")
    common = np.result_type(call.array.dtype, second.dtype)
    check_dtype(common, name, "the result")
    is_float = common.kind == "f"
    inner = np.dtype(np.float32 if common.itemsize < 8 else np.float64) if is_float else np.dtype(np.uint64)
    is_swapped = second.size > call.array.size
    longer, mask = (second, call.array) if is_swapped else (call.array, second)
    longer = call.contiguous(call.contiguous(longer, common), inner).flat()
    mask = call.contiguous(call.contiguous(mask, common), inner).flat()
    n, k = longer.size, mask.size
    size, lead = {"same": (n, k // 2), "full": (n + k - 1, k - 1), "valid": (n - k + 1, 0)}[mode]
    target = call.results(None, (size,), common)
    result = target.array.backwards() if is_swapped and not turned else target.array
    values = mask.to_host() if is_float else None
    if values is not None and bool(np.isfinite(values).all()):
        straight = result if result is target.array and common == inner else call.empty((size,), inner)
        if turned:
            values = np.ascontiguousarray(values[::-1])
        host_mask = (values.ctypes.data, mask.description()[1], values.shape, values.strides)
        _gpu.correlate(call.place, longer.description(), host_mask, MODES[mode], straight.description())
        if straight is not result:
            _gpu.copy(call.place, straight.description(), result.description())
    else:
        _correlate_products(call, longer, mask.backwards() if turned else mask, lead, result)
    return target.finish()


def _correlate_products(call: Call, longer: DeviceArray, mask: DeviceArray, lead: int, result: DeviceArray) -> None:
    """Integers modulo 2^64. Infinity times an element outside is not NaN."""
    fold = FLOAT64 if longer.dtype.kind == "f" else UINT64
    wide = np.float64 if fold == FLOAT64 else np.uint64
    _gpu.correlate_products(call.place, fold, call.contiguous(longer, wide).description(),
                            call.contiguous(mask, wide).description(), lead, result.description())


def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    with Call("convolve", a) as call:
        return _correlate(call, mode, v, True, True)


def correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    with Call("correlate", a) as call:
        return _correlate(call, mode, v, False, False)


__all__ = ["convolve", "correlate"]
