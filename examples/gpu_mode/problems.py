# SPDX-License-Identifier: MIT
"""Four problems of pmpp_v2: their sizes, inputs, right results and tolerances, by the task.yml of each.

An input is a tuple of tensors, the last of which is for the result.
"""
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

Sizes = dict[str, int]


@dataclass(frozen=True)
class Problem:
    """`generate(device, generator, **sizes)` makes an input; `expected(input)` its result; a result x of an expected y is right
    if |x - y| <= tolerance(input) * (1 + |y|)."""

    tests: list[Sizes]
    benchmarks: list[Sizes]
    generate: Callable[..., tuple[torch.Tensor, ...]]
    expected: Callable[..., torch.Tensor]
    tolerance: Callable[..., float]


def generator_of(device: str, seed: int) -> torch.Generator:
    return torch.Generator(device=device).manual_seed(seed)


def normal(device: str, seed: int, *shape: int) -> torch.Tensor:
    return torch.randn(shape, device=device, generator=generator_of(device, seed))


def shifted_numbers(device: str, seed: int, size: int) -> tuple[torch.Tensor, ...]:
    """Normal numbers with a random mean and scale."""
    mean, scale = torch.rand(2, generator=generator_of("cpu", seed + 1)).tolist()
    return normal(device, seed, size) * (0.1 + 9.9 * scale) + (200 * mean - 100), torch.empty(1, device=device)


def plain_numbers(device: str, seed: int, size: int) -> tuple[torch.Tensor, ...]:
    return normal(device, seed, size), torch.empty(size, device=device)


def contended_bytes(device: str, seed: int, size: int, contention: int) -> tuple[torch.Tensor, ...]:
    """`contention` percent of the bytes are the same one."""
    drawn = generator_of(device, seed)
    samples = torch.randint(0, 256, (size,), device=device, dtype=torch.uint8, generator=drawn)
    frequent = torch.rand(size, device=device, generator=drawn) < contention / 100
    samples[frequent] = seed % 256
    return samples, torch.empty(256, device=device, dtype=torch.int64)


def images_and_masks(device: str, seed: int, size: int, kernelsize: int, channels: int, batch: int) -> tuple[torch.Tensor, ...]:
    results = size - kernelsize + 1
    return (normal(device, seed, batch, channels, size, size), normal(device, seed + 1, channels, channels, kernelsize, kernelsize),
            torch.empty(batch, channels, results, results, device=device))


def correlated(images: torch.Tensor, masks: torch.Tensor, _: Any) -> torch.Tensor:
    """In float64: sums of 16,384 products and more in float32 differ by the tolerance from one order of additions to another."""
    return torch.nn.functional.conv2d(images.double(), masks.double()).float()


def cases(seeds: list[int], **columns: Any) -> list[Sizes]:
    """One case for each seed; sizes are lists, or one number for all."""
    return [{"seed": seed} | {name: values[k] if isinstance(values, list) else values for name, values in columns.items()}
            for k, seed in enumerate(seeds)]


TEST_SEEDS = [4242, 5236, 1001, 5531, 9173]
SMALL = [1023, 1024, 1025, 2048, 4096]

PROBLEMS = {
    "vectorsum": Problem(
        cases(TEST_SEEDS, size=SMALL),
        cases([93246, 6256, 8841, 6252, 82135, 12345], size=[1638400 << k for k in range(6)]),
        shifted_numbers, lambda numbers, _: numbers.double().sum().float(), lambda *_: 1e-5),
    "prefixsum": Problem(
        cases(TEST_SEEDS, size=SMALL),
        cases([12345, 67890, 13579, 24680, 35791, 46802, 57913, 68024, 79135, 80246, 91357], size=[1 << k for k in range(18, 29)]),
        plain_numbers, lambda numbers, _: numbers.double().cumsum(0), lambda numbers, _: 1e-5 * numbers.numel() ** 0.5),
    "histogram": Problem(
        cases([9991, 2105, 9999, 4254, 1212], size=[5120, 7840, 30080, 30080, 100000], contention=[10, 10, 10, 90, 10]),
        cases([6252, 8841, 3411, 8753, 6252, 8841], size=[1310720, 2621440, 2621440, 2621440, 5242880, 10485760],
              contention=[10, 10, 40, 90, 10, 10]),
        contended_bytes, lambda samples, _: torch.bincount(samples, minlength=256), lambda *_: 0),
    "conv2d": Problem(
        cases(TEST_SEEDS, size=[32, 32, 64, 64, 128], kernelsize=[4, 4, 4, 8, 8], channels=[16, 16, 32, 32, 64],
              batch=[1, 2, 1, 2, 1]),
        cases([54352, 93246, 6256, 8841, 6252], size=[128, 128, 256, 256, 256], kernelsize=[8, 16, 16, 16, 32],
              channels=[64, 64, 128, 128, 128], batch=[4, 4, 2, 2, 1]),
        images_and_masks, correlated, lambda *_: 1e-3),
}
