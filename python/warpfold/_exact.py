# SPDX-License-Identifier: MIT
"""Exact sums."""
from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._arrays import NumPyArray, Output, Source, describe, read


def _floats(x: Any, call: str, name: str) -> Source:
    source = read(x, call, name)
    if source.array.dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise TypeError(f"{call}: {name} has dtype {source.array.dtype}; accepted are float32 and float64")
    return source


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
    source = _floats(a, "exact_sum", "a")
    target = Output(None, (), source.array.dtype, source, "exact_sum")
    _core.exact_sum(describe(source.array), describe(target.array))
    return target.finish()


def exact_dot(a: Any, b: Any) -> Any:
    """The true sum of the products of two arrays' elements, rounded once; see `exact_sum`.

    Both arrays have the same type, one axis and the same number of elements; else ValueError or TypeError is raised.
    """
    source = _floats(a, "exact_dot", "a")
    left: NumPyArray = source.array
    right: NumPyArray = _floats(b, "exact_dot", "b").array
    if left.dtype != right.dtype:
        raise TypeError(f"exact_dot: a has dtype {left.dtype}, and b {right.dtype}")
    if left.ndim != 1 or left.shape != right.shape:
        raise ValueError(f"exact_dot: a has shape {left.shape}, and b {right.shape}; both have one axis of one length")
    target = Output(None, (), left.dtype, source, "exact_dot")
    _core.exact_dot(describe(left), describe(right), describe(target.array))
    return target.finish()


__all__ = ["exact_sum", "exact_dot"]
