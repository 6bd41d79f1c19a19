# SPDX-License-Identifier: MIT
"""Filters of images beside loops."""
import math
import os

import numpy as np
import pytest
from hypothesis import given, strategies as st

import warpfold as wf
from support import TYPES, arrays, assert_same, moderate, outcome, tolerance_of

ON_A_SOFTWARE_GPU = os.environ.get("WARPFOLD_DEVICE") == "softgpu"
MODES = ["full", "same", "valid"]
image = arrays(min_dims=2, max_dims=2, max_side=5, min_side=1, elements=moderate,
               layouts=["as it is", "transposed", "reversed", "gaps", "unaligned", "swapped"])


def fulls(a, b):
    """All results of a convolution, by its definition."""
    common = np.result_type(a, b)
    wide = np.float64 if common.kind == "f" else np.uint64
    a, b = a.astype(common).astype(wide), b.astype(common).astype(wide)
    full = np.zeros((a.shape[0] + b.shape[0] - 1, a.shape[1] + b.shape[1] - 1), wide)
    with np.errstate(over="ignore"):
        for y in range(b.shape[0]):
            for x in range(b.shape[1]):
                full[y:y + a.shape[0], x:x + a.shape[1]] += a * b[y, x]
    return full.astype(common)


def cropped(full, a, b, mode):
    if mode == "full":
        return full
    if mode == "same":
        y, x = (b.shape[0] - 1) // 2, (b.shape[1] - 1) // 2
        return full[y:y + a.shape[0], x:x + a.shape[1]]
    small = np.minimum(a.shape, b.shape)
    if tuple(small) not in (a.shape, b.shape):
        return ValueError
    return full[small[0] - 1:full.shape[0] - small[0] + 1, small[1] - 1:full.shape[1] - small[1] + 1]


@given(image, image, st.sampled_from(MODES))
def test_convolutions(a, b, mode):
    expected = cropped(fulls(a, b), a, b, mode)
    assert_same(outcome(wf.convolve2d, a, b, mode), expected,
                0 if isinstance(expected, type) else 10 * tolerance_of(expected.dtype))


@given(image, image, st.sampled_from(MODES))
def test_correlations(a, b, mode):
    # Full and valid correlations are convolutions with the turned mask; 'same' begins (k - 1) // 2 before the element.
    turned = b[::-1, ::-1]
    full = fulls(a, turned)
    expected = cropped(full, a, b, mode)
    if mode == "same":
        y, x = b.shape[0] - 1 - (b.shape[0] - 1) // 2, b.shape[1] - 1 - (b.shape[1] - 1) // 2
        expected = full[y:y + a.shape[0], x:x + a.shape[1]]
    assert_same(outcome(wf.correlate2d, a, b, mode), expected,
                0 if isinstance(expected, type) else 10 * tolerance_of(expected.dtype))


# What scipy.signal gives for a = arange(12) of 3 x 4 and b = arange(1, 5) of 2 x 2.
@pytest.mark.parametrize("name, mode, expected", [
    ("convolve2d", "same", [[0, 1, 4, 7], [4, 16, 26, 36], [20, 56, 66, 76]]),
    ("correlate2d", "same", [[34, 44, 54, 24], [74, 84, 94, 40], [26, 29, 32, 11]]),
    ("convolve2d", "valid", [[16, 26, 36], [56, 66, 76]]),
    ("correlate2d", "valid", [[34, 44, 54], [74, 84, 94]]),
])
@pytest.mark.parametrize("dtype", TYPES[1:], ids=str)
def test_the_middle_of_even_masks(name, mode, expected, dtype):
    a, b = np.arange(12).reshape(3, 4).astype(dtype), np.arange(1, 5).reshape(2, 2).astype(dtype)
    assert_same(getattr(wf, name)(a, b, mode), np.array(expected).astype(dtype))


@pytest.mark.parametrize("name", ["convolve2d", "correlate2d"])
def test_the_larger_second_array(name):
    a, b = np.arange(4.0).reshape(2, 2), np.arange(20.0).reshape(4, 5)
    ours = getattr(wf, name)(a, b, "valid")
    expected = np.zeros((3, 4))
    for y in range(3):
        for x in range(4):
            part = b[y:y + 2, x:x + 2]
            expected[y, x] = (part * (a[::-1, ::-1] if name == "convolve2d" else a)).sum()
    assert_same(ours, expected if name == "convolve2d" else expected[::-1, ::-1])


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize("mode", MODES)
def test_larger_images(dtype, mode):
    rng = np.random.default_rng(1)
    a, b = rng.integers(-9, 9, (131, 257)).astype(dtype), rng.integers(-9, 9, (6, 7)).astype(dtype)
    assert_same(wf.convolve2d(a[::-1], b, mode), cropped(fulls(a[::-1], b), a, b, mode))  # exact in any order


def test_special_values_meet_no_elements_outside():
    a = np.ones((3, 4))
    mask = np.array([[1.0, np.inf], [0.5, 2.0]])
    assert_same(wf.convolve2d(a, mask), fulls(a, mask))
    assert np.isinf(wf.convolve2d(a, mask)[0, 1])
    assert wf.convolve2d(a, mask)[0, 0] == 1


@pytest.mark.parametrize("call, error", [
    (lambda m: m(np.zeros((0, 2)), np.zeros((1, 1))), ValueError),
    (lambda m: m(np.zeros((2, 2)), np.zeros((1, 0))), ValueError),
    (lambda m: m(np.zeros(2), np.zeros((1, 1))), ValueError),
    (lambda m: m(np.zeros((2, 2)), np.zeros((1, 1)), "some"), ValueError),
    (lambda m: m(np.zeros((2, 2)), np.zeros((1, 3)), "valid"), ValueError),
    (lambda m: m(np.zeros((2, 2), complex), np.zeros((1, 1))), TypeError),
])
def test_errors(call, error):
    assert outcome(call, wf.convolve2d) is error
    assert outcome(call, wf.correlate2d) is error


PADS = {"zero": "constant", "clamp": "edge", "mirror": "reflect", "reflect": "symmetric", "wrap": "wrap"}


def separable(a, down, across, mode, border):
    """By its definition, in float64."""
    heights, widths = down.size, across.size
    margins = (heights - 1, heights - 1), (widths - 1, widths - 1)
    padded = np.pad(a.astype(np.float64), margins, mode=PADS[border])
    turned = np.outer(down[::-1], across[::-1]).astype(np.float64)
    full = np.array([[(padded[y:y + heights, x:x + widths] * turned).sum() for x in range(padded.shape[1] - widths + 1)]
                     for y in range(padded.shape[0] - heights + 1)])
    if mode == "full":
        return full
    if mode == "same":
        y, x = (heights - 1) - heights // 2, (widths - 1) - widths // 2
        return full[y:y + a.shape[0], x:x + a.shape[1]]
    return full[heights - 1:full.shape[0] - heights + 1, widths - 1:full.shape[1] - widths + 1]


@given(arrays(min_dims=2, max_dims=2, max_side=6, min_side=1, elements=moderate,
              layouts=["as it is", "transposed", "reversed", "unaligned", "swapped"]),
       st.integers(1, 6), st.integers(1, 6), st.sampled_from(MODES), st.sampled_from(sorted(PADS)))
def test_separable_filters(a, height, width, mode, border):
    if a.dtype.kind != "f":
        a = a % 64 if a.dtype.kind != "b" else a
    down, across = np.linspace(-1, 2, height), np.linspace(0.5, 3, width)
    native = a.dtype.newbyteorder("=")
    dtype = native if native.kind == "f" else np.dtype(np.float64)
    expected = separable(a, down.astype(dtype), across.astype(dtype), mode, border)
    ours = wf.separable_filter(a, down, across, mode, border)
    assert_same(ours, expected.astype(dtype), 300 * tolerance_of(dtype))


def test_images_are_filtered_by_themselves():
    images = np.random.default_rng(2).normal(size=(2, 3, 20, 30))
    ours = wf.separable_filter(images, [1, 2, 1], [1.0, 0, -1])
    for index in np.ndindex(2, 3):
        assert_same(ours[index], wf.separable_filter(images[index], [1, 2, 1], [1.0, 0, -1]))
        assert_same(ours[index], wf.convolve2d(images[index], np.outer([1, 2, 1], [1.0, 0, -1]), "same"), 1e-13)


@pytest.mark.parametrize("dtype", ["float32", "float64", "uint8"])
def test_a_blur_keeps_sums_and_constants(dtype):
    a = np.full((40, 50), 7, dtype)
    assert_same(wf.gaussian_blur(a, 2), a.astype(np.float64 if dtype == "uint8" else dtype), 1e-5)
    point = np.zeros((41, 51))
    point[20, 25] = 1
    ours = wf.gaussian_blur(point, (1.5, 3.0))
    y, x = np.ogrid[-20:21, -25:26]
    expected = np.exp(-y**2 / (2 * 1.5**2) - x**2 / (2 * 3.0**2)) * (abs(y) <= 6) * (abs(x) <= 12)
    np.testing.assert_allclose(ours, expected / expected.sum(), rtol=1e-12, atol=1e-300)
    assert math.isclose(ours.sum(), 1, rel_tol=1e-12)
    assert_same(wf.gaussian_blur(point, 0), point)
    assert_same(wf.gaussian_blur(point, (0, 1.0))[[19, 21]], np.zeros((2, 51)))


def test_deviations_that_are_arrays():
    a, deviation = np.random.default_rng(5).normal(size=(9, 9)), np.array(1.0)
    assert_same(wf.gaussian_blur(a, deviation, np.array(3.0)), wf.gaussian_blur(a, 1.0, 3.0))
    deviation[...] = 2
    assert_same(wf.gaussian_blur(a, (deviation, 1)), wf.gaussian_blur(a, (2.0, 1)))


@pytest.mark.parametrize("call", [
    lambda: wf.separable_filter(np.zeros(3), [1], [1]),
    lambda: wf.separable_filter(np.zeros((3, 3)), [], [1]),
    lambda: wf.separable_filter(np.zeros((3, 3)), [[1]], [1]),
    lambda: wf.separable_filter(np.zeros((3, 3)), [1], [np.inf]),
    lambda: wf.separable_filter(np.zeros((3, 3)), [1], [1], "some"),
    lambda: wf.separable_filter(np.zeros((3, 3)), [1], [1], border="nearest"),
    lambda: wf.gaussian_blur(np.zeros((3, 3)), -1),
    lambda: wf.gaussian_blur(np.zeros((3, 3)), (1, 2, 3)),
    lambda: wf.gaussian_blur(np.zeros((3, 3)), np.nan),
    lambda: wf.gaussian_blur(np.zeros((3, 3)), 1, truncate=-1),
])
def test_errors_of_separable_filters(call):
    assert outcome(call) is ValueError


def test_images_without_elements():
    assert wf.gaussian_blur(np.zeros((3, 0, 5), np.float32), 1).shape == (3, 0, 5)
    assert wf.separable_filter(np.zeros((0, 4, 5)), [1, 1], [1]).shape == (0, 4, 5)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int16", "bool"])
@pytest.mark.parametrize("shape, masks", [
    ((1, 1, 1, 1), (1, 1, 1, 1)), ((2, 3, 7, 5), (4, 3, 2, 3)), ((1, 2, 33, 40), (9, 2, 9, 1)), ((2, 1, 41, 70), (1, 1, 3, 37)),
    ((1, 2, 40, 34), (8, 2, 8, 32)), ((0, 2, 4, 4), (3, 2, 2, 2)), ((2, 2, 4, 4), (0, 2, 2, 2)), ((2, 0, 4, 4), (3, 0, 2, 2)),
    ((2, 3, 19, 402), (7, 3, 3, 4))])
def test_sums_over_channels(dtype, shape, masks):
    rng = np.random.default_rng(len(dtype))
    a, by = (rng.integers(0 if dtype == "bool" else -3, 4 if dtype != "bool" else 2, extents).astype(dtype) for extents in (shape, masks))
    windows = np.lib.stride_tricks.sliding_window_view(a.astype(np.float64), by.shape[2:], (2, 3))
    theirs = np.einsum("ncyxji,ocji->noyx", windows, by.astype(np.float64)).astype(dtype if dtype[0] == "f" else np.float64)
    assert_same(wf.correlate_channels(a, by), theirs)
    assert_same(wf.correlate_channels(a[:, :, ::-1], by[..., ::-1].astype(np.float32)),
                np.einsum("ncyxji,ocji->noyx", windows[:, :, ::-1, :, ::-1], by[..., ::-1].astype(np.float64)).astype(
                    np.result_type(dtype, np.float32)))
    out = np.zeros((*theirs.shape[:3], 2 * theirs.shape[3]), np.float32)[..., ::2]
    assert wf.correlate_channels(a, by, out) is out and np.array_equal(out, theirs.astype(np.float32))


def test_masks_of_channels_as_output():
    images, masks = np.arange(4.0).reshape(1, 1, 2, 2), np.arange(1.0, 5).reshape(1, 1, 2, 2)
    images = np.pad(images, ((0, 0), (0, 0), (0, 1), (0, 1)))
    theirs = wf.correlate_channels(images, masks)
    assert wf.correlate_channels(images, masks, out=masks) is masks and theirs[0, 0, 0, 0] == 20
    assert_same(masks, theirs)


def test_special_numbers_in_channels():
    a, by = np.zeros((1, 2, 3, 3), np.float32), np.ones((1, 2, 2, 2), np.float32)
    a[0, 0, 0, 0], a[0, 1, 2, 2] = np.inf, np.nan
    np.testing.assert_array_equal(wf.correlate_channels(a, by), [[[[np.inf, 0], [0, np.nan]]]])


@pytest.mark.parametrize("shape, masks", [((2, 3, 4, 4), (1, 2, 2, 2)), ((3, 4, 4), (1, 3, 2, 2)), ((1, 1, 2, 2), (1, 1, 3, 1)),
                                          ((1, 1, 2, 2), (1, 1, 0, 1))])
def test_shapes_of_channels_that_do_not_fit(shape, masks):
    with pytest.raises(ValueError, match="correlate_channels: "):
        wf.correlate_channels(np.zeros(shape), np.zeros(masks))


def test_two_sigmas_in_an_array():
    image = np.random.default_rng(3).normal(size=(9, 11))
    assert_same(wf.gaussian_blur(image, np.array([1.0, 2.0])), wf.gaussian_blur(image, (1.0, 2.0)))
    assert_same(wf.gaussian_blur(image, np.float32(1)), wf.gaussian_blur(image, 1.0))
    for sigma in (np.ones(3), np.ones((2, 2))):
        with pytest.raises((TypeError, ValueError), match="gaussian_blur: sigma is"):
            wf.gaussian_blur(image, sigma)


@pytest.mark.parametrize("border, padding", [("zero", "constant"), ("clamp", "edge"), ("mirror", "reflect"), ("reflect", "symmetric"),
                                             ("wrap", "wrap")])
@pytest.mark.parametrize("down, across", [(3, 601), (701, 4), (601, 701)])
def test_masks_that_are_much_longer_than_the_image(border, padding, down, across):
    image, rows, columns = np.arange(2 * 9 * 11).reshape(2, 9, 11) % 7 - 3.0, np.arange(down) % 3 - 1.0, np.arange(across) % 5 - 2.0
    sides = [(0, 0), (down // 2, (down - 1) // 2), (across // 2, (across - 1) // 2)]
    padded = np.pad(image, sides, padding)
    expected = np.apply_along_axis(np.convolve, 1, np.apply_along_axis(np.convolve, 2, padded, columns, "valid"), rows, "valid")
    assert_same(wf.separable_filter(image, rows, columns, border=border), expected)


@pytest.mark.skipif(ON_A_SOFTWARE_GPU, reason="slow")
def test_blur_of_a_few_elements_by_a_wide_gaussian():
    """Memory and time grow with the mask's length, not with its square."""
    np.testing.assert_allclose(wf.gaussian_blur(np.ones((3, 3)), 1e4), 1, 1e-12)
