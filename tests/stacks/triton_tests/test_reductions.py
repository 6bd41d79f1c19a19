# SPDX-License-Identifier: MIT
"""Kernels whose threads work together: reductions, scans, sorts, histograms, atomics."""
import ml_dtypes
import numpy as np
import pytest
import triton
import triton.language as tl
from device_array import DeviceArray, to_device

RNG = np.random.default_rng(2)


@triton.jit
def reduce_kernel(x, values, indices, ROWS: tl.constexpr, COLUMNS: tl.constexpr, AXIS: tl.constexpr, XOR: tl.constexpr):
    tile = tl.load(x + tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :])
    LEFT: tl.constexpr = COLUMNS if AXIS == 0 else ROWS
    at = tl.arange(0, LEFT)
    tl.store(values + at, tl.sum(tile, AXIS))
    tl.store(values + LEFT + at, tl.max(tile, AXIS))
    tl.store(values + 2 * LEFT + at, tl.min(tile, AXIS))
    if XOR:
        tl.store(values + 3 * LEFT + at, tl.xor_sum(tile, AXIS))
    tl.store(indices + at, tl.argmax(tile, AXIS))
    tl.store(indices + LEFT + at, tl.argmin(tile, AXIS))


@pytest.mark.parametrize("axis, warps", [(0, 4), (1, 1), (1, 8)])
@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float16, np.float64])
def test_reduction(axis, warps, dtype):
    is_integer = np.dtype(dtype).kind == "i"
    x = RNG.integers(-8, 8, (64, 128)).astype(dtype)  # ties: the first index counts; sums are exact
    folds = [np.sum, np.max, np.min] + [np.bitwise_xor.reduce] * is_integer
    values, indices = DeviceArray((len(folds), 64 if axis else 128), dtype), DeviceArray((2, 64 if axis else 128), np.int32)
    reduce_kernel[(1,)](to_device(x), values, indices, ROWS=64, COLUMNS=128, AXIS=axis, XOR=is_integer, num_warps=warps)
    assert np.array_equal(values.numpy(), [fold(x, axis=axis) for fold in folds])
    assert np.array_equal(indices.numpy(), [x.argmax(axis), x.argmin(axis)])


@triton.jit
def merge_moments(mean_a, square_a, count_a, mean_b, square_b, count_b):
    count = count_a + count_b
    distance = mean_b - mean_a
    share = tl.where(count > 0, count_b / count, 0.0)
    return mean_a + distance * share, square_a + square_b + distance * distance * count_a * share, count


@triton.jit
def variance_kernel(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n, other=0.0)
    one = (at < n).to(tl.float32)
    mean, square, count = tl.reduce((value, tl.zeros_like(value), one), 0, merge_moments)
    tl.store(out, mean)
    tl.store(out + 1, square / count)


def test_reduction_of_tuples():
    x = RNG.standard_normal(1000, dtype=np.float32) + 1000
    out = DeviceArray(2)
    variance_kernel[(1,)](to_device(x), out, 1000, BLOCK=1024)
    assert np.allclose(out.numpy(), [x.astype(np.float64).mean(), x.astype(np.float64).var()], rtol=1e-5)


@triton.jit
def scan_kernel(x, sums, products, back, ROWS: tl.constexpr, COLUMNS: tl.constexpr, AXIS: tl.constexpr):
    at = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    tile = tl.load(x + at)
    tl.store(sums + at, tl.cumsum(tile, AXIS))
    tl.store(products + at, tl.cumprod(tile, AXIS))
    tl.store(back + at, tl.cumsum(tile, AXIS, reverse=True))


@pytest.mark.parametrize("axis, warps", [(0, 4), (1, 1), (1, 4)])
@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32])
def test_scan(axis, warps, dtype):
    x = RNG.choice([-1, 1], (32, 64)).astype(dtype)
    outs = [DeviceArray(x.shape, dtype) for _ in range(3)]
    scan_kernel[(1,)](to_device(x), *outs, ROWS=32, COLUMNS=64, AXIS=axis, num_warps=warps)
    for out, expected in zip(outs, [x.cumsum(axis), x.cumprod(axis), np.flip(np.flip(x, axis).cumsum(axis), axis)]):
        assert np.array_equal(out.numpy(), expected)


@triton.jit
def compose(factor_a, term_a, factor_b, term_b):
    return factor_a * factor_b, factor_b * term_a + term_b


@triton.jit
def recurrence_kernel(factor, term, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    _, state = tl.associative_scan((tl.load(factor + at), tl.load(term + at)), 0, compose)
    tl.store(out + at, state)


def test_associative_scan():
    """state = factor * state + term, as in a state-space model."""
    factor, term = RNG.uniform(0.5, 1, 1024).astype(np.float32), RNG.standard_normal(1024, dtype=np.float32)
    out = DeviceArray(1024)
    recurrence_kernel[(1,)](to_device(factor), to_device(term), out, BLOCK=1024)
    state, expected = 0.0, []
    for f, t in zip(factor.astype(np.float64), term):
        state = f * state + t
        expected.append(state)
    assert np.allclose(out.numpy(), expected, rtol=1e-4, atol=1e-4)


@triton.jit
def sort_kernel(x, up, down, largest, flipped, ROWS: tl.constexpr, COLUMNS: tl.constexpr, K: tl.constexpr):
    row = tl.arange(0, ROWS)[:, None]
    at = row * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    tile = tl.load(x + at)
    tl.store(up + at, tl.sort(tile))
    tl.store(down + at, tl.sort(tile, descending=True))
    tl.store(largest + row * K + tl.arange(0, K)[None, :], tl.topk(tile, K))
    tl.store(flipped + at, tl.flip(tile))


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float16])
def test_sort(dtype):
    x = RNG.permutation(8 * 256).reshape(8, 256).astype(dtype)
    outs = [DeviceArray(shape, dtype) for shape in [(8, 256), (8, 256), (8, 16), (8, 256)]]
    sort_kernel[(1,)](to_device(x), *outs, ROWS=8, COLUMNS=256, K=16)
    up = np.sort(x, 1)
    for out, expected in zip(outs, [up, up[:, ::-1], up[:, ::-1][:, :16], x[:, ::-1]]):
        assert np.array_equal(out.numpy(), expected)


@triton.jit
def histogram_kernel(x, out, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    counts = tl.histogram(tl.load(x + at, mask=at < n, other=0), BINS, mask=at < n)
    tl.atomic_add(out + tl.arange(0, BINS), counts)


@pytest.mark.parametrize("bins", [16, 128])
def test_histogram(bins):
    x, out = RNG.integers(0, bins, 5000, np.int32), to_device(np.zeros(bins, np.int32))
    histogram_kernel[(5,)](to_device(x), out, 5000, BLOCK=1024, BINS=bins)
    assert np.array_equal(out.numpy(), np.bincount(x, minlength=bins))


@triton.jit
def atomic_kernel(x, out, place, n, KIND: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value, where = tl.load(x + at, mask=at < n), out + tl.load(place + at, mask=at < n)
    if KIND == "add":
        tl.atomic_add(where, value, mask=at < n, sem="relaxed")
    elif KIND == "max":
        tl.atomic_max(where, value, mask=at < n)
    elif KIND == "min":
        tl.atomic_min(where, value, mask=at < n)
    elif KIND == "and":
        tl.atomic_and(where, value, mask=at < n)
    elif KIND == "or":
        tl.atomic_or(where, value, mask=at < n)
    else:
        tl.atomic_xor(where, value, mask=at < n)


INTEGERS, FLOATS, HALVES = [np.int32, np.uint32, np.int64], [np.float32, np.float64], [np.float16, ml_dtypes.bfloat16]


@pytest.mark.parametrize("kind, dtype", [
    *((kind, dtype) for kind in ("and", "or", "xor") for dtype in INTEGERS),
    *((kind, dtype) for kind in ("max", "min") for dtype in INTEGERS + FLOATS),
    *(("add", dtype) for dtype in INTEGERS + FLOATS + HALVES)])
def test_atomics(kind, dtype):
    is_float, n = dtype not in INTEGERS, 3000
    x, place = RNG.integers(0 if dtype == np.uint32 else -4, 5, n).astype(dtype), RNG.integers(0, 40, n, np.int32)
    start = np.full(40, -1 if kind == "and" and dtype != np.uint32 else 0).astype(dtype)
    out = to_device(start)
    atomic_kernel[(triton.cdiv(n, 256),)](to_device(x), out, to_device(place), n, KIND=kind, BLOCK=256)
    numpy_of = {"add": np.add, "max": np.maximum, "min": np.minimum, "and": np.bitwise_and, "or": np.bitwise_or,
                "xor": np.bitwise_xor}
    expected = start.astype(np.float64) if is_float else start.copy()
    numpy_of[kind].at(expected, place, x.astype(expected.dtype))
    assert np.array_equal(out.numpy(), expected.astype(dtype))


@triton.jit
def lock_kernel(lock, total, order, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(total + at, tl.load(total + at) + 1)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)
    tl.store(order + tl.program_id(0), tl.atomic_add(order + tl.num_programs(0), 1))


def test_lock():
    lock, total, order = (to_device(np.zeros(n, np.int32)) for n in (1, 256, 51))
    lock_kernel[(50,)](lock, total, order, BLOCK=256)
    assert np.all(total.numpy() == 50) and sorted(order.numpy()[:50]) == list(range(50))
