# SPDX-License-Identifier: MIT
"""Histograms and counts of values."""
from __future__ import annotations

import functools
import operator
import warnings
from collections.abc import Sequence
from typing import Any, SupportsIndex, TypeGuard

import numpy as np

from ._arrays import Array, NumPyArray
from ._calls import Call, call_of, type_named, whole_arrays_of, whole_on_gpu, whole_on_host
from ._reductions import _extremes

MOST_BINS = 1 << 30  # warpfold::most_bins
MOST_KEPT = 4096  # bins of equal width whose edges are kept
NUMBER = (int, float, np.integer, np.floating)


def _weights(call: Call, weights: Any, shape: tuple[int, ...], argument: str) -> Array | None:
    """None, or an array of this shape."""
    if weights is None:
        return None
    chosen = call.operand(weights, "weights")
    if chosen.shape != shape:
        raise ValueError(f"{call.name}: the weights have shape {chosen.shape}, and {argument} {shape}")
    return chosen


def least_bins(dtype: np.dtype[Any], shape: tuple[int, ...], minlength: Any) -> int:
    """`minlength` of `bincount` as an int. Raises what `bincount` raises for samples and lengths of other kinds."""
    if dtype.kind not in "iub" or (dtype.kind == "u" and dtype.itemsize == 8):
        raise TypeError(f"bincount: x has dtype {dtype}; accepted are bool and integers that fit int64")
    if len(shape) != 1:
        raise ValueError(f"bincount: x has shape {shape}, and must have one axis")
    try:
        least = operator.index(minlength)
    except TypeError:
        raise TypeError(f"bincount: minlength is of type {type(minlength).__name__}, and must be an integer") from None
    if least < 0:
        raise ValueError("bincount: minlength must not be negative")
    return least


def checked_bins(least: int, extremes: tuple[Any, Any] | None) -> int:
    """How many results `bincount` has for samples with these extremes; None: for no samples. Raises ValueError."""
    bins = least
    if extremes is not None:
        smallest, largest = map(int, extremes)
        if smallest < 0:
            raise ValueError(f"bincount: x must have no negative elements, and has {smallest}")
        bins = max(bins, largest + 1)
    if bins > MOST_BINS:
        raise ValueError(f"bincount: {bins} results, and there may be 2^30")
    return bins


def bincount(x: Any, weights: Any = None, minlength: SupportsIndex = 0) -> Any:
    """How often each value from 0 on occurs, or the sums of the weights of each, as `numpy.bincount`.

    Parameters
    ----------
    x : array of one axis
        Integers or bool, not negative, less than 2^30. uint64 is not accepted.
    weights : array, optional
        As many as `x` has elements. They are added in float64.
    minlength : int
        The least number of results. If all values of an unsigned type are below it, the largest element is not looked for:
        that saves a pass, and on a GPU a wait.

    Returns
    -------
    array
        int64, or float64 with weights and elements; `max(x) + 1` elements or `minlength`.

    Raises
    ------
    TypeError, ValueError
        For other types; for negative values, several axes, or weights of another number.
    """
    if weights is None and type(minlength) is int and 0 <= minlength <= MOST_BINS:
        whole = whole_on_gpu.get(type(x))
        found = None if whole is None else whole.bincount(x, minlength)
        if found is None and minlength == 0 and type(x) in whole_on_host:
            found = whole_on_host[type(x)].bincount(x)
        if found is not None:
            return found
    with call_of("bincount", x, "x") as call:
        array = call.array
        if not hasattr(x, "dtype") and array.size == 0 and array.ndim == 1:
            array = call.empty((0,), np.int64)
        least = least_bins(array.dtype, array.shape, minlength)
        chosen = _weights(call, weights, array.shape, "x")
        is_known = array.dtype.kind in "ub" and least > (1 if array.dtype.kind == "b" else np.iinfo(array.dtype).max)
        bins = checked_bins(least, None if is_known or not array.size else _extremes(call, array))
        weight = None if chosen is None or not array.size else call.contiguous(chosen, np.float64)
        target = call.results(None, (bins,), np.int64 if weight is None else np.float64)
        if bins:
            call.engine.count_values(array, weight, target.array)
        return target.finish()


@functools.lru_cache(maxsize=64, typed=True)
def _edges_of_range(bins: int, lower: Any, upper: Any, dtype: np.dtype[Any]) -> NumPyArray:
    """A view: callers get copies. NumPy takes longer to compute edges than a GPU to count a million elements."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.histogram_bin_edges(np.empty(0, dtype), bins, (lower, upper))[:]


@functools.lru_cache(maxsize=64, typed=True)
def _edges_for(samples: Any, bins: int, lower: Any, upper: Any) -> tuple[NumPyArray, NumPyArray] | None:
    """The edges as they are compared with samples of a package's type, and the edges; None for types that warn or are not taken."""
    dtype = type_named(samples)
    if dtype is None or dtype.kind == "b":
        return None
    edges = _edges_of_range(bins, lower, upper, dtype)
    return _comparable(edges, dtype), edges


def _is_array(x: Any) -> bool:
    return any(hasattr(x, name) for name in ("shape", "__dlpack__", "__cuda_array_interface__"))


def _axes(x: Any) -> int:
    """The number of axes; 1 for an array that NumPy cannot ask."""
    return 1 if _is_array(x) and not hasattr(x, "shape") else np.ndim(x)


def _range_of(call: Call, array: Array) -> tuple[Any, Any]:
    """The extremes of an array that has elements, as numbers of NumPy. Raises ValueError, as NumPy, unless they are finite."""
    lower, upper = _extremes(call, array)
    if not (np.isfinite(lower) and np.isfinite(upper)):
        raise ValueError(f"{call.name}: autodetected range of [{lower}, {upper}] is not finite")
    return lower, upper


def _is_of_numbers(range: Any) -> TypeGuard[tuple[Any, Any]]:
    return isinstance(range, tuple) and len(range) == 2 and all(isinstance(x, NUMBER) for x in range)


def given_edges(call: Call, bins: Any) -> NumPyArray:
    """The caller's edges, in host memory. Raises ValueError for a NaN, for which NumPy's counts may be negative."""
    edges = call.on_host(bins, "bins")
    if np.isnan(edges).any():
        raise ValueError(f"{call.name}: bins has a NaN, which has no place among numbers")
    return edges


def finite_edges(call: Call, edges: NumPyArray) -> NumPyArray:
    """Edges that were computed. Raises ValueError where the width of their range is not finite."""
    if not np.isfinite(edges).all():
        raise ValueError(f"{call.name}: the width of the range is not finite: the edges go from {edges[0]} to {edges[-1]}")
    return edges


def _edges(call: Call, array: Array, bins: Any, range: Any, weights: Any) -> NumPyArray:
    """NumPy's edges, in host memory. Its errors are those of `bins` and `range`."""
    if isinstance(bins, str):
        given = None if weights is None else call.on_host(weights, "weights")
        return finite_edges(call, np.histogram_bin_edges(call.to_host(array), bins, range, given))
    if _axes(bins):
        return np.histogram_bin_edges(np.empty(0, array.dtype), given_edges(call, bins), range)
    if range is None and array.size:
        range = _range_of(call, array)
    if isinstance(bins, int) and bins <= MOST_KEPT and _is_of_numbers(range):
        return finite_edges(call, _edges_of_range(bins, *range, array.dtype))
    with np.errstate(over="ignore", invalid="ignore"):
        return finite_edges(call, np.histogram_bin_edges(np.empty(0, array.dtype), bins, range))


def _comparable(edges: NumPyArray, samples: np.dtype[Any], call: str = "histogram") -> NumPyArray:
    """The edges in the type that they are compared with samples in."""
    common = np.result_type(edges, samples)
    if common.kind not in "iuf":
        raise TypeError(f"{call}: the bins have dtype {edges.dtype}")
    wide = {"i": np.int64, "u": np.uint64, "f": np.float64}[common.kind]
    return np.require(edges, wide, ["C", "A"])


def histogram(a: Any, bins: int | str | Sequence[Any] | Any = 10, range: Sequence[Any] | NumPyArray | None = None,
              density: bool | None = None, weights: Any = None) -> tuple[Any, Any]:
    """Counts of elements between edges, as `numpy.histogram`.

    Parameters
    ----------
    a : array
        bool, integers or floating-point numbers, of any shape. NaN and elements outside all bins are not counted.
    bins : int, array or str
        A number of bins of equal width, their edges, or a rule of `numpy.histogram_bin_edges`.
    range : (lower, upper), optional
        Of bins of equal width; by default the extremes of `a`.
    density : bool
        Whether counts are divided by their sum and the width of their bin.
    weights : array, optional
        Of the shape of `a`. They are added in float64, integers in 64 bits.

    Returns
    -------
    hist : array
        int64, or the weights' type, or float64 with `density`.
    bin_edges : array
        One more than bins. Bins are closed below and open above, the last one is closed.

    Raises
    ------
    TypeError, ValueError
        For other types; for edges that decrease or are NaN, infinite ranges and weights of another shape.
    """
    if weights is None and not density and type(bins) is int and 0 < bins <= MOST_KEPT:
        found: tuple[Any, Any] | None = None
        for whole in whole_arrays_of(a):
            if range is None:
                found = whole.histogram_of_all(a, bins)
            elif _is_of_numbers(range):
                known = _edges_for(a.dtype, bins, *range)
                found = None if known is None else whole.histogram(a, *known)
            if found is not None:
                return found
    with call_of("histogram", a) as call:
        array = call.array
        chosen = _weights(call, weights, array.shape, "a")
        if array.dtype.kind == "b":
            warnings.warn("Converting input from bool to <class 'numpy.uint8'> for compatibility.", RuntimeWarning,
                          stacklevel=2)
            array = call.copied(array, np.uint8)  # no view: bytes of true are 1 then
        edges = _edges(call, array, bins, range, weights)
        compared = _comparable(edges, array.dtype)
        count = compared.size - 1
        if count > MOST_BINS:
            raise ValueError(f"histogram: {count} bins, and there may be 2^30")
        is_integer = chosen is None or chosen.dtype.kind in "iub"
        target = call.results(None, (max(count, 0),), np.int64 if is_integer else np.float64)
        sums = target.array
        if count > 0:
            weight = None if chosen is None else call.contiguous(chosen, sums.dtype)
            call.engine.histogram(array, compared, weight, sums)
        if density:
            counts = call.to_host(sums)
            return call.sent(counts / np.diff(edges).astype(np.float64) / counts.sum()), call.sent(edges)
        if chosen is not None and chosen.dtype != sums.dtype:
            return call.handed(call.copied(sums, chosen.dtype)), call.sent(edges)
        return target.finish(), call.sent(edges)


__all__ = ["bincount", "histogram"]
