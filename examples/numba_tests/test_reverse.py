# SPDX-License-Identifier: MIT
"""Two kernels that reverse the parts of an array: one right, one with a race. See docs/team-ci.md."""
import numpy as np
from numba import cuda, float32

THREADS = 128


@cuda.jit(lineinfo=True)
def reverse(values):
    part = cuda.shared.array(THREADS, float32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    part[t] = values[i]
    cuda.syncthreads()
    values[i] = part[THREADS - 1 - t]


@cuda.jit(lineinfo=True)
def reverse_without_barrier(values):
    part = cuda.shared.array(THREADS, float32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    part[t] = values[i]
    values[i] = part[THREADS - 1 - t]  # another warp's element, which may not be there yet


def reversed_parts(kernel, blocks):
    values = cuda.to_device(np.arange(blocks * THREADS, dtype=np.float32))
    kernel[blocks, THREADS](values)
    return values.copy_to_host()


def expected(blocks):
    return np.arange(blocks * THREADS, dtype=np.float32).reshape(blocks, THREADS)[:, ::-1].ravel()


def test_reverse():
    assert np.array_equal(reversed_parts(reverse, 4), expected(4))


def test_reverse_without_barrier():
    reversed_parts(reverse_without_barrier, 4)  # its values are not even compared
