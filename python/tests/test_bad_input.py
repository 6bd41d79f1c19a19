# SPDX-License-Identifier: MIT
"""Arguments at fault: an exception of NumPy's kinds that names call and argument; and `out` in the memory of an input."""
import array as standard
import ctypes

import numpy as np
import pytest

import warpfold as wf
from support import assert_same

LINE, GRID, PLACE = np.arange(6.0), np.arange(12.0).reshape(3, 4), np.zeros(8)
REFUSED = {"object": np.array([1, "a"], object), "text": np.array(["a", "b"]), "date": np.array(["2020"], "M8[s]"),
           "record": np.zeros(3, [("x", "f4"), ("y", "i4")]), "long double": np.zeros(3, np.longdouble), "complex": np.zeros(3, complex),
           "mask": np.ma.array([1.0, 2.0], mask=[0, 1]), "None": None, "ragged": [[1.0, 2.0], [3.0]], "dict": {1: 2},
           "large": [2**70], "bytes": b"abc"}
FUNCTIONS = {name: getattr(wf, name) for name in (
    "sum", "prod", "min", "max", "minmax", "any", "all", "count_nonzero", "argmin", "argmax", "mean", "var", "norm", "cumsum",
    "cumprod", "cummin", "cummax", "run_length_encode", "unique_consecutive", "histogram", "bincount")} | {
        "convolve": lambda x: wf.convolve(LINE, x), "correlate": lambda x: wf.correlate(x, LINE), "convolve2d": lambda x: wf.convolve2d(GRID, x),
        "gaussian_blur": lambda x: wf.gaussian_blur(x, 1), "digitize": lambda x: wf.digitize(x, [1.0]), "select": lambda x: wf.select(x, [True]),
        "partition_by": lambda x: wf.partition_by(LINE, x), "reduce_by_key": lambda x: wf.reduce_by_key(LINE, x),
        "segment_sum": lambda x: wf.segment_sum(x, [0, 1]), "segment_min": lambda x: wf.segment_min(LINE, x), "scan": lambda x: wf.scan(x, "sum")}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_elements_that_no_call_takes(name):
    for kind, x in REFUSED.items():
        if kind == "complex" and name in ("mean", "var"):
            continue
        with pytest.raises((TypeError, ValueError)) as caught:
            FUNCTIONS[name](x)
        assert str(caught.value).startswith(name.split("_sum")[0].split("_min")[0]), (kind, caught.value)


@pytest.mark.parametrize("call, error, text", [
    (lambda: wf.sum(GRID, where=[True, False]), ValueError, r"sum: where has shape \(2,\), .* that of a, \(3, 4\)"),
    (lambda: wf.sum(GRID, initial=[1, 2]), ValueError, r"sum: initial has shape \(2,\)"),
    (lambda: wf.max(GRID, initial="a"), TypeError, "max: initial is of type str"),
    (lambda: wf.sum(GRID, initial=np.ma.masked), TypeError, "sum: initial is a masked array"),
    (lambda: wf.histogram2d(1.0, 2.0), ValueError, r"histogram2d: the coordinates have shapes \[\(\), \(\)\]"),
    (lambda: wf.sum(GRID, initial=np.ma.array(1.0)), TypeError, "sum: initial is a masked array"),
    (lambda: wf.var(np.ma.array([1j, 2], mask=[0, 1])), TypeError, "var: a is a masked array"),
    (lambda: wf.mean(np.ma.array([1j, 2], mask=[0, 1])), TypeError, "mean: a is a masked array"),
    (lambda: wf.exact_dot([1j, 2], np.ma.array([1j, 2], mask=[0, 1])), TypeError, "exact_dot: b is a masked array"),
    (lambda: wf.histogram([np.nan, 1.0]), ValueError, r"histogram: autodetected range of \[nan, nan\] is not finite"),
    *((lambda function=function, dtype=dtype, largest=largest: function(np.array([largest, -largest, 0], dtype)), ValueError, "finite")
      for dtype, largest in (("float16", 6e4), ("float32", 3e38), ("float64", 1e308))
      for function in (wf.histogram, lambda x: wf.histogram2d(x, x), lambda x: wf.histogramdd([x, x]))),
    (lambda: wf.sum([np.ma.array([1, 2], mask=[0, 1]), [3, 4]]), TypeError, "sum: a row of a is a masked array"),
    (lambda: wf.sum(np.ma.array([1, 2])), TypeError, r"a\.data, .* where=~numpy\.ma\.getmaskarray\(a\)"),
    (lambda: wf.histogram2d(LINE, [0, 1, 2, 3, 4, np.inf]), ValueError, r"histogram2d: autodetected range of \[0.0, inf\]"),
    (lambda: wf.segment_max(LINE, np.array([0, 3, 2, 5])), ValueError, "segment_max: the offsets decrease"),
    (lambda: wf.segment_max(LINE, [0, 3, 2, 5]), ValueError, "segment_max: the offsets decrease"),
    (lambda: wf.op("abs(a, b)"), ValueError, r"op: abs takes 1 arguments, and has 2 in 'abs\(a, b\)'"),
    (lambda: wf.op("where(a, b)"), ValueError, "op: where takes 3 arguments, and has 2"),
    (lambda: wf.op(lambda a: np.add(a, 1, out=a)), TypeError, "op: add with out is not offered"),
    (lambda: wf.op(lambda a: np.sqrt(a, dtype=np.float32)), TypeError, "op: sqrt with dtype is not offered"),
    (lambda: wf.op(lambda a: np.gcd(a, 2)), TypeError, "op: gcd is not offered"),
    (lambda: wf.scan(LINE, "sum", initial=[1, 2]), ValueError, "scan: initial has shape"),
    (lambda: wf.max(np.int8([1, 2]), initial=300), OverflowError, "max: initial is 300, out of bounds for int8"),
    (lambda: wf.max(np.int8([1, 2]), initial=np.uint8(200)), OverflowError, "max: initial is 200, out of bounds for int8"),
    (lambda: wf.min(np.int8([1, 2]), initial=np.inf), OverflowError, "min: initial is inf, out of bounds for int8"),
    (lambda: wf.min(np.int8([1, 2]), initial=np.nan), ValueError, "min: initial is nan, out of bounds for int8"),
    (lambda: wf.sum(np.uint8([1, 2]), initial=-1), OverflowError, "sum: initial is -1, out of bounds for uint64"),
    (lambda: wf.sum([1, 2], initial=2**70), OverflowError, "sum: initial is 1180591620717411303424, out of bounds for int64"),
    (lambda: wf.scan(np.int8([1, 2]), "max", initial=-129), OverflowError, "scan: initial is -129, out of bounds for int8"),
    (lambda: wf.sum(GRID, where=GRID), TypeError, "sum: where has dtype float64, and must be of bool"),
    (lambda: wf.sum(GRID, where=[0, 1, 1, 2]), TypeError, "sum: where has dtype int64, and must be of bool"),
    (lambda: wf.sum(GRID, keepdims="yes"), TypeError, "keepdims is 'yes', of type str"),
    (lambda: wf.exact_sum(GRID, 0, None), TypeError, "keepdims is None, of type NoneType"),
    (lambda: wf.scan(LINE, "mean"), ValueError, "scan: op is 'mean'"),
    (lambda: wf.sum(GRID, True), TypeError, "axis is True, of type bool"),
    (lambda: wf.mean(GRID, (0, True)), TypeError, r"axis is \(0, True\), of type tuple"),
    (lambda: wf.argmax(GRID, False), TypeError, "axis is False, of type bool"),
    (lambda: wf.cumsum(GRID, np.True_), TypeError, "axis is .*, of type bool"),
    (lambda: wf.max(GRID, {0: 1}), TypeError, "axis is .*, of type dict"),
    (lambda: wf.any(GRID, iter([0])), TypeError, "axis is .*, of type list_iterator"),
    (lambda: wf.all(GRID, b"a"), TypeError, "axis is b'a', of type bytes"),
    (lambda: wf.scan(LINE, ["sum"]), TypeError, "scan: op is"),
    (lambda: wf.var(GRID, ddof=[1, 2]), ValueError, "var: ddof has shape"),
    (lambda: wf.var(GRID, ddof=None), TypeError, "var: ddof is of type NoneType"),
    (lambda: wf.convolve(LINE, LINE, np.zeros(2)), TypeError, "convolve: mode is"),
    (lambda: wf.convolve2d(GRID, GRID, []), TypeError, "convolve2d: mode is"),
    (lambda: wf.gaussian_blur(GRID, 1, border=[]), TypeError, "gaussian_blur: border is"),
    (lambda: wf.op("a + 1").reduce(LINE, op=LINE), TypeError, "op: the reduction is"),
    (lambda: wf.minmax(GRID, out=np.zeros(2)), TypeError, "minmax: out is of type ndarray"),
    (lambda: wf.minmax(GRID, out=(None,)), ValueError, "minmax: out has 1 entries"),
    (lambda: wf.minmax(GRID, 0, out=(None, np.zeros(3))), ValueError, r"minmax: out has shape \(3,\), and the result \(4,\)"),
    *((lambda outs=outs: wf.minmax(GRID, 0, out=outs), ValueError, "minmax: the two arrays of out share memory")
      for outs in ((PLACE[:4], PLACE[:4]), (PLACE[:4], PLACE[3:7]), (PLACE[:4], PLACE[:4].view(np.int64)))),
    (lambda: wf.minmax(GRID, initial=1), TypeError, "minmax: initial is of type int"),
    (lambda: wf.minmax(GRID, where=GRID > 1), ValueError, "minmax: with `where`, `initial` is needed"),
    (lambda: wf.sum(GRID, axis=1.5), TypeError, "axis is 1.5, of type float"),
    (lambda: wf.sum(GRID, axis=(0, "a")), TypeError, "axis is .*, of type tuple"),
    (lambda: wf.sum(GRID, axis=2**70), np.exceptions.AxisError, "axis 1180591620717411303424 is out of bounds"),
    (lambda: wf.cumsum(GRID, axis="a"), TypeError, "axis is 'a', of type str"),
    (lambda: wf.cumsum(GRID, axis=2**70), np.exceptions.AxisError, "axis 1180591620717411303424 is out of bounds"),
    (lambda: wf.bincount([1, 2], minlength=1.5), TypeError, "bincount: minlength is of type float"),
    (lambda: wf.gaussian_blur(GRID, "a"), TypeError, "gaussian_blur: sigma is 'a'"),
    (lambda: wf.gaussian_blur(GRID, 1, truncate=[1]), TypeError, r"gaussian_blur: .* truncate \[1\]"),
    (lambda: wf.digitize(LINE, GRID), ValueError, r"digitize: bins has shape \(3, 4\): "),
    (lambda: wf.digitize(LINE, [0, 2, 1]), ValueError, r"digitize: bins has shape \(3,\): bins must be monotonically"),
    (lambda: wf.histogramdd(GRID, range=True), TypeError, "histogramdd: range is of type bool"),
    (lambda: wf.histogramdd(GRID, range=[1, 2, 3, 4]), ValueError, "histogramdd: range has 1 for a coordinate"),
    (lambda: wf.argmax(np.ones((3, 0, 0)), 1), ValueError, "argmax: attempt to get an index of an empty sequence"),
    (lambda: wf.minmax(GRID[:0]), ValueError, r"minmax: zero-size array .* \(0, 4\)"),
])
def test_arguments_at_fault(call, error, text):
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize("function", [wf.sum, wf.min, wf.any, wf.mean, wf.var, wf.exact_sum, wf.cumsum])
def test_outputs_at_fault(function):
    shape = GRID.shape if function is wf.cumsum else (3,)
    with pytest.raises(ValueError, match=f"{function.__name__}: out is read-only"):
        function(GRID, 1, out=np.broadcast_to(0.0, shape))
    with pytest.raises(ValueError, match=f"{function.__name__}: out has shape"):
        function(GRID, 1, out=np.zeros((5, 5)))
    for room in ([0.0] * 3, "abc", object()):
        with pytest.raises(TypeError, match=f"{function.__name__}: out is of type"):
            function(GRID, 1, out=room)


def test_minmax_into_arrays_and_of_chosen_elements():
    low, high = np.empty(3), np.empty((3, 2), np.float32)[:, 0]
    found = wf.minmax(GRID, 1, out=(low, high))
    assert found[0] is low and found[1] is high
    assert_same(low, GRID.min(1))
    assert_same(high, GRID.max(1).astype(np.float32))
    where = GRID % 3 > 0
    for x in (GRID, GRID[::-1, ::-1], GRID.astype(">f4"), GRID.astype(np.uint8)):
        smallest, largest = wf.minmax(x, 0, True, initial=(7, 5), where=where)
        assert_same(smallest, x.min(0, keepdims=True, initial=7, where=where).astype(x.dtype.newbyteorder("=")))
        assert_same(largest, x.max(0, keepdims=True, initial=5, where=where).astype(x.dtype.newbyteorder("=")))
    assert wf.minmax(GRID[:0], initial=(1, 2)) == (1, 2)


def test_out_in_the_memory_of_an_input():
    shared = GRID.copy()
    wf.minmax(shared, 1, out=(shared[:, 0], shared[:, 1]))
    assert_same(shared[:, :2], np.stack((GRID.min(1), GRID.max(1)), 1))
    mask = np.array([[True, False, True, True]] * 3)
    expected = np.any(GRID, 0, where=mask)
    assert_same(wf.any(GRID, 0, where=mask, out=mask[0]), expected)


def test_what_is_read_as_arrays():
    named = GRID.astype(np.dtype(float).newbyteorder("<"))  # NumPy keeps the name of the byte order, also that of the machine
    for x in (named, named.astype(named.dtype.newbyteorder(">")), named.astype("i4").astype(np.dtype("i4").newbyteorder("<"))):
        assert wf.sum(x) == 66 and wf.sum(x, where=GRID > 4) == 56 and wf.exact_sum(x.astype(named.dtype)) == 66
        assert_same(wf.cumsum(x, 1, out=np.empty_like(x)), np.cumsum(x, 1).astype(x.dtype))
        assert_same(wf.bincount(x.astype(np.dtype(int).newbyteorder("<")).ravel()), np.ones(12, int))
    assert wf.sum((ctypes.c_int * 3)(1, 2, 3)) == 6
    assert wf.sum(standard.array("d", [1, 2])) == 3
    assert wf.sum(memoryview(bytearray(b"ab"))) == 195
    assert_same(wf.cumsum(np.broadcast_to(np.float32(2), 3)), np.array([2, 4, 6], np.float32))
