# SPDX-License-Identifier: MIT
"""tinygrad's CUDA backend: DEV=CUDA warpfold run -- python tinygrad_smoke.py"""
import numpy as np
from tinygrad import Device, Tensor, TinyJit


@TinyJit
def step(t):
    return (t + 1).realize()


def main():
    assert Device.DEFAULT == "CUDA", Device.DEFAULT
    rng = np.random.default_rng(0)
    a, b = rng.random((32, 32), np.float32), rng.random((32, 32), np.float32)
    assert np.allclose((Tensor(a) @ Tensor(b)).numpy(), a @ b, atol=1e-4)
    assert np.allclose(Tensor(a).softmax().numpy().sum(1), 1, atol=1e-5)
    assert np.allclose(Tensor(a).half().float().numpy(), a, atol=1e-3)
    image, weights = Tensor.ones(1, 1, 8, 8), Tensor.ones(1, 1, 3, 3)
    assert image.conv2d(weights).numpy()[0, 0, 0, 0] == 9
    for i in range(4):
        assert step(Tensor([float(i)])).item() == i + 1
    print("tinygrad: ok")


main()
