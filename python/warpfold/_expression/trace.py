# SPDX-License-Identifier: MIT
"""Expressions of arrays' elements: made from text, or by calling a function with operands that record what is done to them."""
from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .functions import FUNCTIONS

NAMES: dict[str, Any] = {ufunc.__name__: ufunc for ufunc in FUNCTIONS} | {
    "abs": np.absolute, "min": np.minimum, "max": np.maximum, "where": np.where, "atan2": np.arctan2, "pow": np.power}
CONSTANTS = {"pi": np.pi, "e": np.e, "inf": np.inf, "nan": np.nan}
AUGMENTED = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and", "xor", "or")
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
        is_wrong = not isinstance(node, SYNTAX) or isinstance(node, (ast.Is, ast.IsNot, ast.In, ast.NotIn, ast.Not))
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
    names = _checked(tree, text)
    scope = NAMES | CONSTANTS | {name: Operand(k) for k, name in enumerate(names)}
    # The tree has nothing but arithmetic and calls of NAMES.
    return eval(compile(tree, "<op>", "eval"), {"__builtins__": {}}, scope), names  # pylint: disable=eval-used


def of_function(function: Callable[..., Any]) -> tuple[Any, list[str]]:
    """The expression that a function returns for operands, and the names of its parameters. Raises TypeError."""
    names = []
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            raise TypeError(f"op: parameter {name} is not one array")
        if parameter.default is parameter.empty:
            names.append(name)
    return function(*(Operand(k) for k, _ in enumerate(names))), names
