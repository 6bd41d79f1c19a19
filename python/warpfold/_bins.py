# SPDX-License-Identifier: MIT
"""Histograms and counts of values."""
from __future__ import annotations

import operator
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _core
from ._arrays import NumPyArray, Output, Source, contiguous, describe, read
from ._reductions import minmax

MOST_BINS = 1 << 30  # warpfold::most_bins


def _weights(call: str, weights: Any) -> NumPyArray | None:
    return None if weights is None else read(weights, call, "weights").array


def least_bins(dtype: np.dtype[Any], shape: tuple[int, ...], minlength: Any) -> int:
    """`minlength` of `bincount` as an int. Raises what `bincount` raises for samples and lengths of other kinds."""
    if dtype.kind not in "iub" or not np.can_cast(dtype, np.int64):
        raise TypeError(f"bincount: x has dtype {dtype}; accepted are bool and integers that fit int64")
    if len(shape) != 1:
        raise ValueError(f"bincount: x has shape {shape}, and must have one axis")
    least = operator.index(minlength)
    if least < 0:
        raise ValueError("bincount: minlength must not be negative")
    return least


def checked_bins(least: int, extremes: tuple[Any, Any] | None) -> int:
    """How many results `bincount` has for samples with these extremes; None: for no samples. Raises ValueError."""
    bins = least
    if extremes is not None:
        smallest, largest = extremes
        if smallest < 0:
            raise ValueError(f"bincount: x must have no negative elements, and has {smallest}")
        bins = max(bins, int(largest) + 1)
    if bins > MOST_BINS:
        raise ValueError(f"bincount: {bins} results, and there may be 2^30")
    return bins


def bincount(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    """How often each value from 0 on occurs, or the sums of the weights of each, as `numpy.bincount`.

    Parameters
    ----------
    x : array of one axis
        Integers or bool, not negative, less than 2^30. uint64 is not accepted.
    weights : array, optional
        As many as `x` has elements. They are added in float64.
    minlength : int
        The least number of results.

    Returns
    -------
    array
        int64, or float64 with weights and elements; `max(x) + 1` elements or `minlength`.

    Raises
    ------
    TypeError, ValueError
        For other types; for negative values, several axes, or weights of another number.
    """
    source = read(x, "bincount", "x")
    array = source.array
    if not isinstance(x, np.ndarray) and array.size == 0 and array.ndim == 1:
        array = array.astype(np.int64)
    least = least_bins(array.dtype, array.shape, minlength)
    chosen = _weights("bincount", weights)
    if chosen is not None and chosen.shape != array.shape:
        raise ValueError(f"bincount: the weights have shape {chosen.shape}, and x {array.shape}")
    bins = checked_bins(least, minmax(array) if array.size else None)
    target = Output(None, (bins,), np.dtype(np.int64 if chosen is None or not array.size else np.float64), source,
                    "bincount")
    if not array.size:
        target.array[...] = 0
    else:
        weight = None if chosen is None else contiguous(chosen, np.float64)
        _core.count_values(describe(array), None if weight is None else describe(weight), describe(target.array))
    return target.finish()


def _edges(array: NumPyArray, bins: Any, range: tuple[Any, Any] | None, weights: NumPyArray | None) -> NumPyArray:
    """NumPy's edges. Its errors are those of `bins` and `range`."""
    if isinstance(bins, str):
        return np.histogram_bin_edges(array, bins, range, weights)
    if range is None and np.ndim(bins) == 0 and array.size:
        range = minmax(array)
    return np.histogram_bin_edges(np.empty(0, array.dtype), bins, range)


def _comparable(edges: NumPyArray, samples: np.dtype[Any], call: str = "histogram") -> NumPyArray:
    """The edges in the type that they are compared with samples in."""
    common = np.result_type(edges, samples)
    if common.kind not in "iuf":
        raise TypeError(f"{call}: the bins have dtype {edges.dtype}")
    wide = {"i": np.int64, "u": np.uint64, "f": np.float64}[common.kind]
    return contiguous(edges, wide)


def histogram(a: Any, bins: int | str | Sequence[Any] | Any = 10, range: tuple[Any, Any] | None = None,
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
        For other types; for edges that decrease, infinite ranges and weights of another shape.
    """
    source = read(a, "histogram")
    array = source.array
    chosen = _weights("histogram", weights)
    if chosen is not None and chosen.shape != array.shape:
        raise ValueError(f"histogram: the weights have shape {chosen.shape}, and a {array.shape}")
    if array.dtype.kind == "b":
        warnings.warn("Converting input from bool to <class 'numpy.uint8'> for compatibility.", RuntimeWarning,
                      stacklevel=3)
        array = array.view(np.uint8)
    edges = _edges(array, bins, range, chosen)
    compared = _comparable(edges, array.dtype)
    if compared.size - 1 > MOST_BINS:
        raise ValueError(f"histogram: {compared.size - 1} bins, and there may be 2^30")
    is_integer = chosen is None or chosen.dtype.kind in "iub"
    sums = np.zeros(compared.size - 1, np.int64 if is_integer else np.float64)
    if sums.size:
        weight = None if chosen is None else contiguous(chosen, sums.dtype)
        _core.histogram(describe(array), describe(compared), None if weight is None else describe(weight), describe(sums))
    if density:
        result = sums / np.diff(edges).astype(np.float64) / sums.sum()
    else:
        result = sums if chosen is None else sums.astype(chosen.dtype)
    return source.hand_back(result), source.hand_back(edges)


__all__ = ["bincount", "histogram"]
