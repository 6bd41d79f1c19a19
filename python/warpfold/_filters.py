# SPDX-License-Identifier: MIT
"""Convolution and correlation in two dimensions."""
from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any, SupportsFloat

import numpy as np

from ._arrays import FLOAT64, UINT64, Array, NumPyArray, check_choice, check_dtype
from ._calls import Call, call_of, type_named, whole_arrays_of, whole_on_gpu
from ._convolve import MODES, filtered_in_one_call, finite_mask
from ._devices import is_on_device
from ._docstrings import documented_as

REAL = {int, float}
BORDERS = {"zero": 0, "clamp": 1, "mirror": 2, "reflect": 3, "wrap": 4}  # warpfold::border


def _sizes(extents: Sequence[int], mask: Sequence[int], mode: str) -> tuple[int, ...]:
    """The numbers of results along axes."""
    return tuple({"same": n, "full": n + k - 1, "valid": max(n - k + 1, 0)}[mode] for n, k in zip(extents, mask))


def _images(call: Call, arguments: Sequence[str], in2: Any, mode: str) -> tuple[Array, Array]:
    """Both arrays in their common type."""
    name = call.name
    check_choice(mode, MODES, name, "mode")
    arrays = call.array, call.operand(in2, arguments[1])
    for argument, array in zip(arguments, arrays):
        if array.ndim != 2:
            raise ValueError(f"{name}: {argument} has shape {array.shape}, and must have two axes")
        if array.size == 0:
            raise ValueError(f"{name}: {argument} has shape {array.shape}, and must not be empty")
    common = np.result_type(*(array.dtype for array in arrays))
    check_dtype(common, name, "the result")
    left, right = (call.cast(array, common) for array in arrays)
    return left, right


def _is_first_smaller(call: Call, a: Array, mask: Array, mode: str) -> bool:
    """Whether the arrays change places: with 'valid' the first is the one that is as large along both axes."""
    if mode != "valid" or all(n >= k for n, k in zip(a.shape, mask.shape)):
        return False
    if all(n <= k for n, k in zip(a.shape, mask.shape)):
        return True
    raise ValueError(f"{call.name}: with mode 'valid' one array is at least as large as the other along both axes; the shapes are "
                     f"{a.shape} and {mask.shape}")


def _correlate(call: Call, a: Array, mask: Array, values: Array | None, mode: str, leads: Mapping[str, tuple[int, ...]],
               mask_turned: bool, turned: bool = False) -> Any:
    """Result (y, x) is the sum over (j, i) of a[y - lead_y + j, x - lead_x + i] * mask[j, i], the mask or the results turned by
    half a turn."""
    target = call.results(None, _sizes(a.shape, mask.shape, mode), a.dtype)
    lead_y, lead_x = leads[mode]
    straight = call.empty(target.array.shape, a.dtype) if turned else target.array
    a = call.contiguous(a)
    if values is not None:
        values = values[::-1, ::-1] if mask_turned else values
        if call.is_on_host:
            values = np.ascontiguousarray(values)
        call.engine.correlate_images(a, values, MODES[mode], BORDERS["zero"], lead_y, lead_x, straight)
    else:
        # Integers modulo 2^64. Infinity times an element outside is not NaN.
        call.engine.correlate_image_products(FLOAT64 if a.dtype.kind == "f" else UINT64, a,
                                             mask[::-1, ::-1] if mask_turned else mask, lead_y, lead_x, straight)
    if turned:
        call.copy(straight[::-1, ::-1], target.array)
    return target.finish()


def convolve_images(name: str, arguments: Sequence[str], in1: Any, in2: Any, mode: str) -> Any:
    """The convolution of a function of this name."""
    found = filtered_in_one_call(in1, in2, 2, mode, False)
    if found is not None:
        return found
    with call_of(name, in1, arguments[0]) as call:
        a, mask = _images(call, arguments, in2, mode)
        by, argument = in2, arguments[1]
        if _is_first_smaller(call, a, mask, mode):
            a, mask, by, argument = mask, a, in1, arguments[0]
        height, width = mask.shape
        leads = {"same": (height // 2, width // 2), "full": (height - 1, width - 1), "valid": (0, 0)}
        return _correlate(call, a, mask, finite_mask(call, by, argument, mask), mode, leads, True)


def convolve2d(in1: Any, in2: Any, mode: str = "full") -> Any:
    """Convolution of two arrays of two axes, as `scipy.signal.convolve2d` with zeros outside.

    Floating-point sums are in float32, or in float64 for float64; float16 is rounded once. Integers wrap in the type of
    the result.

    Parameters
    ----------
    in1, in2 : array of two axes
        bool, integers or floating-point numbers. They are converted to their common type.
    mode : {'full', 'same', 'valid'}
        All results, those of the shape of `in1` in their middle, or those without elements outside.

    Returns
    -------
    array
        Of the common type, and of the kind of `in1`.

    Raises
    ------
    TypeError, ValueError
        For another type; for an empty array, another number of axes, an unknown mode, and with 'valid' for arrays of
        which none is as large as the other along both axes.
    """
    return convolve_images("convolve2d", ("in1", "in2"), in1, in2, mode)


@documented_as(convolve2d)
def correlate2d(in1: Any, in2: Any, mode: str = "full") -> Any:
    """Cross-correlation of two arrays of two axes, as `scipy.signal.correlate2d` with zeros outside.

    Sums and types are those of `convolve2d`.
    """
    found = filtered_in_one_call(in1, in2, 2, mode, True)
    if found is not None:
        return found
    with call_of("correlate2d", in1, "in1") as call:
        a, mask = _images(call, ("in1", "in2"), in2, mode)
        by, name, turned = in2, "in2", _is_first_smaller(call, a, mask, mode)
        if turned:
            a, mask, by, name = mask, a, in1, "in1"
        height, width = mask.shape
        leads = {"same": ((height - 1) // 2, (width - 1) // 2), "full": (height - 1, width - 1), "valid": (0, 0)}
        return _correlate(call, a, mask, finite_mask(call, by, name, mask), mode, leads, False, turned)


def correlate_channels(images: Any, masks: Any, out: Any = None) -> Any:
    """Correlations of images, summed over their channels: `torch.nn.functional.conv2d` without padding.

    Result (n, o, y, x) is the sum over c, j, i of `images[n, c, y + j, x + i] * masks[o, c, j, i]`. Sums are in float32, or in
    float64 for float64, integers and bool; float16 is rounded once. On a GPU nothing waits, and masks stay where they are.

    Parameters
    ----------
    images : array of shape (count, channels, height, width)
    masks : array of shape (outputs, channels, mask height, mask width)
    out : array, optional
        Where results go.

    Returns
    -------
    array
        Of shape (count, outputs, height - mask height + 1, width - mask width + 1), of the common floating-point type, and of the
        kind of `images`.

    Raises
    ------
    TypeError, ValueError
        For another type; for other numbers of axes or channels, and masks that are empty or larger than the images.
    """
    whole = whole_on_gpu.get(type(images))
    found = None if whole is None or out is not None else whole.channels(images, masks)
    if found is not None:
        return found
    with call_of("correlate_channels", images, "images") as call:
        a, by = call.array, call.operand(masks, "masks")
        if a.ndim != 4 or by.ndim != 4 or a.shape[1] != by.shape[1]:
            raise ValueError(f"correlate_channels: images have shape {a.shape}, and masks {by.shape}; both have four axes, and as many "
                             "channels in the second one")
        extents = tuple(n - k + 1 for n, k in zip(a.shape[2:], by.shape[2:]))
        if min(*by.shape[2:], *extents) < 1:
            raise ValueError(f"correlate_channels: masks of shape {by.shape} are empty or larger than images of shape {a.shape}")
        common = np.result_type(a.dtype, by.dtype)
        common = common if common.kind == "f" else np.dtype(np.float64)
        sums = np.dtype(np.float32) if common.itemsize == 2 else common
        target = call.results(out, (a.shape[0], by.shape[0], *extents), common)
        result = target.array if sums == common else call.empty(target.array.shape, sums)
        plain = call.contiguous(result)
        a = call.contiguous(a, sums)
        by = call.contiguous(by, sums) if out is None else call.copied(by, sums)  # `out` may be the masks
        call.engine.correlate_channels(a, by, plain)
        for source, place in ((plain, result), (result, target.array)):
            if source is not place:
                call.copy(source, place)
        return target.finish()


def _line(call: Call, name: str, values: Any, is_there: bool) -> Array:
    """A finite mask of one axis, in host memory or where the call computes. There its elements are not looked at."""
    line = call.operand(values, name) if is_there else call.on_host(values, name)
    if line.ndim != 1 or line.size == 0:
        raise ValueError(f"{call.name}: {name} has shape {line.shape}; it has one axis and is not empty")
    if not is_there and not np.isfinite(line).all():
        raise ValueError(f"{call.name}: {name} has an element that is not finite")
    return line


def _turned(call: Call, line: Array, dtype: np.dtype[Any]) -> Array:
    if isinstance(line, np.ndarray):
        return np.require(line[::-1], dtype, ["C", "A"])
    return call.contiguous(line, dtype)[::-1]


def _separable(call: Call, down: Array, across: Array, mode: str, border: str) -> Any:
    name = call.name
    check_choice(mode, MODES, name, "mode")
    check_choice(border, BORDERS, name, "border")
    array = call.array
    if array.ndim < 2:
        raise ValueError(f"{name}: a has shape {array.shape}, and must have two axes or more")
    images = call.contiguous(array, array.dtype if array.dtype.kind == "f" else np.float64)
    shape = _sizes(array.shape[-2:], (down.size, across.size), mode) if array.size else array.shape[-2:]
    target = call.results(None, array.shape[:-2] + shape, images.dtype)
    if target.array.size:
        # The mask of a convolution is turned.
        column, row = (_turned(call, line, images.dtype) for line in (down, across))
        call.engine.correlate_separable(images, row, column, MODES[mode], BORDERS[border], target.array)
    return target.finish()


def separable_filter(a: Any, down: Any, across: Any, mode: str = "same", border: str = "zero") -> Any:
    """Convolution of images with the mask `numpy.outer(down, across)`: of the rows with `across`, then of the columns with
    `down`.

    Parameters
    ----------
    a : array of two axes or more
        Images in the last two axes. Integers and bool are filtered in float64.
    down, across : array of one axis
        Finite numbers, which is not checked on a GPU. The element at `(length - 1) // 2` is the middle, as in
        `numpy.convolve`.
    mode : {'same', 'full', 'valid'}
        A result for each element; wherever the mask touches an element; where it touches elements only.
    border : {'zero', 'clamp', 'mirror', 'reflect', 'wrap'}
        What surrounds a b c d: zeros; a a a, d d d; d c b, c b a; c b a, d c b; b c d, a b c. In `scipy.ndimage` these
        are 'constant', 'nearest', 'mirror', 'reflect' and 'wrap'.

    Returns
    -------
    array
        Of the floating-point type of `a`, or float64. Without elements it has the shape of `a`.

    Raises
    ------
    TypeError, ValueError
        For another type; for less than two axes, masks that are empty or not finite, an unknown mode or border.
    """
    with call_of("separable_filter", a) as call:
        is_there = is_on_device(down) or is_on_device(across)
        return _separable(call, _line(call, "down", down, is_there), _line(call, "across", across, is_there), mode, border)


@functools.lru_cache(maxsize=64)
def _gaussian(sigma: float, truncate: float) -> NumPyArray:
    """Weights whose sum is 1. Not to be changed."""
    radius = int(truncate * sigma + 0.5)
    places = np.arange(-radius, radius + 1)
    weights = np.exp(-0.5 * (places / sigma) ** 2) if sigma > 0 else np.ones(1)
    return np.asarray(weights / weights.sum())


@functools.lru_cache(maxsize=64)
def _gaussian_for(images: Any, sigma: float, truncate: float) -> NumPyArray | None:
    """The weights in a package's type of images; None for types and numbers that the usual call does not take."""
    dtype = type_named(images)
    if dtype is None or dtype.kind != "f" or not (0 <= sigma < math.inf and 0 <= truncate < math.inf):
        return None
    return _gaussian(sigma, truncate).astype(dtype)


@documented_as(separable_filter)
def gaussian_blur(a: Any, sigma: SupportsFloat | Sequence[SupportsFloat] | NumPyArray, truncate: SupportsFloat = 4.0,
                  border: str = "reflect") -> Any:
    """Images blurred by a Gaussian, as `scipy.ndimage.gaussian_filter` along the last two axes.

    Parameters
    ----------
    sigma : float or two of them
        Standard deviation in elements, down and across; 0 leaves an axis as it is.
    truncate : float
        Where the Gaussian ends, in standard deviations.

    Returns
    -------
    array
        Of the shape of `a` and its floating-point type, or float64.

    Raises
    ------
    TypeError, ValueError
        As for `separable_filter`; for a negative or infinite `sigma` or `truncate`.
    """
    numbers: Any = sigma
    last: Any = truncate
    if {type(sigma), type(truncate)} <= REAL and type(border) is str and border in BORDERS:
        for whole in whole_arrays_of(a):
            weights = _gaussian_for(a.dtype, numbers, last)
            found = None if weights is None else whole.separable(a, weights, weights, BORDERS[border])
            if found is not None:
                return found
    is_pair = isinstance(sigma, Sequence) or (isinstance(sigma, np.ndarray) and sigma.ndim == 1)
    pair = tuple(numbers) if is_pair else (numbers, numbers)
    if not all(np.ndim(x) == 0 and np.asarray(x).dtype.kind in "biuf" for x in (*pair, last)):
        raise TypeError(f"gaussian_blur: sigma is {sigma!r} and truncate {truncate!r}; they are numbers, sigma one or two")
    if len(pair) != 2 or not all(math.isfinite(x) and x >= 0 for x in (*pair, last)):
        raise ValueError(f"gaussian_blur: sigma is {sigma!r} and truncate {truncate!r}; they are finite and not negative, "
                         "sigma one number or two")
    with call_of("gaussian_blur", a) as call:
        down, across = (_gaussian(float(x), float(last)) for x in pair)
        return _separable(call, down, across, "same", border)


__all__ = ["convolve2d", "correlate2d", "correlate_channels", "separable_filter", "gaussian_blur"]
