# SPDX-License-Identifier: MIT
"""CuPy's kernels: warpfold run -- python cupy_smoke.py"""
import cupy
import numpy as np

SQUARE = r"""
extern "C" __global__ void square(const float* x, float* y, int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) y[i] = x[i] * x[i];
}"""


def main():
    host = np.arange(1000, dtype=np.float32)
    x = cupy.asarray(host)
    y = cupy.zeros_like(x)
    cupy.RawKernel(SQUARE, "square")((8,), (128,), (x, y, 1000))
    assert np.array_equal(cupy.asnumpy(y), host * host)
    multiply_add = cupy.ElementwiseKernel("T x, T y", "T z", "z = x * y + 1", "multiply_add")
    assert np.array_equal(cupy.asnumpy(multiply_add(x, x)), host * host + 1)
    squares = cupy.ReductionKernel("T x", "T y", "x * x", "a + b", "y = a", "0", "squares")
    assert np.isclose(float(squares(x)), float((host * host).sum()))
    assert float(x.sum()) == 499500 and float(x.max()) == 999 and float(cupy.cumsum(x)[-1]) == 499500
    assert cupy.where(x > 500)[0].size == 499
    stream = cupy.cuda.Stream()
    with stream:
        z = x * 2
    stream.synchronize()
    assert float(z[5]) == 10
    for kind in (np.float16, np.float32, np.float64, np.complex64):  # by the software GPU's cuBLAS
        a, b = np.arange(12).reshape(3, 4).astype(kind), np.arange(20).reshape(4, 5).astype(kind)
        assert np.array_equal(cupy.asnumpy(cupy.asarray(a) @ cupy.asarray(b)), a @ b)
    batch = cupy.asarray(np.arange(24, dtype=np.float32).reshape(2, 3, 4))
    assert np.array_equal(cupy.asnumpy(batch @ batch.transpose(0, 2, 1)), batch.get() @ batch.get().transpose(0, 2, 1))
    assert float(cupy.dot(x[:100], x[:100])) == 328350 and float(cupy.linalg.norm(cupy.asarray([3.0, 4.0]))) == 5
    print("cupy: ok")


main()
