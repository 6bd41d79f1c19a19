# SPDX-License-Identifier: MIT
"""Operations of users beside NumPy's functions: on the host, and with WARPFOLD_DEVICE=softgpu on the software GPU by NVRTC."""
import hashlib
import os
import pickle
import shutil

import numpy as np
import pytest

import warpfold as wf
from device_values import DeviceValues
from support import assert_same
from warpfold._expression import compilers
from warpfold._expression.functions import FUNCTIONS

ON_GPU = os.environ.get("WARPFOLD_DEVICE") == "softgpu"
try:
    compilers.nvrtc() if ON_GPU else compilers.host_compiler()
except RuntimeError as error:
    pytest.skip(str(error), allow_module_level=True)

TYPES = [np.dtype(name) for name in ("bool", "int8", "uint16", "int32", "int64", "uint64", "float16", "float32", "float64")]
EXACT = {np.sqrt, np.floor, np.ceil, np.trunc}
ROUNDED = {function for function, (_, text) in FUNCTIONS.items() if text.endswith(")") and text[0] != "w" and function not in EXACT
           and function not in (np.rint, np.copysign, np.logical_xor)}


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WARPFOLD_CACHE", str(folder))
        yield folder


def specials(dtype):
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind == "f":
        limits = np.finfo(dtype)
        return np.array([0.0, -0.0, 1, -1, 0.5, -2.5, 3.5, 9.75, np.inf, -np.inf, np.nan, limits.smallest_subnormal, limits.tiny,
                         limits.max], dtype)
    limits = np.iinfo(dtype)
    return np.unique(np.array([limits.min, limits.min + 1, 0, 1, 2, 3, 7, 8, 9, 63, 64, limits.max - 1, limits.max, limits.max // 2],
                              dtype))


def offered(function, dtype):
    """The kind of the results; empty if the function is not offered for the type."""
    try:
        *loop, result = function.resolve_dtypes((dtype,) * function.nin + (None,))
    except TypeError:
        return ""
    return "" if loop[0].kind not in FUNCTIONS[function][0] else "f" if result.kind == "f" else "i"


@pytest.mark.parametrize("kind", ["i", "f"])
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_all_functions(dtype, kind):
    """One operation chooses among the functions by an operand, as every operation is compiled by itself."""
    functions = [function for function in FUNCTIONS if offered(function, dtype) == kind]
    x, y = (z.reshape(-1) for z in np.meshgrid(specials(dtype), specials(dtype)))
    with np.errstate(all="ignore"):
        expected = [function(*(x, y)[:function.nin]) for function in functions]

    def chosen(which, x, y):
        result = functions[0](*(x, y)[:functions[0].nin])
        for k, function in enumerate(functions):
            result = np.where(which == k, function(*(x, y)[:function.nin]), result)
        return result

    which = np.repeat(np.arange(len(functions)), x.size)
    ours = wf.op(chosen)(which, np.tile(x, len(functions)), np.tile(y, len(functions)))
    assert ours.dtype == np.result_type(*expected)
    for function, values, theirs in zip(functions, ours.reshape(len(functions), -1), expected):
        tolerance = {2: 2e-3, 4: 1e-5}.get(theirs.dtype.itemsize, 1e-13)
        theirs = theirs.astype(ours.dtype)
        if function in ROUNDED:
            is_large = np.maximum(*(np.abs(np.nan_to_num(z.astype(float))) for z in (x, y))) > 1e9  # angles, squares
            skipped = is_large & (function in (np.sin, np.cos, np.tan, np.hypot))
            np.testing.assert_allclose(values[~skipped], theirs[~skipped], tolerance, np.finfo(theirs.dtype).tiny, err_msg=function.__name__)
        else:
            np.testing.assert_array_equal(values, theirs, err_msg=function.__name__)
            if theirs.dtype.kind == "f" and function not in (np.minimum, np.maximum):  # of zeros NumPy gives either
                is_zero = theirs == 0
                np.testing.assert_array_equal(np.signbit(values[is_zero]), np.signbit(theirs[is_zero]), err_msg=function.__name__)


@pytest.mark.parametrize("text, function", [
    ("a*b + c", lambda a, b, c: a * b + c),
    ("where((a > 0) & ~(b <= 1), a / b, -abs(c))", lambda a, b, c: np.where((a > 0) & ~(b <= 1), a / b, -abs(c))),
    ("min(a, b) - max(c, 1.5) + pi*inf", lambda a, b, c: np.minimum(a, b) - np.maximum(c, 1.5) + np.pi * np.inf),
    ("sqrt(a*a + b*b) ** 0.5 + c*nan", lambda a, b, c: np.sqrt(a * a + b * b) ** 0.5 + c * np.nan),
])
def test_texts_and_functions(text, function):
    rng = np.random.default_rng(1)
    for dtypes in (("float32", "int16", "float64"), ("int32", "uint8", "float32")):
        arrays = [rng.integers(1, 9, (3, 7)).astype(dtype) for dtype in dtypes]
        theirs = function(*arrays)
        assert_same(wf.op(text)(*arrays), theirs, 1e-14 if theirs.dtype == np.float64 else 1e-6)
        assert_same(wf.op(function)(*arrays), theirs, 1e-14 if theirs.dtype == np.float64 else 1e-6)


@pytest.mark.parametrize("n", [0, 1, 255, 256, 257, 4097, 65536, 65537] + ([] if ON_GPU else [1_000_003]))
def test_reductions(n):
    a = np.random.default_rng(n).integers(-9, 9, n).astype(np.float32)
    b = np.arange(n, dtype=np.int8)
    product, both = wf.op("a * b"), wf.op("a + b")
    assert_same(product.reduce(a, a), np.sum(a * a), 1e-6 if n > 100_000 else 0)
    assert_same(product.reduce(b, b), np.sum(b * b))
    assert_same(product.reduce(a, a, op="exact_sum"), np.float32(np.sum(a.astype(np.float64) ** 2)))
    assert_same(both.reduce(b, b, op="prod"), np.prod(b + b))
    assert_same(wf.op("a > 3").reduce(a), np.sum(a > 3))
    for name, by in (("min", np.min), ("max", np.max)):
        if n:
            assert_same(both.reduce(a, b, op=name), by(a + b))
        else:
            with pytest.raises(ValueError, match="no identity"):
                both.reduce(a, b, op=name)


def test_special_numbers_and_runs():
    a = np.random.default_rng(3).standard_normal(100_003 if not ON_GPU else 20_003).astype(np.float32)
    square = wf.op(lambda x: x * x)
    assert len({square.reduce(a).tobytes() for _ in range(3)}) == 1
    a[77] = np.nan
    assert np.isnan(square.reduce(a)) and np.isnan(square.reduce(a, op="min")) and np.isnan(square.reduce(a, op="max"))
    assert square.reduce(np.array([np.inf, 1]), op="max") == np.inf


def test_layouts_outputs_and_shapes():
    a = np.arange(24.0).reshape(4, 6)
    twice = wf.op("2 * x")
    for view in (a, a.T, a[::-1, ::2], a[1], a[1, 2]):
        assert_same(twice(view), 2 * view)
    out = np.zeros((6, 8))[:, ::2]
    assert twice(a.T, out=out) is out and np.array_equal(out, 2 * a.T)
    assert twice(a, out=a) is a and a[3, 5] == 46
    whole = np.zeros((4, 6), np.int16)
    twice(a.astype(np.int64), out=whole)
    assert whole[3, 5] == 92


def test_shapes_broadcast():
    line, column, one = np.arange(5.0), np.arange(3, dtype=np.int16)[:, None], np.float32(0.5)
    join = wf.op("a + b * c")
    for a, b, c in ((line, column, one), (column, line, np.ones((2, 1, 5))), (line[:0], column, one)):
        assert_same(join(a, b, c), a + b * c)
    assert_same(join.reduce(line, column, one), np.sum(line + column * one))
    assert_same(wf.op("a + b")(one, np.ones((1, 1))), one + np.ones((1, 1)))
    out = np.zeros((3, 5))
    assert join(line, column, one, out=out) is out and np.array_equal(out, line + column * one)


@pytest.mark.parametrize("operand", [slice(0, 1), slice(4, 5), slice(0, 5), slice(1, 6), slice(None, None, -1)], ids=str)
def test_outputs_that_are_operands(operand):
    x = np.arange(1.0, 6) if operand.step else np.arange(1.0, 7)
    out, minuend = x[:5], np.full(5, 10.0)
    theirs = minuend - x[operand]
    assert wf.op("a - b")(minuend, x[operand], out=out) is out
    assert_same(out, theirs)
    x = np.arange(1.0, 7)
    theirs = minuend - x[:5]
    assert_same(wf.op("a - b")(minuend, x[:5], out=x[1:]), theirs)


@pytest.mark.skipif(not ON_GPU, reason="of the GPU")
@pytest.mark.parametrize("operand", [slice(1, 2), slice(0, 5000)], ids=str)
def test_outputs_on_a_gpu_that_are_operands(operand):
    x, minuend = DeviceValues(np.arange(1.0, 5002)), DeviceValues(np.full(5000, 10.0))
    theirs = 10 - x.host[operand]
    wf.op("a - b")(minuend, x.view(lambda y: y[operand]), out=x.view(lambda y: y[1:]))
    np.testing.assert_array_equal(x.done()[1:], np.broadcast_to(theirs, 5000))


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32"])
def test_numbers_of_python_take_the_type_of_the_others(dtype):
    x = np.arange(1, 5).astype(dtype)
    for number in (2, 2.5, np.float64(2)):
        assert_same(wf.op("where(a > 1, a * b, b)")(x, number), np.where(x > 1, x * number, number))
    assert_same(wf.op("a + b")(1, x), 1 + x)
    assert_same(wf.op("a + b").reduce(x, 1), np.sum(x + 1))
    assert_same(wf.op(lambda a, b: b)(x, 2), np.full(4, 2))


def test_integers_of_python_that_do_not_fit():
    add = wf.op("a + b")
    assert_same(add(np.ones(2, np.uint8), 254), np.full(2, 255, np.uint8))
    for dtype, number in ((np.uint8, 300), (np.uint8, -1), (np.int8, 128), (np.int64, 2 ** 63)):
        with pytest.raises(OverflowError):
            add(np.ones(2, dtype), number)
    assert_same(add(np.ones(2, np.uint64), 2 ** 63), np.full(2, 2 ** 63 + 1, np.uint64))
    assert_same(add(np.ones(2, np.float32), 2 ** 63), np.full(2, 2.0 ** 63, np.float32))


def test_float16_is_rounded_after_each_function():
    every = np.arange(1 << 16, dtype=np.uint16).view(np.float16)  # all numbers
    with np.errstate(all="ignore"):
        assert_same(wf.op("a")(every), every)
        assert_same(wf.op("a * 3 + 0.1")(every), every * 3 + np.float16(0.1))
        assert_same(wf.op("a * b")(every, every[::-1].copy()), every * every[::-1])
    few = every[np.isfinite(every)][::7]
    assert_same(wf.op("a").reduce(few, op="max"), few.max())
    assert_same(wf.op("a + a").reduce(np.full(3000, 7, np.float16)), np.float16(42000))
    assert_same(wf.op("a").reduce(np.full(3000, 100, np.float16)), np.float16(np.inf))


def test_constants_and_the_order_of_names():
    assert wf.op("b - a").names == ["a", "b"] and wf.op(lambda b, a: b - a).names == ["b", "a"]
    assert wf.op("b - a")(np.array([1]), np.array([5]))[0] == 4
    assert_same(wf.op(lambda x: 5)(np.zeros(3)), np.full(3, 5))
    assert_same(wf.op("x + 9223372036854775807")(np.array([0])), np.array([2 ** 63 - 1]))
    assert_same(wf.op("x - 9223372036854775807 - 1")(np.array([0])), np.array([-2 ** 63]))
    assert_same(wf.op(lambda x: x + np.float64(1))(np.ones(2, np.float32)), np.full(2, 2.0))


def test_augmented_assignments():
    def augmented(a, b):
        total = a
        total += b
        total *= 2
        total -= a
        total /= 4
        return total

    x, y = np.array([1.0, 5.0]), np.array([7.0, -2.0])
    assert_same(wf.op(augmented)(x, y), ((x + y) * 2 - x) / 4)


def test_integers_of_python_that_only_floating_point_types_have():
    for number in (2**70, -2**70):
        assert_same(wf.op("a + b")(number, np.ones(2)), number + np.ones(2))
        assert_same(wf.op("a * b").reduce(np.ones(2, np.float32), number), np.float32(2.0 * number))
        with pytest.raises(OverflowError):
            wf.op("a + b")(np.ones(2, int), number)


@pytest.mark.parametrize("function", ["a * 2 + b", lambda a, b: np.where(a > b, a, b)])
def test_operations_are_pickled_without_compiled_code(function):
    operation, x, y = wf.op(function), np.array([1.0, 5.0]), np.array([3.0, 4.0])
    for _ in range(2):
        again = pickle.loads(pickle.dumps(operation))
        assert again.names == operation.names and repr(again) == repr(operation)
        assert_same(again(x, y), operation(x, y))


@pytest.mark.parametrize("text", ["", "1 + 2", "a +", "__import__('os')", "a.real", "a[0]", "lambda: a", "(b := a)", "a if a else 1", "'x' + a",
                                  "a < b < c", "a and b", "not a", "f(a)", "sqrt(a, out=b)", "[a]", "a @ b", "sqrt + a", "a is b",
                                  "1j * a", "(lambda x: x)(a)", "abs(a, b)", "min(a)", "where(a, b)"])
def test_texts_that_are_no_arithmetic(text):
    with pytest.raises((ValueError, TypeError), match="op: "):
        wf.op(text)


@pytest.mark.parametrize("text", ["1/0*x", "2.0**10000*x", "9**9**9**9*x", "x + (1 << 10**9)", "pow(9, 10**30)*x", "1 << -1*x + 1//0",
                                  "+".join(["x"] * 20000), "-" * 3000 + "x", "(" * 300 + "x" + ")" * 300])
def test_texts_whose_constants_or_depth_are_too_large(text):
    with pytest.raises(ValueError, match="op: "):
        wf.op(text)


def test_sums_of_hundreds_of_terms():
    x = np.arange(5.0)
    assert wf.op("+".join(["x"] * 400))(x).tolist() == (400 * x).tolist()
    assert wf.op("2**3*x + (1 << 4)")(x).tolist() == (8 * x + 16).tolist()


@pytest.mark.parametrize("call", [
    lambda: wf.op(lambda a: a if a > 0 else -a), lambda: wf.op(lambda a: np.sum(a)), lambda: wf.op(lambda a: np.add.reduce(a)),
    lambda: wf.op(lambda a: np.median(a)), lambda: wf.op(lambda a: list(a)), lambda: wf.op(lambda *a: a[0]),
    lambda: wf.op(lambda a: np.gcd(a, 2)), lambda: wf.op(lambda a: "x")(np.ones(2)), lambda: wf.op("a + b")(np.ones(2)),
    lambda: wf.op("a * 2").reduce(np.ones(2, np.float16), op="exact_sum"), lambda: wf.op("a + 1")(np.ones(2, complex)), lambda: wf.op("a & 1")(np.ones(2)),
    lambda: wf.op("a // 2")(np.ones(2)), lambda: wf.op("a % 2")(np.ones(2)), lambda: wf.op("a ** 2")(np.ones(2, int)),
    lambda: wf.op("floor(a)")(np.ones(2, int)), lambda: wf.op("isnan(a)")(np.ones(2, bool)),
    lambda: wf.op("a < b")(np.ones(2, np.int64), np.ones(2, np.uint64)),
    lambda: wf.op("a * 2").reduce(np.ones(2, int), op="exact_sum")])
def test_operations_that_are_not_offered(call):
    with pytest.raises(TypeError):
        call()


def test_other_errors():
    with pytest.raises(ValueError, match=r"the shapes do not broadcast: a \(2,\), b \(3, 1, 4\)"):
        wf.op("a + b")(np.ones(2), np.ones((3, 1, 4)))
    with pytest.raises(ValueError, match="the reduction is 'mean'"):
        wf.op("a").reduce(np.ones(2), op="mean")
    with pytest.raises(ValueError, match="no operands"):
        wf.op(lambda: 1)
    with pytest.raises(OverflowError):
        wf.op("a + 300")(np.ones(2, np.uint8))


@pytest.fixture
def forgetful(monkeypatch, tmp_path):
    """An empty cache, and no memory of what was compiled or found."""
    functions = (compilers.host_compiler, compilers.host_function, compilers.nvrtc, compilers.image)
    for function in functions:
        function.cache_clear()
    monkeypatch.setenv("WARPFOLD_CACHE", str(tmp_path / "cache"))
    yield tmp_path / "cache"
    for function in functions:
        function.cache_clear()


def test_the_cache_is_used_by_later_processes(monkeypatch, forgetful):
    assert wf.op("a + 17")(np.ones(2))[0] == 18
    made = list(forgetful.iterdir())
    assert len(made) == 1 and made[0].suffix == (".ptx" if ON_GPU else ".so")
    for function in (compilers.host_function, compilers.image):
        function.cache_clear()
    monkeypatch.setattr(compilers, "_output", None)
    run = compilers.subprocess.run
    monkeypatch.setattr(compilers.subprocess, "run", lambda command, **options: run(command, **options) if "--version" in command else 1 / 0)
    assert wf.op("a + 17")(np.ones(3))[2] == 18


def test_a_folder_that_others_may_write_is_no_cache(forgetful):
    forgetful.mkdir()
    forgetful.chmod(0o777)
    assert wf.op("a + 18")(np.ones(2))[0] == 19
    assert not list(forgetful.iterdir())


def test_without_a_compiler_the_error_says_so(monkeypatch, forgetful):
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(compilers, "cuda_libraries", lambda name: [])
    with pytest.raises(RuntimeError, match="needs NVRTC, and there is none" if ON_GPU else "needs a C\\+\\+ compiler, and there is none"):
        wf.op("a + 19")(np.ones(2))


@pytest.mark.skipif(ON_GPU, reason="of the host")
@pytest.mark.parametrize("damage", [lambda file: file[:100], lambda file: file[:-1], lambda file: file[:len(file) // 2],
                                    lambda file: file[:200] + bytes(len(file) - 200), lambda file: b""])
def test_a_damaged_file_of_the_cache_is_made_again(monkeypatch, forgetful, tmp_path, damage):
    assert wf.op("a + 22")(np.ones(2))[0] == 23
    (made,) = forgetful.iterdir()
    damaged = tmp_path / "other" / made.name  # the loader does not open a path again
    damaged.parent.mkdir(mode=0o700)
    damaged.write_bytes(damage(made.read_bytes()))
    monkeypatch.setenv("WARPFOLD_CACHE", str(damaged.parent))
    compilers.host_function.cache_clear()
    assert wf.op("a + 22")(np.ones(2))[0] == 23
    assert damaged.read_bytes()[-compilers.DIGEST_BYTES:] == hashlib.sha256(damaged.read_bytes()[:-compilers.DIGEST_BYTES]).digest()


@pytest.mark.skipif(ON_GPU, reason="of the host")
def test_the_message_of_a_compiler_is_shown(monkeypatch, forgetful):
    broken = forgetful.parent / "broken"
    broken.write_text("#!/bin/sh\necho it is broken >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("CXX", str(broken))
    with pytest.raises(RuntimeError, match="it is broken"):
        wf.op("a + 20")(np.ones(2))
    assert not list(forgetful.iterdir())


@pytest.mark.skipif(ON_GPU, reason="of the host")
def test_a_compiler_that_writes_no_file(monkeypatch, forgetful):
    monkeypatch.setenv("CXX", "true")
    with pytest.raises(RuntimeError, match="true succeeded and wrote no file"):
        wf.op("a + 20")(np.ones(2))
    assert not list(forgetful.iterdir())


@pytest.mark.skipif(ON_GPU or shutil.which("clang++") is None, reason="of the host, with clang++")
def test_clang_compiles_operations(monkeypatch, forgetful):
    monkeypatch.setenv("CXX", "clang++")
    a, half = np.arange(100.0), np.arange(100, dtype=np.float16)
    assert_same(wf.op("a * 3 + 1")(a), a * 3 + 1)
    assert_same(wf.op("a + 1")(half), half + np.float16(1))
    assert [wf.op("a * 2").reduce(a, op=op) for op in ("sum", "max", "exact_sum")] == [9900, 198, 9900]


@pytest.mark.skipif(not ON_GPU, reason="of the GPU")
def test_a_driver_that_does_not_read_the_ptx_gets_machine_code(monkeypatch, forgetful):
    module, images = wf._devices.gpu_module(), []

    class Kernel:
        def __init__(self, image, name):
            images.append((image, name))
            if image[:4] != b"\x7fELF":
                raise RuntimeError("warpfold: cudaLibraryLoadData: cudaErrorUnsupportedPtxVersion")

        def launch(self, *arguments):
            images.append(arguments[1:3])

    monkeypatch.setattr(module, "Kernel", Kernel)
    monkeypatch.setattr(wf._expression, "_architectures", {})
    for _ in range(2):
        wf.op("a + 21")(np.ones(300))
    assert [image[1] for image in images] == ["run", "run", 256, 256] and images[2:] == [(2, 256)] * 2
    monkeypatch.setattr(module, "compute_capability", lambda device: 1)
    wf._expression._architectures.clear()
    with pytest.raises(RuntimeError, match="NVRTC failed|nvrtc"):
        wf.op("a + 22")(np.ones(300))


def test_comparisons_with_ints_that_the_type_does_not_have():
    """NumPy compares with such an int, and does nothing else with it."""
    below, equal = wf.op("a < b"), wf.op("where(a == b, a, a + 1)")
    for dtype in ("uint8", "int64", "uint64"):
        a = np.array([0, 1, np.iinfo(dtype).max], dtype)
        for number in (5, 300, -1, 2**64, -2**200):
            assert_same(below(a, number), a < number)
            assert_same(below(number, a), number < a)
    small = np.array([0, 5, 255], np.uint8)
    assert_same(equal(small, 300), small + np.uint8(1))
    assert_same(wf.op("(a <= 300) & (a != -1)")(small), np.array([True] * 3))
    assert below.reduce(small, 300) == 3
    with pytest.raises(OverflowError):
        wf.op("where(a < b, b, a)")(small, 300)


def test_outputs_that_do_not_hold_the_results_are_refused():
    half = wf.op("a / 2")
    for dtype in ("float32", "float64"):
        assert_same(half(np.ones(3), out=np.zeros(3, dtype)), np.full(3, 0.5, dtype))
    for dtype in ("int64", "bool"):
        with pytest.raises(TypeError, match="op: out has dtype"):
            half(np.ones(3), out=np.zeros(3, dtype))


def test_names_of_constants():
    assert_same(wf.op("a * pi + e")(np.ones(2)), np.ones(2) * np.pi + np.e)
