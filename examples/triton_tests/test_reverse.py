# SPDX-License-Identifier: MIT
"""Two kernels that reverse the parts of an array: one right, one with a race. See docs/team-ci.md."""
import numpy as np
import triton
import triton.language as tl
from device_array import DeviceArray, to_device

SIZE = 128


@triton.jit
def reverse(values, out, SIZE: tl.constexpr):
    first, at = tl.program_id(0) * SIZE, tl.arange(0, SIZE)
    tl.store(out + first + at, tl.load(values + first + SIZE - 1 - at))


@triton.jit
def reverse_in_place(values, SIZE: tl.constexpr):
    first, at = tl.program_id(0) * SIZE, tl.arange(0, SIZE)
    part = tl.load(values + first + SIZE - 1 - at)
    tl.store(values + first + at, part)  # another warp may not have loaded its elements yet


def expected(values):
    return values.reshape(-1, SIZE)[:, ::-1].ravel()


def test_reverse():
    values = np.arange(4 * SIZE, dtype=np.float32)
    out = DeviceArray(values.shape)
    reverse[(4,)](to_device(values), out, SIZE=SIZE)
    assert np.array_equal(out.numpy(), expected(values))


def test_reverse_in_place():
    values = to_device(np.arange(SIZE, dtype=np.float32))
    reverse_in_place[(1,)](values, SIZE=SIZE)
    values.numpy()  # which are not even compared
