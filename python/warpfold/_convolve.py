# SPDX-License-Identifier: MIT
"""Convolution and correlation of arrays of one axis."""
from __future__ import annotations

import operator
from typing import Any, SupportsIndex

import numpy as np

from ._arrays import FLOAT64, UINT64, Array, NumPyArray, check_choice, check_dtype
from ._calls import Call, call_of, whole_arrays_of
from ._devices import is_on_device
from ._docstrings import documented_as

MODES = {"same": 0, "full": 1, "valid": 2}  # warpfold::outputs
NUMBERED = ("valid", "same", "full")  # modes by their numbers in NumPy


def _operands(call: Call, v: Any, mode: str, takes_scalars: bool) -> tuple[Array, Array]:
    """Both arrays in their common type, in one axis."""
    name = call.name
    check_choice(mode, MODES, name, "mode")
    arrays = call.array, call.operand(v, "v")
    for argument, array in zip("av", arrays):
        if array.ndim > 1 or (array.ndim == 0 and not takes_scalars):
            raise ValueError(f"{name}: {argument} has shape {array.shape}, and must have one axis")
        if array.size == 0:
            raise ValueError(f"{name}: {argument} cannot be empty")
    common = np.result_type(*(array.dtype for array in arrays))
    check_dtype(common, name, "the result")
    left, right = (call.contiguous(array, common).reshape(-1) for array in arrays)
    return left, right


def _named(mode: Any, name: str) -> Any:
    """A mode; that of NumPy's number for an integer."""
    if isinstance(mode, (str, bool)):
        return mode
    try:
        number = operator.index(mode)
    except TypeError:  # which the call reports
        return mode
    if not 0 <= number < len(NUMBERED):
        raise ValueError(f"{name}: mode is {number}, and must be 0 for 'valid', 1 for 'same' or 2 for 'full'")
    return NUMBERED[number]


def filtered_in_one_call(a: Any, v: Any, axes: int, mode: Any, correlates: bool) -> Any:
    """The usual call: of arrays of one floating-point type without gaps, of which the second one is the mask. None if it does not
    apply."""
    which = MODES.get(mode) if type(mode) is str else None
    for whole in whole_arrays_of(a) if which is not None else ():
        found = whole.filter(a, v, axes, which, correlates)
        if found is not None:
            return found
    return None


def finite_mask(call: Call, x: Any, name: str, mask: Array) -> Array | None:
    """The elements of `mask`, which the caller gave as `x`: `mask` itself if `x` is on a GPU, where masks may have any
    floating-point numbers; else for the host, or None unless they are finite floating-point numbers."""
    if mask.dtype.kind != "f":
        return None
    if is_on_device(x):
        return mask
    values: NumPyArray = np.require(call.on_host(x, name), mask.dtype, ["C", "A"]).reshape(mask.shape)
    return values if bool(np.isfinite(values).all()) else None


def _correlate(call: Call, a: Array, mask: Array, values: Array | None, mode: str, turned: bool, backwards: bool) -> Any:
    """Result i is the sum over j of a[i - lead + j] * mask[j]; `turned`: of mask[k - 1 - j]. `mask` is not the longer one."""
    n, k = a.size, mask.size
    size, lead = {"same": (n, k // 2), "full": (n + k - 1, k - 1), "valid": (n - k + 1, 0)}[mode]
    target = call.results(None, (size,), a.dtype)
    result = target.array[::-1] if backwards else target.array
    if values is not None:
        straight = call.empty((size,), a.dtype) if backwards else result
        values = values[::-1] if turned else values
        if call.is_on_host:
            values = np.ascontiguousarray(values)
        call.engine.correlate(a, values, MODES[mode], straight)
        if backwards:
            call.copy(straight, result)
    else:
        # Integers modulo 2^64. Infinity times an element outside is not NaN.
        call.engine.correlate_products(FLOAT64 if a.dtype.kind == "f" else UINT64, a,
                                       mask[::-1] if turned else mask, lead, result)
    return target.finish()


def convolve(a: Any, v: Any, mode: str | SupportsIndex = "full") -> Any:
    """Discrete convolution of two arrays of one axis, as `numpy.convolve`.

    Floating-point sums are in float32, or in float64 for float64; float16 is rounded once. Integers wrap in the type of
    the result.

    Parameters
    ----------
    a, v : array
        bool, integers or floating-point numbers. They are converted to their common type.
    mode : {'full', 'same', 'valid'}
        Which results there are; see `numpy.convolve`. Its numbers 2, 1 and 0 are accepted too.

    Returns
    -------
    array
        Of the common type, and of the kind of `a`.

    Raises
    ------
    TypeError, ValueError
        For another type; for an empty array, several axes or an unknown mode.
    """
    chosen = _named(mode, "convolve")
    found = filtered_in_one_call(a, v, 1, chosen, False)
    if found is not None:
        return found
    with call_of("convolve", a) as call:
        left, right = _operands(call, v, chosen, True)
        if right.size > left.size:
            return _correlate(call, right, left, finite_mask(call, a, "a", left), chosen, True, False)
        return _correlate(call, left, right, finite_mask(call, v, "v", right), chosen, True, False)


@documented_as(convolve)
def correlate(a: Any, v: Any, mode: str | SupportsIndex = "valid") -> Any:
    """Cross-correlation of two arrays of one axis, as `numpy.correlate`.

    Sums and types are those of `convolve`.
    """
    chosen = _named(mode, "correlate")
    found = filtered_in_one_call(a, v, 1, chosen, True)
    if found is not None:
        return found
    with call_of("correlate", a) as call:
        left, right = _operands(call, v, chosen, False)
        if right.size > left.size:
            return _correlate(call, right, left, finite_mask(call, a, "a", left), chosen, False, True)
        return _correlate(call, left, right, finite_mask(call, v, "v", right), chosen, False, False)


__all__ = ["convolve", "correlate"]
