# SPDX-License-Identifier: MIT
"""Triton's kernels, without PyTorch: warpfold run -- python triton_smoke.py. With the argument `race`, a kernel with a race is
launched too."""
import pathlib
import sys

import numpy as np
import triton
import triton.language as tl

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "examples/triton_tests"))
from device_array import DeviceArray, to_device


@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    row, column = tl.program_id(0), tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + column, mask=column < columns, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, 0))
    tl.store(out + row * columns + column, powers / tl.sum(powers, 0), mask=column < columns)


@triton.jit
def product(a, b, c, depth, SIZE: tl.constexpr, STEP: tl.constexpr):
    row, column = tl.arange(0, SIZE)[:, None], tl.arange(0, SIZE)[None, :]
    total = tl.zeros((SIZE, SIZE), tl.float32)
    for start in range(0, depth, STEP):
        along = start + tl.arange(0, STEP)
        total = tl.dot(tl.load(a + row * depth + along[None, :]), tl.load(b + along[:, None] * SIZE + column), total)
    tl.store(c + row * SIZE + column, total)


@triton.jit
def race(total):
    tl.store(total, tl.load(total) + 1)  # all blocks add to one element, without an atomic


def main():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((20, 300), dtype=np.float32)
    out = DeviceArray(x.shape)
    softmax[(20,)](to_device(x), out, 300, BLOCK=512)
    powers = np.exp(x.astype(np.float64))
    assert np.allclose(out.numpy(), powers / powers.sum(1, keepdims=True), rtol=1e-5)
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in [(64, 256), (256, 64)])
    c = DeviceArray((64, 64))
    product[(1,)](to_device(a), to_device(b), c, 256, SIZE=64, STEP=32)
    assert np.allclose(c.numpy(), a.astype(np.float64) @ b.astype(np.float64), rtol=1e-5, atol=1e-4)
    if sys.argv[1:] == ["race"]:
        race[(64,)](to_device(np.zeros(1, np.int32)))
    print("triton: ok")


main()
