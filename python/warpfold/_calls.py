# SPDX-License-Identifier: MIT
"""One call: its arrays, its temporary memory and its results, on the host or on a GPU.

The functions of the package are written once, on top of a Call. What differs between the host and a GPU is its methods, and its
`engine`: the extension module's functions. An array is one of NumPy's or a DeviceArray, which has the views that the functions
need under the same names.
"""
from __future__ import annotations

import abc
import functools
import importlib
import inspect
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

import numpy as np

from . import _core
from ._arrays import TYPES, Array, NumPyArray, Output, read
from ._devices import gpu_module, host_arrays_go_to, is_on_device, package_of_type

ADD, MULTIPLY, MINIMUM, MAXIMUM, SUBTRACT, DIVIDE, EQUAL, NOT_EQUAL = range(8)  # `arithmetic` in python/src/gpu/calls.hpp
UFUNCS: tuple[Any, ...] = (np.add, np.multiply, np.minimum, np.maximum, np.subtract, np.true_divide, np.equal, np.not_equal)


WHOLE = tuple(_core.whole_functions())  # names of functions of one array
WholeArrays = Callable[[int, Any, Any], Any]
_whole_arrays: dict[type, tuple[WholeArrays, ...]] = {}  # by the class of the array, when there was one
whole_on_host: dict[type, Any] = {}  # the extension module's WholeArrays, by the class of arrays in host memory
whole_on_gpu: dict[type, Any] = {}  # the same on a GPU
Function = TypeVar("Function", bound=Callable[..., Any])


def add_whole_arrays(kind: type, call: WholeArrays) -> None:
    """Adds what computes a function of `WHOLE` for an array of a class, and an axis or None, in one call of an extension module. It
    returns None if it does not apply."""
    _whole_arrays[kind] = (call, *_whole_arrays.get(kind, ()))


def _kept_shape(shape: Sequence[int], axis: int | None) -> tuple[int, ...]:
    """The shape of results with `keepdims`."""
    if axis is None:
        return (1,) * len(shape)
    return (*shape[:axis], 1, *shape[axis % len(shape) + 1:])


# Arguments of functions of WHOLE that the host's extension module computes with, for NumPy's arrays.
MORE = {"axis", "dtype", "out", "initial", "where"}
HAVE_MORE = {"sum", "prod", "min", "max", "any", "all", "mean", "argmin", "argmax", "cumsum", "cumprod", "cummin", "cummax"}


def _with_arguments(number: int, array: Any, axis: Any, options: dict[str, Any]) -> Any:
    """What the extension module gives for a NumPy array and arguments of the names in MORE; None if it does not apply."""
    whole = whole_on_host.get(np.ndarray)
    if whole is None:
        return None
    get = options.get
    initial = (options["initial"],) if "initial" in options else ()
    return whole.call_with(number, array, axis, get("dtype"), get("out"), get("where", True), initial)


def of_whole_arrays(function: Function) -> Function:
    """A function of WHOLE. The usual call, of all elements of an array of NumPy's or PyTorch's, or along an axis, is one call of an
    extension module: this takes a third of the time of the function in Python. For NumPy's arrays it may have `keepdims`, or the
    arguments of MORE."""
    name = function.__name__
    number, calls_of = WHOLE.index(name), _whole_arrays.get
    parameters = inspect.signature(function).parameters
    has_keepdims = "keepdims" in parameters and name != "minmax"  # of one result
    more = MORE.intersection(parameters) if name in HAVE_MORE else set()
    is_scan = name.startswith("cum")
    most = 2 if list(parameters)[1:2] == ["axis"] else 1  # arguments without a name: the second of `norm` is no axis

    @functools.wraps(function)
    def called(*arguments: Any, **options: Any) -> Any:
        keepdims = has_keepdims and options.get("keepdims") is True
        axis, known = (arguments[1], 0) if len(arguments) == 2 else (options.get("axis"), "axis" in options)
        is_usual = (0 < len(arguments) <= most and len(options) == known + keepdims
                    and not (keepdims and type(arguments[0]) is not np.ndarray))
        if is_usual:
            for call in calls_of(type(arguments[0]), ()):
                found = call(number, arguments[0], axis)
                if found is not None:
                    return found.reshape(_kept_shape(arguments[0].shape, axis)) if keepdims else found
        is_one_axis = len(arguments) == 1 or (len(arguments) == most and "axis" not in options)
        if (more and (is_scan or not is_usual) and is_one_axis and type(arguments[0]) is np.ndarray and options.keys() <= more):
            found = _with_arguments(number, arguments[0], axis, options)
            if found is not None:
                return found
        return function(*arguments, **options)

    return cast(Function, called)


def whole_arrays_of(x: Any) -> list[Any]:
    """WholeArrays that may compute with an array: none when there was no array of its class before."""
    kind = type(x)
    return [known[kind] for known in (whole_on_gpu, whole_on_host) if kind in known]


def in_one_call(function: str, x: Any, *others: Any) -> Any:
    """What a function of WholeArrays gives for `x`, an array of NumPy's or of a package's that was there before; None if it does not
    apply."""
    for whole in whole_arrays_of(x):
        found = getattr(whole, function)(x, *others)
        if found is not None:
            return found
    return None


@functools.cache
def type_named(dtype: Any) -> np.dtype[Any] | None:
    """NumPy's type of the name of a package's; None for those that calls do not take."""
    name = str(dtype).rpartition(".")[2]
    return next((own for own in TYPES if own.name == name), None)


def type_of_out(out: Any) -> np.dtype[Any] | None:
    """The type of an output's elements; None for no output, and for one that calls do not take."""
    dtype = getattr(out, "dtype", None)
    if dtype is None and out is not None:
        try:
            dtype = np.asarray(memoryview(out)).dtype
        except TypeError:
            return None
    return type_named(dtype.newbyteorder("=") if isinstance(dtype, np.dtype) else dtype)


def chosen_type(dtype: Any) -> np.dtype[Any]:
    """NumPy's type that a caller asks for, perhaps by that of another package. Raises TypeError."""
    try:
        chosen: np.dtype[Any] = np.dtype(dtype)
    except TypeError:
        chosen = np.dtype(str(dtype).rpartition(".")[2])
    return chosen


@functools.cache
def _whole_arrays_on_host(kind: Any) -> None:
    """Has arrays of a class of NumPy's or PyTorch's, in host memory, computed in one call."""
    torch: Any = sys.modules["torch"] if package_of_type(kind) == "torch" else None
    if kind is np.ndarray or (torch is not None and kind is torch.Tensor):
        of_torch = (None, None) if torch is None else (torch.Tensor, torch.from_numpy)
        whole_on_host[kind] = whole = _core.WholeArrays(np.ndarray, np.empty, tuple(TYPES), *of_torch)
        add_whole_arrays(kind, whole.call)


class Call(abc.ABC):
    """Arrays that a call makes are there until it ends.

    Attributes
    ----------
    name : of the function, for messages
    array : its first argument, where the call computes
    engine : the extension module's functions
    is_on_host : whether the call computes on the host
    package : what the extension module reads and makes arrays of the package by, if it does that for it
    """

    name: str
    array: Array
    engine: Any
    is_on_host: bool
    package: Any = None

    def __enter__(self) -> Call:
        return self

    def __exit__(self, *_: object) -> None:
        """Frees the memory of the call."""

    @abc.abstractmethod
    def empty(self, shape: Sequence[int], dtype: Any) -> Array:
        """A row-major array."""

    @abc.abstractmethod
    def uploaded(self, array: NumPyArray) -> Array:
        """An array of the host where the call computes."""

    @abc.abstractmethod
    def operand(self, x: Any, name: str) -> Array:
        """Another array of the caller, where the call computes; in place if it is there."""

    @abc.abstractmethod
    def on_host(self, x: Any, name: str) -> NumPyArray:
        """Another array of the caller as a NumPy array. Waits if it is on a GPU."""

    @abc.abstractmethod
    def to_host(self, array: Array) -> NumPyArray:
        """An array of the call as a NumPy array. Waits if it is on a GPU."""

    @abc.abstractmethod
    def copy(self, array: Array, out: Array) -> None:
        """Elements of an array of the same shape, converted to the type of `out`."""

    @abc.abstractmethod
    def copy_where(self, array: Array, mask: Array, out: Array) -> None:
        """The same where the mask is true. `array` and `mask` have the shape of `out`."""

    @abc.abstractmethod
    def marked(self, size: int, places: Array) -> Array:
        """`size` elements of bool that are true at `places`, contiguous int64; those outside are ignored."""

    @abc.abstractmethod
    def apply(self, op: int, array: Array, other: Any, out: Array) -> None:
        """out = array op other, an array of the same shape or a scalar."""

    @abc.abstractmethod
    def broadcast(self, array: Array, shape: Sequence[int]) -> Array:
        """A view in another shape. Raises ValueError, as `numpy.broadcast_to`, if the shapes do not fit."""

    @abc.abstractmethod
    def results(self, out: Any, shape: tuple[int, ...], dtype: Any) -> Any:
        """Where results go: their elements are `array`, and `finish()` gives the caller's array. See Output."""

    @abc.abstractmethod
    def handed(self, array: Array) -> Any:
        """A result in the caller's kind of array."""

    @abc.abstractmethod
    def sent(self, array: NumPyArray) -> Any:
        """A new array of the host in the caller's kind."""

    def shortened(self, target: Any, number: int) -> Any:
        """The first `number` results of one axis."""
        return self.handed(target.array[:number])

    def copied(self, array: Array, dtype: Any) -> Array:
        """A row-major copy."""
        result = self.empty(array.shape, dtype)
        self.copy(array, result)
        return result

    def cast(self, array: Array, dtype: Any) -> Array:
        """The array itself if it has the type, else a row-major copy."""
        return array if array.dtype == np.dtype(dtype) else self.copied(array, dtype)

    @abc.abstractmethod
    def contiguous(self, array: Array, dtype: Any = None) -> Array:
        """The array itself if it has the type, no gaps and an aligned address, else a copy."""

    def filled(self, shape: Sequence[int], value: Any, dtype: Any) -> Array:
        """A row-major array of one value."""
        return self.copied(self.broadcast(self.uploaded(np.asarray(value, dtype)), shape), dtype)


class HostCall(Call):
    """A call on arrays in host memory."""

    engine = _core
    is_on_host = True

    def __init__(self, name: str, x: Any, argument: str) -> None:
        self.name = name
        self._source = read(x, name, argument)
        self._kept: list[NumPyArray] = []
        self.array = self._source.array

    def _keep(self, array: NumPyArray) -> NumPyArray:
        """The array; it stays until the call ends, as a description alone does not keep it alive."""
        self._kept.append(array)
        return array

    def empty(self, shape: Sequence[int], dtype: Any) -> Array:
        return self._keep(np.empty(shape, dtype))

    def uploaded(self, array: NumPyArray) -> Array:
        return self._keep(array)

    def operand(self, x: Any, name: str) -> Array:
        return self._keep(read(x, self.name, name).array)

    on_host = operand

    def to_host(self, array: Array) -> NumPyArray:
        return np.asarray(array)

    def copy(self, array: Array, out: Array) -> None:
        with np.errstate(all="ignore"):
            np.copyto(out, array, casting="unsafe")

    def copy_where(self, array: Array, mask: Array, out: Array) -> None:
        np.copyto(out, array, casting="unsafe", where=mask)

    def marked(self, size: int, places: Array) -> Array:
        marks = np.zeros(size, np.bool_)
        marks[places[(places >= 0) & (places < size)]] = True
        return self._keep(marks)

    def apply(self, op: int, array: Array, other: Any, out: Array) -> None:
        with np.errstate(all="ignore"):
            UFUNCS[op](array, other, out=out, casting="unsafe")

    def broadcast(self, array: Array, shape: Sequence[int]) -> Array:
        return array if array.shape == shape else np.broadcast_to(array, shape)

    def filled(self, shape: Sequence[int], value: Any, dtype: Any) -> Array:
        return self._keep(np.full(shape, value, dtype))

    def results(self, out: Any, shape: tuple[int, ...], dtype: Any) -> Output:
        return Output(out, shape, np.dtype(dtype), self._source, self.name, self._kept)

    def handed(self, array: Array) -> Any:
        return self._source.hand_back(array if array.base is None else array.copy())  # no view of temporary memory

    def sent(self, array: NumPyArray) -> Any:
        return self.handed(array)

    def contiguous(self, array: Array, dtype: Any = None) -> Array:
        if array.flags.carray and (dtype is None or array.dtype == dtype):  # require() takes longer
            return self._keep(array)
        return self._keep(np.require(array, dtype, ["C", "A"]))


@functools.cache
def _gpu_calls() -> Callable[[str, Any, str, bool], Call]:
    """The class of calls on a GPU, which is imported with the first one."""
    gpu_module()
    found: Callable[[str, Any, str, bool], Call] = importlib.import_module("warpfold._on_gpu").GpuCall
    return found


def call_of(name: str, x: Any, argument: str = "a") -> Call:
    """The call of a function where its first array is, or where WARPFOLD_DEVICE sends those in host memory.

    Raises TypeError for elements of other types.
    """
    is_there = is_on_device(x)
    if not is_there and host_arrays_go_to() == "host":
        kind: Any = type(x)
        _whole_arrays_on_host(kind)
        return HostCall(name, x, argument)
    return _gpu_calls()(name, x, argument, is_there)
