# SPDX-License-Identifier: MIT
"""Layers of networks: softmax, layer normalisation and attention, the last two with their gradients."""
import numpy as np
import pytest
import triton
import triton.language as tl
from device_array import DeviceArray, to_device

RNG = np.random.default_rng(4)


@triton.jit
def softmax_kernel(x, out, rows, columns, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    column = tl.arange(0, BLOCK)
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=STAGES):
        values = tl.load(x + row * columns + column, mask=column < columns, other=-float("inf"))
        powers = tl.exp(values - tl.max(values, 0))
        tl.store(out + row * columns + column, powers / tl.sum(powers, 0), mask=column < columns)


@pytest.mark.parametrize("rows, columns, stages", [(64, 256, 1), (183, 781, 2), (7, 4000, 4)])
def test_softmax(rows, columns, stages):
    x, out = 10 * RNG.standard_normal((rows, columns), dtype=np.float32), DeviceArray((rows, columns))
    softmax_kernel[(5,)](to_device(x), out, rows, columns, BLOCK=triton.next_power_of_2(columns), STAGES=stages)
    powers = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    assert np.allclose(out.numpy(), powers / powers.sum(1, keepdims=True), rtol=1e-5, atol=1e-7)


@triton.jit
def norm_kernel(x, weight, bias, out, means, factors, columns, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x += row * columns
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(x + at, mask=at < columns, other=0.0).to(tl.float32)
    mean = tl.sum(total) / columns
    squares = tl.zeros([BLOCK], tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        distance = tl.where(at < columns, tl.load(x + at, mask=at < columns, other=0.0).to(tl.float32) - mean, 0.0)
        squares += distance * distance
    factor = tl.rsqrt(tl.sum(squares) / columns + epsilon)
    tl.store(means + row, mean)
    tl.store(factors + row, factor)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        inside = at < columns
        normal = (tl.load(x + at, mask=inside, other=0.0).to(tl.float32) - mean) * factor
        result = normal * tl.load(weight + at, mask=inside) + tl.load(bias + at, mask=inside)
        tl.store(out + row * columns + at, result, mask=inside)


@triton.jit
def norm_gradient_kernel(x, weight, gradient, means, factors, x_gradient, weight_parts, bias_parts, locks, columns,
                         PARTS: tl.constexpr, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    inside = at < columns
    g = tl.load(gradient + row * columns + at, mask=inside, other=0.0).to(tl.float32)
    normal = (tl.load(x + row * columns + at, mask=inside, other=0.0).to(tl.float32) - tl.load(means + row)) * tl.load(factors + row)
    normal = tl.where(inside, normal, 0.0)
    weighted = g * tl.load(weight + at, mask=inside, other=0.0)
    along, mean = tl.sum(normal * weighted) / columns, tl.sum(weighted) / columns
    tl.store(x_gradient + row * columns + at, (weighted - normal * along - mean) * tl.load(factors + row), mask=inside)
    # Blocks share PARTS rows of partial sums, each under a lock.
    part = row % PARTS
    while tl.atomic_cas(locks + part, 0, 1) == 1:
        pass
    weight_parts += part * columns + at
    bias_parts += part * columns + at
    tl.store(weight_parts, tl.load(weight_parts, mask=inside) + g * normal, mask=inside)
    tl.store(bias_parts, tl.load(bias_parts, mask=inside) + g, mask=inside)
    tl.debug_barrier()  # all threads have stored before one of them unlocks
    tl.atomic_xchg(locks + part, 0)


@triton.jit
def sum_parts_kernel(parts, out, columns, PARTS: tl.constexpr, BLOCK: tl.constexpr):
    column = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tile = tl.load(parts + tl.arange(0, PARTS)[:, None] * columns + column[None, :], mask=column[None, :] < columns, other=0.0)
    tl.store(out + column, tl.sum(tile, 0), mask=column < columns)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("rows, columns", [(64, 512), (37, 1000)])
def test_layer_norm(dtype, rows, columns):
    epsilon, parts, block = 1e-5, 8, triton.next_power_of_2(columns)
    x = (3 * RNG.standard_normal((rows, columns)) + 2).astype(dtype)
    weight, bias = (RNG.uniform(0, 1, columns).astype(dtype) for _ in range(2))
    gradient = RNG.standard_normal((rows, columns)).astype(dtype)
    out, x_gradient = DeviceArray(x.shape, dtype), DeviceArray(x.shape, dtype)
    means, factors = DeviceArray(rows), DeviceArray(rows)
    on_device, weight_on_device = to_device(x), to_device(weight)
    norm_kernel[(rows,)](on_device, weight_on_device, to_device(bias), out, means, factors, columns, epsilon, BLOCK=256)
    sums = [to_device(np.zeros((parts, columns), np.float32)) for _ in range(2)]
    norm_gradient_kernel[(rows,)](on_device, weight_on_device, to_device(gradient), means, factors, x_gradient, *sums,
                                  to_device(np.zeros(parts, np.int32)), columns, PARTS=parts, BLOCK=block)
    totals = [DeviceArray(columns) for _ in range(2)]
    for part, total in zip(sums, totals):
        sum_parts_kernel[(triton.cdiv(columns, 128),)](part, total, columns, PARTS=parts, BLOCK=128)

    wide, g = x.astype(np.float64), gradient.astype(np.float64)
    factor = 1 / np.sqrt(wide.var(1, keepdims=True) + epsilon)
    normal, weighted = (wide - wide.mean(1, keepdims=True)) * factor, g * weight
    along = (normal * weighted).mean(1, keepdims=True)
    error = 1e-5 if dtype == np.float32 else 4e-3
    assert np.allclose(out.numpy(), normal * weight + bias, rtol=error, atol=error)
    assert np.allclose(x_gradient.numpy(), (weighted - normal * along - weighted.mean(1, keepdims=True)) * factor, rtol=error,
                       atol=error)
    assert np.allclose(totals[0].numpy(), (g * normal).sum(0), rtol=1e-4, atol=1e-4)
    assert np.allclose(totals[1].numpy(), g.sum(0), rtol=1e-4, atol=1e-4)


@triton.jit
def attention_kernel(q, k, v, out, norms, length, scale, HEAD: tl.constexpr, QUERIES: tl.constexpr, KEYS: tl.constexpr,
                     CAUSAL: tl.constexpr):
    base = tl.program_id(1) * length * HEAD
    query, column = tl.program_id(0) * QUERIES + tl.arange(0, QUERIES), tl.arange(0, HEAD)
    at = base + query[:, None] * HEAD + column[None, :]
    queries = tl.load(q + at, mask=query[:, None] < length, other=0.0)
    most = tl.full([QUERIES], -float("inf"), tl.float32)
    total = tl.zeros([QUERIES], tl.float32)
    mixed = tl.zeros([QUERIES, HEAD], tl.float32)
    end = tl.minimum((tl.program_id(0) + 1) * QUERIES, length) if CAUSAL else length
    for start in range(0, end, KEYS):
        key = start + tl.arange(0, KEYS)
        keys = tl.load(k + base + key[None, :] * HEAD + column[:, None], mask=key[None, :] < length, other=0.0)
        scores = tl.dot(queries, keys) * (scale * 1.4426950408889634)
        seen = (key[None, :] < length) & (query[:, None] >= key[None, :]) if CAUSAL else key[None, :] < length
        scores = tl.where(seen, scores, -float("inf"))
        higher = tl.maximum(most, tl.max(scores, 1))
        powers, shrink = tl.exp2(scores - higher[:, None]), tl.exp2(most - higher)
        values = tl.load(v + base + key[:, None] * HEAD + column[None, :], mask=key[:, None] < length, other=0.0)
        mixed = tl.dot(powers.to(values.dtype), values, mixed * shrink[:, None])
        total = total * shrink + tl.sum(powers, 1)
        most = higher
    tl.store(out + at, (mixed / total[:, None]).to(out.dtype.element_ty), mask=query[:, None] < length)
    tl.store(norms + tl.program_id(1) * length + query, most + tl.log2(total), mask=query < length)


@triton.jit
def attention_gradient_kernel(q, k, v, gradient, norms, deltas, q_gradient, k_gradient, v_gradient, length, scale,
                              HEAD: tl.constexpr, QUERIES: tl.constexpr, KEYS: tl.constexpr, CAUSAL: tl.constexpr):
    # A block has KEYS keys and goes through all queries; gradients of queries are added by atomics.
    head = tl.program_id(1)
    base = head * length * HEAD
    key, column = tl.program_id(0) * KEYS + tl.arange(0, KEYS), tl.arange(0, HEAD)
    at = base + key[:, None] * HEAD + column[None, :]
    keys, values = tl.load(k + at), tl.load(v + at)
    of_keys, of_values = tl.zeros([KEYS, HEAD], tl.float32), tl.zeros([KEYS, HEAD], tl.float32)
    begin = tl.program_id(0) * KEYS // QUERIES * QUERIES if CAUSAL else 0
    for start in range(begin, length, QUERIES):
        query = start + tl.arange(0, QUERIES)
        rows = base + query[:, None] * HEAD + column[None, :]
        queries, g = tl.load(q + rows), tl.load(gradient + rows)
        scores = tl.dot(queries, tl.trans(keys)) * (scale * 1.4426950408889634)
        powers = tl.exp2(scores - tl.load(norms + head * length + query)[:, None])
        if CAUSAL:
            powers = tl.where(query[:, None] >= key[None, :], powers, 0.0)
        of_values = tl.dot(tl.trans(powers.to(g.dtype)), g, of_values)
        along = tl.dot(g, tl.trans(values)) - tl.load(deltas + head * length + query)[:, None]
        of_scores = (powers * along * scale).to(queries.dtype)
        of_keys = tl.dot(tl.trans(of_scores), queries, of_keys)
        tl.atomic_add(q_gradient + rows, tl.dot(of_scores, keys), sem="relaxed")
    tl.store(k_gradient + at, of_keys)
    tl.store(v_gradient + at, of_values)


@triton.jit
def delta_kernel(out, gradient, deltas, HEAD: tl.constexpr, ROWS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    at = row[:, None] * HEAD + tl.arange(0, HEAD)[None, :]
    tl.store(deltas + row, tl.sum(tl.load(out + at).to(tl.float32) * tl.load(gradient + at).to(tl.float32), 1))


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("heads, length, width", [(4, 256, 64), (2, 128, 128), (1, 192, 32)])
def test_attention(causal, heads, length, width):
    q, k, v, gradient = (RNG.standard_normal((heads, length, width)).astype(np.float16) for _ in range(4))
    scale = width**-0.5
    on_device = [to_device(x) for x in (q, k, v)]
    out, norms, deltas = DeviceArray(q.shape, np.float16), DeviceArray((heads, length)), DeviceArray((heads, length))
    attention_kernel[(triton.cdiv(length, 64), heads)](*on_device, out, norms, length, scale, HEAD=width, QUERIES=64, KEYS=32,
                                                       CAUSAL=causal)
    g = to_device(gradient)
    delta_kernel[(heads * length // 32,)](out, g, deltas, HEAD=width, ROWS=32)
    gradients = [to_device(np.zeros(q.shape, np.float32)), DeviceArray(q.shape), DeviceArray(q.shape)]
    attention_gradient_kernel[(length // 32, heads)](*on_device, g, norms, deltas, *gradients, length, scale, HEAD=width,
                                                     QUERIES=32, KEYS=32, CAUSAL=causal)

    q, k, v, gradient = (x.astype(np.float64) for x in (q, k, v, gradient))
    scores = q @ k.swapaxes(1, 2) * scale
    if causal:
        scores = np.where(np.tri(length, dtype=bool), scores, -np.inf)
    powers = np.exp(scores - scores.max(2, keepdims=True))
    powers /= powers.sum(2, keepdims=True)
    expected = powers @ v
    assert np.allclose(out.numpy(), expected, rtol=1e-2, atol=1e-2)
    of_scores = powers * (gradient @ v.swapaxes(1, 2) - (gradient * expected).sum(2, keepdims=True)) * scale
    for got, wide in zip(gradients, [of_scores @ k, of_scores.swapaxes(1, 2) @ q, powers.swapaxes(1, 2) @ gradient]):
        assert np.allclose(got.numpy(), wide, rtol=2e-2, atol=2e-2)


@pytest.mark.parametrize("length", [65, 100])
def test_attention_with_an_edge(length):
    q, k, v = (RNG.standard_normal((2, length, 64)).astype(np.float16) for _ in range(3))
    out, norms = DeviceArray(q.shape, np.float16), DeviceArray((2, length))
    attention_kernel[(triton.cdiv(length, 64), 2)](to_device(q), to_device(k), to_device(v), out, norms, length, 0.125, HEAD=64,
                                                   QUERIES=64, KEYS=32, CAUSAL=True)
    scores = np.where(np.tri(length, dtype=bool), q.astype(np.float64) @ k.astype(np.float64).swapaxes(1, 2) * 0.125, -np.inf)
    powers = np.exp(scores - scores.max(2, keepdims=True))
    assert np.allclose(out.numpy(), powers @ v.astype(np.float64) / powers.sum(2, keepdims=True), rtol=1e-2, atol=1e-2)
