# SPDX-License-Identifier: MIT
"""More of the language: libdevice, signals between blocks, grid barriers, Gluon, narrow formats."""
import math

import ml_dtypes
import numpy as np
import pytest
import triton
import triton.language as tl
from device_array import DeviceArray, to_device
from triton.experimental import gluon
from triton.experimental.gluon import language as ttgl
from triton.experimental.gluon.language.nvidia.ampere import async_copy
from triton.language.extra import cuda, libdevice

RNG = np.random.default_rng(5)


@triton.jit
def library_kernel(x, y, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v, w = tl.load(x + at), tl.load(y + at)
    results = (libdevice.acos(v), libdevice.asin(v), libdevice.atan(w), libdevice.atan2(v, w), libdevice.cbrt(w),
               libdevice.cosh(w), libdevice.sinh(w), libdevice.asinh(w), libdevice.acosh(w + 1), libdevice.atanh(v),
               libdevice.erfc(v), libdevice.expm1(v), libdevice.log1p(w), libdevice.log10(w), libdevice.exp10(v),
               libdevice.fmod(w, v), libdevice.hypot(v, w), libdevice.lgamma(w), libdevice.tgamma(w), libdevice.trunc(w),
               libdevice.round(w), libdevice.copysign(w, v), libdevice.tan(v), libdevice.fma(v, w, v))
    for i in tl.static_range(len(results)):
        tl.store(out + i * BLOCK + at, results[i])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_libdevice(dtype):
    x, y = RNG.uniform(-0.95, 0.95, 128).astype(dtype), RNG.uniform(0.2, 6, 128).astype(dtype)
    out = DeviceArray((24, 128), dtype)
    library_kernel[(1,)](to_device(x), to_device(y), out, BLOCK=128)
    v, w = x.astype(np.float64), y.astype(np.float64)
    each = np.vectorize
    expected = [np.arccos(v), np.arcsin(v), np.arctan(w), np.arctan2(v, w), np.cbrt(w), np.cosh(w), np.sinh(w), np.arcsinh(w),
                np.arccosh((y + dtype(1)).astype(np.float64)), np.arctanh(v), each(math.erfc)(v), np.expm1(v), np.log1p(w),
                np.log10(w), 10**v, np.fmod(w, v), np.hypot(v, w), each(math.lgamma)(w), each(math.gamma)(w), np.trunc(w),
                np.rint(w), np.copysign(w, v), np.tan(v), v * w + v]
    for number, (got, wanted) in enumerate(zip(out.numpy(), expected)):
        assert np.allclose(got, wanted, rtol=1e-5, atol=1e-5), number


@triton.jit
def bit_kernel(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + at)
    tl.store(out + at, libdevice.popc(v))
    tl.store(out + BLOCK + at, libdevice.clz(v))
    tl.store(out + 2 * BLOCK + at, libdevice.brev(v))
    tl.store(out + 3 * BLOCK + at, libdevice.ffs(v))


def test_bits():
    x, out = RNG.integers(1, 2**31 - 1, 256, np.int32), DeviceArray((4, 256), np.int32)
    bit_kernel[(1,)](to_device(x), out, BLOCK=256)
    text = [f"{value:032b}" for value in x]
    expected = [[t.count("1") for t in text], [t.index("1") for t in text],
                np.array([int(t[::-1], 2) for t in text], np.uint32).view(np.int32), [32 - t.rindex("1") for t in text]]
    assert np.array_equal(out.numpy(), expected)


@triton.jit
def relay_kernel(values, flags, BLOCK: tl.constexpr):
    """Each block waits for the one before it, and adds to what that has written."""
    block, at = tl.program_id(0), tl.arange(0, BLOCK)
    tl.atomic_poll(flags + block, 1)
    tl.store(values + (block + 1) * BLOCK + at, tl.load(values + block * BLOCK + at) + 1)
    tl.debug_barrier()
    tl.atomic_store(flags + block + 1, 1, sem="release")


def test_signals_between_blocks():
    values, flags = np.zeros((21, 256), np.int32), np.zeros(21, np.int32)
    flags[0] = 1
    on_device = to_device(values)
    relay_kernel[(20,)](on_device, to_device(flags), BLOCK=256)
    assert np.array_equal(on_device.numpy(), np.arange(21)[:, None] + values)


@triton.jit
def grid_barrier_kernel(x, sums, arrived, total, BLOCK: tl.constexpr):
    blocks = tl.num_programs(0)
    tl.store(sums + tl.program_id(0), tl.sum(tl.load(x + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))))
    tl.debug_barrier()
    tl.atomic_add(arrived, 1)
    while tl.atomic_load(arrived) < blocks:
        pass
    tl.debug_barrier()
    at = tl.arange(0, BLOCK)
    tl.store(total + tl.program_id(0), tl.sum(tl.load(sums + at, mask=at < blocks, other=0)))


def test_cooperative_launch():
    x, sums, total = RNG.integers(0, 9, 16 * 256, np.int32), DeviceArray(16, np.int32), DeviceArray(16, np.int32)
    grid_barrier_kernel[(16,)](to_device(x), sums, to_device(np.zeros(1, np.int32)), total, BLOCK=256, launch_cooperative_grid=True)
    assert np.all(total.numpy() == x.sum())


@triton.jit
def selu(value):
    if value > 0:
        return value * 1.5
    return (tl.exp(value) - 1) * 2


@triton.jit
def mapped_kernel(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.map_elementwise(selu, tl.load(x + at)))


def test_branches_of_elements():
    x, out = RNG.standard_normal(512, dtype=np.float32), DeviceArray(512)
    mapped_kernel[(1,)](to_device(x), out, BLOCK=512)
    assert np.allclose(out.numpy(), np.where(x > 0, x * 1.5, 2 * np.expm1(x.astype(np.float64))), rtol=1e-5, atol=1e-6)


@triton.jit
def many_warps_kernel(x, out, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    tile = tl.load(x + tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :])
    tl.store(out + tl.arange(0, COLUMNS), tl.sum(tile, 0))
    tl.store(out + COLUMNS, cuda.num_threads())
    tl.store(out + COLUMNS + 1, (cuda.globaltimer() > 0).to(tl.int32) + (cuda.smid() >= 0).to(tl.int32))


@pytest.mark.parametrize("warps", [1, 2, 16, 32])
def test_warps(warps):
    x, out = RNG.integers(0, 100, (128, 64), np.int32), DeviceArray(66, np.int32)
    many_warps_kernel[(1,)](to_device(x), out, ROWS=128, COLUMNS=64, num_warps=warps)
    assert out.numpy().tolist() == [*x.sum(0), 32 * warps, 2]


@triton.jit
def permuted_kernel(x, out, sums):
    at = tl.reshape(tl.arange(0, 2048), [2, 4, 8, 4, 8])
    values = tl.load(x + at)
    tl.store(out + at, tl.reshape(tl.permute(values, 4, 2, 0, 3, 1), [2, 4, 8, 4, 8]))
    tl.store(sums + tl.reshape(tl.arange(0, 256), [2, 4, 4, 8]), tl.sum(values, 2))


def test_five_dimensions():
    x = RNG.integers(0, 1000, (2, 4, 8, 4, 8), np.int32)
    out, sums = DeviceArray(x.shape, np.int32), DeviceArray((2, 4, 4, 8), np.int32)
    permuted_kernel[(1,)](to_device(x), out, sums)
    assert np.array_equal(out.numpy().ravel(), x.transpose(4, 2, 0, 3, 1).ravel())
    assert np.array_equal(sums.numpy(), x.sum(2))


@triton.jit
def exchange_kernel(places, old, swapped, new, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(old + at, tl.atomic_cas(places + at, tl.load(places + at), tl.load(new + at)))
    tl.store(swapped + at, tl.atomic_xchg(places + at, tl.load(old + at)))


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint64])
def test_exchange(dtype):
    before, new = (RNG.integers(0, 1000, 256).astype(dtype) for _ in range(2))
    places, old, swapped = to_device(before), DeviceArray(256, dtype), DeviceArray(256, dtype)
    exchange_kernel[(2,)](places, old, swapped, to_device(new), BLOCK=128)
    assert np.array_equal(old.numpy(), before) and np.array_equal(swapped.numpy(), new)


@triton.jit
def narrow_kernel(codes, out, back, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    narrow = tl.load(codes + at).to(tl.float8e4b15, bitcast=True)
    tl.store(out + at, narrow.to(tl.float16))
    tl.store(back + at, narrow.to(tl.float16).to(tl.float8e4b15).to(tl.uint8, bitcast=True))


def test_fp8e4b15():
    """Four bits of exponent with a bias of 15, three of mantissa, no infinities."""
    codes, out, back = np.arange(256, dtype=np.uint8), DeviceArray(256, np.float16), DeviceArray(256, np.uint8)
    narrow_kernel[(1,)](to_device(codes), out, back, BLOCK=256)
    exponent, mantissa = codes >> 3 & 15, codes & 7
    value = np.where(exponent == 0, mantissa / 8 * 2.0**-14, (1 + mantissa / 8) * 2.0 ** (exponent.astype(int) - 15))
    assert np.array_equal(out.numpy(), np.where(codes >> 7, -value, value).astype(np.float16))
    normal = codes[codes & 0x7F < 0x7F]
    assert np.array_equal(back.numpy()[normal], normal)


@triton.jit
def four_bit_kernel(a, scale, b, c, SIZE: tl.constexpr, DEPTH: tl.constexpr):
    row, depth = tl.arange(0, SIZE), tl.arange(0, DEPTH)
    packed, group = tl.arange(0, DEPTH // 2), tl.arange(0, DEPTH // 32)
    left = tl.load(a + row[:, None] * (DEPTH // 2) + packed[None, :])
    scales = tl.load(scale + row[:, None] * (DEPTH // 32) + group[None, :])
    right = tl.load(b + depth[:, None] * SIZE + row[None, :])
    tl.store(c + row[:, None] * SIZE + row[None, :], tl.dot_scaled(left, scales, "e2m1", right, None, "bf16"))


def test_four_bit_operand():
    codes, scale = RNG.integers(0, 16, (64, 128), np.uint8), RNG.integers(122, 130, (64, 4), np.uint8)
    b, c = RNG.standard_normal((128, 64)).astype(ml_dtypes.bfloat16), DeviceArray((64, 64))
    four_bit_kernel[(1,)](to_device(codes[:, ::2] | codes[:, 1::2] << 4), to_device(scale), to_device(b), c, SIZE=64, DEPTH=128)
    values = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])[codes & 7] * np.where(codes & 8, -1, 1)
    expected = (values * np.repeat(2.0 ** (scale.astype(int) - 127), 32, 1)) @ b.astype(np.float64)
    assert np.allclose(c.numpy(), expected, rtol=1e-5, atol=1e-3)


@gluon.jit
def staged_kernel(x, out, SIZE: ttgl.constexpr):
    layout: ttgl.constexpr = ttgl.BlockedLayout([4], [32], [4], [0])
    at = ttgl.arange(0, SIZE, layout=layout)
    room = ttgl.allocate_shared_memory(ttgl.float32, [SIZE], ttgl.SwizzledSharedLayout(1, 1, 1, [0]))
    async_copy.async_load(room, x + at)
    async_copy.commit_group()
    async_copy.wait_group(0)
    ttgl.store(out + at, room.load(layout) * 2)


def test_gluon():
    x, out = RNG.standard_normal(512, dtype=np.float32), DeviceArray(512)
    staged_kernel[(1,)](to_device(x), out, SIZE=512)
    assert np.array_equal(out.numpy(), 2 * x)
