# SPDX-License-Identifier: MIT
"""Triton's kernels on PyTorch's tensors: warpfold run -- python triton_torch_smoke.py. Tensors are made and compared on the CPU,
because PyTorch's own kernels are machine code. With the argument `bounds`, a kernel without a mask is launched too."""
import sys

import torch
import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({"BLOCK": size}) for size in (256, 1024)], key=["n"])
@triton.jit
def add(a, b, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(a + at, mask=at < n) + tl.load(b + at, mask=at < n), mask=at < n)


@triton.jit
def column_sums(x, sums, columns, BLOCK: tl.constexpr):
    row, column = tl.program_id(0), tl.arange(0, BLOCK)
    tl.atomic_add(sums + column, tl.load(x + row * columns + column, mask=column < columns), mask=column < columns)


@triton.jit
def no_mask(x, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 1.0)


def main():
    a, b = torch.randn(5000), torch.randn(5000)
    out = torch.empty(5000, device="cuda")
    add[lambda chosen: (triton.cdiv(5000, chosen["BLOCK"]),)](a.cuda(), b.cuda(), out, 5000)
    assert torch.equal(out.cpu(), a + b)
    x = torch.randint(-8, 8, (60, 100)).to(torch.bfloat16)
    sums = torch.zeros(100, dtype=torch.bfloat16, device="cuda")
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    on_device = x.cuda()
    with torch.cuda.stream(stream):
        column_sums[(60,)](on_device, sums, 100, BLOCK=128)
    stream.synchronize()
    assert torch.equal(sums.cpu(), x.sum(0))
    if sys.argv[1:] == ["bounds"]:
        no_mask[(1,)](torch.empty(1000, device="cuda"), BLOCK=1024)
        torch.cuda.synchronize()
    print("triton and torch: ok")


main()
