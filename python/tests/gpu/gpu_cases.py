# SPDX-License-Identifier: MIT
"""Calls that gpu_check.py compares with NumPy's results, or with those of the host."""
import functools
import sys

import numpy as np

import warpfold as wf
from warpfold._expression import compilers

OFFSETS = [0, 0, 10, 11, 200, 360]


@functools.cache
def has_nvrtc():
    """Whether operations of users can be compiled for a GPU."""
    try:
        compilers.nvrtc()
    except RuntimeError as error:
        print(f"op is left out: {error}", file=sys.stderr)
        return False
    return True


def numpy_cases(host):
    """(name, call of a module, arguments that are arrays) for an array of two axes."""
    line = host.reshape(-1)
    for name in ("sum", "prod", "min", "max", "any", "all", "mean", "var", "argmin", "argmax", "count_nonzero"):
        for axis in (None, 0, 1):
            yield f"{name} {axis}", lambda m, a, name=name, axis=axis: getattr(m, name)(a, axis=axis), (host,)
    for name in ("cumsum", "cumprod"):
        for axis in (0, 1):
            yield f"{name} {axis}", lambda m, a, name=name, axis=axis: getattr(m, name)(a, axis=axis), (host,)
    yield "sum where", lambda m, a, w: m.sum(a, axis=1, where=w), (host, host > 0)
    counted = host.view(np.uint8) if host.dtype == bool else host
    yield "histogram", lambda m, a: m.histogram(a, 9, (-3, 3))[0], (counted,)
    yield "histogram2d", lambda m, a, b: m.histogram2d(a, b, (4, [-1, 0, 2]))[0], (counted[0], counted[1])
    yield "histogramdd", lambda m, a: m.histogramdd(a, 2)[0], (counted[:, :3],)
    for right in (False, True):
        yield "digitize", lambda m, a, right=right: m.digitize(a, [-1, 0, 1], right), (host,)
    yield "convolve", lambda m, a, v: m.convolve(a, v), (line, line[:9])
    yield "correlate", lambda m, a, v: m.correlate(a, v, "same"), (line, line[:9])
    if host.dtype.kind in "iub":
        yield "bincount", lambda m, a: m.bincount(a), (np.abs(line) if host.dtype.kind == "i" else line,)
        yield "bincount minlength", lambda m, a: m.bincount(a, minlength=256), (np.abs(line) if host.dtype.kind == "i" else line,)


def own_cases(host):
    """(name, call, arguments that are arrays) of functions that NumPy does not have; the host's engine has the results."""
    line = host.reshape(-1)
    yield "cummax", lambda a: wf.cummax(a, axis=1), (host,)
    yield "cummin", lambda a: wf.cummin(a, axis=0), (host,)
    for name in ("segment_sum", "segment_prod", "segment_min", "segment_max"):
        yield name, lambda a, name=name: getattr(wf, name)(a, OFFSETS), (line,)
    for options in ({"reverse": True}, {"exclusive": True}, {"initial": 2}, {"segments": [0, 3, 7]},
                    {"segments": [2, 9], "reverse": True, "exclusive": True}):
        for op in ("sum", "max"):
            yield f"scan {op} {options}", lambda a, op=op, options=options: wf.scan(a, op, 1, **options), (host,)
    for order in (1, 2, np.inf, 0, 3):
        yield f"norm {order}", lambda a, order=order: wf.norm(a, order, 1), (host,)
    yield "minmax", wf.minmax, (host,)
    yield "select", wf.select, (host, host > 0)
    yield "partition_by", wf.partition_by, (host, host > 0)
    yield "run_length_encode", wf.run_length_encode, (line,)
    yield "unique_consecutive", lambda a: wf.unique_consecutive(a, True, True), (host,)
    for op in ("sum", "prod", "min", "max"):
        yield f"reduce_by_key {op}", lambda k, v, op=op: wf.reduce_by_key(k, v, op), (line > 0, line)
    for mode in ("full", "same", "valid"):
        yield f"convolve2d {mode}", lambda a, v, mode=mode: wf.convolve2d(a, v, mode), (host, host[:3, :4])
        yield f"correlate2d {mode}", lambda a, v, mode=mode: wf.correlate2d(a, v, mode), (host, host[:5, :5])
    for border in ("zero", "clamp", "mirror", "reflect", "wrap"):
        yield f"gaussian_blur {border}", lambda a, border=border: wf.gaussian_blur(a, 1, border=border), (host,)
    yield "separable_filter", lambda a: wf.separable_filter(a, np.ones(9), np.ones(12)), (host,)
    yield "correlate_channels", wf.correlate_channels, (host[None, None], host[None, None, :3, :4])
    if has_nvrtc():
        yield "op", wf.op("where(a > b, a, b) + a * b"), (host, host[::-1].copy())
        if host.dtype == np.float32:
            yield "op of shapes that broadcast", wf.op("a * b"), (host, host[:1])
        for op in ("sum", "prod", "min", "max") if host.dtype != np.float16 else ():
            yield f"op {op}", lambda a, b, op=op: wf.op("a + b").reduce(a, b, op=op), (host, host[::-1].copy())
    if host.dtype in (np.float32, np.float64):
        yield "exact_sum", wf.exact_sum, (host,)
        yield "exact_dot", wf.exact_dot, (line, line)


def operator_cases(torch):
    """(name, check) of PyTorch's operators on a GPU: schema and shapes, then gradients, then torch.compile."""
    import warpfold.torch as wt  # pylint: disable=import-outside-toplevel

    def numbers(*shape):
        return torch.randn(shape, dtype=torch.float64, device="cuda", requires_grad=True)

    offsets = torch.tensor([1, 1, 4, 9], device="cuda")
    calls = {"sum": (lambda x: wt.sum(x, [0, 2]), numbers(3, 4, 5)), "cumsum": (lambda x: wt.cumsum(x, 0, True), numbers(5, 3)),
             "segment_sum": (lambda x: wt.segment_sum(x, offsets), numbers(12)), "exact_sum": (wt.exact_sum, numbers(7, 3)),
             "convolve": (lambda x: wt.convolve(x, x[:4] * 2, "same"), numbers(9)),
             "convolve 2d": (lambda x: wt.convolve(x, x[:2, :3] + 1, "full"), numbers(6, 5))}
    for name, (call, x) in calls.items():
        yield f"{name} gradients", lambda call=call, x=x: torch.autograd.gradcheck(call, (x,))
        yield f"{name} compiled", lambda call=call, x=x: torch.testing.assert_close(
            torch.compile(call, fullgraph=True, backend="aot_eager")(x), call(x))
