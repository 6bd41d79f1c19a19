# SPDX-License-Identifier: MIT
"""Expressions of arrays' elements: made from text, or by calling a function with operands that record what is done to them."""
from __future__ import annotations

import ast
import inspect
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .functions import FUNCTIONS

NAMES: dict[str, Any] = {ufunc.__name__: ufunc for ufunc in FUNCTIONS} | {
    "abs": np.absolute, "min": np.minimum, "max": np.maximum, "where": np.where, "atan2": np.arctan2, "pow": np.power}
CONSTANTS = {"pi": np.pi, "e": np.e, "inf": np.inf, "nan": np.nan}
AUGMENTED = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and", "xor", "or")
MOST_BITS = 1024  # of an integer that is computed from others: with more, `9**9**9` would take hours
OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod, ast.Pow: operator.pow, ast.LShift: operator.lshift, ast.RShift: operator.rshift, ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_, ast.BitXor: operator.xor, ast.UAdd: operator.pos, ast.USub: operator.neg, ast.Invert: operator.invert,
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq, ast.NotEq: operator.ne}
SYNTAX = (ast.Expression, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Call, ast.Name, ast.Load, ast.Constant, ast.operator, ast.unaryop,
          ast.cmpop)


class Expression(np.lib.mixins.NDArrayOperatorsMixin):
    """A function of NumPy's, `numpy.where` too, of other expressions and numbers. An operand has its number instead.

    Operators, and functions of NumPy called with an expression, give expressions.
    """

    def __init__(self, function: Any, inputs: Sequence[Any]) -> None:
        self.function = function
        self.inputs = tuple(inputs)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Expression:
        if method != "__call__" or options or ufunc not in FUNCTIONS:
            name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
            given = f" with {', '.join(options)}" if options and ufunc in FUNCTIONS else ""
            raise TypeError(f"op: {name}{given} is not offered in operations")
        return Expression(ufunc, inputs)

    def __array_function__(self, function: Any, _: Any, inputs: Any, options: Any) -> Expression:
        if function is not np.where or len(inputs) != 3 or options:
            raise TypeError(f"op: numpy.{function.__name__} is not offered in operations, but where(condition, a, b) is")
        return Expression(function, inputs)

    def __bool__(self) -> bool:
        raise TypeError("op: an operation has no branches: use numpy.where(condition, a, b), and &, |, ~ for conditions")

    def __iter__(self) -> Any:
        raise TypeError("op: operands are single elements")


for _name in AUGMENTED:  # a += b is a = a + b
    setattr(Expression, f"__i{_name}__", getattr(Expression, f"__{_name}__"))


class Operand(Expression):
    """Element k of array number `index`."""

    def __init__(self, index: int) -> None:
        super().__init__(None, ())
        self.index = index


def _checked(tree: ast.Expression, text: str) -> list[str]:
    """The names of operands. Raises ValueError for what is no arithmetic of names and numbers."""
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    operands = set()
    for node in ast.walk(tree):
        is_wrong = not isinstance(node, SYNTAX) or (isinstance(node, (ast.operator, ast.unaryop, ast.cmpop))
                                                    and type(node) not in OPERATORS)
        if isinstance(node, ast.Constant):
            is_wrong = not isinstance(node.value, (int, float))
        elif isinstance(node, ast.Compare):
            is_wrong = len(node.ops) != 1
        elif isinstance(node, ast.Call):
            is_wrong = not isinstance(node.func, ast.Name) or bool(node.keywords)
            if isinstance(node.func, ast.Name) and node.func.id in NAMES:
                takes = 3 if node.func.id == "where" else NAMES[node.func.id].nin
                if len(node.args) != takes:
                    raise ValueError(f"op: {node.func.id} takes {takes} arguments, and has {len(node.args)} in {text!r}")
        elif isinstance(node, ast.Name):
            is_wrong = (id(node) in called) != (node.id in NAMES)
            if node.id not in NAMES and node.id not in CONSTANTS:
                operands.add(node.id)
        if is_wrong:
            part = ast.get_source_segment(text, node) if isinstance(node, ast.expr) else type(node).__name__
            raise ValueError(f"op: {part!r} in {text!r} is no arithmetic of names, numbers and functions; conditions are joined by "
                             "&, | and ~ in parentheses")
    return sorted(operands)


def of_text(text: str) -> tuple[Any, list[str]]:
    """The expression, and the names of its operands, sorted. Raises ValueError."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError as error:
        raise ValueError(f"op: {text!r} is no expression: {error}") from None
    except (RecursionError, MemoryError):
        raise ValueError(f"op: a text of {len(text)} characters has too many operations in each other") from None
    names = _checked(tree, text)
    try:
        return _value(tree, {name: Operand(k) for k, name in enumerate(names)}), names
    except (ArithmeticError, ValueError) as error:
        raise ValueError(f"op: {text!r}: {error}") from None


def _value(tree: ast.Expression, operands: dict[str, Any]) -> Any:
    """What the tree computes, which has nothing but arithmetic and calls of NAMES. Without recursion: a sum of hundreds of terms is as
    deep. Raises ArithmeticError and ValueError for constants."""
    known = NAMES | CONSTANTS | operands
    values: dict[ast.AST, Any] = {}
    for node in reversed(list(ast.walk(tree))):  # inputs first
        if isinstance(node, ast.Constant):
            values[node] = node.value
        elif isinstance(node, ast.Name):
            values[node] = known[node.id]
        elif isinstance(node, ast.UnaryOp):
            values[node] = OPERATORS[type(node.op)](values[node.operand])
        elif isinstance(node, ast.BinOp):
            values[node] = _binary(node.op, values[node.left], values[node.right])
        elif isinstance(node, ast.Compare):
            values[node] = OPERATORS[type(node.ops[0])](values[node.left], values[node.comparators[0]])
        elif isinstance(node, ast.Call):
            inputs = [values[x] for x in node.args]
            if any(type(x) is int and abs(x) >= 2**64 for x in inputs):  # NumPy would compute with objects
                raise ValueError("an integer does not fit 64 bits")
            values[node] = values[node.func](*inputs)
    return values[tree.body]


def _binary(sign: ast.operator, left: Any, right: Any) -> Any:
    if isinstance(left, int) and isinstance(right, int) and isinstance(sign, (ast.Pow, ast.LShift)):
        bits = left.bit_length()
        if right > 0 and (bits * right if isinstance(sign, ast.Pow) else bits + right) > MOST_BITS:
            raise ValueError(f"an integer constant has more than {MOST_BITS} bits")
    return OPERATORS[type(sign)](left, right)


def of_function(function: Callable[..., Any]) -> tuple[Any, list[str]]:
    """The expression that a function returns for operands, and the names of its parameters. Raises TypeError."""
    names = []
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            raise TypeError(f"op: parameter {name} is not one array")
        if parameter.default is parameter.empty:
            names.append(name)
    return function(*(Operand(k) for k, _ in enumerate(names))), names
