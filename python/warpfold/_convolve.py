# SPDX-License-Identifier: MIT
"""Convolution and correlation of arrays of one axis."""
from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._arrays import FLOAT64, UINT64, NumPyArray, Output, Source, check_dtype, contiguous, describe, read

MODES = {"same": 0, "full": 1, "valid": 2}  # warpfold::outputs


def _operands(call: str, a: Any, v: Any, mode: str, takes_scalars: bool) -> tuple[Source, NumPyArray, NumPyArray]:
    """The caller's array, and both arrays in their common type."""
    if mode not in MODES:
        raise ValueError(f"{call}: mode is {mode!r}, and must be 'full', 'same' or 'valid'")
    source = read(a, call, "a")
    arrays = source.array, read(v, call, "v").array
    for name, array in zip("av", arrays):
        if array.ndim > 1 or (array.ndim == 0 and not takes_scalars):
            raise ValueError(f"{call}: {name} has shape {array.shape}, and must have one axis")
        if array.size == 0:
            raise ValueError(f"{call}: {name} cannot be empty")
    common = np.result_type(*arrays)
    check_dtype(common, call, "the result")
    left, right = (array.reshape(-1).astype(common, copy=False) for array in arrays)
    return source, left, right


def _correlate(call: str, source: Source, a: NumPyArray, mask: NumPyArray, mode: str, backwards: bool) -> Any:
    """Result i is the sum over j of a[i - lead + j] * mask[j]. `mask` is not the longer one."""
    n, k = a.size, mask.size
    size, lead = {"same": (n, k // 2), "full": (n + k - 1, k - 1), "valid": (n - k + 1, 0)}[mode]
    target = Output(None, (size,), a.dtype, source, call)
    result = target.array[::-1] if backwards else target.array
    if a.dtype.kind == "f" and bool(np.isfinite(mask).all()):
        straight = np.empty(size, a.dtype) if backwards else result
        a, mask = contiguous(a), contiguous(mask)
        _core.correlate(describe(a), describe(mask), MODES[mode], describe(straight))
        if backwards:
            result[...] = straight
    else:
        # Integers modulo 2^64. Infinity times an element outside is not NaN.
        fold = FLOAT64 if a.dtype.kind == "f" else UINT64
        _core.correlate_products(fold, describe(a), describe(mask), lead, describe(result))
    return target.finish()


def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    """Discrete convolution of two arrays of one axis, as `numpy.convolve`.

    Floating-point sums are in float32, or in float64 for float64; float16 is rounded once. Integers wrap in the type of
    the result.

    Parameters
    ----------
    a, v : array
        bool, integers or floating-point numbers. They are converted to their common type.
    mode : {'full', 'same', 'valid'}
        Which results there are; see `numpy.convolve`.

    Returns
    -------
    array
        Of the common type, and of the kind of `a`.

    Raises
    ------
    TypeError, ValueError
        For another type; for an empty array, several axes or an unknown mode.
    """
    source, left, right = _operands("convolve", a, v, mode, True)
    if right.size > left.size:
        left, right = right, left
    return _correlate("convolve", source, left, right[::-1], mode, False)


def correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    """Cross-correlation of two arrays of one axis, as `numpy.correlate`; see `convolve`."""
    source, left, right = _operands("correlate", a, v, mode, False)
    if right.size > left.size:
        return _correlate("correlate", source, right, left, mode, True)
    return _correlate("correlate", source, left, right, mode, False)


__all__ = ["convolve", "correlate"]
