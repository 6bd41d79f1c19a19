# SPDX-License-Identifier: MIT
"""Numba-cuda-mlir: warpfold run -- python numba_mlir_smoke.py. With the argument `race`, a kernel with a race is launched too."""
import sys
import warnings

import numba_programs
from numba_cuda_mlir import cuda
from numba_cuda_mlir.cuda import float32

warnings.simplefilter("ignore")  # of performance

numba_programs.run(cuda, float32, sys.argv[1:] == ["race"])
print("numba-cuda-mlir: ok")
