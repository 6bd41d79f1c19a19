# SPDX-License-Identifier: MIT
"""Reductions, scans, histograms, convolutions and exact sums on all cores, and on a GPU for arrays that are there.

Functions take NumPy arrays, objects with the buffer protocol, arrays that export DLPack, and arrays on a GPU. Elements are not
copied; strides may have any sign. Results are of the caller's kind of array. A function with the name of one of NumPy's has its
results and raises exceptions of its types. `warpfold.torch` has operators of PyTorch.
"""
from ._bins import bincount, histogram
from ._convolve import convolve, correlate
from ._exact import exact_dot, exact_mean, exact_norm, exact_sum, exact_var, exact_vdot
from ._expression import Operation as Operation, op
from ._filters import convolve2d, correlate2d, correlate_channels, gaussian_blur, separable_filter
from ._grids import digitize, histogram2d, histogramdd
from ._moments import mean, var
from ._norms import norm
from ._reductions import all, any, argmax, argmin, count, count_nonzero, max, min, minmax, prod, sum
from ._scans import cummax, cummin, cumprod, cumsum, scan
from ._segments import segment_max, segment_min, segment_prod, segment_sum
from ._selection import partition_by, reduce_by_key, run_length_encode, select, unique_consecutive

__version__ = "0.1.0"
__all__ = ["all", "any", "argmax", "argmin", "bincount", "convolve", "convolve2d", "correlate", "correlate2d",
           "correlate_channels", "count", "count_nonzero", "cummax", "cummin", "cumprod", "cumsum", "digitize", "exact_dot",
           "exact_mean", "exact_norm", "exact_sum", "exact_var", "exact_vdot", "gaussian_blur", "histogram", "histogram2d",
           "histogramdd", "max", "mean", "min", "minmax", "norm", "op", "partition_by", "prod", "reduce_by_key", "run_length_encode", "scan",
           "segment_max", "segment_min", "segment_prod", "segment_sum", "select", "separable_filter", "sum",
           "unique_consecutive", "var"]
