# SPDX-License-Identifier: MIT
"""Matrix products: tl.dot on tensor cores, fed by asynchronous copies in several stages."""
import ml_dtypes
import numpy as np
import pytest
import triton
import triton.language as tl
from device_array import DeviceArray, to_device

RNG = np.random.default_rng(3)


@triton.jit
def matmul_kernel(a, b, c, M, N, K, A_ROW, A_COLUMN, B_ROW, B_COLUMN, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
                  DEPTH: tl.constexpr, BAND: tl.constexpr, TOTAL: tl.constexpr, PRECISION: tl.constexpr, LEAKY: tl.constexpr):
    # Blocks go through bands of BAND rows of tiles, column by column, so that they share what the cache holds.
    block, tile_columns = tl.program_id(0), tl.cdiv(N, COLUMNS)
    first = block // (BAND * tile_columns) * BAND
    height = tl.minimum(tl.cdiv(M, ROWS) - first, BAND)
    inner = block % (BAND * tile_columns)
    row = (first + inner % height) * ROWS + tl.arange(0, ROWS)
    column = inner // height * COLUMNS + tl.arange(0, COLUMNS)
    depth = tl.arange(0, DEPTH)
    a += (row % M)[:, None] * A_ROW + depth[None, :] * A_COLUMN
    b += depth[:, None] * B_ROW + (column % N)[None, :] * B_COLUMN
    total = tl.zeros((ROWS, COLUMNS), TOTAL)
    for start in range(0, K, DEPTH):
        left = tl.load(a, mask=depth[None, :] < K - start, other=0.0)
        right = tl.load(b, mask=depth[:, None] < K - start, other=0.0)
        total = tl.dot(left, right, total, input_precision=PRECISION, out_dtype=TOTAL)
        a += DEPTH * A_COLUMN
        b += DEPTH * B_ROW
    if LEAKY:
        total = tl.where(total >= 0, total, 0.01 * total)
    tl.store(c + row[:, None] * N + column[None, :], total.to(c.dtype.element_ty), mask=(row[:, None] < M) & (column[None, :] < N))


def matmul(a, b, out_dtype, total=tl.float32, precision=None, leaky=False, tile=(64, 64, 32), **options):
    (m, k), n = a.shape, b.shape[1]
    c = DeviceArray((m, n), out_dtype)
    strides = [s // x.itemsize for x in (a, b) for s in x.strides]
    # A transposed view keeps its memory: the kernel gets its strides.
    flat = [to_device(x if x.flags.c_contiguous else x.T) for x in (a, b)]
    matmul_kernel[(triton.cdiv(m, tile[0]) * triton.cdiv(n, tile[1]),)](
        *flat, c, m, n, k, *strides, ROWS=tile[0], COLUMNS=tile[1], DEPTH=tile[2], BAND=4, TOTAL=total, PRECISION=precision,
        LEAKY=leaky, **options)
    return c.numpy()


def operands(m, n, k, dtype):
    if np.dtype(dtype).kind == "i":
        return RNG.integers(-128, 128, (m, k)).astype(dtype), RNG.integers(-128, 128, (k, n)).astype(dtype)
    return RNG.standard_normal((m, k)).astype(dtype), RNG.standard_normal((k, n)).astype(dtype)


def exact(a, b):
    wide = np.int64 if a.dtype.kind == "i" else np.float64
    return a.astype(wide) @ b.astype(wide)


def tf32(x):
    """Without the 13 bits that tensor cores ignore."""
    return (np.ascontiguousarray(x).view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("m, n, k", [(512, 512, 512), (100, 72, 48), (1, 130, 200), (256, 64, 33)])
def test_halves(dtype, m, n, k):
    a, b = operands(m, n, k, dtype)
    assert np.allclose(matmul(a, b, np.float32), exact(a, b), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("tile, stages, warps", [((128, 128, 32), 4, 8), ((128, 64, 64), 3, 4), ((64, 32, 32), 1, 4),
                                                 ((16, 16, 16), 2, 1), ((32, 128, 32), 5, 2)])
def test_shapes_of_tiles(tile, stages, warps):
    a, b = operands(256, 256, 256, np.float16)
    got = matmul(a, b, np.float32, tile=tile, num_stages=stages, num_warps=warps)
    assert np.allclose(got, exact(a, b), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("transposed", ["a", "b", "both"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int8])
def test_transposed_operands(transposed, dtype):
    a, b = operands(128, 96, 64, dtype)
    a = np.asfortranarray(a) if transposed != "b" else a
    b = np.asfortranarray(b) if transposed != "a" else b
    integer = dtype == np.int8
    got = matmul(a, b, np.int32 if integer else np.float32, tl.int32 if integer else tl.float32)
    assert np.allclose(got, exact(tf32(a), tf32(b)) if dtype == np.float32 else exact(a, b), rtol=1e-5, atol=1e-4)


def test_activation_and_narrow_result():
    a, b = operands(128, 128, 128, np.float16)
    expected = exact(a, b)
    assert np.allclose(matmul(a, b, np.float16, leaky=True), np.where(expected >= 0, expected, 0.01 * expected), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("precision", ["tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"])
def test_single_precision(precision):
    a, b = operands(128, 128, 100, np.float32)
    expected = exact(tf32(a), tf32(b)) if precision == "tf32" else exact(a, b)
    got = matmul(a, b, np.float32, precision=precision)
    assert np.allclose(got, expected, rtol=1e-5, atol=2e-3 if precision == "bf16x3" else 1e-4)


def test_int8():
    a, b = operands(128, 128, 256, np.int8)
    assert np.array_equal(matmul(a, b, np.int32, tl.int32), exact(a, b))


def test_double():
    a, b = operands(64, 64, 64, np.float64)
    assert np.allclose(matmul(a, b, np.float64, tl.float64), exact(a, b), rtol=1e-12)


def test_fp16_sums():
    a, b = operands(64, 64, 32, np.float16)
    assert np.allclose(matmul(a, b, np.float16, tl.float16), exact(a, b), rtol=1e-2, atol=5e-2)


def test_fp8():
    """sm_80 has no products of fp8: Triton makes halves of them. wgmma keeps 13 bits below the largest of 32 products and a sum."""
    a, b = operands(64, 64, 64, ml_dtypes.float8_e5m2)
    c, right = matmul(a, b, np.float32), exact(a, b)
    if (triton.knobs.runtime.override_arch or f"sm{triton.runtime.driver.active.get_current_target().arch}") != "sm90":
        assert np.allclose(c, right, rtol=1e-5, atol=1e-4)
        return
    wide = [np.abs(x.astype(np.float64)) for x in (a, b)]
    steps = 64 // 32
    largest = np.maximum((wide[0][:, :, None] * wide[1][None]).max(1), (wide[0] @ wide[1]))  # no addend and no sum is above it
    assert np.all(np.abs(c - right) <= steps * (33 + 1) * 2.0**-13 * largest)
    assert np.abs(c - right).max() > 1e-5, "as precise as no tensor core for fp8 is"


@triton.jit
def batched_kernel(a, b, c, BATCH: tl.constexpr, SIZE: tl.constexpr):
    at = (tl.arange(0, BATCH)[:, None, None] * SIZE * SIZE + tl.arange(0, SIZE)[None, :, None] * SIZE
          + tl.arange(0, SIZE)[None, None, :])
    tl.store(c + at, tl.dot(tl.load(a + at), tl.load(b + at)))


def test_batch():
    a, b = (RNG.standard_normal((4, 32, 32)).astype(np.float16) for _ in range(2))
    c = DeviceArray((4, 32, 32))
    batched_kernel[(1,)](to_device(a), to_device(b), c, BATCH=4, SIZE=32)
    assert np.allclose(c.numpy(), exact(a, b), rtol=1e-5, atol=1e-4)


@triton.jit
def split_kernel(a, b, c, K, SIZE: tl.constexpr, DEPTH: tl.constexpr):
    row, column = tl.arange(0, SIZE)[:, None], tl.arange(0, SIZE)[None, :]
    depth = tl.program_id(0) * DEPTH + tl.arange(0, DEPTH)
    part = tl.dot(tl.load(a + row * K + depth[None, :]), tl.load(b + depth[:, None] * SIZE + column))
    tl.atomic_add(c + row * SIZE + column, part)


def test_split_depth():
    a, b = operands(64, 64, 1024, np.float16)
    c = to_device(np.zeros((64, 64), np.float32))
    split_kernel[(16,)](to_device(a), to_device(b), c, 1024, SIZE=64, DEPTH=64)
    assert np.allclose(c.numpy(), exact(a, b), rtol=1e-5, atol=1e-3)


@triton.jit
def scaled_kernel(a, a_scale, b, b_scale, c, SIZE: tl.constexpr, DEPTH: tl.constexpr):
    row, column, depth = tl.arange(0, SIZE), tl.arange(0, SIZE), tl.arange(0, DEPTH)
    group = tl.arange(0, DEPTH // 32)
    total = tl.dot_scaled(tl.load(a + row[:, None] * DEPTH + depth[None, :]),
                          tl.load(a_scale + row[:, None] * (DEPTH // 32) + group[None, :]), "e5m2",
                          tl.load(b + depth[:, None] * SIZE + column[None, :]),
                          tl.load(b_scale + column[:, None] * (DEPTH // 32) + group[None, :]), "e5m2")
    tl.store(c + row[:, None] * SIZE + column[None, :], total)


def test_microscaling():
    """A power of two for each 32 elements; sm_80 multiplies in bfloat16."""
    a, b = operands(64, 64, 128, ml_dtypes.float8_e5m2)
    scales = [RNG.integers(120, 134, (64, 4), np.uint8) for _ in range(2)]
    c = DeviceArray((64, 64))
    scaled_kernel[(1,)](to_device(a), to_device(scales[0]), to_device(b), to_device(scales[1]), c, SIZE=64, DEPTH=128)
    powers = [np.repeat(2.0 ** (s.astype(np.float64) - 127), 32, 1) for s in scales]
    expected = (a.astype(np.float64) * powers[0]) @ (b.astype(np.float64) * powers[1].T)
    assert np.allclose(c.numpy(), expected, rtol=1e-5, atol=1e-2)
