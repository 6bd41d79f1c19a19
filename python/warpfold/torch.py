# SPDX-License-Identifier: MIT
"""Calls of the package as operators of PyTorch: with gradients, and with shapes for torch.compile.

Tensors are on the CPU or on a GPU, where calls work on the current stream. Integers and bool are summed in int64, as by
PyTorch. Sums have the same bits in every run; `exact_sum` has the same bits for every order and on every device, and runs
under `torch.use_deterministic_algorithms`.

The operators are torch.ops.warpfold.sum, .cumsum, .segment_sum, .convolve and .exact_sum. Importing this module needs
PyTorch 2.4 or later; the package does not.
"""
from __future__ import annotations

import importlib
import operator
from collections.abc import Callable, Sequence
from typing import Any, SupportsIndex

from . import _convolve, _exact, _filters, _reductions, _scans, _segments

torch: Any = importlib.import_module("torch")
Tensor = Any


_library = torch.library.Library("warpfold", "DEF")


def _operator(name: str, schema: str, compute: Callable[..., Tensor], shapes: Callable[..., Tensor],
              setup: Callable[..., None], backward: Callable[..., Any], forward: Callable[..., Tensor]) -> Any:
    """An operator whose kernel is `compute`; `shapes` gives an empty result for tensors without elements. `backward` and `forward`
    give its derivatives in both modes, by what `setup` kept.

    `torch.library.custom_op` has no derivatives in forward mode, which would be zero then, and none for torch.func.
    """
    _library.define(f"{name}{schema}", tags=(torch.Tag.pt2_compliant_tag,))
    _library.impl(name, compute, "CompositeExplicitAutograd")
    torch.library.register_fake(f"warpfold::{name}", shapes, lib=_library)
    overload = getattr(torch.ops.warpfold, name).default

    def below(*arguments: Any) -> Tensor:
        # Functions of PyTorch's run without gradients, and the next level of torch.func may need them.
        with torch._C._AutoDispatchBelowAutograd(), torch.enable_grad(), torch.autograd.forward_ad._set_fwd_grad_enabled(True):
            return overload(*arguments)

    def jvp(ctx: Any, *tangents: Any) -> Tensor:
        with torch.autograd.forward_ad._set_fwd_grad_enabled(True):
            return forward(ctx, *tangents)

    function: Any = type(f"_{name}", (torch.autograd.function._SingleLevelFunction,), {
        "forward": staticmethod(below), "setup_context": staticmethod(setup), "backward": staticmethod(backward),
        "jvp": staticmethod(jvp)})

    def differentiable(*arguments: Any) -> Tensor:
        with torch._functorch.utils.enable_single_level_autograd_function():  # torch.func calls this for each of its levels
            return function.apply(*arguments)

    _library.impl(name, differentiable, "Autograd")
    return overload


def _summed(dtype: Any) -> Any:
    return dtype if dtype.is_floating_point else torch.int64


def _dims(x: Tensor, dim: Sequence[int] | None) -> list[int]:
    """Dimensions from 0 on; all for none. Raises IndexError for one that `x` does not have, RuntimeError for one given twice."""
    rank = max(x.dim(), 1)
    for d in dim or ():
        if not -rank <= d < rank:
            raise IndexError(f"warpfold: dim {d} of a tensor of {x.dim()} dimensions")
    dims = [d % rank for d in dim or range(x.dim())]
    if len(set(dims)) != len(dims):
        raise RuntimeError(f"warpfold: a dimension is given twice in {list(dim or ())}")
    return dims if x.dim() else []


# sum: every element gets its sum's gradient.

def _sum_compute(x: Tensor, dim: Sequence[int] | None, keepdim: bool) -> Tensor:
    result = _sum_shapes(x, dim, keepdim)
    _reductions.sum(x.detach(), tuple(_dims(x, dim)), None, result, keepdim)
    return result


def _sum_shapes(x: Tensor, dim: Sequence[int] | None, keepdim: bool) -> Tensor:
    dims = _dims(x, dim)
    kept = [1 if d in dims else n for d, n in enumerate(x.shape) if keepdim or d not in dims]
    return x.new_empty(kept, dtype=_summed(x.dtype))


def _sum_setup(ctx: Any, inputs: Any, output: Tensor) -> None:
    x, dim, keepdim = inputs
    ctx.shape, ctx.dims, ctx.arguments = x.shape, [] if keepdim else sorted(_dims(x, dim)), (dim, keepdim)


def _sum_backward(ctx: Any, gradient: Tensor) -> Any:
    for d in ctx.dims:
        gradient = gradient.unsqueeze(d)
    return gradient.expand(ctx.shape), None, None


def _sum_forward(ctx: Any, x: Tensor, *_: Any) -> Tensor:
    return _sum_operator(x, *ctx.arguments)


# cumsum: the gradient is the sum from the other end.

def _cumsum_compute(x: Tensor, dim: int, reverse: bool) -> Tensor:
    result = _cumsum_shapes(x, dim, reverse)
    axis, out = (dim, result) if x.dim() else (None, result.view(1))
    _scans.scan_of("cumsum", _reductions.SUM, x.detach(), axis, None, out, _scans.Extras(reverse))
    return result


def _cumsum_shapes(x: Tensor, dim: int, reverse: bool) -> Tensor:
    _dims(x, [dim])
    return x.new_empty(x.shape, dtype=_summed(x.dtype))


def _cumsum_setup(ctx: Any, inputs: Any, output: Tensor) -> None:
    _, ctx.dim, ctx.reverse = inputs


def _cumsum_backward(ctx: Any, gradient: Tensor) -> Any:
    return _cumsum_operator(gradient, ctx.dim, not ctx.reverse), None, None


def _cumsum_forward(ctx: Any, x: Tensor, *_: Any) -> Tensor:
    return _cumsum_operator(x, ctx.dim, ctx.reverse)


# segment_sum: elements outside of all segments have no gradient.

def _segment_compute(x: Tensor, offsets: Tensor) -> Tensor:
    result = _segment_shapes(x, offsets)
    _segments.segment_sum(x.detach(), offsets, result)
    return result


def _segment_shapes(x: Tensor, offsets: Tensor) -> Tensor:
    if x.dim() != 1 or offsets.dim() != 1 or offsets.shape[0] == 0:
        raise ValueError(f"segment_sum: x has shape {tuple(x.shape)}, and offsets {tuple(offsets.shape)}; both have one dimension, "
                         "and offsets an element more than segments")
    return x.new_empty([offsets.shape[0] - 1], dtype=_summed(x.dtype))


def _segment_setup(ctx: Any, inputs: Any, output: Tensor) -> None:
    x, offsets = inputs
    ctx.size = x.shape[0]
    ctx.save_for_backward(offsets)
    ctx.save_for_forward(offsets)


def _segment_backward(ctx: Any, gradient: Tensor) -> Any:
    (offsets,) = ctx.saved_tensors
    places = torch.arange(ctx.size, device=gradient.device)
    segment = torch.searchsorted(offsets.to(torch.int64), places, right=True)  # 0: before the first one
    outside = gradient.new_zeros(1)
    return torch.cat([outside, gradient, outside])[segment], None


def _segment_forward(ctx: Any, x: Tensor, _: Any) -> Tensor:
    return _segment_operator(x, *ctx.saved_tensors)


# convolve: in one or two dimensions. The gradient is the correlation with the other operand.

def _common_type(a: Tensor, v: Tensor) -> Any:
    """PyTorch's, not NumPy's."""
    if a.dim() != v.dim() or a.dim() not in (1, 2):
        raise ValueError(f"convolve: operands have {a.dim()} and {v.dim()} dimensions, and must both have 1 or 2")
    return torch.promote_types(a.dtype, v.dtype)


def _convolve_compute(a: Tensor, v: Tensor, mode: str) -> Tensor:
    common = _common_type(a, v)
    operands = a.detach().to(common), v.detach().to(common)
    return _convolve.convolve(*operands, mode) if a.dim() == 1 else _filters.convolve_images("convolve", "av", *operands, mode)


def _window(a: Tensor, v: Tensor, mode: str) -> list[tuple[Any, Any]]:
    """(first, size) of the results among all results, along each dimension."""
    if mode not in _convolve.MODES:
        raise ValueError(f"convolve: mode is {mode!r}, and must be 'full', 'same' or 'valid'")
    windows = []
    for n, k in zip(a.shape, v.shape):
        least, most = (torch.sym_min(n, k), torch.sym_max(n, k))
        if mode == "same":  # of two dimensions: of the size of the first operand
            windows.append(((least - 1) // 2, most) if a.dim() == 1 else ((k - 1) // 2, n))
        else:
            windows.append((0, n + k - 1) if mode == "full" else (least - 1, most - least + 1))
    return windows


def _convolve_shapes(a: Tensor, v: Tensor, mode: str) -> Tensor:
    common = _common_type(a, v)
    return a.new_empty([size for _, size in _window(a, v, mode)], dtype=common)


def _convolve_setup(ctx: Any, inputs: Any, output: Tensor) -> None:
    a, v, ctx.mode = inputs
    ctx.save_for_backward(a, v)
    ctx.save_for_forward(a, v)


def _convolve_backward(ctx: Any, gradient: Tensor) -> Any:
    a, v = ctx.saved_tensors
    padding: list[Any] = []
    for n, k, (first, size) in zip(a.shape, v.shape, _window(a, v, ctx.mode)):
        padding = [first, n + k - 1 - first - size, *padding]  # the last dimension comes first
    everywhere = torch.nn.functional.pad(gradient, padding)
    turned = list(range(a.dim()))
    return (_convolve_operator(everywhere, v.flip(turned), "valid").to(a.dtype) if ctx.needs_input_grad[0] else None,
            _convolve_operator(everywhere, a.flip(turned), "valid").to(v.dtype) if ctx.needs_input_grad[1] else None,
            None)


def _convolve_forward(ctx: Any, a: Tensor | None, v: Tensor | None, _: Any) -> Tensor:
    first, second = (torch.autograd.forward_ad.unpack_dual(x, level=0).primal for x in ctx.saved_tensors)
    parts = [_convolve_operator(*operands, ctx.mode) for operands in ((a, second), (first, v)) if None not in operands]
    return parts[0] if len(parts) == 1 else parts[0] + parts[1]


# exact_sum

def _exact_compute(x: Tensor) -> Tensor:
    return torch.as_tensor(_exact.exact_sum(x.detach()))


def _exact_setup(ctx: Any, inputs: Any, output: Tensor) -> None:
    ctx.shape = inputs[0].shape


def _exact_backward(ctx: Any, gradient: Tensor) -> Tensor:
    return gradient.expand(ctx.shape)


def _exact_forward(_: Any, x: Tensor) -> Tensor:
    return _exact_operator(x)


_sum_operator = _operator("sum", "(Tensor x, int[]? dim, bool keepdim) -> Tensor", _sum_compute, _sum_shapes, _sum_setup,
                          _sum_backward, _sum_forward)
_cumsum_operator = _operator("cumsum", "(Tensor x, int dim, bool reverse) -> Tensor", _cumsum_compute, _cumsum_shapes,
                             _cumsum_setup, _cumsum_backward, _cumsum_forward)
_segment_operator = _operator("segment_sum", "(Tensor x, Tensor offsets) -> Tensor", _segment_compute, _segment_shapes,
                              _segment_setup, _segment_backward, _segment_forward)
_convolve_operator = _operator("convolve", "(Tensor a, Tensor v, str mode) -> Tensor", _convolve_compute, _convolve_shapes,
                               _convolve_setup, _convolve_backward, _convolve_forward)
_exact_operator = _operator("exact_sum", "(Tensor x) -> Tensor", _exact_compute, lambda x: x.new_empty(()), _exact_setup,
                            _exact_backward, _exact_forward)


def sum(x: Tensor, dim: SupportsIndex | Sequence[SupportsIndex] | None = None, keepdim: bool = False) -> Tensor:
    """Sum over dimensions, as `torch.sum`.

    Parameters
    ----------
    x : tensor
        bool, integers, float16, float32 or float64, of any shape and strides.
    dim : int, sequence of int or None
        The dimensions that are summed; None or no dimensions: all.
    keepdim : bool
        Whether they stay, with one element.

    Returns
    -------
    tensor
        Of the type of `x`; int64 for integers and bool. Its gradient is expanded.

    Raises
    ------
    TypeError
        For another type.
    IndexError, RuntimeError
        For a dimension that `x` does not have; for one given twice.
    """
    dims = None if dim is None else [operator.index(d) for d in (dim if isinstance(dim, Sequence) else (dim,))]
    return _sum_operator(x, dims, bool(keepdim))


def cumsum(x: Tensor, dim: SupportsIndex, reverse: bool = False) -> Tensor:
    """Cumulative sum along a dimension, as `torch.cumsum`.

    Parameters
    ----------
    x : tensor
        As for `sum`.
    dim : int
        The dimension.
    reverse : bool
        Whether the sums begin at the last element.

    Returns
    -------
    tensor
        Of the shape of `x` and the type of `sum`. Its gradient is summed from the other end.

    Raises
    ------
    TypeError, IndexError
        For another type; for a dimension that `x` does not have.
    """
    return _cumsum_operator(x, operator.index(dim), bool(reverse))


def segment_sum(x: Tensor, offsets: Tensor) -> Tensor:
    """Sums of segments: result s is the sum of `x[offsets[s]:offsets[s + 1]]`, 0 for an empty segment.

    Parameters
    ----------
    x : tensor of one dimension
        As for `sum`.
    offsets : tensor of integers
        They do not decrease and lie between 0 and `len(x)`; one more than segments. They have no gradient.

    Returns
    -------
    tensor
        One element per segment, of the type of `sum`. An element's gradient is that of its segment.

    Raises
    ------
    TypeError, ValueError
        As `warpfold.segment_sum`.
    """
    return _segment_operator(x, offsets)


def convolve(a: Tensor, v: Tensor, mode: str = "full") -> Tensor:
    """Convolution of tensors of one dimension, as `numpy.convolve`, or of two, as `scipy.signal.convolve2d`.

    Parameters
    ----------
    a, v : tensor of one or two dimensions
        bool, integers or floating-point numbers.
    mode : {'full', 'same', 'valid'}
        Which results there are.

    Returns
    -------
    tensor
        Of the operands' common type. The gradient of an operand is a convolution with the other one.

    Raises
    ------
    TypeError
        For another type.
    ValueError
        For another mode, empty operands and other numbers of dimensions.
    """
    return _convolve_operator(a, v, mode)


def exact_sum(x: Tensor) -> Tensor:
    """The true sum of all elements, rounded once: the same bits for every order and on every device.

    Parameters
    ----------
    x : tensor of float16, float32 or float64
        Of any shape and strides.

    Returns
    -------
    tensor
        Of no dimensions and the type of `x`. Its gradient is expanded.

    Raises
    ------
    TypeError
        For another type.
    """
    return _exact_operator(x)


__all__ = ["convolve", "cumsum", "exact_sum", "segment_sum", "sum"]
