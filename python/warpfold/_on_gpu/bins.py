# SPDX-License-Identifier: MIT
"""Histograms and counts of values; see .._bins. Both wait: the number of results, or the bins, depend on the extremes."""
from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _gpu
from .._arrays import NumPyArray, fold_type
from .._bins import MOST_BINS, _comparable, checked_bins, least_bins
from .array import DeviceArray
from .call import Call


def _extremes(call: Call, array: DeviceArray) -> tuple[Any, Any]:
    both = call.empty((2,), array.dtype)
    step = array.dtype.itemsize
    ends = [DeviceArray(both.address + k * step, array.dtype, (), (), call.place, both) for k in range(2)]
    _gpu.min_max(call.place, fold_type(array.dtype), array.description(), array.size, ends[0].description(),
                 ends[1].description())
    found = both.to_host()
    return found[0], found[1]


def _weights(call: Call, weights: Any, argument: str) -> DeviceArray | None:
    if weights is None:
        return None
    chosen = call.operand(weights, "weights")
    if chosen.shape != call.array.shape:
        raise ValueError(f"{call.name}: the weights have shape {chosen.shape}, and {argument} {call.array.shape}")
    return chosen


def bincount(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    with Call("bincount", x, "x") as call:
        array = call.array
        source = call.host_source
        if source is not None and not isinstance(x, np.ndarray) and array.size == 0 and array.ndim == 1:
            array = call.empty((0,), np.int64)
        least = least_bins(array.dtype, array.shape, minlength)
        chosen = _weights(call, weights, "x")
        bins = checked_bins(least, _extremes(call, array) if array.size else None)
        target = call.results(None, (bins,), np.int64 if chosen is None or not array.size else np.float64)
        if bins:
            weight = None if chosen is None or not array.size else call.contiguous(chosen, np.float64).description()
            _gpu.count_values(call.place, array.description(), weight, target.array.description())
        return target.finish()


def _edges(call: Call, array: DeviceArray, bins: Any, range: tuple[Any, Any] | None, weights: Any) -> NumPyArray:
    """NumPy's edges, in host memory."""
    if isinstance(bins, str):
        given = None if weights is None else call.on_host(weights, "weights")
        return np.histogram_bin_edges(array.to_host(), bins, range, given)
    if not isinstance(bins, (int, np.integer)):
        bins = call.on_host(bins, "bins") if np.ndim(bins) else bins
    if range is None and np.ndim(bins) == 0 and array.size:
        range = _extremes(call, array)
    return np.histogram_bin_edges(np.empty(0, array.dtype), bins, range)


def histogram(a: Any, bins: int | str | Sequence[Any] | Any = 10, range: tuple[Any, Any] | None = None,
              density: bool | None = None, weights: Any = None) -> tuple[Any, Any]:
    with Call("histogram", a) as call:
        array = call.array
        chosen = _weights(call, weights, "a")
        if array.dtype.kind == "b":
            warnings.warn("Converting input from bool to <class 'numpy.uint8'> for compatibility.", RuntimeWarning,
                          stacklevel=3)
            array = array.viewed_as(np.dtype(np.uint8))
        edges = _edges(call, array, bins, range, weights)
        compared = _comparable(edges, array.dtype)
        count = compared.size - 1
        if count > MOST_BINS:
            raise ValueError(f"histogram: {count} bins, and there may be 2^30")
        is_integer = chosen is None or chosen.dtype.kind in "iub"
        sums = call.empty((max(count, 0),), np.int64 if is_integer else np.float64)
        if count > 0:
            weight = None if chosen is None else call.contiguous(chosen, sums.dtype).description()
            _gpu.histogram(call.place, array.description(), call.uploaded(compared).description(), weight,
                           sums.description())
        if density:
            counts = sums.to_host()
            sums = call.uploaded(counts / np.diff(edges).astype(np.float64) / counts.sum())
        dtype = sums.dtype if density or chosen is None else chosen.dtype
        results = call.results(None, sums.shape, dtype)
        _gpu.copy(call.place, sums.description(), results.array.description())
        found = call.results(None, edges.shape, edges.dtype)
        _gpu.copy(call.place, call.uploaded(edges).description(), found.array.description())
        return results.finish(), found.finish()


__all__ = ["bincount", "histogram"]
