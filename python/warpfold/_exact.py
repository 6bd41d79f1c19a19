# SPDX-License-Identifier: MIT
"""Exact sums, means, variances and norms."""
from __future__ import annotations

from typing import Any, SupportsIndex

import numpy as np

from ._arrays import Array, Axis, Flag, axes_last, axes_of, one_axis
from ._calls import call_of, of_whole_arrays, in_one_call
from ._complex import Complex, is_complex
from ._docstrings import documented_as
from ._reductions import _kept, _shape

MEAN, VARIANCE, NORM = range(3)  # `moment` in python/src/calls.hpp


HALF: np.dtype[Any] = np.dtype(np.float16)


def _check(array: Array, name: str, argument: str, also: str = "") -> None:
    if array.dtype.kind != "f" or (array.dtype == HALF and not also):
        raise TypeError(f"{name}: {argument} has dtype {array.dtype}; accepted are {also}float32, float64, complex64 and "
                        "complex128")


@of_whole_arrays
def exact_sum(a: Any, axis: Axis = None, keepdims: Flag = False, *, out: Any = None) -> Any:
    """The true sum of the elements over axes, rounded once: the same bits on every machine and for every order.

    Parameters
    ----------
    a : array of float16, float32, float64, complex64 or complex128
        Of any shape and strides. Complex arrays are in host memory, or CuPy's or PyTorch's.
    axis : int, tuple of int or None
        The axes that are reduced; None: all.
    keepdims : bool
        Whether reduced axes stay, with one element.
    out : array, optional
        Where results go, in the results' shape. They are cast to its type; those of complex numbers go to complex ones.

    Returns
    -------
    array or scalar
        `out` if it is given, else of the type of `a`. NaN if there is a NaN or infinities of both signs. Of complex numbers
        each part is the true sum of the parts, rounded once.

    Raises
    ------
    TypeError
        For another type.
    numpy.exceptions.AxisError, ValueError
        For an axis that `a` does not have, or that is given twice; for an `out` of another shape.
    """
    if is_complex(a):
        numbers = Complex(a, "exact_sum", "a")
        return numbers.joined(exact_sum(numbers.real, axis, keepdims), exact_sum(numbers.imag, axis, keepdims), out)
    with call_of("exact_sum", a) as call:
        array = call.array
        _check(array, "exact_sum", "a", "float16, ")
        axes = axes_of(axis, array.ndim)
        target = call.results(out, _shape(array, axes, keepdims), array.dtype)
        result = sums = _kept(target.array, axes, keepdims)
        if array.dtype == HALF:  # sums below 2**29 are exact in float64, larger ones infinite in float16
            array, sums = call.copied(array, np.float64), call.empty(result.shape, np.float64)
        call.engine.exact_sum(axes_last(array, axes), sums)
        if sums is not result:
            call.copy(sums, result)
        return target.finish()


def _shape_of_dots(name: str, left: tuple[int, ...], right: tuple[int, ...], axis: SupportsIndex) -> tuple[int, ...]:
    """The shape of the results of arrays of these shapes, which have the axis last."""
    if left[-1] != right[-1]:
        raise ValueError(f"{name}: a has {left[-1]} elements along axis {axis}, and b {right[-1]}")
    if left == right:
        return left[:-1]
    try:
        return np.broadcast_shapes(left[:-1], right[:-1])
    except ValueError:
        raise ValueError(f"{name}: beside axis {axis} a has shape {left[:-1]}, and b {right[:-1]}; they do not "
                         "broadcast") from None


def exact_dot(a: Any, b: Any, axis: SupportsIndex = -1, *, out: Any = None) -> Any:
    """The true sums of the products of two arrays' elements along an axis, each rounded once; see `exact_sum`.

    Parameters
    ----------
    a, b : array of float16, float32, float64, complex64 or complex128
        Of one length along the axis. The other axes broadcast, as in `numpy.vecdot`.
    axis : int
        The axis of each array that is summed.
    out : array, optional
        Where results go, in the results' shape.

    Returns
    -------
    array or scalar
        `out` if it is given, else of the wider type, at least float32. Complex numbers are not conjugated, as in `numpy.dot`;
        see `exact_vdot`. Each part is the true sum of its 2 n products, rounded once; copies of both arrays are made. If one
        array is real, it is the sum of n products.

    Raises
    ------
    TypeError
        For another type.
    numpy.exceptions.AxisError, ValueError
        For an axis that an array does not have; for shapes that do not fit, also that of `out`.
    """
    return _dot("exact_dot", a, b, axis, out)


@documented_as(exact_dot)
def exact_vdot(a: Any, b: Any, axis: SupportsIndex = -1, *, out: Any = None) -> Any:
    """The true sums of the products of the conjugates of `a` and the elements of `b` along an axis, each rounded once, as
    `numpy.vecdot`. Of real `a` the same as `exact_dot`.

    Returns
    -------
    array or scalar
        `out` if it is given, else of the wider type, at least float32. Each part of complex numbers is the true sum of its
        products, rounded once.
    """
    return _dot("exact_vdot", a, b, axis, out)


def _dot(name: str, a: Any, b: Any, axis: SupportsIndex, out: Any) -> Any:
    found = in_one_call("exact_dot", a, b) if out is None and type(axis) is int and axis == -1 else None
    if found is not None:
        return found
    if is_complex(a) or is_complex(b):
        return _complex_dot(name, a, b, axis, out)
    with call_of(name, a) as call:
        left, right = call.array, call.operand(b, "b")
        _check(left, name, "a", "float16, ")
        _check(right, name, "b", "float16, ")
        dtype = np.result_type(left.dtype, right.dtype, np.float32)
        left, right = call.cast(left, dtype), call.cast(right, dtype)
        left, right = (axes_last(x, (one_axis(axis, x.ndim),)) for x in (left, right))
        shape = _shape_of_dots(name, left.shape, right.shape, axis)
        target = call.results(out, shape, dtype)
        left, right = (x if x.shape[:-1] == shape else call.broadcast(x, (*shape, x.shape[-1])) for x in (left, right))
        call.engine.exact_dot(left, right, target.array)
        return target.finish()


def _complex_dot(name: str, a: Any, b: Any, axis: SupportsIndex, out: Any) -> Any:
    left, right = (Complex(x, name, argument) if is_complex(x) else None for x, argument in ((a, "a"), (b, "b")))
    if left is not None and name == "exact_vdot":
        left.imag = -left.imag
    if right is None:
        assert left is not None
        return left.joined(_dot(name, left.real, b, axis, None), _dot(name, left.imag, b, axis, None), out)
    if left is None:
        return right.joined(_dot(name, a, right.real, axis, None), _dot(name, a, right.imag, axis, None), out)
    left, right = left.lines(axis), right.lines(axis)
    _shape_of_dots(name, left.shape, right.shape, axis)
    numbers = left.interleaved(left.real, left.imag)
    return left.joined(_dot(name, numbers, right.interleaved(right.real, -right.imag), -1, None),
                       _dot(name, numbers, right.interleaved(right.imag, right.real), -1, None), out)


def _moment(name: str, which: int, a: Any, axis: Axis, keepdims: Flag, out: Any, less: int = 0) -> Any:
    real, imag = a, None
    if is_complex(a):
        numbers = Complex(a, name, "a")
        if which == MEAN:
            first, second = (_moment(name, which, part, axis, keepdims, None) for part in (numbers.real, numbers.imag))
            return numbers.joined(first, second, out)
        real, imag = numbers.real, numbers.imag
    with call_of(name, real) as call:
        _check(call.array, name, "a")
        axes = axes_of(axis, call.array.ndim)
        others = None if imag is None else axes_last(call.operand(imag, "a"), axes)
        target = call.results(out, _shape(call.array, axes, keepdims), call.array.dtype)
        call.engine.exact_moment(which, axes_last(call.array, axes), others, less, _kept(target.array, axes, keepdims))
        return target.finish()


@of_whole_arrays
@documented_as(exact_sum)
def exact_mean(a: Any, axis: Axis = None, keepdims: Flag = False, *, out: Any = None) -> Any:
    """The true mean of the elements over axes, rounded once: the same bits on every machine and for every order.

    NaN of no elements, without a warning. Of complex numbers each part is the true mean of the parts, rounded once.

    Parameters
    ----------
    a : array of float32, float64, complex64 or complex128
        Of any shape and strides. Complex arrays are in host memory, or CuPy's or PyTorch's.

    Returns
    -------
    array or scalar
        `out` if it is given, else of the type of `a`.
    """
    return _moment("exact_mean", MEAN, a, axis, keepdims, out)


@of_whole_arrays
@documented_as(exact_mean)
def exact_var(a: Any, axis: Axis = None, ddof: SupportsIndex = 0, keepdims: Flag = False, *, out: Any = None) -> Any:
    """The true variance of the elements over axes, rounded once: the sum of squared distances from the true mean, divided by the
    number of elements less `ddof`.

    NaN for an infinity or a NaN, and if there are `ddof` elements or fewer, without a warning.

    Parameters
    ----------
    ddof : int
        What the divisor is less than the number of elements, from 0 on.

    Returns
    -------
    array or scalar
        `out` if it is given, else of the type of `a`, of complex numbers that of their parts.
    """
    if isinstance(ddof, bool) or not isinstance(ddof, (int, np.integer)):
        raise TypeError(f"exact_var: ddof is of type {type(ddof).__name__}, and must be an integer")
    if not 0 <= ddof < 2**64:
        raise ValueError(f"exact_var: ddof is {ddof}, and must be from 0 to 2**64 - 1")
    return _moment("exact_var", VARIANCE, a, axis, keepdims, out, int(ddof))


@of_whole_arrays
@documented_as(exact_var)
def exact_norm(a: Any, axis: Axis = None, keepdims: Flag = False, *, out: Any = None) -> Any:
    """The square root of the true sum of the squared magnitudes over axes, rounded once.

    It neither overflows nor underflows in between.
    """
    return _moment("exact_norm", NORM, a, axis, keepdims, out)


__all__ = ["exact_sum", "exact_dot", "exact_vdot", "exact_mean", "exact_var", "exact_norm"]
