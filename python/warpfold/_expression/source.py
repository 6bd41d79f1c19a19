# SPDX-License-Identifier: MIT
"""C++ of expressions for given types, for a compiler of the host and for NVRTC. The parts of both are the same."""
from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._arrays import TYPES
from .functions import COMPARISONS, FUNCTIONS, GPU_HALF, HELPERS, HOST_HALF
from .trace import Expression, Operand

# Of values; float16 is computed in float.
NAMES = dict(zip(TYPES, ("bool", "signed char", "short", "int", "long long", "unsigned char", "unsigned short", "unsigned",
                         "unsigned long long", "float", "float", "double")))
HALF: np.dtype[Any] = np.dtype(np.float16)
JOIN = {"sum": "a + b", "prod": "a * b", "min": "wf_smaller(a, b)", "max": "wf_larger(a, b)"}
BLOCK_THREADS, PART = 256, 65536  # threads of a block; elements that the host folds one after the other


class Elements(NamedTuple):
    """The elements of an operand: one for each result, or the same one for all."""

    dtype: np.dtype[Any]
    is_one: bool

    @property
    def place(self) -> str:
        return "0" if self.is_one else "k"


class Value(NamedTuple):
    """What an expression computes of each element."""

    statements: str  # the result is `value`
    dtype: np.dtype[Any]
    integers: tuple[tuple[int, np.dtype[Any]], ...]  # operands that are Python's, and integer types that they become


def _literal(number: Any, dtype: np.dtype[Any]) -> str:
    """Raises OverflowError, as NumPy, for an integer that does not fit."""
    exact = dtype.type(number)
    if dtype.kind == "f":
        if not np.isfinite(exact):
            return "wf_nan" if exact != exact else "wf_inf" if exact > 0 else "-wf_inf"
        return float(exact).hex()
    if dtype.kind == "u":
        return f"{int(exact)}ull"
    return f"{int(exact)}ll" if exact >= 0 else f"({int(exact) + 1}ll - 1)"


class _Writer:
    """Writes a line for each function; an expression that is used twice is computed once."""

    def __init__(self, dtypes: Sequence[Any]) -> None:
        self.lines: list[str] = []
        self._integers: list[tuple[int, np.dtype[Any]]] = []
        self._dtypes = dtypes
        self._done: dict[int, tuple[str, Any]] = {}

    def of(self, node: Any) -> tuple[Any, Any]:
        """(name, type) of a value; (number, type) of a constant. The type of operands and constants may be int or float."""
        if isinstance(node, Operand):
            dtype = self._dtypes[node.index]
            return (dtype, int) if type(dtype) is int else (f"x{node.index}", dtype)
        if isinstance(node, Expression):
            if id(node) not in self._done:
                self._compute(node)
            return self._done[id(node)]
        if isinstance(node, (bool, np.generic)):
            return node, np.asarray(node).dtype
        if isinstance(node, (int, float)):
            return node, type(node)
        raise TypeError(f"op: {type(node).__name__} is no number in an operation")

    def _compute(self, last: Expression) -> None:
        """Inputs first, without recursion: a sum of hundreds of terms is as deep."""
        waiting = [last]
        while waiting:
            node = waiting[-1]
            missing = [x for x in node.inputs if isinstance(x, Expression) and not isinstance(x, Operand) and id(x) not in self._done]
            if missing:
                waiting.extend(reversed(missing))
            else:
                waiting.pop()
                if id(node) not in self._done:
                    self._done[id(node)] = self._computed(node)

    def _computed(self, node: Expression) -> tuple[str, np.dtype[Any]]:
        inputs = [self.of(x) for x in node.inputs]
        if node.function is np.where:
            condition = self._converted(*inputs[0], np.dtype(bool))
            common = np.result_type(*(_promoted(*x) for x in inputs[1:]))
            chosen = [self._converted(*x, common) for x in inputs[1:]]
            return self._written(f"{condition} ? {chosen[0]} : {chosen[1]}", common)
        if node.function in COMPARISONS:
            known = _outside(node.function, inputs)
            if known is not None:
                return self._written("true" if known else "false", np.dtype(bool))
        name = node.function.__name__
        kinds, text = FUNCTIONS[node.function]
        *loop, result = node.function.resolve_dtypes((*(dtype for _, dtype in inputs), None))
        if any(dtype.kind not in kinds for dtype in loop):
            raise TypeError(f"op: {name} is not offered for {', '.join(map(str, loop))}")
        if len({dtype.kind for dtype in loop}) > 1:
            raise TypeError(f"op: {name} of {loop[0]} and {loop[1]}: convert one of them first")
        return self._written(text.format(*(self._converted(*x, dtype) for x, dtype in zip(inputs, loop))), result)

    def _converted(self, value: Any, dtype: Any, to: np.dtype[Any]) -> str:
        text = value if isinstance(value, str) else _literal(value, to)
        if dtype is int and isinstance(value, str) and to.kind in "iu":
            self._integers.append((int(value[1:]), to))
        if not isinstance(value, str) or dtype != to:
            text = _cast(text, to)
        return text

    def _written(self, text: str, dtype: np.dtype[Any]) -> tuple[str, np.dtype[Any]]:
        name = f"v{len(self.lines)}"
        self.lines.append(f"const {_type(dtype)} {name} = {_cast(text, dtype)};")
        return name, dtype

    def finished(self, node: Any) -> Value:
        value, dtype = self.of(node)
        chosen = np.result_type(_promoted(value, dtype))
        self.lines.append(f"const {_type(chosen)} value = {self._converted(value, dtype, chosen)};")
        return Value("\n        ".join(self.lines), chosen, tuple(self._integers))


def _outside(comparison: Any, inputs: Sequence[tuple[Any, Any]]) -> bool | None:
    """What a comparison with an integer of Python gives that the other's integer type does not have; None for others."""
    for place, ((value, dtype), (_, other)) in enumerate(zip(inputs, reversed(inputs))):
        if dtype is int and type(value) is int and isinstance(other, np.dtype) and other.kind in "iu":
            limits = np.iinfo(other)
            if not limits.min <= value <= limits.max:
                sign = 1 if value > 0 else -1
                return bool(comparison(sign, 0) if place == 0 else comparison(0, sign))
    return None


def _promoted(value: Any, dtype: Any) -> Any:
    """What NumPy promotes as the value: its type, or a number of Python."""
    if not isinstance(dtype, type):
        return dtype
    return dtype() if isinstance(value, str) else value


def _type(dtype: np.dtype[Any]) -> str:
    if dtype not in NAMES:
        raise TypeError(f"op: {dtype} is not offered in operations; accepted are {', '.join(map(str, NAMES))}")
    return NAMES[dtype]


def _cast(text: str, to: np.dtype[Any]) -> str:
    return f"wf_half({text})" if to == HALF else f"({_type(to)})({text})"


def _storage(dtype: np.dtype[Any]) -> str:
    """The type of elements in memory. Of bool all bytes but 0 are true."""
    return "unsigned short" if dtype == HALF else "unsigned char" if dtype == bool else _type(dtype)


def _stored(dtype: np.dtype[Any]) -> str:
    return "wf_to_half(value)" if dtype == HALF else "value"


def value_of(expression: Any, dtypes: Sequence[Any]) -> Value:
    """Of operands of these types; int and float are those of Python's numbers, and an int is an operand's value. Raises
    TypeError for functions that NumPy, or the table above, does not have for these types."""
    return _Writer(dtypes).finished(expression)


def _none(op: str, dtype: np.dtype[Any]) -> str:
    """What joins to nothing else than the other value."""
    if op in ("sum", "prod"):
        return _literal(int(op == "prod"), dtype)
    if dtype.kind == "f":
        return _literal(np.inf if op == "min" else -np.inf, dtype)
    if dtype.kind == "b":
        return "true" if op == "min" else "false"
    limits = np.iinfo(dtype)
    return _literal(limits.max if op == "min" else limits.min, dtype)


def _loads(operands: Sequence[Elements]) -> str:
    return " ".join(f"const {_type(of.dtype)} x{k} = {'wf_from_half' if of.dtype == HALF else ''}(a{k}[{of.place}]);"
                    for k, of in enumerate(operands))


@functools.cache
def kernel(value: Value, operands: tuple[Elements, ...], op: str | None, result: np.dtype[Any]) -> str:
    """`run(n, a0, ..., out)`: elements of `out`, or, with an operation, a result of each block."""
    inputs = "".join(f"const {_storage(of.dtype)}* a{k}, " for k, of in enumerate(operands))
    body = f"{_loads(operands)}\n        {value.statements}\n        "
    loop = "for (unsigned long long k = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x; k < n; " \
        "k += (unsigned long long)gridDim.x * blockDim.x) {\n        "
    head = f"extern \"C\" __global__ void run(unsigned long long n, {inputs}{_storage(result)}* out) {{\n    "
    if op is None:
        work = f"{head}{loop}{body}out[k] = {_stored(result)};\n    }}\n}}\n"
    else:
        work = f"""{head}__shared__ wf_total all[{BLOCK_THREADS}];
    wf_total total = {_none(op, result)};
    {loop}{body}total = wf_join(total, (wf_total)value);
    }}
    all[threadIdx.x] = total;
    for (unsigned half = {BLOCK_THREADS // 2}; half != 0; half /= 2) {{
        __syncthreads();
        if (threadIdx.x < half) all[threadIdx.x] = wf_join(all[threadIdx.x], all[threadIdx.x + half]);
    }}
    if (threadIdx.x == 0) out[blockIdx.x] = all[0];
}}
"""
    return f"""#define WF_INLINE __device__ __forceinline__
#define wf_inf __longlong_as_double(0x7ff0000000000000ll)
#define wf_nan __longlong_as_double(0x7ff8000000000000ll)
{HELPERS}{GPU_HALF if "half(" in work else ""}{_join(op, result, "__device__ ")}{work}"""


def _folded_in_lanes(op: str, result: np.dtype[Any]) -> str:
    """Statements that fold [begin, end). Sums that round are added in blocks, blocks in groups, as include/warpfold/host/core/lanes.hpp
    adds them: errors do not grow with the number of elements."""
    lanes, rows, blocks = 16, 32, 8
    none = _none(op, result)
    over = f"for (int lane = 0; lane < {lanes}; ++lane)"
    whole = join = ""
    if op == "sum" and result.kind == "f":
        whole = f"""wf_total group[{lanes}], total[{lanes}];
    {over} group[lane] = total[lane] = {none};
    for (unsigned block = 1; end - begin > {lanes * rows}; ++block) {{
        {over} lanes[lane] = {none};
        for (int row = 0; row < {rows}; ++row, begin += {lanes})
            {over} lanes[lane] = lanes[lane] + value_at(begin + lane);
        {over} group[lane] = group[lane] + lanes[lane];
        if (block % {blocks} == 0)
            {over} {{ total[lane] = total[lane] + group[lane]; group[lane] = {none}; }}
    }}
    """
        join = f"{over} lanes[lane] = total[lane] + (group[lane] + lanes[lane]);\n    "
    return f"""wf_total lanes[{lanes}];
    {whole}{over} lanes[lane] = {none};
    for (; begin + {lanes} <= end; begin += {lanes})
        {over} lanes[lane] = wf_join(lanes[lane], value_at(begin + lane));
    for (int lane = 0; begin < end; ++lane, ++begin) lanes[lane] = wf_join(lanes[lane], value_at(begin));
    {join}for (int half = {lanes // 2}; half != 0; half /= 2)
        for (int lane = 0; lane < half; ++lane) lanes[lane] = wf_join(lanes[lane], lanes[lane + half]);
    out[part] = lanes[0];"""


@functools.cache
def function(value: Value, operands: tuple[Elements, ...], op: str | None, result: np.dtype[Any]) -> str:
    """`run(begin, end, arrays, out)`: elements of `out`, or, with an operation, a result of each part of PART elements."""
    inputs = "\n    ".join(f"const {_storage(of.dtype)}* a{k} = (const {_storage(of.dtype)}*)arrays[{k}];"
                           for k, of in enumerate(operands))
    kind = _stored(result) if op is None else "(wf_total)value"
    value_at = f"""const auto value_at = [&](const unsigned long long k) {{
        {_loads(operands)}
        {value.statements}
        return {kind};
    }};
    """
    if op is None:
        work = f"""{value_at}#pragma GCC ivdep
    for (unsigned long long k = begin; k < end; ++k) out[k] = value_at(k);"""
    else:
        work = f"{value_at}const unsigned long long part = begin / {PART};\n    {_folded_in_lanes(op, result)}"
    return f"""#include <cmath>
using namespace std;
#define WF_INLINE inline
#define wf_inf __builtin_inf()
#define wf_nan __builtin_nan("")
#if defined(__x86_64__) && defined(__GLIBC__)
#define WF_VECTORS __attribute__((target_clones("avx2", "default")))
#else
#define WF_VECTORS
#endif
{HELPERS}{HOST_HALF if "half(" in work else ""}{_join(op, result, "static ")}static WF_VECTORS void wf_run(unsigned long long begin, unsigned long long end, const void* const* arrays, void* results) {{
    {inputs}
    {_storage(result)}* const out = ({_storage(result)}*)results;
    {work}
}}
// Not a clone itself: clang exports clones by other names.
extern "C" void run(unsigned long long begin, unsigned long long end, const void* const* arrays, void* results) {{
    wf_run(begin, end, arrays, results);
}}
"""


def _join(op: str | None, result: np.dtype[Any], attributes: str) -> str:
    return "" if op is None else f"typedef {_type(result)} wf_total;\n" \
        f"{attributes}inline wf_total wf_join(wf_total a, wf_total b) {{ return {JOIN[op]}; }}\n"
