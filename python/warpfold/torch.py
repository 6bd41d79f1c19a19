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
from collections.abc import Callable, Sequence
from typing import Any

from . import _convolve, _exact, _filters, _reductions, _scans, _segments

torch: Any = importlib.import_module("torch")
Tensor = Any


def _operator(name: str, schema: str, compute: Callable[..., Tensor], shapes: Callable[..., Tensor],
              setup: Callable[..., None], backward: Callable[..., Any]) -> Any:
    """An operator whose kernel is `compute`; `shapes` gives an empty result for tensors without elements."""
    operator = torch.library.custom_op(f"warpfold::{name}", compute, mutates_args=(), schema=schema)
    operator.register_fake(shapes)
    operator.register_autograd(backward, setup_context=setup)
    return operator


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
    ctx.shape, ctx.dims = x.shape, [] if keepdim else sorted(_dims(x, dim))


def _sum_backward(ctx: Any, gradient: Tensor) -> Any:
    for d in ctx.dims:
        gradient = gradient.unsqueeze(d)
    return gradient.expand(ctx.shape), None, None


# cumsum: the gradient is the sum from the other end.

def _cumsum_compute(x: Tensor, dim: int, reverse: bool) -> Tensor:
    result = _cumsum_shapes(x, dim, reverse)
    _scans.scan(x.detach(), "sum", dim if x.dim() else None, None, result if x.dim() else result.view(1), reverse=reverse)
    return result


def _cumsum_shapes(x: Tensor, dim: int, reverse: bool) -> Tensor:
    _dims(x, [dim])
    return x.new_empty(x.shape, dtype=_summed(x.dtype))


def _cumsum_setup(ctx: Any, inputs: Any, output: Tensor) -> None:
    _, ctx.dim, ctx.reverse = inputs


def _cumsum_backward(ctx: Any, gradient: Tensor) -> Any:
    return _cumsum_operator(gradient, ctx.dim, not ctx.reverse), None, None


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


def _segment_backward(ctx: Any, gradient: Tensor) -> Any:
    (offsets,) = ctx.saved_tensors
    places = torch.arange(ctx.size, device=gradient.device)
    segment = torch.searchsorted(offsets.to(torch.int64), places, right=True)  # 0: before the first one
    outside = gradient.new_zeros(1)
    return torch.cat([outside, gradient, outside])[segment], None


# convolve: in one or two dimensions. The gradient is the correlation with the other operand.

def _convolve_compute(a: Tensor, v: Tensor, mode: str) -> Tensor:
    convolve = _convolve.convolve if a.dim() == 1 else _filters.convolve2d
    common = torch.promote_types(a.dtype, v.dtype)  # not NumPy's
    return convolve(a.detach().to(common), v.detach().to(common), mode)


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
    if a.dim() != v.dim() or a.dim() not in (1, 2):
        raise ValueError(f"convolve: operands have {a.dim()} and {v.dim()} dimensions, and must both have 1 or 2")
    return a.new_empty([size for _, size in _window(a, v, mode)], dtype=torch.promote_types(a.dtype, v.dtype))


def _convolve_setup(ctx: Any, inputs: Any, output: Tensor) -> None:
    a, v, ctx.mode = inputs
    ctx.save_for_backward(a, v)


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


# exact_sum

def _exact_compute(x: Tensor) -> Tensor:
    return torch.as_tensor(_exact.exact_sum(x.detach()))


def _exact_setup(ctx: Any, inputs: Any, output: Tensor) -> None:
    ctx.shape = inputs[0].shape


_sum_operator = _operator("sum", "(Tensor x, int[]? dim, bool keepdim) -> Tensor", _sum_compute, _sum_shapes, _sum_setup,
                          _sum_backward)
_cumsum_operator = _operator("cumsum", "(Tensor x, int dim, bool reverse) -> Tensor", _cumsum_compute, _cumsum_shapes,
                             _cumsum_setup, _cumsum_backward)
_segment_operator = _operator("segment_sum", "(Tensor x, Tensor offsets) -> Tensor", _segment_compute, _segment_shapes,
                              _segment_setup, _segment_backward)
_convolve_operator = _operator("convolve", "(Tensor a, Tensor v, str mode) -> Tensor", _convolve_compute, _convolve_shapes,
                               _convolve_setup, _convolve_backward)
_exact_operator = _operator("exact_sum", "(Tensor x) -> Tensor", _exact_compute, lambda x: x.new_empty(()), _exact_setup,
                            lambda ctx, gradient: gradient.expand(ctx.shape))


def sum(x: Tensor, dim: int | Sequence[int] | None = None, keepdim: bool = False) -> Tensor:
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
    return _sum_operator(x, [dim] if isinstance(dim, int) else dim, keepdim)


def cumsum(x: Tensor, dim: int, reverse: bool = False) -> Tensor:
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
    return _cumsum_operator(x, dim, reverse)


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
