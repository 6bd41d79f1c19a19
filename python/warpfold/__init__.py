# SPDX-License-Identifier: MIT
"""Reductions, scans, histograms, convolutions and exact sums on all cores.

Functions take NumPy arrays, objects with the buffer protocol, arrays that export DLPack, and arrays on a GPU, which are
computed there. Elements are not copied; strides may have any sign. Results are of the caller's kind of array. A function with the name of one of
NumPy's has its results and raises exceptions of its types.
"""
from . import _devices
from ._bins import bincount, histogram
from ._convolve import convolve, correlate
from ._exact import exact_dot, exact_sum
from ._moments import mean, var
from ._reductions import all, any, argmax, argmin, count, count_nonzero, max, min, minmax, prod, sum
from ._scans import cummax, cummin, cumprod, cumsum
from ._segments import segment_max, segment_min, segment_sum

__version__ = "0.1.0"
__all__ = ["all", "any", "argmax", "argmin", "bincount", "convolve", "correlate", "count", "count_nonzero", "cummax",
           "cummin", "cumprod", "cumsum", "exact_dot", "exact_sum", "histogram", "max", "mean", "min", "minmax", "prod",
           "segment_max", "segment_min", "segment_sum", "sum", "var"]

# Arrays on a GPU go to the functions' namesakes in _on_gpu.
for _name in _devices.FUNCTIONS:
    globals()[_name] = _devices.on_any_device(globals()[_name])
count = count_nonzero
