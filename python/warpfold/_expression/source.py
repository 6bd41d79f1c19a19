# SPDX-License-Identifier: MIT
"""C++ of expressions for given types, for a compiler of the host and for NVRTC. The parts of both are the same."""
from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._arrays import TYPES
from .functions import FUNCTIONS, HELPERS
from .trace import Expression, Operand

NAMES = dict(zip(map(np.dtype, ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64")),
                 ("bool", "signed char", "short", "int", "long long", "unsigned char", "unsigned short", "unsigned",
                  "unsigned long long", "float", "double")))
JOIN = {"sum": "a + b", "prod": "a * b", "min": "wf_smaller(a, b)", "max": "wf_larger(a, b)"}
BLOCK_THREADS, PART = 256, 65536  # threads of a block; elements that the host folds one after the other


class Value(NamedTuple):
    """What an expression computes of each element."""

    statements: str  # the result is `value`
    dtype: np.dtype[Any]


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

    def __init__(self, dtypes: Sequence[np.dtype[Any]]) -> None:
        self.lines: list[str] = []
        self._dtypes = dtypes
        self._done: dict[int, tuple[str, Any]] = {}

    def of(self, node: Any) -> tuple[Any, Any]:
        """(name, type) of a value; (number, type of Python or NumPy) of a constant."""
        if isinstance(node, Operand):
            return f"x{node.index}", self._dtypes[node.index]
        if isinstance(node, Expression):
            if id(node) not in self._done:
                self._done[id(node)] = self._computed(node)
            return self._done[id(node)]
        if isinstance(node, (bool, np.generic)):
            return node, np.asarray(node).dtype
        if isinstance(node, (int, float)):
            return node, type(node)
        raise TypeError(f"op: {type(node).__name__} is no number in an operation")

    def _computed(self, node: Expression) -> tuple[str, np.dtype[Any]]:
        inputs = [self.of(x) for x in node.inputs]
        if node.function is np.where:
            condition = self._converted(*inputs[0], np.dtype(bool))
            common = np.dtype(np.result_type(*(value if isinstance(dtype, type) else dtype for value, dtype in inputs[1:])))
            chosen = [self._converted(*x, common) for x in inputs[1:]]
            return self._written(f"{condition} ? {chosen[0]} : {chosen[1]}", common)
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
        return text if isinstance(value, str) and dtype == to else f"({_type(to)})({text})"

    def _written(self, text: str, dtype: np.dtype[Any]) -> tuple[str, np.dtype[Any]]:
        name = f"v{len(self.lines)}"
        self.lines.append(f"const {_type(dtype)} {name} = ({_type(dtype)})({text});")
        return name, dtype

    def finished(self, node: Any) -> Value:
        value, dtype = self.of(node)
        chosen: np.dtype[Any] = np.asarray(value).dtype if isinstance(dtype, type) else dtype
        self.lines.append(f"const {_type(chosen)} value = {self._converted(value, dtype, chosen)};")
        return Value("\n        ".join(self.lines), chosen)


def _type(dtype: np.dtype[Any]) -> str:
    if dtype not in NAMES:
        raise TypeError(f"op: {dtype} is not offered in operations; accepted are {', '.join(map(str, NAMES))}")
    return NAMES[dtype]


def value_of(expression: Any, dtypes: Sequence[np.dtype[Any]]) -> Value:
    """Raises TypeError for functions that NumPy, or the table above, does not have for these types."""
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


def _loads(dtypes: Sequence[np.dtype[Any]]) -> str:
    return " ".join(f"const {_type(dtype)} x{k} = a{k}[k];" for k, dtype in enumerate(dtypes))


@functools.cache
def kernel(value: Value, dtypes: tuple[np.dtype[Any], ...], op: str | None, result: np.dtype[Any]) -> str:
    """`run(n, a0, ..., out)`: elements of `out`, or, with an operation, a result of each block."""
    inputs = "".join(f"const {_type(dtype)}* a{k}, " for k, dtype in enumerate(dtypes))
    body = f"{_loads(dtypes)}\n        {value.statements}\n        "
    loop = "for (unsigned long long k = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x; k < n; " \
        "k += (unsigned long long)gridDim.x * blockDim.x) {\n        "
    head = f"extern \"C\" __global__ void run(unsigned long long n, {inputs}{_type(result)}* out) {{\n    "
    if op is None:
        work = f"{head}{loop}{body}out[k] = value;\n    }}\n}}\n"
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
{HELPERS}{_join(op, result, "__device__ ")}{work}"""


@functools.cache
def function(value: Value, dtypes: tuple[np.dtype[Any], ...], op: str | None, result: np.dtype[Any]) -> str:
    """`run(begin, end, arrays, out)`: elements of `out`, or, with an operation, a result of each part of PART elements."""
    inputs = "\n    ".join(f"const {_type(dtype)}* a{k} = (const {_type(dtype)}*)arrays[{k}];" for k, dtype in enumerate(dtypes))
    body = f"{_loads(dtypes)}\n        {value.statements}\n        "
    if op is None:
        work = f"for (; begin < end; ++begin) {{\n        const unsigned long long k = begin;\n        {body}out[k] = value;\n    }}"
    else:
        lanes = 16
        work = f"""const unsigned long long part = begin / {PART};
    wf_total lanes[{lanes}];
    for (int lane = 0; lane < {lanes}; ++lane) lanes[lane] = {_none(op, result)};
    for (unsigned long long k = begin; k < end; ++k) {{
        {body}lanes[k % {lanes}] = wf_join(lanes[k % {lanes}], (wf_total)value);
    }}
    for (int half = {lanes // 2}; half != 0; half /= 2)
        for (int lane = 0; lane < half; ++lane) lanes[lane] = wf_join(lanes[lane], lanes[lane + half]);
    out[part] = lanes[0];"""
    return f"""#include <cmath>
using namespace std;
#define WF_INLINE inline
#define wf_inf __builtin_inf()
#define wf_nan __builtin_nan("")
{HELPERS}{_join(op, result, "static ")}extern "C" void run(unsigned long long begin, unsigned long long end, const void* const* arrays, void* results) {{
    {inputs}
    {_type(result)}* out = ({_type(result)}*)results;
    {work}
}}
"""


def _join(op: str | None, result: np.dtype[Any], attributes: str) -> str:
    return "" if op is None else f"typedef {_type(result)} wf_total;\n" \
        f"{attributes}inline wf_total wf_join(wf_total a, wf_total b) {{ return {JOIN[op]}; }}\n"


assert set(NAMES) | {np.dtype(np.float16)} == set(TYPES)
