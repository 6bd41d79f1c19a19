# SPDX-License-Identifier: MIT
"""Exact sums."""
from __future__ import annotations

from typing import Any

import numpy as np

from ._arrays import Array, describe
from ._calls import call_of, of_whole_arrays


def _check(array: Array, name: str, argument: str) -> None:
    if array.dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise TypeError(f"{name}: {argument} has dtype {array.dtype}; accepted are float32 and float64")


@of_whole_arrays
def exact_sum(a: Any) -> Any:
    """The true sum of all elements, rounded once: the same bits on every machine and for every order.

    Parameters
    ----------
    a : array of float32 or float64
        Of any shape and strides.

    Returns
    -------
    scalar
        Of the type of `a`. NaN if there is a NaN or infinities of both signs.

    Raises
    ------
    TypeError
        For another type.
    """
    with call_of("exact_sum", a) as call:
        _check(call.array, "exact_sum", "a")
        target = call.results(None, (), call.array.dtype)
        call.engine.exact_sum(describe(call.array), describe(target.array))
        return target.finish()


def exact_dot(a: Any, b: Any) -> Any:
    """The true sum of the products of two arrays' elements, rounded once; see `exact_sum`.

    Both arrays have the same type, one axis and the same number of elements; else ValueError or TypeError is raised.
    """
    with call_of("exact_dot", a) as call:
        left, right = call.array, call.operand(b, "b")
        _check(left, "exact_dot", "a")
        _check(right, "exact_dot", "b")
        if left.dtype != right.dtype:
            raise TypeError(f"exact_dot: a has dtype {left.dtype}, and b {right.dtype}")
        if left.ndim != 1 or left.shape != right.shape:
            raise ValueError(f"exact_dot: a has shape {left.shape}, and b {right.shape}; both have one axis of one length")
        target = call.results(None, (), left.dtype)
        call.engine.exact_dot(describe(left), describe(right), describe(target.array))
        return target.finish()


__all__ = ["exact_sum", "exact_dot"]
