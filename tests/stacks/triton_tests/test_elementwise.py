# SPDX-License-Identifier: MIT
"""Kernels in which each element has its own result: arithmetic, conversions, random numbers, loops, inline assembly."""
import math

import ml_dtypes
import numpy as np
import pytest
import triton
import triton.language as tl
from device_array import DeviceArray, to_device
from triton.language.extra import libdevice

RNG = np.random.default_rng(1)


@triton.jit
def add_kernel(a, b, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(a + at, mask=inside) + tl.load(b + at, mask=inside), mask=inside)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64, np.int8, np.int32, np.int64, ml_dtypes.bfloat16])
@pytest.mark.parametrize("n", [1, 1000, 98432])
def test_add(dtype, n):
    a, b = (RNG.integers(-50, 50, n).astype(dtype) for _ in range(2))
    out = DeviceArray(n, dtype)
    add_kernel[(triton.cdiv(n, 1024),)](to_device(a), to_device(b), out, n, BLOCK=1024)
    assert np.array_equal(out.numpy(), a + b)


@triton.jit
def dropout_kernel(x, out, n, p, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    kept = tl.rand(seed, at) > p
    tl.store(out + at, tl.where(kept, tl.load(x + at, mask=at < n) / (1 - p), 0.0), mask=at < n)


def philox(seed, counter):
    """The first word of Philox 4x32-10, from Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011)."""
    words = [counter.astype(np.uint64)] + [np.zeros_like(counter, np.uint64)] * 3
    keys = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        first, second = words[0] * np.uint64(0xD2511F53), words[2] * np.uint64(0xCD9E8D57)
        words = [(second >> np.uint64(32)) ^ words[1] ^ np.uint64(keys[0]), second & np.uint64(0xFFFFFFFF),
                 (first >> np.uint64(32)) ^ words[3] ^ np.uint64(keys[1]), first & np.uint64(0xFFFFFFFF)]
        keys = [(keys[0] + 0x9E3779B9) & 0xFFFFFFFF, (keys[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return words[0].astype(np.uint32)


@pytest.mark.parametrize("seed", [0, 123, 2**40 + 7])
def test_low_memory_dropout(seed):
    n, p = 10000, 0.3
    x = RNG.standard_normal(n, dtype=np.float32)
    out = DeviceArray(n)
    dropout_kernel[(triton.cdiv(n, 512),)](to_device(x), out, n, p, seed, BLOCK=512)
    signed = philox(seed, np.arange(n)).view(np.int32)
    uniform = np.where(signed < 0, -signed - 1, signed).astype(np.float32) * np.float32(4.6566127342e-10)
    expected = np.where(uniform > np.float32(p), x / (np.float32(1) - np.float32(p)), 0)
    assert np.allclose(out.numpy(), expected, rtol=1e-6) and 0.25 < np.mean(out.numpy() == 0) < 0.35


@triton.jit
def normal_kernel(out, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.randn(seed, at))


def test_normal_random_numbers():
    out = DeviceArray(16384)
    normal_kernel[(16,)](out, 5, BLOCK=1024)
    assert abs(out.numpy().mean()) < 0.03 and abs(out.numpy().std() - 1) < 0.03


@triton.jit
def math_kernel(x, out, n, SINGLE: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n, other=1.0)
    tl.store(out + 0 * BLOCK + at, tl.exp(v))
    tl.store(out + 1 * BLOCK + at, tl.log(v))
    tl.store(out + 2 * BLOCK + at, tl.sin(v))
    tl.store(out + 3 * BLOCK + at, tl.cos(v))
    tl.store(out + 4 * BLOCK + at, tl.sqrt(v))
    tl.store(out + 5 * BLOCK + at, tl.rsqrt(v))
    tl.store(out + 6 * BLOCK + at, tl.erf(v))
    tl.store(out + 7 * BLOCK + at, tl.floor(v) + tl.ceil(v))
    tl.store(out + 8 * BLOCK + at, tl.sqrt_rn(v) if SINGLE else tl.sqrt(v))
    tl.store(out + 9 * BLOCK + at, tl.div_rn(v, v + 1) if SINGLE else v / (v + 1))
    tl.store(out + 10 * BLOCK + at, libdevice.tanh(v))
    tl.store(out + 11 * BLOCK + at, libdevice.pow(v, v))
    tl.store(out + 12 * BLOCK + at, tl.exp2(v) + tl.log2(v))
    tl.store(out + 13 * BLOCK + at, tl.fma(v, v, v))
    tl.store(out + 14 * BLOCK + at, tl.sigmoid(v))
    tl.store(out + 15 * BLOCK + at, libdevice.rint(v))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_math(dtype):
    x = RNG.uniform(0.1, 5, 256).astype(dtype)
    out = DeviceArray((16, 256), dtype)
    math_kernel[(1,)](to_device(x), out, 256, SINGLE=dtype == np.float32, BLOCK=256)
    v = x.astype(np.float64)
    expected = [np.exp(v), np.log(v), np.sin(v), np.cos(v), np.sqrt(v), 1 / np.sqrt(v), np.vectorize(math.erf)(v),
                np.floor(v) + np.ceil(v), np.sqrt(v), v / (v + 1), np.tanh(v), v**v, np.exp2(v) + np.log2(v), v * v + v,
                1 / (1 + np.exp(-v)), np.rint(v)]
    assert np.allclose(out.numpy(), expected, rtol=2e-6, atol=2e-6)


@triton.jit
def integer_kernel(a, b, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x, y = tl.load(a + at), tl.load(b + at)
    tl.store(out + 0 * BLOCK + at, x // y)
    tl.store(out + 1 * BLOCK + at, x % y)
    tl.store(out + 2 * BLOCK + at, (x << 3) ^ (x >> 2))
    tl.store(out + 3 * BLOCK + at, (x & y) | ~x)
    tl.store(out + 4 * BLOCK + at, tl.minimum(x, y) * tl.maximum(x, y))
    tl.store(out + 5 * BLOCK + at, tl.abs(x) + (x > y).to(x.dtype))


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64])
def test_integers(dtype):
    a, b = RNG.integers(-100, 100, 512).astype(dtype), RNG.integers(1, 100, 512).astype(dtype)
    out = DeviceArray((6, 512), dtype)
    integer_kernel[(1,)](to_device(a), to_device(b), out, BLOCK=512)
    quotient = np.trunc(a / b).astype(dtype)  # as in C
    expected = [quotient, a - quotient * b, (a << dtype(3)) ^ (a >> dtype(2)), (a & b) | ~a, np.minimum(a, b) * np.maximum(a, b),
                np.abs(a) + (a > b).astype(dtype)]
    assert np.array_equal(out.numpy(), np.array(expected))


@triton.jit
def high_half_kernel(a, b, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.umulhi(tl.load(a + at), tl.load(b + at)))


@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
def test_high_half_of_a_product(dtype):
    bits = np.iinfo(dtype).bits
    a, b = (RNG.integers(0, np.iinfo(dtype).max, 256, dtype) for _ in range(2))
    out = DeviceArray(256, dtype)
    high_half_kernel[(1,)](to_device(a), to_device(b), out, BLOCK=256)
    assert out.numpy().tolist() == [int(x) * int(y) >> bits for x, y in zip(a, b)]


@triton.jit
def convert_kernel(x, outs, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    for i in tl.static_range(len(outs)):
        tl.store(outs[i] + at, tl.load(x + at).to(outs[i].dtype.element_ty))


FLOATS = [np.float16, np.float32, np.float64, ml_dtypes.bfloat16]
SIGNED = [*FLOATS, np.int8, np.int16, np.int32, np.int64]
UNSIGNED = [*FLOATS, np.uint8, np.uint16, np.uint32, np.uint64]


@pytest.mark.parametrize("source, targets", [*((dtype, SIGNED) for dtype in SIGNED), *((dtype, UNSIGNED) for dtype in UNSIGNED)])
def test_conversions(source, targets):
    x = RNG.uniform(-120 if targets == SIGNED else 0, 120, 512).astype(source)
    outs = [DeviceArray(512, dtype) for dtype in targets]
    convert_kernel[(1,)](to_device(x), tuple(outs), BLOCK=512)
    for out in outs:
        assert np.array_equal(out.numpy(), x.astype(out.dtype)), out.dtype


@pytest.mark.parametrize("other", FLOATS[:2] + FLOATS[3:])
def test_conversion_of_fp8(other):
    """e5m2 in both directions, all finite codes: sm_80 has no instructions for it, and to bfloat16 Triton's own make numbers of
    infinities."""
    codes = np.arange(256, dtype=np.uint8).view(ml_dtypes.float8_e5m2)
    finite = np.isfinite(codes.astype(np.float32))
    wide, narrow = DeviceArray(256, other), DeviceArray(256, ml_dtypes.float8_e5m2)
    convert_kernel[(1,)](to_device(codes), (wide,), BLOCK=256)
    assert np.array_equal(wide.numpy()[finite], codes.astype(other)[finite])
    convert_kernel[(1,)](to_device(np.where(finite, codes.astype(np.float32), 0).astype(other)), (narrow,), BLOCK=256)
    assert np.array_equal(narrow.numpy()[finite], codes[finite])


@triton.jit
def collatz_kernel(start, steps, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(start + at)
    count = tl.zeros([BLOCK], tl.int32)
    while tl.max(value, 0) > 1:
        count += (value > 1).to(tl.int32)
        value = tl.where(value > 1, tl.where(value % 2 == 0, value // 2, 3 * value + 1), value)
    tl.store(steps + at, count)


def test_while_loop():
    def steps(value):
        count = 0
        while value > 1:
            value, count = (value // 2 if value % 2 == 0 else 3 * value + 1), count + 1
        return count

    start, out = np.arange(1, 513, dtype=np.int64), DeviceArray(512, np.int32)
    collatz_kernel[(4,)](to_device(start), out, BLOCK=128)
    assert out.numpy().tolist() == [steps(int(value)) for value in start]


@triton.jit
def assembly_kernel(a, b, low, high, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    first, second = tl.inline_asm_elementwise(
        """{
            .reg .u64 product;
            mul.wide.u32 product, $2, $3;
            mov.b64 {$0, $1}, product;
        }""", "=r,=r,r,r", [tl.load(a + at), tl.load(b + at)], dtype=(tl.uint32, tl.uint32), is_pure=True, pack=1)
    tl.store(low + at, first)
    tl.store(high + at, second)


def test_inline_assembly():
    a, b = (RNG.integers(0, 2**32, 256, np.uint32) for _ in range(2))
    low, high = DeviceArray(256, np.uint32), DeviceArray(256, np.uint32)
    assembly_kernel[(1,)](to_device(a), to_device(b), low, high, BLOCK=256)
    product = a.astype(np.uint64) * b
    assert np.array_equal(low.numpy().astype(np.uint64) | high.numpy().astype(np.uint64) << np.uint64(32), product)


@triton.jit
def hinted_kernel(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n, cache_modifier=".cg", eviction_policy="evict_first")
    v += tl.load(x + at, mask=at < n, cache_modifier=".ca", eviction_policy="evict_last")
    v += tl.load(x + at, mask=at < n, volatile=True)
    tl.store(out + at, v, mask=at < n, cache_modifier=".wt")
    tl.store(out + at, v + 1, mask=at < n, cache_modifier=".cs", eviction_policy="evict_first")


def test_cache_hints():
    x, out = np.arange(1000, dtype=np.float32), DeviceArray(1000)
    hinted_kernel[(4,)](to_device(x), out, 1000, BLOCK=256)
    assert np.array_equal(out.numpy(), 3 * x + 1)


@triton.jit
def tile_kernel(x, out, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [rows, columns], [columns, 1], [ROWS, COLUMNS])
    target = tl.make_tensor_descriptor(out, [columns, rows], [rows, 1], [COLUMNS, ROWS])
    row, column = tl.program_id(0) * ROWS, tl.program_id(1) * COLUMNS
    target.store([column, row], source.load([row, column]).T)


def test_transposition_by_tensor_descriptors():
    """For sm_90 the kernel makes tensor maps in memory that Triton asks for."""
    triton.set_allocator(lambda size, _alignment, _stream: DeviceArray(size, np.int8))
    x = RNG.standard_normal((100, 72), dtype=np.float32)
    out = DeviceArray((72, 100))
    tile_kernel[(4, 3)](to_device(x), out, 100, 72, ROWS=32, COLUMNS=32)
    assert np.array_equal(out.numpy(), x.T)


@triton.jit
def shuffle_kernel(a, b, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    both = tl.join(tl.load(a + at), tl.load(b + at))
    even, odd = tl.split(tl.reshape(tl.interleave(tl.load(a + at), tl.load(b + at)), [BLOCK, 2]))
    tl.store(out + tl.arange(0, 2 * BLOCK), tl.reshape(tl.permute(both, 1, 0), [2 * BLOCK]))
    tl.store(out + 2 * BLOCK + at, even - odd)


def test_join_split_and_permute():
    a, b = (RNG.integers(0, 100, 256, np.int32) for _ in range(2))
    out = DeviceArray(768, np.int32)
    shuffle_kernel[(1,)](to_device(a), to_device(b), out, BLOCK=256)
    assert np.array_equal(out.numpy(), np.concatenate([a, b, a - b]))


@triton.jit
def gather_kernel(x, index, out, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(out + at, tl.gather(tl.load(x + at), tl.load(index + at), 0))


def test_gather():
    x, index = RNG.standard_normal(1024, dtype=np.float32), RNG.integers(0, 1024, 1024, np.int32)
    out = DeviceArray(1024)
    gather_kernel[(1,)](to_device(x), to_device(index), out, N=1024)
    assert np.array_equal(out.numpy(), x[index])


@triton.jit
def printing_kernel(x):
    tl.device_print("value", tl.load(x + tl.program_id(0)))


def test_print(capfd):
    printing_kernel[(2,)](values := to_device(np.array([7, 9], np.int32)), num_warps=1)
    values.numpy()
    printed = capfd.readouterr().out
    assert "value: 7" in printed and "value: 9" in printed
