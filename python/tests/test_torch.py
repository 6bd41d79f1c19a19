# SPDX-License-Identifier: MIT
"""Operators of PyTorch, on the CPU; gpu_check.py runs them on a GPU."""
import os

import numpy as np
import pytest

if os.environ.get("WARPFOLD_DEVICE"):
    pytest.skip("tensors on the CPU are arrays of the host", allow_module_level=True)
torch = pytest.importorskip("torch", reason="PyTorch is not installed: it is no requirement of the package")

import warpfold as wf  # noqa: E402
import warpfold.torch as wt  # noqa: E402

OFFSETS = torch.tensor([1, 1, 4, 9, 9, 11])
SUMS = [(None, False), (0, False), (1, True), ([0, 2], False), ([-1], True), ([], False), ((), True)]
TYPES = [torch.bool, torch.uint8, torch.int32, torch.int64, torch.float16, torch.float32, torch.float64]


def numbers(*shape, dtype=torch.float64, seed=0):
    drawn = torch.randint(-4, 5, shape, generator=torch.Generator().manual_seed(seed))
    return (drawn / 2).to(dtype).requires_grad_(dtype.is_floating_point)


# Each with differentiable tensors: an operator and its arguments.
CASES = {
    "sum": [(wt._sum_operator, (numbers(3, 4, 5), [0, 2], False)), (wt._sum_operator, (numbers(3, 4), None, True)),
            (wt._sum_operator, (numbers(0, 3), [0], False)), (wt._sum_operator, (numbers(), None, False))],
    "cumsum": [(wt._cumsum_operator, (numbers(3, 5).T, 0, False)), (wt._cumsum_operator, (numbers(7), -1, True)),
               (wt._cumsum_operator, (numbers(), 0, False))],
    "segment_sum": [(wt._segment_operator, (numbers(13), OFFSETS)), (wt._segment_operator, (numbers(2), torch.tensor([1])))],
    "convolve": [(wt._convolve_operator, (numbers(n), numbers(k, seed=1), mode))
                 for n, k in ((7, 4), (3, 6), (1, 1)) for mode in ("full", "same", "valid")]
                + [(wt._convolve_operator, (numbers(6, 5), numbers(*mask, seed=1), mode))
                   for mask in ((3, 2), (7, 8)) for mode in ("full", "same", "valid")],
    "exact_sum": [(wt._exact_operator, (numbers(4, 3),))],
}
ALL = [pytest.param(*case, id=f"{name} {k}") for name, cases in CASES.items() for k, case in enumerate(cases)]


@pytest.mark.parametrize("operator, arguments", ALL)
def test_schema_shapes_and_registration(operator, arguments):
    torch.library.opcheck(operator, arguments)


@pytest.mark.parametrize("operator, arguments", ALL)
def test_gradients(operator, arguments):
    assert torch.autograd.gradcheck(operator, arguments, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(operator, arguments, check_fwd_over_rev=True)


SQUARES = {  # of a vector of 6 elements: ours and PyTorch's
    "sum": (lambda x: wt.sum((x * x).reshape(2, 3), 0).sin(), lambda x: (x * x).reshape(2, 3).sum(0).sin()),
    "cumsum": (lambda x: wt.cumsum(x * x, 0).sin(), lambda x: torch.cumsum(x * x, 0).sin()),
    "segment_sum": (lambda x: wt.segment_sum(x * x, torch.tensor([0, 2, 5])).sin(),
                    lambda x: torch.stack([(x * x)[:2].sum(), (x * x)[2:5].sum()]).sin()),
    "convolve": (lambda x: wt.convolve(x * x, x[:2]), lambda x: sum(
        torch.nn.functional.pad(x * x * x[k], (k, 1 - k)) for k in range(2))),
    "exact_sum": (lambda x: wt.exact_sum(x * x).sin(), lambda x: (x * x).sum().sin()),
}


@pytest.mark.filterwarnings("ignore:There is a performance drop")
@pytest.mark.parametrize("name", SQUARES)
def test_derivatives_by_functions(name):
    """torch.func's transforms in both modes, and of each other."""
    ours, theirs = SQUARES[name]
    x = torch.arange(1.0, 7.0, dtype=torch.float64) / 4
    forward, backward = torch.func.jacfwd, torch.func.jacrev
    for derivative in (lambda f: torch.func.jvp(f, (x,), (x,)), lambda f: torch.func.grad(lambda x: f(x).sum())(x),
                       lambda f: forward(f)(x), lambda f: backward(f)(x), lambda f: forward(forward(f))(x),
                       lambda f: forward(backward(f))(x), lambda f: backward(forward(f))(x), lambda f: backward(backward(f))(x),
                       lambda f: torch.func.vmap(backward(f))(torch.stack([x, x + 1]))):
        torch.testing.assert_close(derivative(ours), derivative(theirs))


def test_derivatives_see_that_an_output_was_written():
    x = torch.ones(3, requires_grad=True)
    kept = torch.ones(3)
    for write in (lambda: wf.cumsum(torch.ones(3), out=kept), lambda: wf.cumsum(torch.ones(3, dtype=torch.int32), out=kept)):
        y = (x * kept).sum()
        write()
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.backward()
    with torch.inference_mode():
        assert wf.sum(torch.ones(3), out=torch.zeros(())) == 3


def test_types_of_pytorch_name_those_of_results():
    assert wf.sum(torch.ones(3, dtype=torch.int32), dtype=torch.float64).dtype == torch.float64
    assert wf.mean(np.ones(3), dtype=torch.float32).dtype == np.float32
    assert wf.mean(torch.ones(3) * 1j, dtype=torch.complex128).dtype == torch.complex128
    with pytest.raises(TypeError):
        wf.sum(torch.ones(3), dtype=torch.bfloat16)


def test_places_are_not_rounded():
    x = torch.arange(4.0)
    for out in (torch.zeros((), dtype=torch.float64), torch.zeros((), dtype=torch.uint64), np.zeros(())):
        for function in (wf.argmin, wf.argmax):
            with pytest.raises(TypeError, match=f"{function.__name__}: out has dtype (float64|uint64), and the result int64"):
                function(x, out=out)
    assert wf.argmax(x, out=torch.zeros((), dtype=torch.int64)) == wf.argmax(x, out=torch.zeros((), dtype=torch.int32)) == 3
    both = torch.zeros(2)
    with pytest.raises(ValueError, match="minmax: the two arrays of out share memory"):
        wf.minmax(x, out=(both[0], both[0]))
    assert wf.minmax(x, out=(both[0], both[1])) == (0, 3)


def test_dimensions_are_integers_of_any_kind():
    x = numbers(3, 4)
    torch.testing.assert_close(wt.sum(x, np.int64(1)), x.sum(1))
    torch.testing.assert_close(wt.sum(x, (np.int64(0), 1)), x.sum())
    torch.testing.assert_close(wt.cumsum(x, np.int64(1)), x.cumsum(1))
    for dim in (1.0, "0"):
        with pytest.raises(TypeError):
            wt.sum(x, dim)


@pytest.mark.parametrize("call, message", [
    (lambda: wt.convolve(torch.zeros(3, 3), torch.zeros(0, 2)), "^convolve: v has"),
    (lambda: wt.convolve(torch.zeros(2, 3), torch.zeros(3, 2), "valid"), "^convolve: with mode"),
    (lambda: wt.convolve(torch.zeros(2, 3), torch.zeros(3, 2), "most"), "^convolve: mode"),
    (lambda: wt.convolve(torch.zeros(2, 3).bfloat16(), torch.zeros(3, 2).bfloat16()), "^convolve: a "),
    (lambda: wt.convolve(torch.zeros(3), torch.zeros(0)), "^convolve: v cannot"),
    (lambda: wt.cumsum(torch.zeros(3).bfloat16(), 0), "^cumsum: a "),
])
def test_errors_name_the_function_that_was_called(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("dim, keepdim", SUMS)
def test_sums_are_pytorchs(dtype, dim, keepdim):
    x = numbers(4, 3, 6, dtype=dtype).detach()
    for view in (x, x.transpose(0, 2), x[:, ::2]):
        torch.testing.assert_close(wt.sum(view, dim, keepdim), torch.sum(view, dim, keepdim))
        torch.testing.assert_close(wt.cumsum(view, -1), torch.cumsum(view, -1))
        torch.testing.assert_close(wt.cumsum(view, 0, reverse=True), torch.cumsum(view.flip(0), 0).flip(0))


def test_values_are_the_packages():
    x, v = numbers(50, dtype=torch.float32).detach(), numbers(7, dtype=torch.float32).detach()
    np.testing.assert_array_equal(wt.segment_sum(x, OFFSETS).numpy(), wf.segment_sum(x.numpy(), OFFSETS.numpy()))
    assert wt.segment_sum(x.to(torch.uint8), OFFSETS).dtype == torch.int64
    np.testing.assert_array_equal(wt.convolve(x, v, "same").numpy(), np.convolve(x.numpy(), v.numpy(), "same"))
    torch.testing.assert_close(wt.convolve(x.reshape(5, 10), v[None], "valid")[0], wt.convolve(x[:10], v, "valid"))
    assert wt.exact_sum(torch.tensor([1e30, 1.0, -1e30])).item() == 1


@pytest.mark.parametrize("left", TYPES)
def test_types_of_convolutions_are_pytorchs(left):
    for right in TYPES:
        for shape, mask in (((5,), (3,)), ((2,), (4,)), ((4, 3), (2, 2))):
            ours = wt.convolve(numbers(*shape, dtype=left), numbers(*mask, dtype=right, seed=1))
            assert ours.dtype == torch.promote_types(left, right)
    torch.library.opcheck(wt._convolve_operator, (numbers(5, dtype=left), numbers(3, dtype=torch.float32), "full"))


@pytest.mark.parametrize("initial", [torch.tensor(1.0, requires_grad=True), torch.tensor(1.0, dtype=torch.bfloat16)], ids=str)
def test_initial_values_that_are_not_read(initial):
    for call in (lambda: wf.sum(np.ones(3), initial=initial), lambda: wf.sum(torch.ones(3), initial=initial)):
        with pytest.raises(TypeError, match="sum: initial cannot be read"):
            call()
    assert wf.sum(np.ones(3), initial=torch.tensor(1.5)) == 4.5


def model(x, w):
    y = wt.convolve(x * 2, w, "same")
    return wt.sum(y.reshape(3, -1).relu(), 1).sin() + wt.cumsum(wt.segment_sum(y, OFFSETS), 0)[:3] + wt.exact_sum(x)


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_compiled_whole(backend):
    """torch.compile goes through all operators, forwards and backwards, with fixed and changing sizes."""
    torch._dynamo.reset()
    compiled = torch.compile(model, fullgraph=True, backend=backend)
    for n in (12, 15, 33) if backend == "aot_eager" else (12,):
        results = []
        for function in (model, compiled):
            x, w = numbers(n), numbers(5, seed=1)
            y = function(x, w)
            y.square().sum().backward()
            results.append((y.detach(), x.grad, w.grad))
        torch.testing.assert_close(*results)


def test_deterministic_algorithms():
    torch.use_deterministic_algorithms(True)
    try:
        x = (torch.rand(100_003, generator=torch.Generator().manual_seed(1)) - 0.5).requires_grad_()
        bits = {wt.exact_sum(x[torch.randperm(x.numel())].detach()).item() for _ in range(3)}
        assert bits == {wt.exact_sum(x).item()}
        (wt.exact_sum(x) + wt.segment_sum(x, OFFSETS).sum() + wt.cumsum(x, 0)[-1]).backward()
        assert x.grad[2] == 3 and x.grad[20] == 2
    finally:
        torch.use_deterministic_algorithms(False)


@pytest.mark.parametrize("call, error", [
    (lambda: wt.sum(numbers(3), 1), IndexError),
    (lambda: wt.cumsum(numbers(3, 4), -3), IndexError),
    (lambda: wt.sum(numbers(3, 4), (0, -2)), RuntimeError),
    (lambda: wt.sum(numbers(), (0, 0)), RuntimeError),
    (lambda: wt.sum(torch.zeros(3, dtype=torch.complex64)), TypeError),
    (lambda: wt.sum(torch.zeros(3, dtype=torch.bfloat16)), TypeError),
    (lambda: wt.exact_sum(torch.zeros(3, dtype=torch.int32)), TypeError),
    (lambda: wt.convolve(numbers(3), numbers(3), "most"), ValueError),
    (lambda: wt.convolve(numbers(3), numbers(3, 3)), ValueError),
    (lambda: wt.convolve(numbers(0), numbers(3)), ValueError),
    (lambda: wt.segment_sum(numbers(3), torch.tensor([0, 9])), ValueError),
    (lambda: wt.segment_sum(numbers(3), torch.tensor([], dtype=torch.int64)), ValueError),
    (lambda: wt.segment_sum(numbers(3), torch.tensor(0)), ValueError),
    (lambda: wt.segment_sum(numbers(3, 1), torch.tensor([0, 1])), ValueError),
    (lambda: wt.segment_sum(numbers(3), torch.tensor([0.0, 1.0])), TypeError),
])
def test_bad_arguments(call, error):
    with pytest.raises(error):
        call()
