# SPDX-License-Identifier: MIT
"""Products whose tiles come by tensor descriptors: for sm_90 Triton makes tensor maps, bulk copies, mbarriers and wgmma of them."""
import numpy as np
import pytest
import triton
import triton.language as tl
from device_array import DeviceArray, to_device
from triton.tools.tensor_descriptor import TensorDescriptor

RNG = np.random.default_rng(5)
IS_HOPPER = (triton.knobs.runtime.override_arch or f"sm{triton.runtime.driver.active.get_current_target().arch}") == "sm90"


@pytest.fixture(autouse=True)
def allocator():
    triton.set_allocator(lambda size, _alignment, _stream: DeviceArray(size, np.int8))


@triton.jit
def multiply_tile(a, b, row, column, K, ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr, SPECIALIZED: tl.constexpr):
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    for start in tl.range(0, K, DEPTH, warp_specialize=SPECIALIZED):
        total = tl.dot(a.load([row, start]), b.load([column, start]).T, total)
    return total


@triton.jit
def matmul_kernel(a, b, c, M, N, K, ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr, SPECIALIZED: tl.constexpr):
    of_a = tl.make_tensor_descriptor(a, [M, K], [K, 1], [ROWS, DEPTH])
    of_b = tl.make_tensor_descriptor(b, [N, K], [K, 1], [COLUMNS, DEPTH])
    of_c = tl.make_tensor_descriptor(c, [M, N], [N, 1], [ROWS, COLUMNS])
    row, column = tl.program_id(0) * ROWS, tl.program_id(1) * COLUMNS
    total = multiply_tile(of_a, of_b, row, column, K, ROWS, COLUMNS, DEPTH, SPECIALIZED)
    of_c.store([row, column], total.to(c.dtype.element_ty))


@triton.jit
def persistent_kernel(a, b, c, M, N, K, ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr):
    tiles = tl.cdiv(M, ROWS) * tl.cdiv(N, COLUMNS)
    for tile in tl.range(tl.program_id(0), tiles, tl.num_programs(0), flatten=True):
        row, column = tile // tl.cdiv(N, COLUMNS) * ROWS, tile % tl.cdiv(N, COLUMNS) * COLUMNS
        c.store([row, column], multiply_tile(a, b, row, column, K, ROWS, COLUMNS, DEPTH, False).to(tl.float16))


def halves(*shape):
    return (RNG.integers(-8, 9, shape) / 8).astype(np.float16)


def is_product(c, a, b):
    """Sums of sixty-fourths are exact in single precision, and rounded once."""
    return np.array_equal(c, (a.astype(np.float32) @ b.astype(np.float32).T).astype(c.dtype))


# Two warpgroups share a specialized tile: below 128 rows each of them stores all of it.
@pytest.mark.parametrize("shape, tile, warps, stages, specialized", [
    ((128, 128, 256), (64, 64, 64), 4, 3, False), ((256, 128, 128), (128, 128, 64), 8, 2, False),
    ((100, 72, 200), (64, 64, 32), 4, 4, False), ((128, 128, 256), (128, 64, 64), 4, 3, True),
    ((256, 128, 128), (128, 128, 64), 8, 2, True), ((200, 72, 200), (128, 64, 32), 4, 4, True)])
def test_matmul(shape, tile, warps, stages, specialized):
    m, n, k = shape
    a, b, c = halves(m, k), halves(n, k), DeviceArray((m, n), np.float16)
    matmul_kernel[(triton.cdiv(m, tile[0]), triton.cdiv(n, tile[1]))](
        to_device(a), to_device(b), c, m, n, k, *tile, specialized, num_warps=warps, num_stages=stages)
    assert is_product(c.numpy(), a, b)


def test_persistent_matmul_with_maps_of_the_host():
    m, n, k, tile = 256, 192, 128, (128, 64, 32)
    a, b, c = halves(m, k), halves(n, k), DeviceArray((m, n), np.float16)
    maps = [TensorDescriptor(x, list(s), [s[1], 1], block) for x, s, block in [
        (to_device(a), (m, k), [tile[0], tile[2]]), (to_device(b), (n, k), [tile[1], tile[2]]), (c, (m, n), [tile[0], tile[1]])]]
    persistent_kernel[(5,)](*maps, m, n, k, *tile, num_stages=3)
    assert is_product(c.numpy(), a, b)


@pytest.mark.skipif(not IS_HOPPER, reason="clusters")
def test_matmul_of_a_cluster():
    m, n, k, tile = 256, 128, 128, (128, 128, 32)
    a, b, c = halves(m, k), halves(n, k), DeviceArray((m, n), np.float16)
    matmul_kernel[(m // tile[0], n // tile[1])](to_device(a), to_device(b), c, m, n, k, *tile, False, num_ctas=2)
    assert is_product(c.numpy(), a, b)


@triton.jit
def add_kernel(x, out, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [8 * ROWS, COLUMNS], [COLUMNS, 1], [ROWS, COLUMNS])
    target = tl.make_tensor_descriptor(out, [ROWS, COLUMNS], [COLUMNS, 1], [ROWS, COLUMNS])
    target.atomic_add([0, 0], source.load([tl.program_id(0) * ROWS, 0]))


def test_sums_by_reducing_copies():
    x = RNG.integers(-100, 100, (8, 16, 32), np.int32)
    out = to_device(np.zeros((16, 32), np.int32))
    add_kernel[(8,)](to_device(x.reshape(128, 32)), out, ROWS=16, COLUMNS=32)
    assert np.array_equal(out.numpy(), x.sum(0))
