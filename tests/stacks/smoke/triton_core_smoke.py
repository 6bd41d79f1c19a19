# SPDX-License-Identifier: MIT
"""What the plug-in that runs Triton's own tests does with PyTorch's work, against the same work on tensors of the host, and a
kernel of Triton's between: warpfold run -- python triton_core_smoke.py."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import torch  # noqa: E402
import torch_on_host  # noqa: E402, F401
import triton  # noqa: E402
import triton.language as tl  # noqa: E402


@triton.jit
def double(x, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at) * 2)


def written(device):
    """Writes through views of one tensor, also transposed ones."""
    x = torch.zeros(4, 6, device=device)
    x[1:3, ::2] = 5
    x.t()[0] += 1
    torch.add(x[0], 2, out=x[3])
    return x


def main():
    assert torch.equal(written("cuda").cpu(), written("cpu"))
    a = torch.arange(64, device="cuda").to(torch.bfloat16)
    assert a.is_cuda and a.cpu().tolist() == list(range(64))
    double[(1,)](a, BLOCK=64)
    assert a.sum().item() == 64 * 63 and a.max(0).indices.item() == 63
    b = a.reshape(8, 8).t().contiguous()
    assert b.is_contiguous() and torch.equal(b[1].cpu(), a.cpu()[1::8])
    assert torch.randperm(9, device="cuda").sort().values.tolist() == list(range(9))
    torch.testing.assert_close(b.float() @ b.float(), (b.cpu().float() @ b.cpu().float()).cuda())
    try:
        torch.testing.assert_close(a, a + (a == 2))
    except AssertionError as error:
        assert "Mismatched elements: 1 / 64" in str(error), error
    else:
        raise SystemExit("two tensors that differ count as equal")
    print("torch on the host: ok")


main()
