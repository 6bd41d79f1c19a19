# SPDX-License-Identifier: MIT
"""PyTorch's own table of tensor methods (method_tests() of its wheel): each call on the device and on the CPU, with gradients."""
import functools
import itertools

import pytest
import torch
from torch.testing._internal.common_methods_invocations import NO_ARGS, create_input, method_tests

torch.set_default_dtype(torch.double)  # as PyTorch's test_autograd.py does
TOLERANCE = 1e-7  # of doubles, where the order of sums differs

# The device and the CPU choose differently, and both are right.
ANY_ANSWER = {"empty_like", "new_empty", "eig", "symeig", "svd"}


def cases():
    """Name, method, size of self, arguments, keywords: as test_autograd.py of PyTorch reads the table."""
    seen = {}
    for test in method_tests():
        name, size, arguments, variant, _, dims, _, _, keywords = (*test, *[None] * 9)[:9]
        arguments = () if arguments is NO_ARGS else tuple(arguments) if isinstance(arguments, list) else arguments
        dims = [] if not dims else [dims] if isinstance(dims, int) else list(dims)
        for signs in itertools.product([1, -1], repeat=len(dims)):
            signed = arguments
            if dims:
                signed = tuple(a * signs[dims.index(i)] if i in dims else a for i, a in enumerate(arguments))
            label = "_".join([name, *([variant] if variant else []), *[f"neg{i}" for i, s in enumerate(signs) if s < 0]])
            seen[label] = seen.get(label, 0) + 1
            label += f"_{seen[label]}" if seen[label] > 1 else ""
            yield pytest.param(name, size, signed, keywords or {}, id=label)


def moved(x, device):
    if isinstance(x, torch.Tensor):
        return x.detach().clone().to(device).requires_grad_(x.requires_grad)
    if isinstance(x, (tuple, list)) and not isinstance(x, torch.Size):
        return type(x)(moved(e, device) for e in x)
    return x


def tensors(x):
    if isinstance(x, torch.Tensor):
        return [x]
    return [t for e in x for t in tensors(e)] if isinstance(x, (tuple, list)) else []


def run(name, self, arguments, keywords):
    """The tensors that the call gives, and the gradients of their weighted sums."""
    inputs = [t for t in tensors([self, arguments]) if t.requires_grad]
    call = getattr(self, name) if hasattr(self, name) else functools.partial(getattr(torch, name), self)
    outputs = [t.to_dense() if t.is_sparse else t for t in tensors(call(*arguments, **keywords))]
    roots = [o for o in outputs if o.requires_grad]
    weights = [torch.linspace(1, 2, o.numel()).view(o.shape).to(o.device) for o in roots]
    gradients = torch.autograd.grad(roots, inputs, weights, allow_unused=True) if roots else []
    return outputs, [g for g in gradients if g is not None]


@pytest.mark.parametrize("name, size, arguments, keywords", cases())
def test_method(name, size, arguments, keywords):
    torch.manual_seed(0)
    in_place = name.endswith("_") and not name.endswith("__")
    self = create_input((size,), requires_grad=not in_place)[0][0]
    arguments, keywords = create_input(arguments, requires_grad=not in_place, call_kwargs=keywords)
    expected, found = (run(name, *moved([self, arguments], device), {k: moved(v, device) for k, v in keywords.items()})
                       for device in ("cpu", "cuda"))
    for ours, right in zip(found, expected):
        assert len(ours) == len(right)
        for a, b in zip(ours, right):
            assert a.device.type == "cuda" and a.shape == b.shape and a.dtype == b.dtype
            if name.rstrip("_") not in ANY_ANSWER:
                assert torch.allclose(a.cpu().double(), b.double(), rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)
