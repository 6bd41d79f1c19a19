# SPDX-License-Identifier: MIT
"""Places of elements between edges, and histograms of points in several dimensions."""
from __future__ import annotations

import functools
import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ._arrays import TYPES, Array, Flag, NumPyArray
from ._bins import MOST_BINS, _axes, _comparable, _is_array, _is_of_numbers, _range_of, _weights, finite_edges, given_edges
from ._calls import ADD, MULTIPLY, Call, call_of, type_named, whole_arrays_of, whole_on_gpu, whole_on_host
from ._docstrings import documented_as

MOST_KEPT = 4096  # bytes of edges that are kept as they are compared with samples


def digitize(x: Any, bins: Any, right: Flag = False) -> Any:
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
    if type(bins) is np.ndarray and bins.ndim == 1 and bins.nbytes <= MOST_KEPT and bins.dtype in TYPES:
        for whole in whole_arrays_of(x):
            samples = type_named(x.dtype)
            if samples is not None:
                is_narrow = whole is whole_on_gpu.get(type(x)) and _is_narrow(samples)
                edges, decreases = _sorted_of_bytes(bins.tobytes(), bins.dtype, samples, bool(right), is_narrow)
                found = None if decreases else whole.ranks(x, edges, bool(right))
                if found is not None:
                    return found
    with call_of("digitize", x, "x") as call:
        array = call.array
        edges = call.on_host(bins, "bins")
        is_narrow = not call.is_on_host and _is_narrow(array.dtype)
        if edges.ndim == 1 and edges.nbytes <= MOST_KEPT:
            compared, decreases = _sorted_of_bytes(edges.tobytes(), edges.dtype, array.dtype, bool(right), is_narrow)
        else:
            compared, decreases = _sorted(edges, array.dtype, bool(right), is_narrow)
        target = call.results(None, array.shape, np.int64)
        ranks = target.array
        call.engine.ranks(array, compared, bool(right), ranks)
        if decreases:
            call.apply(MULTIPLY, ranks, -1, ranks)
            call.apply(ADD, ranks, compared.size, ranks)
        return target.finish()


def _is_narrow(samples: np.dtype[Any]) -> bool:
    """Whether a GPU compares samples with edges of float32."""
    return samples.kind == "f" and samples.itemsize < 8


def _narrowed(edges: NumPyArray, less: bool) -> NumPyArray:
    """Edges of float32 that are before the same numbers of float32 as those of float64: rounded down if an edge before a number is
    less than it, else up."""
    with np.errstate(over="ignore"):
        narrow = edges.astype(np.float32)
    away = narrow > edges if less else narrow < edges
    return np.where(away, np.nextafter(narrow, np.float32(-np.inf if less else np.inf)), narrow)


def _sorted(edges: NumPyArray, samples: np.dtype[Any], less: bool, is_narrow: bool) -> tuple[NumPyArray, bool]:
    """Edges as they are compared with samples, increasing; and whether they decreased. Raises what `digitize` raises for edges."""
    try:
        np.digitize(np.empty(0), edges)
    except ValueError as error:
        raise ValueError(f"digitize: bins has shape {edges.shape}: {error}") from None
    if np.isnan(edges).any():
        raise ValueError("digitize: bins has a NaN, which has no place among numbers")
    decreases = bool(edges.size) and bool(edges[0] > edges[-1])
    if np.result_type(edges.dtype, samples).kind == "b":
        edges = edges.astype(np.uint8)
    compared = _comparable(edges[::-1] if decreases else edges, samples, "digitize")
    return _narrowed(compared, less) if is_narrow else compared, decreases


@functools.lru_cache(maxsize=64)
def _sorted_of_bytes(values: bytes, dtype: np.dtype[Any], samples: np.dtype[Any], less: bool,
                     is_narrow: bool) -> tuple[NumPyArray, bool]:
    """The same of few edges. Its results are not to be changed."""
    return _sorted(np.frombuffer(values, dtype), samples, less, is_narrow)


def _edges_of(call: Call, column: Array, bins: Any, limits: Any) -> NumPyArray:
    """NumPy's edges of one dimension, with its errors."""
    if _axes(bins):
        return np.histogramdd(np.empty((0, 1), column.dtype), [given_edges(call, bins)], None if limits is None else [limits])[1][0]
    if limits is None and column.size:
        limits = _range_of(call, column)
    with np.errstate(over="ignore", invalid="ignore"):
        if type(bins) is int and bins > 0 and _is_of_numbers(limits) and -math.inf < limits[0] < limits[1] < math.inf:
            return finite_edges(call, np.linspace(*limits, bins + 1))  # as NumPy makes them, in a fifth of the time
        return finite_edges(call, np.histogramdd(np.empty((0, 1), column.dtype), [bins], None if limits is None else [limits])[1][0])


def _grid(call: Call, columns: list[Array], bins: Any, range: Any, density: bool | None,
          weights: Any) -> tuple[Any, list[Any]]:
    """Counts of points, with a column of each coordinate."""
    name = call.name
    try:
        if len(bins) != len(columns):
            raise ValueError(f"{name}: bins has {len(bins)} elements, and points {len(columns)} coordinates")
    except TypeError:
        bins = [bins] * len(columns)
    if range is not None:
        if not hasattr(range, "__len__"):
            raise TypeError(f"{name}: range is of type {type(range).__name__}, and must be a pair for each coordinate")
        if len(range) != len(columns):
            raise ValueError(f"{name}: range has {len(range)} elements, and points {len(columns)} coordinates")
        for limits in range:
            if limits is not None and np.shape(limits) != (2,):
                raise ValueError(f"{name}: range has {limits!r} for a coordinate, and must have (lower, upper) or None")
    chosen = _weights(call, weights, (columns[0].size,), "points")
    ranges = [None] * len(columns) if range is None else range
    edges = [_edges_of(call, *of) for of in zip(columns, bins, ranges)]
    shape = [edge.size - 1 for edge in edges]
    if math.prod(shape) > MOST_BINS:
        raise ValueError(f"{name}: {math.prod(shape)} bins, and there may be 2^30")
    compared = [_comparable(edge, column.dtype, name) for column, edge in zip(columns, edges)]
    sums = call.filled(shape, 0, np.int64 if chosen is None else np.float64)
    if sums.size:
        places = call.filled((columns[0].size,), 0, np.int64)
        for column, edge in zip(columns, compared):
            call.engine.append_bins(column, edge, places)
        weight = None if chosen is None else call.contiguous(chosen, np.float64)
        call.engine.count_values(places, weight, sums)
    result = call.cast(sums, np.float64)
    if density:
        found = call.to_host(result)
        total = found.sum()
        for axis, edge in enumerate(edges):
            found = found / np.diff(edge).reshape([-1 if k == axis else 1 for k, _ in enumerate(shape)])
        return call.sent(found / total), [call.sent(edge) for edge in edges]
    return call.handed(result), [call.sent(edge) for edge in edges]


def _grid_in_one_call(columns: Sequence[Any], bins: Any, range: Any, density: bool | None, weights: Any) -> Any:
    """The same, of bins of equal width between the extremes: an array of each coordinate on the host. None if it does not apply."""
    if range is not None or weights is not None or density or type(bins) is not int or not 0 < bins <= MOST_BINS:
        return None
    whole = whole_on_host.get(type(columns[0]))
    return None if whole is None else whole.grid(columns[0], bins, tuple(columns[1:]))


def _shapes_agree(name: str, arrays: Sequence[Array]) -> None:
    if not arrays or any(array.ndim != 1 or array.size != arrays[0].size for array in arrays):
        raise ValueError(f"{name}: the coordinates have shapes {[array.shape for array in arrays]}; they have one axis of "
                         "one length")


def _columns(call: Call, arrays: Sequence[Array]) -> list[Array]:
    """The coordinates in their common type; bool as numbers."""
    common = np.result_type(*(array.dtype for array in arrays))
    common = common if common.kind != "b" else np.dtype(np.uint8)
    return [call.cast(array, common) for array in arrays]


def _by_coordinate(call: Call, others: Sequence[Any]) -> list[Array]:
    """Arrays of one coordinate each; the first one is the call's."""
    arrays = [call.array, *(call.operand(x, "sample") for x in others)]
    _shapes_agree(call.name, arrays)
    return _columns(call, arrays)


def _split(points: Array) -> list[Array]:
    return [points[:, k] for k in range(points.shape[1])]


def histogramdd(sample: Any, bins: Any = 10, range: Any = None, density: bool | None = None,
                weights: Any = None) -> tuple[Any, list[Any]]:
    """Counts of points in a grid, as `numpy.histogramdd`.

    Parameters
    ----------
    sample : array of two axes, or sequence of arrays of one axis
        bool, integers or floating-point numbers: points and their coordinates, or an array of each coordinate. Points with a NaN or
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
        For other types; for edges that decrease or are NaN, infinite ranges, and numbers of bins, ranges or weights that do not
        fit the sample.
    """
    is_array = _is_array(sample)
    if isinstance(sample, Sequence) and not is_array and sample and _axes(sample[0]):  # one array per coordinate
        found = _grid_in_one_call(sample, bins, range, density, weights)
        if found is not None:
            return found[0], list(found[1:])
        with call_of("histogramdd", sample[0], "sample") as call:
            return _grid(call, _by_coordinate(call, sample[1:]), bins, range, density, weights)
    with call_of("histogramdd", sample, "sample") as call:
        array = call.array
        if array.ndim > 2:
            raise ValueError(f"histogramdd: sample has shape {array.shape}, and must have two axes: points and coordinates")
        if array.ndim < 2:
            array = call.contiguous(array).reshape((array.size, 1))
        elif not is_array:
            array = array.transpose([1, 0])
        if array.shape[1] == 0:
            raise ValueError("histogramdd: points have no coordinates")
        return _grid(call, _columns(call, _split(array)), bins, range, density,
                     weights)


@documented_as(histogramdd)
def histogram2d(x: Any, y: Any, bins: Any = 10, range: Any = None, density: bool | None = None,
                weights: Any = None) -> tuple[Any, Any, Any]:
    """Counts of points in two dimensions, as `numpy.histogram2d`: `(hist, x_edges, y_edges)`.

    Parameters
    ----------
    x, y : array of one axis
        bool, integers or floating-point numbers, the coordinates of the points. Points with a NaN or outside all bins are not
        counted.
    bins : int, array, or pair of int or arrays
        A number of bins of equal width or the edges, for both axes or for each.
    range : pair of (lower, upper) or None, optional
        Of bins of equal width; by default the extremes of each coordinate.

    Returns
    -------
    hist : array of float64
        With an axis for `x` and one for `y`.
    x_edges, y_edges : array
        The edges of the bins. Bins are closed below and open above, the last one is closed.
    """
    try:
        pair = len(bins) in (1, 2)
    except TypeError:
        operator.index(bins)
        pair = True
    found: tuple[Any, Any, Any] | None = _grid_in_one_call((x, y), bins, range, density, weights)
    if found is not None:
        return found
    with call_of("histogram2d", x, "x") as call:
        columns = _by_coordinate(call, [y])
        if not pair:
            bins = [call.on_host(bins, "bins")] * 2
        hist, (x_edges, y_edges) = _grid(call, columns, bins, range, density, weights)
        return hist, x_edges, y_edges


__all__ = ["digitize", "histogram2d", "histogramdd"]
