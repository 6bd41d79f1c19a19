# SPDX-License-Identifier: MIT
"""Operations of users: expressions of arrays' elements, compiled for the types of the arrays."""
from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._arrays import TYPES, Array, address_of, check_choice, fold_type
from .._calls import Call, call_of, type_of_out, whole_on_host
from .._devices import gpu_module
from .._reductions import OPERATIONS, _sum_type
from . import compilers, source, trace

REDUCTIONS = (*OPERATIONS, "exact_sum")
MOST_BLOCKS, MOST_GRID = 1024, 1 << 16  # of a reduction, and of the operation alone


class _Code(NamedTuple):
    """What an operation is for some types."""

    value: source.Value

    def result(self, op: str | None) -> np.dtype[Any]:
        return _sum_type(self.value.dtype) if op in ("sum", "prod") else self.value.dtype


class _Operands(NamedTuple):
    """Arrays of a call, without gaps: of its shape, or of one element each."""

    shape: tuple[int, ...]
    arrays: list[Array]

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def elements(self) -> tuple[source.Elements, ...]:
        return tuple(source.Elements(array.dtype, array.shape != self.shape) for array in self.arrays)


class Operation:
    """A function of the elements of arrays; `op` makes it.

    Attributes
    ----------
    names : the names of its operands, in the order of the arguments
    """

    def __init__(self, function: str | Callable[..., Any]) -> None:
        self._text = function if isinstance(function, str) else getattr(function, "__name__", "function")
        self._expression, self.names = trace.of_text(function) if isinstance(function, str) else trace.of_function(function)
        if not self.names:
            raise ValueError(f"op: {self._text!r} has no operands")
        self._codes: dict[tuple[Any, ...], _Code] = {}
        self._calls: dict[tuple[Any, ...], Callable[[tuple[Any, ...]], Any]] = {}  # by reduction, class and types of the arrays

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_codes": {}, "_calls": {}}  # addresses of this process

    def __repr__(self) -> str:
        return f"<warpfold operation {self._text!r} of {', '.join(self.names)}>"

    def __call__(self, *arrays: Any, out: Any = None) -> Any:
        """The operation of each element.

        Parameters
        ----------
        arrays : arrays
            One for each name, of bool, integers or floating-point numbers, of shapes that broadcast. Those with gaps are copied,
            and those that broadcast, except arrays of one element. Numbers of Python take the type of the others, as in NumPy.
        out : array, optional
            Where results go, of a type that they can be cast to by NumPy's rule "same_kind".

        Returns
        -------
        array
            Of the type that NumPy's functions give, and of the kind of the first array.

        Raises
        ------
        TypeError, ValueError
            For types that the functions do not have, or `out` cannot hold, another number of arrays, and shapes that do not broadcast.
        OverflowError
            For an int of Python that the type of the others does not have, except in comparisons.
        RuntimeError
            If there is no compiler for the device.
        """
        found = self._in_one_call(None, arrays) if out is None else None
        if found is not None:
            return found
        with self._call(arrays) as call:
            code, operands = self._operands(call, arrays)
            of_out = type_of_out(out)
            if of_out is not None and not np.can_cast(code.value.dtype, of_out, "same_kind"):
                raise TypeError(f"op: out has dtype {of_out}, and the result {code.value.dtype}")
            target = call.results(out, operands.shape, code.value.dtype)
            result = call.contiguous(target.array)
            if out is not None:
                operands = _Operands(operands.shape, [
                    call.copied(array, array.dtype) if _is_overwritten(array, result) else array for array in operands.arrays])
            self._run(call, code, operands, None, result, arrays)
            if result is not target.array:
                call.copy(result, target.array)
            return target.finish()

    def reduce(self, *arrays: Any, op: str = "sum") -> Any:
        """A reduction of the operation of all elements.

        Parameters
        ----------
        arrays
            As for a call.
        op : {'sum', 'prod', 'min', 'max', 'exact_sum'}
            The reduction. It has the type and the errors of the package's function of this name. The values are in memory for
            'exact_sum' only. Floating-point sums have the same bits in every run on a device.

        Returns
        -------
        array or scalar
            Of no axes.
        """
        check_choice(op, REDUCTIONS, "op", "the reduction")
        found = self._in_one_call(op, arrays)
        if found is not None:
            return found
        with self._call(arrays) as call:
            code, operands = self._operands(call, arrays)
            size = operands.size
            if size == 0 and op in ("min", "max"):
                raise ValueError(f"op: zero-size arrays to a reduction that has no identity: they have shape {operands.shape}")
            if op == "exact_sum":
                return self._exact_sum(call, code, operands)
            target = call.results(None, (), code.result(op))
            count = -(-size // source.PART) if call.is_on_host else min(-(-size // source.BLOCK_THREADS), MOST_BLOCKS)
            parts = call.empty((count,), np.float32 if target.array.dtype == source.HALF else target.array.dtype)
            self._run(call, code, operands, op, parts, arrays)
            call.engine.reduce(OPERATIONS[op], fold_type(parts.dtype), parts, parts.size, None, target.array)
            return target.finish()

    def _call(self, arrays: tuple[Any, ...]) -> Call:
        if len(arrays) != len(self.names):
            raise TypeError(f"op: {self._text!r} has operands {', '.join(self.names)}, and got {len(arrays)} arrays")
        return call_of("op", _readable(arrays[0]), self.names[0])

    def _operands(self, call: Call, arrays: tuple[Any, ...]) -> tuple[_Code, _Operands]:
        operands = [call.array, *(call.operand(_readable(x), name) for x, name in zip(arrays[1:], self.names[1:]))]
        shape = call.array.shape
        if any(array.shape != shape for array in operands):
            try:
                shape = np.broadcast_shapes(*(array.shape for array in operands))
            except ValueError:
                shapes = ", ".join(f"{name} {array.shape}" for name, array in zip(self.names, operands))
                raise ValueError(f"op: the shapes do not broadcast: {shapes}") from None
        dtypes = tuple(type(x) if type(x) in (int, float) else array.dtype for x, array in zip(arrays, operands))
        code = self._code(dtypes)
        try:
            for index, dtype in code.value.integers:
                dtype.type(arrays[index])
        except OverflowError:  # such an int may be compared with, and nothing else: that is known with its value
            code = self._code(tuple(x if type(x) is int else dtype for x, dtype in zip(arrays, dtypes)))
        return code, _Operands(shape, [
            call.contiguous(array if array.size == 1 or array.shape == shape else call.broadcast(array, shape)) for array in operands])

    def _code(self, dtypes: tuple[Any, ...]) -> _Code:
        """See source.value_of()."""
        if dtypes not in self._codes:
            self._codes[dtypes] = _Code(source.value_of(self._expression, dtypes))
        return self._codes[dtypes]

    def _in_one_call(self, op: str | None, arrays: tuple[Any, ...]) -> Any:
        """The results, if arrays of these types were computed with before, in one call of the extension module, which takes a third
        of the time; else None."""
        try:
            call = self._calls.get(_key(op, arrays)) if self._calls else None
        except (AttributeError, IndexError, TypeError):  # no arrays
            return None
        return None if call is None or len(arrays) != len(self.names) else call(arrays)

    def _run(self, call: Call, code: _Code, operands: _Operands, op: str | None, out: Array, arrays: tuple[Any, ...]) -> None:
        """The operation, or a result of each block or part of its reduction, in `out`."""
        size = operands.size
        if size == 0:
            return
        types = TYPES[code.result(op)], *(() if op is None else (OPERATIONS[op], TYPES[out.dtype], fold_type(out.dtype)))
        is_usual = bool(arrays) and all(hasattr(x, "dtype") and array.shape == operands.shape
                                        for x, array in zip(arrays, operands.arrays))
        if call.is_on_host:
            run = compilers.host_function(source.function(code.value, operands.elements, op, out.dtype))
            _core.run_parts(run, size, source.PART, operands.arrays, out)
            whole = whole_on_host.get(type(arrays[0])) if is_usual else None
            if whole is not None:
                on_host = whole.elementwise if op is None else whole.reduction
                self._calls[_key(op, arrays)] = lambda given: on_host(run, source.PART, *types, given)
            return
        blocks = out.size if op else min(-(-size // source.BLOCK_THREADS), MOST_GRID)
        kernel, device = _launch(source.kernel(code.value, operands.elements, op, out.dtype), call.array.place, blocks,
                                 [size, *map(address_of, operands.arrays), address_of(out)])
        package = call.package
        if package is not None and is_usual:
            in_one_call, most_blocks = (kernel.elementwise, MOST_GRID) if op is None else (kernel.reduction, MOST_BLOCKS)
            self._calls[_key(op, arrays)] = lambda given: in_one_call(
                package, device, given, source.BLOCK_THREADS, most_blocks, *types)

    def _exact_sum(self, call: Call, code: _Code, operands: _Operands) -> Any:
        if code.value.dtype.kind != "f" or code.value.dtype == source.HALF:
            raise TypeError(f"op: values have dtype {code.value.dtype}; accepted by exact_sum are float32 and float64")
        values = call.empty((operands.size,), code.value.dtype)
        self._run(call, code, operands, None, values, ())
        target = call.results(None, (), values.dtype)
        call.engine.exact_sum(values, target.array)
        return target.finish()


def _readable(x: Any) -> Any:
    """The operand, or as a float what no integer type has: an int of Python takes the type of the others, perhaps float64."""
    return float(x) if type(x) is int and not -2**63 <= x < 2**64 else x


def _key(op: str | None, arrays: tuple[Any, ...]) -> tuple[Any, ...]:
    """What the code of a call depends on, and the class of its results."""
    return (op, type(arrays[0]), *[array.dtype for array in arrays])


def _is_overwritten(array: Array, out: Array) -> bool:
    """Whether results are written where an operand has elements that are read later. Both are without gaps."""
    begin, first = address_of(array), address_of(out)
    if begin == first and array.shape == out.shape and array.dtype == out.dtype:
        return False
    return bool(begin < first + out.nbytes and first < begin + array.nbytes)


_architectures: dict[int, str] = {}  # of devices whose driver is older than NVRTC: it does not read this PTX


def _launch(text: str, place: tuple[int, int], blocks: int, arguments: list[int]) -> tuple[Any, int]:
    """The kernel of the text, and the device that it is for; -1: any."""
    device = place[0]
    architecture = _architectures.get(device, compilers.PTX)
    try:
        kernel = _kernel(compilers.image(text, architecture))
        kernel.launch(place, blocks, source.BLOCK_THREADS, arguments)
        return kernel, -1 if architecture == compilers.PTX else device
    except RuntimeError as error:
        if architecture != compilers.PTX or "UnsupportedPtxVersion" not in str(error):
            raise
        _architectures[device] = f"sm_{gpu_module().compute_capability(device)}"
        return _launch(text, place, blocks, arguments)


@functools.cache
def _kernel(image: bytes) -> Any:
    return gpu_module().Kernel(image, "run")


def op(function: str | Callable[..., Any]) -> Operation:
    """An operation of arrays' elements, compiled when it is called first for their types, and kept in a cache on disk.

    On the host it needs a C++ compiler (CXX, g++ or clang++), on a GPU NVRTC (in the CUDA toolkit, or from PyPI as
    nvidia-cuda-nvrtc). Results have the types and values of NumPy's functions; those of transcendental functions may differ
    in the last bits.

    Parameters
    ----------
    function : str or callable
        Arithmetic of names, numbers and functions, such as "a * b + sqrt(c)" or "where(a > 0, a, 0)"; arrays come in the order
        of the sorted names; e, pi, inf and nan are constants. Or a function of operands, such as
        `lambda a, b: numpy.hypot(a, b) + 1`, which is called once with objects that record what is done to them:
        operators, functions of NumPy, numpy.where. It has no branches.
        Not offered are `**` of integers, `//` and `%` of floating-point numbers, comparisons of int64 with uint64, rounding
        of integers, `isnan` and its relatives of other types than floating-point ones, and parameters such as `out`.

    Returns
    -------
    Operation
        `operation(a, b)` computes every element, `operation.reduce(a, b, op="sum")` a reduction of them.

    Raises
    ------
    ValueError, TypeError
        For text that is no such arithmetic, and for functions that are not offered.
    """
    return Operation(function)


__all__ = ["Operation", "op"]
