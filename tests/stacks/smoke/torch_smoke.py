# SPDX-License-Identifier: MIT
"""PyTorch's own kernels: warpfold run -- python torch_smoke.py. With the argument `bounds`, a kernel of its own reads an index
that is out of bounds."""
import sys

import torch


def main():
    torch.manual_seed(0)
    x = torch.randn(300, 200)
    here = x.cuda()
    assert (torch.arange(10, device="cuda") * 2).sum().item() == 90
    assert torch.allclose(torch.softmax(here, 1).cpu(), torch.softmax(x, 1), atol=1e-6)
    assert torch.allclose(here.cumsum(1).cpu(), x.cumsum(1), atol=1e-4)
    assert torch.equal(here.view(-1).sort()[0].cpu(), x.view(-1).sort()[0])
    assert torch.equal(here[here > 0].cpu(), x[x > 0]) and torch.equal(here.topk(7, 1)[1].cpu(), x.topk(7, 1)[1])
    assert torch.allclose((here @ here.t()).cpu(), x @ x.t(), atol=1e-3)  # by the software GPU's cuBLAS
    weights = torch.nn.Linear(200, 1).cuda()
    step = torch.optim.Adam(weights.parameters(), 0.01)
    losses = []
    for _ in range(10):
        step.zero_grad()
        loss = (weights(here) - here[:, :1]).pow(2).mean()
        loss.backward()
        step.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]
    if sys.argv[1:] == ["bounds"]:
        torch.nn.functional.embedding(torch.tensor([400], device="cuda"), here)
        torch.cuda.synchronize()
    print("torch: ok")


main()
