# SPDX-License-Identifier: MIT
"""Places of elements between edges, and histograms of points in several dimensions."""
from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _core
from ._arrays import NumPyArray, Source, contiguous, describe, read
from ._bins import MOST_BINS, _comparable, _weights
from ._reductions import minmax


def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """The index of the bin of each element, as `numpy.digitize`.

    Parameters
    ----------
    x : array
        bool, integers or floating-point numbers, of any shape.
    bins : array of one axis
        Edges that do not decrease, or do not increase.
    right : bool
        Whether bins are closed above instead of below.

    Returns
    -------
    array of int64
        Of the shape of `x`: the number of edges before the element's place. NaN is greater than all numbers.

    Raises
    ------
    TypeError, ValueError
        For other types, and edges that are NaN, not monotonic or have several axes.
    """
    source = read(x, "digitize", "x")
    edges = read(bins, "digitize", "bins").array
    np.digitize(np.empty(0), edges)  # its errors are those of the edges
    if np.isnan(edges).any():
        raise ValueError("digitize: bins has a NaN, which has no place among numbers")
    decreases = bool(edges.size) and bool(edges[0] > edges[-1])
    if np.result_type(edges, source.array).kind == "b":
        edges = edges.view(np.uint8)
    compared = _comparable(edges[::-1] if decreases else edges, source.array.dtype, "digitize")
    ranks = np.empty(source.array.shape, np.int64)
    _core.ranks(describe(source.array), describe(compared), bool(right), describe(ranks))
    return source.hand_back(compared.size - ranks if decreases else ranks)


def _edges_of(column: NumPyArray, bins: Any, limits: Any) -> NumPyArray:
    """NumPy's edges of one dimension, with its errors."""
    if limits is None and np.ndim(bins) == 0 and column.size:
        limits = tuple(np.asarray(limit).astype(column.dtype)[()] for limit in minmax(column))
    return np.histogramdd(np.empty((0, 1), column.dtype), [bins], None if limits is None else [limits])[1][0]


def _grid(call: str, source: Source, columns: list[NumPyArray], bins: Any, range: Any, density: bool | None,
          weights: Any) -> tuple[Any, list[Any]]:
    """Counts of points, with a column of each coordinate."""
    try:
        if len(bins) != len(columns):
            raise ValueError(f"{call}: bins has {len(bins)} elements, and points {len(columns)} coordinates")
    except TypeError:
        bins = [bins] * len(columns)
    if range is not None and len(range) != len(columns):
        raise ValueError(f"{call}: range has {len(range)} elements, and points {len(columns)} coordinates")
    points = columns[0].size
    chosen = _weights(call, weights)
    if chosen is not None and chosen.shape != (points,):
        raise ValueError(f"{call}: the weights have shape {chosen.shape}, and there are {points} points")
    ranges = [None] * len(columns) if range is None else range
    edges = [_edges_of(*of) for of in zip(columns, bins, ranges)]
    shape = [edge.size - 1 for edge in edges]
    if math.prod(shape) > MOST_BINS:
        raise ValueError(f"{call}: {math.prod(shape)} bins, and there may be 2^30")
    places = np.zeros(points, np.int64)
    for column, edge in zip(columns, edges):
        compared = _comparable(edge, column.dtype, call)
        _core.append_bins(describe(column), describe(compared), describe(places))
    sums = np.zeros(shape, np.int64 if chosen is None else np.float64)
    if sums.size:
        weight = None if chosen is None else contiguous(chosen, np.float64)
        _core.count_values(describe(places), None if weight is None else describe(weight), describe(sums))
    result = sums.astype(np.float64, copy=False)
    if density:
        total = result.sum()
        for axis, edge in enumerate(edges):
            result = result / np.diff(edge).reshape([-1 if k == axis else 1 for k, _ in enumerate(shape)])
        result = result / total
    return source.hand_back(result), [source.hand_back(edge) for edge in edges]


def _columns(call: str, sample: Any) -> tuple[Source, list[NumPyArray]]:
    """One array per coordinate, all of one type."""
    if isinstance(sample, Sequence):  # one array per coordinate
        sources = [read(x, call, "sample") for x in sample]
        arrays = [np.atleast_1d(source.array) for source in sources]
        if not arrays or any(array.ndim != 1 or array.size != arrays[0].size for array in arrays):
            raise ValueError(f"{call}: the coordinates have shapes {[array.shape for array in arrays]}; they have one axis of "
                             "one length")
        source = sources[0]
    else:
        source = read(sample, call, "sample")
        array = source.array if source.array.ndim == 2 else np.atleast_2d(source.array).T
        if array.ndim != 2:
            raise ValueError(f"{call}: sample has shape {array.shape}, and must have two axes: points and coordinates")
        arrays = list(array.T)
    common = np.result_type(*arrays) if arrays else np.dtype(np.float64)
    if common.kind == "b":
        raise TypeError(f"{call}: sample has dtype bool; accepted are integers and floating-point numbers")
    return source, [array.astype(common, copy=False) for array in arrays]


def histogramdd(sample: Any, bins: Any = 10, range: Any = None, density: bool | None = None,
                weights: Any = None) -> tuple[Any, list[Any]]:
    """Counts of points in a grid, as `numpy.histogramdd`.

    Parameters
    ----------
    sample : array of two axes, or sequence of arrays of one axis
        Integers or floating-point numbers: points and their coordinates, or an array of each coordinate. Points with a NaN or
        outside all bins are not counted.
    bins : int, or sequence of int or arrays
        For all dimensions, or for each: a number of bins of equal width, or their edges.
    range : sequence of (lower, upper) or None, optional
        Of bins of equal width; by default the extremes of each coordinate.
    density : bool
        Whether counts are divided by their sum and the volume of their bin.
    weights : array, optional
        One per point. They are added in float64.

    Returns
    -------
    hist : array of float64
        With an axis per coordinate.
    edges : list of arrays
        The edges of each dimension. Bins are closed below and open above, the last one is closed.

    Raises
    ------
    TypeError, ValueError
        For other types; for edges that decrease, infinite ranges, and numbers of bins, ranges or weights that do not fit the
        sample.
    """
    source, columns = _columns("histogramdd", sample)
    if not columns:
        raise ValueError("histogramdd: points have no coordinates")
    return _grid("histogramdd", source, columns, bins, range, density, weights)


def histogram2d(x: Any, y: Any, bins: Any = 10, range: Any = None, density: bool | None = None,
                weights: Any = None) -> tuple[Any, Any, Any]:
    """Counts of points in two dimensions, as `numpy.histogram2d`: `(hist, x_edges, y_edges)`.

    `bins` is a number or the edges for both axes, or a pair of such. Other parameters and errors are those of `histogramdd`.
    """
    source, columns = _columns("histogram2d", [x, y])
    try:
        pair = len(bins) in (1, 2)
    except TypeError:
        operator.index(bins)
        pair = True
    if not pair:
        bins = [np.asarray(bins)] * 2
    hist, (x_edges, y_edges) = _grid("histogram2d", source, columns, bins, range, density, weights)
    return hist, x_edges, y_edges


__all__ = ["digitize", "histogram2d", "histogramdd"]
