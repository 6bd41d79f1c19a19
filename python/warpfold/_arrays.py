# SPDX-License-Identifier: MIT
"""Arrays of callers: how they are read, checked, and handed back in the caller's own kind."""
from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple, Protocol, SupportsIndex

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from ._devices import DLPACK_ERRORS, is_on_device, package_of

NumPyArray = np.ndarray[Any, np.dtype[Any]]
Array = Any  # a NumPy array or a DeviceArray
OneAxis = SupportsIndex | None
Axis = SupportsIndex | Sequence[SupportsIndex] | None
Flag = bool | np.bool_

# The order is that of `element` in python/src/array.hpp.
TYPES = {np.dtype(name): number for number, name in enumerate(
    ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"))}
INT64, UINT64, FLOAT32, FLOAT64 = (TYPES[np.dtype(name)] for name in ("int64", "uint64", "float32", "float64"))
BOOLS = {bool, np.bool_}
ACCEPTED = "bool, integers of 8 to 64 bits, float16, float32 and float64"
HOST_MEMORY = (1, 3)  # DLPack's kDLCPU, kDLCUDAHost


class Shaped(Protocol):
    """An array in host or device memory."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def dtype(self) -> np.dtype[Any]: ...


class Source(NamedTuple):
    """An array of the caller, and the function that gives a result the caller's kind."""

    array: NumPyArray
    hand_back: Callable[[NumPyArray], Any]


def _scalar_or_array(result: NumPyArray) -> Any:
    """NumPy's own results: a scalar of NumPy for no axes."""
    return result[()] if result.ndim == 0 else result


def from_dlpack_of(x: Any) -> Callable[[Any], Any] | None:
    """What makes an array of the package of `x` from one that exports DLPack; None if there is no such function."""
    package: Any = sys.modules.get(type(x).__module__.partition(".")[0])
    if getattr(package, "__name__", "") == "jaxlib":  # the classes of JAX's arrays
        package = sys.modules["jax"].dlpack
    found: Callable[[Any], Any] | None = getattr(package, "from_dlpack", None)
    return found


def _exports(x: Any) -> bool:
    """Whether an object is read by DLPack. For that of pyarrow NumPy warns, and its arrays have another way without a copy."""
    return hasattr(x, "__dlpack__") and type(x).__module__ != "pyarrow.lib"


def _from_dlpack(x: Any, call: str, name: str, may_copy: bool) -> Source:
    try:
        device = x.__dlpack_device__()[0]
        array = np.from_dlpack(x) if device in HOST_MEMORY else None
    except DLPACK_ERRORS as error:
        if may_copy and hasattr(x, "__array__"):  # JAX's tracers, whose own error this gives
            return Source(_from_sequence(x, call, name), _scalar_or_array)
        raise TypeError(f"{call}: {name} cannot be read by DLPack: {error}") from None
    if array is None:
        raise TypeError(f"{call}: {name} is not in host memory (DLPack device type {int(device)})")
    return Source(array, from_dlpack_of(x) or _scalar_or_array)


def _from_torch(tensor: Any, call: str, name: str) -> Source:
    try:
        array = (tensor.resolve_neg() if tensor.is_neg() else tensor).numpy()
    except (RuntimeError, TypeError) as error:
        raise TypeError(f"{call}: {name} cannot be read: {error}") from None
    return Source(array, sys.modules["torch"].from_numpy)


def _from_sequence(x: Any, call: str, name: str) -> NumPyArray:
    if isinstance(x, (list, tuple)) and any(isinstance(row, np.ma.MaskedArray) for row in x):
        raise masked_array(call, f"a row of {name}")
    try:
        array = np.asarray(x)
    except ValueError as error:  # rows of several lengths
        raise ValueError(f"{call}: {name} cannot be read as an array: {error}") from None
    if array.dtype == object and array.size and hasattr(x, "__array__") and all(map(_is_bool_or_missing, array.flat)):
        return np.array([x if isinstance(x, bool) else math.nan for x in array.flat]).reshape(array.shape)
    return array


def _is_bool_or_missing(x: Any) -> bool:
    """Whether an element is what a column of bool has: True, False, None or the NA of pandas."""
    return isinstance(x, bool) or x is None or type(x).__name__ == "NAType"


def read(x: Any, call: str, name: str = "a") -> Source:
    """The elements of `x` without a copy, unless it is a sequence or has another byte order than the machine.

    Raises TypeError if the elements have another type than the package takes, or are not in host memory.
    """
    if type(x) is np.ndarray:  # the usual one
        source = Source(x, _scalar_or_array)
    elif package_of(x) == "torch" and not x.is_cuda:  # by its interfaces this takes ten times as long
        source = _from_torch(x, call, name)
    elif isinstance(x, np.ma.MaskedArray):
        raise masked_array(call, name)
    elif isinstance(x, (np.ndarray, np.generic)):
        source = Source(np.asarray(x), _scalar_or_array)
    elif hasattr(x, "__cuda_array_interface__"):
        raise TypeError(f"{call}: {name} is on a GPU, and the first array of the call in host memory")
    elif _exports(x):
        source = _from_dlpack(x, call, name, True)
    else:
        source = Source(_from_sequence(x, call, name), _scalar_or_array)
    if not source.array.dtype.isnative:
        source = source._replace(array=source.array.astype(source.array.dtype.newbyteorder("=")))
    check_dtype(source.array.dtype, call, name)
    return source


def masked_array(call: str, name: str) -> TypeError:
    """The error of an array whose mask a call would not see."""
    return TypeError(f"{call}: {name} is a masked array; pass its data, a.data, and, of functions with `where`, "
                     "where=~numpy.ma.getmaskarray(a)")


def check_dtype(dtype: np.dtype[Any], call: str, name: str) -> None:
    """Raises TypeError unless the package takes the type."""
    if dtype not in TYPES:
        raise TypeError(f"{call}: {name} has dtype {dtype}; accepted are {ACCEPTED}")


def check_choice(given: Any, choices: Collection[str], call: str, argument: str) -> None:
    """Raises ValueError unless a text is one of the choices, TypeError for what is none."""
    if not isinstance(given, str) or given not in choices:
        kind = ValueError if isinstance(given, str) else TypeError
        raise kind(f"{call}: {argument} is {given!r}, and must be one of {', '.join(map(repr, choices))}")


def read_scalar(value: Any, dtype: Any, call: str, argument: str) -> NumPyArray:
    """A number, converted. Raises TypeError for what is none, ValueError for an array of one axis and more, and what NumPy
    raises for a number that the type does not hold."""
    kind = np.dtype(dtype).kind
    is_integer = kind in "iu"
    has_limits = "i" if isinstance(value, np.generic) else "iu"  # NumPy's scalars wrap in unsigned types, as in NumPy
    if isinstance(value, int) or (kind in has_limits and isinstance(value, (float, np.integer, np.floating))):
        try:
            return np.asarray(int(value) if is_integer else value, dtype)
        except (OverflowError, ValueError) as error:  # ValueError: NaN
            raise type(error)(f"{call}: {argument} is {value}, out of bounds for {np.dtype(dtype)}") from None
    if is_on_device(value):
        raise TypeError(f"{call}: {argument} is on a GPU, and must be a number in host memory")
    number = read(value, call, argument).array if hasattr(value, "__dlpack__") else _from_sequence(value, call, argument)
    if number.dtype.kind not in "biuf":
        raise TypeError(f"{call}: {argument} is of type {type(value).__name__}, dtype {number.dtype}, and must be a number")
    if number.ndim:
        raise ValueError(f"{call}: {argument} has shape {number.shape}, and must be a scalar")
    return number.astype(dtype)


def _writable(out: Any, call: str) -> NumPyArray:
    """The elements of an output, in place. Raises TypeError if it is no array of the package's types."""
    if isinstance(out, np.ndarray):
        array: NumPyArray = np.asarray(out)  # views of a matrix keep two axes
    elif package_of(out) == "torch" and not out.is_cuda:
        if out.is_neg():
            raise TypeError(f"{call}: out has PyTorch's negative bit, and results cannot be written through it")
        array = _from_torch(out, call, "out").array
    elif _exports(out):
        array = _from_dlpack(out, call, "out", False).array
    else:
        try:
            array = np.asarray(memoryview(out))
        except TypeError:
            raise TypeError(f"{call}: out is of type {type(out).__name__}, and must be an array") from None
    check_dtype(array.dtype.newbyteorder("="), call, "out")
    return array


def count_write(out: Any) -> None:
    """Has PyTorch's derivatives know that a tensor was written to: they raise if they need what it held."""
    if package_of(out) == "torch" and not out.is_inference():
        sys.modules["torch"].autograd.graph.increment_version(out)


def address_of(array: Array) -> int:
    return int(array.ctypes.data if isinstance(array, np.ndarray) else array.address)


def fold_type(dtype: np.dtype[Any]) -> int:
    """The type in which elements of `dtype` are folded."""
    if dtype.kind == "i":
        return INT64
    if dtype.kind in "ub":
        return UINT64
    return FLOAT64 if dtype.itemsize == 8 else FLOAT32


def _no_axis(axis: Any, ndim: int) -> Exception:
    """The error of an axis that is no integer, or none that NumPy takes."""
    if isinstance(axis, int) and not isinstance(axis, bool):
        return np.exceptions.AxisError(f"axis {axis} is out of bounds for array of dimension {ndim}")
    return TypeError(f"axis is {axis!r}, of type {type(axis).__name__}; axes are integers")


def _integers(axes: Sequence[Any]) -> Sequence[Any]:
    """The axes, if none is of bool: True is not axis 1."""
    if not BOOLS.isdisjoint(map(type, axes)):
        raise TypeError
    return axes


def axes_of(axis: Axis, ndim: int, has_scalars: bool = True) -> tuple[int, ...]:
    """Axes from 0 on, in increasing order. Raises AxisError, TypeError, and ValueError for an axis given twice. `has_scalars`:
    whether 0 and -1 are axes of an array that has none, as in NumPy's reductions except means and variances without `where`."""
    if axis is None:
        return tuple(range(ndim))
    if type(axis) is int and -ndim <= axis < ndim:  # the usual one
        return (axis % ndim,)
    try:
        if ndim == 0 and has_scalars and not isinstance(axis, (tuple, list)) and operator.index(_integers((axis,))[0]) in (0, -1):
            return ()
        return tuple(sorted(normalize_axis_tuple(_integers(axis if isinstance(axis, (tuple, list)) else (axis,)), ndim)))
    except (TypeError, OverflowError):
        raise _no_axis(axis, ndim) from None
    except ValueError as error:
        if isinstance(error, np.exceptions.AxisError):
            raise
        raise ValueError("duplicate value in 'axis'") from None


def one_axis(axis: SupportsIndex, ndim: int) -> int:
    """An axis from 0 on. Raises AxisError, or TypeError if it is no integer."""
    try:
        return int(normalize_axis_index(_integers((axis,))[0], ndim))
    except (TypeError, OverflowError):
        raise _no_axis(axis, ndim) from None


def axes_last(array: Array, axes: Sequence[int]) -> Array:
    """A view with these axes last."""
    if len(axes) == array.ndim or tuple(axes) == tuple(range(array.ndim - len(axes), array.ndim)):
        return array
    return array.transpose([k for k in range(array.ndim) if k not in axes] + list(axes))


def length_of(array: Shaped, axes: Sequence[int]) -> int:
    """The number of elements along the axes together."""
    shape = array.shape
    return math.prod(shape if len(axes) == len(shape) else [shape[axis] for axis in axes])


class Output:
    """Where results go: a new array, or the caller's `out`.

    Parameters
    ----------
    out : array or None
        The argument of the call.
    shape : tuple of int
        The shape of the results that the caller sees.
    dtype : dtype
        The type in which results are computed. They are cast to the type of `out`.
    source : Source
        The input: new results become its kind.
    others : sequence of array
        Other inputs. A result in the memory of an input is computed elsewhere first.
    """

    def __init__(self, out: Any, shape: tuple[int, ...], dtype: np.dtype[Any], source: Source, call: str,
                 others: Sequence[NumPyArray] = ()) -> None:
        self._given = out
        self._source = source
        self._target: NumPyArray | None = None
        if out is not None:
            self._target = _writable(out, call)
            if self._target.shape != shape:
                raise ValueError(f"{call}: out has shape {self._target.shape}, and the result {shape}")
            if not self._target.flags.writeable:
                raise ValueError(f"{call}: out is read-only")
        if self._target is not None and self._target.dtype == dtype and self._target.dtype.isnative \
                and not any(np.may_share_memory(self._target, x) for x in (source.array, *others)):
            self.array = self._target
        else:
            self.array = np.empty(shape, dtype)

    @property
    def memory(self) -> NumPyArray | None:
        """The caller's `out`."""
        return self._target

    def finish(self) -> Any:
        """The caller's `out`, or the results in the caller's kind of array."""
        if self._target is None:
            return self._source.hand_back(self.array)
        if self._target is not self.array:
            np.copyto(self._target, self.array, casting="unsafe")
        count_write(self._given)
        return self._given
