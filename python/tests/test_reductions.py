# SPDX-License-Identifier: MIT
"""Reductions beside NumPy's."""
import warnings

import numpy as np
import pytest
from hypothesis import given, strategies as st

import warpfold as wf
from support import LAYOUTS, TYPES, arrays, assert_same, laid_out, moderate, outcome, tolerance_of, with_axis

flags = st.booleans()


def both(name, *arguments, **options):
    """Our outcome and NumPy's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return outcome(getattr(wf, name), *arguments, **options), outcome(getattr(np, name), *arguments, **options)


@given(with_axis(arrays(elements=moderate)), flags)
def test_sums(case, keepdims):
    array, axis = case
    assert_same(*both("sum", array, axis=axis, keepdims=keepdims), tolerance=tolerance_of(array.dtype))


@given(with_axis(arrays(elements=lambda t: st.sampled_from([-1.0, 0.5, 1.0, 2.0]) if t.kind == "f" else None, max_side=4)))
def test_products(case):
    array, axis = case
    assert_same(*both("prod", array, axis=axis), tolerance=tolerance_of(array.dtype))


@given(arrays(types=[np.dtype(name) for name in ("float16", "float32", "float64")]))
def test_special_values_in_sums(array):
    ours, theirs = both("sum", array)
    if not np.isfinite(theirs):
        return  # whether a finite sum overflows depends on the order of the additions
    assert np.isfinite(array).all() == np.isfinite(ours)


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_special_value_decides_a_sum(special, dtype):
    array = np.ones((5, 7), dtype)
    array[3, 2] = special
    for axis in (None, 0, 1):
        assert_same(*both("sum", array, axis=axis))
        assert_same(*both("var", array, axis=axis), tolerance=1e-5)


@pytest.mark.parametrize("name", ["min", "max"])
@given(with_axis(arrays()), flags)
def test_extremes(name, case, keepdims):
    array, axis = case
    assert_same(*both(name, array, axis=axis, keepdims=keepdims))


@given(with_axis(arrays()))
def test_both_extremes(case):
    array, axis = case
    ours = outcome(wf.minmax, array, axis)
    theirs = outcome(np.min, array, axis)
    if isinstance(theirs, type):
        assert ours is theirs
        return
    assert_same(ours[0], theirs)
    assert_same(ours[1], np.max(array, axis))


@pytest.mark.parametrize("name", ["argmin", "argmax"])
@given(arrays(elements=lambda t: st.sampled_from([-1.0, -0.0, 0.0, 1.0, np.nan]) if t.kind == "f" else
              st.sampled_from([0, 1]) if t.kind == "b" else st.integers(0, 3)), st.sampled_from([None, 0, -1, 1, 2]), flags)
def test_indices_of_extremes(name, array, axis, keepdims):
    assert_same(*both(name, array, axis=axis, keepdims=keepdims))


@pytest.mark.parametrize("name", ["any", "all"])
@given(with_axis(arrays(elements=lambda t: st.sampled_from([0, 1]))), flags)
def test_truth(name, case, keepdims):
    array, axis = case
    assert_same(*both(name, array, axis=axis, keepdims=keepdims))


@given(with_axis(arrays()))
def test_counts(case):
    array, axis = case
    assert_same(*both("count_nonzero", array, axis=axis))
    assert wf.count is wf.count_nonzero


@pytest.mark.parametrize("name", ["mean", "var"])
@given(with_axis(arrays(elements=moderate)), flags)
def test_moments(name, case, keepdims):
    array, axis = case
    if array.dtype.kind != "f":
        array = array % 64 if array.dtype.kind != "b" else array
    assert_same(*both(name, array, axis=axis, keepdims=keepdims), tolerance=3 * tolerance_of(array.dtype))


COMPLEX = [np.dtype(np.complex64), np.dtype(np.complex128)]


@pytest.mark.parametrize("name", ["mean", "var"])
@given(with_axis(arrays(types=COMPLEX, elements=lambda t: st.builds(complex, *(st.integers(-512, 512).map(lambda k: k / 8),) * 2))),
       flags)
def test_moments_of_complex_numbers(name, case, keepdims):
    array, axis = case
    ours, theirs = both(name, array, axis=axis, keepdims=keepdims)
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
    tolerance = 1e-4 if array.dtype.itemsize == 8 else 1e-12
    np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


def test_arguments_of_complex_moments():
    array = (np.arange(12) + 1j * np.arange(12)[::-1]**2).reshape(3, 4).astype(np.complex64)
    where = np.arange(12).reshape(3, 4) % 5 != 1
    for name in ("mean", "var"):
        assert_same(getattr(wf, name)(memoryview(array)), getattr(wf, name)(array))
    for name, options in [("mean", {"dtype": np.complex128}), ("var", {"ddof": 1, "axis": 0}), ("var", {"ddof": 1.5})]:
        ours, theirs = both(name, array, where=where, **options)
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=1e-5)
    for name, dtype in (("mean", np.complex128), ("var", np.float32), ("var", np.complex64)):
        room = np.empty((3, 1), dtype)
        assert getattr(wf, name)(array, axis=1, keepdims=True, out=room) is room
        np.testing.assert_allclose(room, getattr(np, name)(array, axis=1, keepdims=True), rtol=1e-5)
    assert wf.mean([1j, 2]) == 1 + 0.5j and wf.var([1j, 1]) == 0.5
    infinite = wf.mean(np.array([complex(np.inf, 1), complex(1, 3)]))
    assert infinite.real == np.inf and infinite.imag == 2
    assert np.isnan(wf.var(np.array([complex(np.inf, 1), 1])))
    with pytest.warns(RuntimeWarning, match="Mean of empty slice") as caught:
        assert np.isnan(wf.mean(np.zeros(0, complex)))
    assert len(caught) == 1 and caught[0].filename == __file__
    with pytest.warns(RuntimeWarning, match="Degrees of freedom") as caught:
        assert np.isnan(wf.var(np.ones(2, complex), ddof=2))
    assert len(caught) == 1 and caught[0].filename == __file__


@pytest.mark.parametrize("dtype", ["float32", "int16", "complex128", "float16"])
@pytest.mark.parametrize("axis", [None, 0, (0, 2)])
def test_variances_of_given_means(dtype, axis):
    array = (np.arange(60).reshape(3, 4, 5) % 7 * (1 - 2j if dtype == "complex128" else 1)).astype(dtype)[::-1]
    where = np.arange(5) != 2
    kept = np.mean(array, axis=axis, keepdims=True)
    for mean in (kept, kept + 1, kept.real, 2):
        for options in ({"correction": 1}, {"keepdims": True, "ddof": 1}, {"where": where}):
            ours, theirs = both("var", array, axis=axis, mean=mean, **options)
            assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
            np.testing.assert_allclose(ours, theirs, rtol=2e-3 if dtype == "float16" else 1e-5)
    with pytest.raises(ValueError, match="var: ddof and correction"):
        wf.var(array, ddof=1, correction=1)
    with pytest.raises(ValueError, match="var: mean has shape"):
        wf.var(array, axis=1, mean=np.zeros((3, 2, 5)))


@pytest.mark.parametrize("call, error", [
    (lambda a: wf.mean(a, dtype=np.float32), TypeError),
    (lambda a: wf.var(a, dtype=np.complex128), TypeError),
    (lambda a: wf.mean(a, out=np.zeros(())), TypeError),
    (lambda a: wf.var(a, out=np.zeros(2)), ValueError),
    (lambda a: wf.mean(a, out=[]), TypeError),
    (lambda a: wf.mean(a.astype(np.clongdouble)), TypeError),
    (lambda a: wf.mean(a, axis=1), np.exceptions.AxisError),
])
def test_bad_arguments_of_complex_moments(call, error):
    with pytest.raises(error):
        call(np.ones(3, complex))


def test_a_mean_of_nothing_warns():
    with pytest.warns(RuntimeWarning, match="Mean of empty slice"):
        assert np.isnan(wf.mean(np.zeros(0)))
    with pytest.warns(RuntimeWarning, match="Degrees of freedom"):
        assert np.isnan(wf.var(np.ones(3), ddof=3))


@pytest.mark.parametrize("ddof", [0, 1, 1.5])
def test_ddof(ddof):
    array = np.arange(12.0).reshape(3, 4)
    assert_same(*both("var", array, axis=0, ddof=ddof), tolerance=1e-14)


@given(with_axis(arrays(elements=moderate)), st.data())
def test_where_and_initial(case, data):
    array, axis = case
    where = data.draw(st.sampled_from(
        [True, np.arange(array.size).reshape(array.shape) % 3 == 0, np.zeros((1,) * array.ndim, bool)]))
    tolerance = 3 * tolerance_of(array.dtype)
    for name in ("sum", "prod") if array.size < 20 else ("sum",):
        if name == "prod" and array.dtype.kind == "f":
            continue
        assert_same(*both(name, array, axis=axis, where=where), tolerance=tolerance)
        assert_same(*both(name, array, axis=axis, where=where, initial=3), tolerance=tolerance)
    for name in ("min", "max"):
        assert_same(*both(name, array, axis=axis, where=where, initial=1))
        assert_same(*both(name, array, axis=axis, where=where))
    for name in ("any", "all", "mean", "var"):
        assert_same(*both(name, array % 16 if array.dtype.kind in "iu" else array, axis=axis, where=where),
                    tolerance=tolerance)


@pytest.mark.parametrize("name", ["sum", "prod", "min", "max"])
def test_initial_values_in_the_memory_of_out(name):
    array, out = np.array([2.0, 7.0]), np.array(5.0)
    assert_same(getattr(wf, name)(array, out=out, initial=out), getattr(np, name)(array, initial=5.0))
    with pytest.raises(TypeError, match=f"{name}: initial is of type str"):
        getattr(wf, name)(array, out=out.view(), initial="a")
    assert_same(out, getattr(np, name)(array, initial=5.0))


def test_initial_values_of_both_extremes_in_the_memory_of_out():
    low, high = np.array(7.0), np.array(0.0)
    wf.minmax(np.array([3.0, 4.0]), out=(low, high), initial=(high, low))
    assert (low, high) == (0, 7)


@pytest.mark.parametrize("name, values, initial", [("prod", [300, 300], 0.01), ("sum", [60000, 60000], -60000), ("prod", [300, 300], 0)])
@pytest.mark.parametrize("dtype", [np.float16, np.int64])
def test_initial_values_join_float16_before_it_is_rounded(name, values, initial, dtype):
    array = np.array([values] * 3, dtype)
    for options in ({"axis": 1}, {"axis": 1, "keepdims": True}, {"axis": 1, "where": np.ones(2, bool)}):
        assert_same(*both(name, array, dtype=np.float16, initial=initial, **options))


@pytest.mark.parametrize("dtype", ["uint8", "uint64", "int16"])
@pytest.mark.parametrize("initial", [-3, -3.0, np.int64(-3), np.float32(-3), np.int64(300), np.uint64(2**63 + 5), np.array(300), True], ids=repr)
def test_types_of_initial_values(dtype, initial):
    array = np.array([42, 7], dtype)
    for name in ("sum", "min"):
        assert_same(*both(name, array, initial=initial))


@pytest.mark.parametrize("name", ["sum", "min", "mean", "var"])
def test_axes_of_an_array_without_axes(name):
    for axis in (None, 0, -1, 1, (), (0,)):
        assert_same(*both(name, np.array(3.0), axis=axis))


@pytest.mark.parametrize("target", TYPES, ids=str)
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_types_of_results(dtype, target):
    array = np.array([[3, 100, 7], [0, 1, 127]]).astype(dtype)
    for axis in (None, 0, 1):
        assert_same(*both("sum", array, axis=axis, dtype=target), tolerance=tolerance_of(target))
        assert_same(*both("prod", array, axis=axis, dtype=target), tolerance=tolerance_of(target))
        assert_same(*both("cumsum", array, axis=axis, dtype=target), tolerance=tolerance_of(target))


@pytest.mark.parametrize("name", ["sum", "prod", "min", "max", "any", "all", "argmin", "argmax", "mean", "var"])
@pytest.mark.parametrize("target", ["int16", "int64", "uint8", "float64", "bool", ">i4"])
def test_out(name, target):
    array = np.arange(1, 13, dtype=np.float64).reshape(3, 4) * 1.5 % 7
    for axis, shape in ((0, (4,)), (1, (3,)), (None, ())):
        ours, theirs = np.zeros(shape, target), np.zeros(shape, target)
        result = outcome(getattr(wf, name), array, axis=axis, out=ours)
        expected = outcome(getattr(np, name), array, axis=axis, out=theirs)
        assert result is ours or result is expected is TypeError
        assert_same(ours, theirs, 1e-15)


def test_out_with_strides_and_in_the_input():
    array = np.arange(24.0).reshape(4, 6)
    room = np.zeros((6, 8))
    wf.sum(array, axis=0, out=room[::-1, 3])
    np.testing.assert_array_equal(room[::-1, 3], array.sum(axis=0))
    assert np.count_nonzero(room) == 6
    expected = array.max(axis=0)
    wf.max(array, axis=0, out=array[1])
    np.testing.assert_array_equal(array[1], expected)
    kept = np.zeros((4, 1))
    assert wf.mean(array, axis=1, keepdims=True, out=kept) is kept


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "cumsum", "cumprod"])
@pytest.mark.parametrize("target", ["float32", ">f4", ">f8"])
def test_float16_into_a_wider_out(name, target):
    array = np.float16([60000, 60000, 3])
    ours, theirs = (np.zeros(array.shape if name[:3] == "cum" else (), target) for _ in range(2))
    getattr(wf, name)(array, out=ours)
    getattr(np, name)(array, out=theirs)
    assert_same(ours, theirs, 1e-6)


def test_variances_of_float16_into_a_wider_out():
    array = np.float16([60000, 60000, 0])
    assert_same(wf.var(array, out=np.zeros((), np.float32)), np.var(array, dtype=np.float32, out=np.zeros((), np.float32)), 1e-6)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # of matrices
@pytest.mark.parametrize("name", ["sum", "prod", "min", "max", "any", "all", "mean", "var", "argmin", "exact_sum"])
@pytest.mark.parametrize("axis", [0, 1])
def test_out_is_a_matrix(name, axis):
    array = np.arange(12.0).reshape(3, 4)
    expected = getattr(wf, name)(array, axis=axis, keepdims=True)
    room = np.asmatrix(np.zeros_like(expected))
    assert getattr(wf, name)(array, axis=axis, keepdims=True, out=room) is room
    assert_same(np.asarray(room), expected)


@pytest.mark.parametrize("axis", [0, -1, 1, np.int8(-1), np.array(0), 0.0, np.float64(0), np.array([0]), np.array([0, 1]), "a", (0,)],
                         ids=repr)
@pytest.mark.parametrize("name", ["sum", "max", "any", "count_nonzero"])
def test_axes_of_scalars(name, axis):
    assert_same(*both(name, 5.0, axis=axis))


def test_where_is_an_empty_list():
    for array in (np.zeros(0), np.zeros((3, 0)), np.zeros(3)):
        for name in ("sum", "any", "prod"):
            assert_same(*both(name, array, where=[]))


@pytest.mark.parametrize("n", [0, 1, 2, 63, 64, 65, 1023, 4097, 65536 + 1, 300007])
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_long_arrays(n, dtype):
    array = (np.random.default_rng(n).integers(0, 2, n) if dtype.kind == "b" else
             np.random.default_rng(n).integers(0, 100, n)).astype(dtype)
    assert_same(*both("sum", array.astype(np.float32) if dtype == np.float16 else array))  # exact in any order
    if n:
        for name in ("min", "max", "argmin", "argmax"):
            assert_same(*both(name, array))
        reference = np.var(array.astype(np.float32) if dtype == np.float16 else array)  # NumPy's own overflows
        assert_same(wf.var(array), reference.astype(dtype) if dtype == np.float16 else reference, 3 * tolerance_of(dtype))


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "int64", "float16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(3, 70001), (70001, 9), (1025, 300), (2, 513, 33)])
def test_long_segments(shape, dtype):
    array = np.random.default_rng(2).integers(0, 2 if dtype == "bool" else 90, shape).astype(dtype)
    last = array.reshape(-1)[-1:]
    for special in [1] + [-0.0, np.nan] * (array.dtype.kind == "f"):
        last[...] = special
        for axis in (None, 0, 1):
            for name in ("argmin", "argmax"):
                assert_same(*both(name, array, axis=axis))
                assert_same(*both(name, array[..., ::-1], axis=axis))
            if dtype != "float16":  # NumPy's own overflows
                ours, exact = wf.var(array, axis=axis), np.var(array, axis=axis, dtype=np.float64)
                assert_same(ours, exact.astype(ours.dtype), tolerance=3 * tolerance_of(ours.dtype))
                assert_same(*both("mean", array, axis=axis), tolerance=tolerance_of(np.dtype(dtype)))
        assert_same(wf.minmax(array)[0], np.min(array))
        assert_same(wf.minmax(array, 0)[1], np.max(array, 0))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_of_long_arrays(layout):
    array = laid_out(np.random.default_rng(1).integers(-1000, 1000, (37, 11, 101)).astype(np.int32), layout)
    for axis in (None, 0, 1, 2, (0, 2), (1, 2)):
        assert_same(*both("sum", array, axis=axis))
        assert_same(*both("max", array, axis=axis))


def test_nine_axes():
    array = np.arange(2**9).reshape((2,) * 9)
    assert_same(*both("sum", array.transpose(3, 1, 0, 8, 7, 2, 5, 4, 6), axis=(0, 2, 4, 6, 8)))


@pytest.mark.parametrize("call", [
    lambda m: m.sum(np.zeros((2, 3)), axis=2),
    lambda m: m.sum(np.zeros((2, 3)), axis=(0, -2)),
    lambda m: m.sum(np.zeros((2, 3)), axis=1.5),
    lambda m: m.sum(np.zeros((2, 3)), out=np.zeros(2)),
    lambda m: m.sum(np.zeros((2, 3)), where=np.zeros(5, bool)),
    lambda m: m.sum(np.zeros(3), axis="x"),
    lambda m: m.min(np.zeros((0, 3))),
    lambda m: m.min(np.zeros((0, 3)), axis=0),
    lambda m: m.max(np.zeros(3), where=np.ones(3, bool)),
    lambda m: m.argmin(np.zeros((0, 3)), axis=0),
    lambda m: m.argmax(np.zeros(3), axis=(0,)),
    lambda m: m.argmax(np.zeros(3), axis=1),
    lambda m: m.argmax(np.float64(1), axis=1),
    lambda m: m.mean(np.zeros(3), axis=4),
    lambda m: m.mean(np.zeros((2, 2)), out=np.zeros(3)),
    lambda m: m.any(np.zeros(3), axis=-2),
    lambda m: m.count_nonzero(np.zeros(3), axis=2),
])
def test_errors(call):
    theirs = outcome(call, np)
    assert isinstance(theirs, type)
    assert issubclass(outcome(call, wf), theirs)


def test_messages_name_the_call_and_the_argument():
    with pytest.raises(TypeError, match="sum: a has dtype complex128"):
        wf.sum(np.zeros(3, complex))
    with pytest.raises(TypeError, match="max: a has dtype object"):
        wf.max([1, "x", None])
    with pytest.raises(ValueError, match=r"sum: out has shape \(2,\), and the result \(3,\)"):
        wf.sum(np.zeros((2, 3)), axis=0, out=np.zeros(2))
    frozen = np.zeros(())
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="sum: out is read-only"):
        wf.sum(np.zeros(3), out=frozen)


@pytest.mark.parametrize("out", TYPES, ids=str)
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_outputs_of_other_types_choose_the_type_of_the_loop(dtype, out):
    values = np.array([100, 200, 3, 250], np.float64).astype(dtype)
    for name in ("sum", "prod", "cumsum", "cumprod"):
        shape = values.shape if name.startswith("cum") else ()
        ours, theirs = np.zeros(shape, out), np.zeros(shape, out)
        with np.errstate(all="ignore"):
            assert getattr(wf, name)(values, out=ours) is ours
            getattr(np, name)(values, out=theirs)
        assert_same(ours, theirs, 2e-3 if np.float16 in (dtype, out) else 1e-6)
    if np.can_cast(dtype, out, "same_kind"):  # else NumPy compares with elements that were cast to the output's type
        for name, initial in (("max", 2.5), ("min", 2.5)):
            first = initial if out.kind == "f" else 1
            ours, theirs = np.zeros((), out), np.zeros((), out)
            getattr(wf, name)(values, out=ours, initial=first)
            getattr(np, name)(values, out=theirs, initial=first)
            assert_same(ours, theirs)


def test_outputs_hold_what_64_bits_do_not():
    assert_same(wf.prod([10**10] * 3, out=np.zeros((), "f4")), np.float32(1e30))
    assert_same(wf.cumsum([2**62] * 3, out=np.zeros(3, "f4")), np.array([2.0**62, 2.0**63, 3 * 2.0**62], "f4"))
    assert wf.max(np.array([1, 2], "u2"), initial=2.5, out=np.zeros(())) == 2.5
    smallest, largest = wf.minmax(np.array([1, 2], "u2"), initial=(0.5, 2.5), out=(np.zeros(()), np.zeros(())))
    assert (smallest, largest) == (0.5, 2.5)
    assert wf.mean(np.array([1, 2**-24, 2**-24, 2**-24], "f4"), out=np.zeros(())) == (1 + 3 * 2.0**-24) / 4


@pytest.mark.parametrize("name", ["sum", "prod", "min", "max", "minmax", "mean", "var", "any", "cumsum", "norm", "exact_var"])
def test_floating_point_errors_are_not_raised(name):
    """NumPy's state of errors does not reach into calls: results are infinite or NaN in silence."""
    with np.errstate(all="raise"):
        for values in ([1.0, 2.0, 4.0], [1e308, 1e308], [5e-324, 5e-324], [np.inf, -np.inf], [np.nan, 1.0]):
            for dtype in (np.float64, np.float32):
                with np.errstate(all="ignore"):
                    array = np.array(values).astype(dtype)
                getattr(wf, name)(array)
                getattr(wf, name)(array, axis=0)


@pytest.mark.parametrize("name", ["mean", "var"])
@pytest.mark.parametrize("where", [np.True_, np.array(True), np.array(False)], ids=str)
def test_axes_of_scalars_with_where(name, where):
    for axis in (0, -1, 1, (0,), ()):
        assert_same(*both(name, np.array(3.0), axis=axis, where=where))


def test_a_complex_type_of_real_means_is_an_error_of_its_own():
    with pytest.raises(TypeError, match="mean: the result has dtype complex128; accepted are float16, float32 and float64"):
        wf.mean([1.0], dtype=complex)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "float16", "float32", "int64"])
@pytest.mark.parametrize("length", [1, 63, 64, 65, 5000, 70_000])
def test_one_element_decides_a_row(dtype, length):
    for is_all in (False, True):
        rows = np.full((9, length), is_all, dtype)
        for row, place in enumerate((0, length // 2, length - 1, min(63, length - 1), min(64, length - 1))):
            rows[row, place] = not is_all
        if dtype.startswith("f"):
            rows[5, 0], rows[6, -1] = (np.nan, np.inf) if is_all else (-0.0, -0.0)
        for some in (rows, rows[::-2], np.repeat(rows, 2, axis=0)[::2]):
            assert_same(wf.any(some, 1), np.any(some, 1))
            assert_same(wf.all(some, 1), np.all(some, 1))
        if dtype == "bool":
            assert_same(wf.min(rows, 1), np.min(rows, 1))
            assert_same(wf.max(rows, 1), np.max(rows, 1))


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_all_elements_in_the_order_of_memory(dtype):
    cube = (np.arange(2 * 300 * 41) % 7 == 3).reshape(2, 300, 41).astype(dtype)
    for some in (cube.T, cube[::-1, ::-1, ::-1], cube.transpose(1, 2, 0)[::-1], cube[:, ::-3].T, np.broadcast_to(cube[0].T, (2, 41, 300))):
        for name in ("sum", "min", "max", "any", "all", "count_nonzero", "prod"):
            assert_same(getattr(wf, name)(some), np.asarray(getattr(np, name)(some)), tolerance_of(dtype))
        for name in ("argmin", "argmax"):
            assert_same(getattr(wf, name)(some), getattr(np, name)(some))
        assert_same(wf.max(some[:1], axis=(1, 2)), np.max(some[:1], axis=(1, 2)))
    nothing = np.zeros((300, 41), dtype).T[::-1]
    assert not wf.any(nothing) and wf.all(nothing + 1 > 0) and wf.count_nonzero(nothing) == 0


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_narrow_sums_and_products_wrap(dtype):
    limits = np.iinfo(dtype)
    array = np.random.default_rng(2).integers(limits.min, limits.max, (70, 130), dtype, endpoint=True) | 1
    for other in (dtype, "u" + dtype if dtype[0] == "i" else dtype[1:], "int64", "uint64", "int16", "float64"):
        for axis in (None, 0, 1):
            for some in (array, array.T, array[::-1, ::2]):
                for name in ("sum", "prod"):
                    if name == "sum" or other != "float64":
                        assert_same(getattr(wf, name)(some, axis, other), getattr(np, name)(some, axis, other), 1e-12)
    small = (array % 3).astype(dtype)
    assert_same(wf.prod(small, 0, np.float64), np.prod(small, 0, np.float64), 1e-12)
    assert_same(wf.prod(small % 2 == 1, 0, np.float64), np.prod(small % 2 == 1, 0, np.float64))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_nan_is_the_extreme_wherever_it_is(dtype):
    for n in (1, 31, 32, 33, 1000, 70_000):
        array = np.linspace(-1, 1, n).astype(dtype)
        for place in (0, n // 2, n - 1):
            for nan in (np.nan, -np.nan):
                some = array.copy()
                some[place] = nan
                assert np.isnan(wf.max(some)) and np.isnan(wf.min(some)) and wf.argmax(some) == wf.argmin(some) == place
        zeros = np.where(np.arange(n) % 2, dtype(0), -dtype(0))
        assert wf.max(zeros) == 0 == wf.min(zeros) and wf.max(-array) == -wf.min(array)
        assert wf.max(np.append(array, [np.inf, -np.inf]).astype(dtype)) == np.inf
