# SPDX-License-Identifier: MIT
"""PyTorch's own tests of modules and losses (common_nn of its wheel): forward, backward and twice backward on the device and on
the CPU. cuDNN is off, so that PyTorch's own kernels run."""
import pytest
import torch
from torch.testing._internal import common_nn
from torch.testing._internal.common_utils import SEED, freeze_rng_state, set_rng_seed

torch.set_default_dtype(torch.double)  # as PyTorch's test_nn.py does


class Case(common_nn.NNTestCase):
    """What common_nn asks of the class that has its tests."""

    def _forward(self, module, input):
        with freeze_rng_state():
            return module(input)

    def _backward(self, module, input, output, grad_output, create_graph=False):
        output.backward(grad_output, retain_graph=True, create_graph=create_graph)
        return input.grad.data if input.grad is not None else None

    def _forward_criterion(self, criterion, input, target, extra_args=None):
        arguments = input if isinstance(input, tuple) else (input,)
        return criterion(*arguments, target, *(extra_args or ()))

    def _backward_criterion(self, criterion, input, target, gradOutput=None, extra_args=None):
        inputs = input if isinstance(input, tuple) else (input,)
        for i in inputs:
            if i.grad is not None:
                i.grad.zero_()
        output = criterion(*inputs, target, *(extra_args or ()))
        output.backward((torch.ones(()) if gradOutput is None else gradOutput).type_as(output))
        return tuple(i.grad.data for i in inputs) if isinstance(input, tuple) else input.grad.data

    def _zero_grad_parameters(self, module):
        for p in module.parameters():
            if p.grad is not None:
                p.grad.detach_().zero_()

    def _get_parameters(self, module):
        parameters = list(module.parameters())
        for p in parameters:
            p.grad = torch.zeros_like(p) if p.grad is None else p.grad
        return parameters, [p.grad for p in parameters]

    def runTest(self):
        pass


def cases():
    for table, kind in ((common_nn.module_tests, common_nn.NewModuleTest),
                        (common_nn.new_module_tests, common_nn.NewModuleTest),
                        (common_nn.criterion_tests, common_nn.NewCriterionTest)):
        for options in table:
            options = dict(options)
            if "constructor" not in options:
                name = options.pop("module_name")
                options["constructor"] = getattr(torch.nn, name)
                options.setdefault("fullname", "_".join([name, *([options["desc"]] if "desc" in options else [])]))
            options.setdefault("decorator", None)
            decorator = options.pop("decorator")
            test = kind(**options)
            marks = [pytest.mark.skip(reason="PyTorch decorates it")] if decorator and "skip" in str(decorator) else []
            yield pytest.param(test, id=test.get_name()[5:], marks=marks)


@pytest.mark.parametrize("test", cases())
def test_module(test):
    set_rng_seed(SEED)
    with torch.backends.cudnn.flags(enabled=False):
        test.test_cuda(Case(), *([torch.float] if isinstance(test, common_nn.NewCriterionTest) else []))
