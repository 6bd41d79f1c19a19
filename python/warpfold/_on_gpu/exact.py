# SPDX-License-Identifier: MIT
"""Exact sums; see .._exact."""
from __future__ import annotations

from typing import Any

import numpy as np

from .. import _gpu
from .array import DeviceArray
from .call import Call


def _check(array: DeviceArray, name: str, argument: str) -> None:
    if array.dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise TypeError(f"{name}: {argument} has dtype {array.dtype}; accepted are float32 and float64")


def exact_sum(a: Any) -> Any:
    with Call("exact_sum", a) as call:
        _check(call.array, "exact_sum", "a")
        target = call.results(None, (), call.array.dtype)
        _gpu.exact_sum(call.place, call.contiguous(call.array).description(), target.array.description())
        return target.finish()


def exact_dot(a: Any, b: Any) -> Any:
    with Call("exact_dot", a) as call:
        left = call.array
        _check(left, "exact_dot", "a")
        right = call.operand(b, "b")
        _check(right, "exact_dot", "b")
        if left.dtype != right.dtype:
            raise TypeError(f"exact_dot: a has dtype {left.dtype}, and b {right.dtype}")
        if left.ndim != 1 or left.shape != right.shape:
            raise ValueError(f"exact_dot: a has shape {left.shape}, and b {right.shape}; both have one axis of one length")
        target = call.results(None, (), left.dtype)
        _gpu.exact_dot(call.place, call.contiguous(left).description(), call.contiguous(right).description(),
                       target.array.description())
        return target.finish()


__all__ = ["exact_sum", "exact_dot"]
