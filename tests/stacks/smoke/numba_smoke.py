# SPDX-License-Identifier: MIT
"""Numba's CUDA target: warpfold run -- python numba_smoke.py. With the argument `race`, a kernel with a race is launched too."""
import sys
import warnings

import numba_programs
import numpy as np
from numba import cuda, float32, vectorize

warnings.simplefilter("ignore")  # of performance


@cuda.reduce
def add_all(a, b):
    return a + b


@vectorize(["float32(float32, float32)"], target="cuda")
def add(a, b):
    return a + b


def main():
    x = np.arange(1000, dtype=np.float32)
    assert add_all(np.arange(100, dtype=np.float64)) == 4950
    assert np.array_equal(add(x, x), 2 * x)
    numba_programs.run(cuda, float32, sys.argv[1:] == ["race"])
    print("numba: ok")


main()
