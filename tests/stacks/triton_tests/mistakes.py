# SPDX-License-Identifier: MIT
"""Kernels with a mistake each, in the line that says so: mistakes.py NAME launches one."""
import sys

import numpy as np
import triton
import triton.language as tl
from device_array import DeviceArray, to_device


@triton.jit
def no_mask_kernel(x, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at))  # mistake: no_mask


def no_mask():
    no_mask_kernel[(4,)](to_device(np.zeros(1000, np.float32)), DeviceArray(1024), BLOCK=256)


@triton.jit
def no_store_mask_kernel(out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, at)  # mistake: no_store_mask


def no_store_mask():
    no_store_mask_kernel[(4,)](DeviceArray(1000, np.int32), BLOCK=256)


@triton.jit
def no_atomic_kernel(total):
    tl.store(total, tl.load(total) + 1)  # mistake: no_atomic


def no_atomic():
    no_atomic_kernel[(64,)](to_device(np.zeros(1, np.int32)))


@triton.jit
def add_one(where):
    tl.store(where, tl.load(where) + 1)  # mistake: in_a_function


@triton.jit
def calling_kernel(total):
    add_one(total)


def in_a_function():
    calling_kernel[(64,)](to_device(np.zeros(1, np.int32)))


@triton.jit
def early_unlock_kernel(lock, total, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(total + at, tl.load(total + at) + 1)  # mistake: early_unlock
    tl.atomic_xchg(lock, 0, sem="relaxed")  # and nothing orders it after the stores


def early_unlock():
    early_unlock_kernel[(4,)](*(to_device(np.zeros(n, np.int32)) for n in (1, 128)), BLOCK=128)


@triton.jit
def unwritten_kernel(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at) * 2)  # mistake: unwritten


def unwritten():
    unwritten_kernel[(1,)](DeviceArray(128), DeviceArray(128), BLOCK=128)


@triton.jit
def exchange_kernel(x, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    value = tl.load(x + BLOCK - 1 - at)
    tl.store(x + at, value)  # mistake: exchange: other warps may not have loaded their elements yet


def exchange():
    exchange_kernel[(1,)](to_device(np.arange(256, dtype=np.float32)), BLOCK=256)


@triton.jit
def assertion_kernel(x):
    tl.device_assert(tl.load(x) > 0, "it is positive")  # mistake: assertion


def assertion():
    assertion_kernel[(1,)](to_device(np.zeros(1, np.int32)), debug=True)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
