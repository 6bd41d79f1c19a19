# SPDX-License-Identifier: MIT
"""The package's functions for arrays on a GPU: the namesakes of those for the host, with the same parameters."""
from .bins import bincount, histogram
from .convolve import convolve, correlate
from .moments import mean, var
from .reductions import all, any, argmax, argmin, count, count_nonzero, max, min, minmax, prod, sum
from .scans import cummax, cummin, cumprod, cumsum
from .segments import segment_max, segment_min, segment_sum
from .exact import exact_dot, exact_sum

__all__ = ["all", "any", "argmax", "argmin", "bincount", "convolve", "correlate", "count", "count_nonzero", "cummax",
           "cummin", "cumprod", "cumsum", "exact_dot", "exact_sum", "histogram", "max", "mean", "min", "minmax", "prod",
           "segment_max", "segment_min", "segment_sum", "sum", "var"]
