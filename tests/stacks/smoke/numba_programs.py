# SPDX-License-Identifier: MIT
"""Kernels that Numba's CUDA target and numba-cuda-mlir compile alike."""
import numpy as np


def run(cuda, float32, with_race):
    """cuda, float32: of either package. with_race: a kernel with a race is launched too."""

    @cuda.jit(device=True)
    def twice(a):
        return a * 2

    @cuda.jit
    def double(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] = twice(x[i])

    @cuda.jit
    def total(x, out):
        shared = cuda.shared.array(128, float32)
        t = cuda.threadIdx.x
        i = cuda.grid(1)
        shared[t] = x[i] if i < x.size else 0
        cuda.syncthreads()
        k = 64
        while k > 0:
            if t < k:
                shared[t] += shared[t + k]
            cuda.syncthreads()
            k //= 2
        if t == 0:
            cuda.atomic.add(out, 0, shared[0])

    @cuda.jit
    def shift_twice(x):
        grid = cuda.cg.this_grid()
        i = cuda.grid(1)
        for _ in range(2):
            value = x[(i + 1) % x.size]
            grid.sync()
            x[i] = value
            grid.sync()

    @cuda.jit
    def race(x, out):
        shared = cuda.shared.array(128, float32)
        t = cuda.threadIdx.x
        shared[t] = x[t]
        out[t] = shared[127 - t]  # without cuda.syncthreads()

    x = np.arange(1000, dtype=np.float32)
    stream = cuda.stream()
    on_device, out = cuda.to_device(x, stream), cuda.to_device(np.zeros(1, np.float32), stream)
    total[8, 128, stream](on_device, out)
    assert out.copy_to_host(stream=stream)[0] == 499500
    double[8, 128](on_device)
    assert np.array_equal(on_device.copy_to_host(), 2 * x)
    ring = cuda.to_device(x[:256])
    shift_twice[4, 64](ring)
    assert np.array_equal(ring.copy_to_host(), np.roll(x[:256], -2))
    if with_race:
        race[1, 128](on_device, cuda.device_array(128, np.float32))
        cuda.synchronize()
