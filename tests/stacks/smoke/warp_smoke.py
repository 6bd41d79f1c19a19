# SPDX-License-Identifier: MIT
"""NVIDIA Warp: SOFTGPU_DRIVER_VERSION=13.4 warpfold run -- python warp_smoke.py. With the argument `race`, a kernel with a race
is launched too."""
import sys

import numpy as np
import warp as wp


@wp.struct
class Particle:
    position: wp.vec3
    mass: float


@wp.kernel
def fall(particles: wp.array(dtype=Particle), energy: wp.array(dtype=float)):
    i = wp.tid()
    p = particles[i]
    p.position = p.position - wp.vec3(0.0, 0.5, 0.0)
    particles[i] = p
    wp.atomic_add(energy, 0, p.mass * p.position[1])


@wp.kernel
def square(x: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, x[i] * x[i])


@wp.kernel
def tile_sums(x: wp.array2d(dtype=float), sums: wp.array(dtype=float)):
    i = wp.tid()
    wp.tile_store(sums, wp.tile_sum(wp.tile_load(x[i], shape=256)), offset=i)


@wp.kernel
def shift(x: wp.array(dtype=float)):
    i = wp.tid()
    x[i] = x[(i + 128) % 1024]  # another block's


def main():
    wp.init()
    device = "cuda:0"
    # Structures, vectors, atomics.
    rows = [((float(i), float(i), 0.0), 2.0) for i in range(100)]
    particles = wp.array(np.array(rows, Particle.numpy_dtype()), dtype=Particle, device=device)
    energy = wp.zeros(1, dtype=float, device=device)
    wp.launch(fall, 100, inputs=[particles, energy], device=device)
    assert energy.numpy()[0] == 2 * (99 * 50 - 50)
    # A gradient.
    x = wp.array(np.arange(1000, dtype=np.float32) / 8, dtype=float, device=device, requires_grad=True)
    loss = wp.zeros(1, dtype=float, device=device, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(square, 1000, inputs=[x, loss], device=device)
    tape.backward(loss)
    assert np.array_equal(x.grad.numpy(), 2 * x.numpy())
    # Tiles in shared memory; a graph; scans and sorts by kernels that Warp has compiled.
    values = np.random.default_rng(1).integers(0, 100, (8, 256)).astype(np.float32)
    matrix, sums = wp.array(values, dtype=float, device=device), wp.zeros(8, dtype=float, device=device)
    with wp.ScopedCapture(device=device) as capture:
        wp.launch_tiled(tile_sums, dim=[8], inputs=[matrix, sums], block_dim=64, device=device)
    wp.capture_launch(capture.graph)
    assert np.array_equal(sums.numpy(), values.sum(axis=1))
    numbers = wp.array(np.arange(1000, dtype=np.int32)[::-1].copy(), dtype=int, device=device)
    scanned = wp.zeros_like(numbers)
    wp.utils.array_scan(numbers, scanned)
    assert np.array_equal(scanned.numpy(), np.cumsum(np.arange(1000)[::-1]))
    keys, order = wp.zeros(2000, dtype=int, device=device), wp.zeros(2000, dtype=int, device=device)
    wp.copy(keys, numbers)
    wp.copy(order, wp.array(np.arange(1000, dtype=np.int32), dtype=int, device=device))
    wp.utils.radix_sort_pairs(keys, order, 1000)
    assert np.array_equal(order.numpy()[:1000], np.arange(1000)[::-1])
    if sys.argv[1:] == ["race"]:
        wp.launch(shift, 1024, inputs=[wp.zeros(1024, dtype=float, device=device)], block_dim=128, device=device)
        wp.synchronize()
    print("warp: ok")


main()
