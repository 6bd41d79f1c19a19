# SPDX-License-Identifier: MIT
"""Docstrings of functions that share parameters, results and errors with another one."""
from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])
HEADING = re.compile(r"\n+(Parameters|Returns|Raises)\n-+\n")


def _sections(function: Callable[..., Any]) -> dict[str, str]:
    """The text of each section of NumPy's format; what precedes the first one is section ""."""
    parts = HEADING.split(inspect.cleandoc(function.__doc__ or "") + "\n")
    return {"": parts[0].strip(), **{name: text.rstrip() for name, text in zip(parts[1::2], parts[2::2])}}


def _parameters(text: str) -> dict[str, str]:
    """The entry of each parameter; one of several parameters is in the place of the first."""
    entries = re.split(r"\n(?=\S)", text) if text else []
    return {entry.partition(" :")[0].partition(",")[0]: entry for entry in entries}


def documented_as(model: Callable[..., Any]) -> Callable[[Function], Function]:
    """Adds the sections that the function's docstring lacks from that of `model`, and those of the model's parameters that the
    function has and does not describe itself."""
    def document(function: Function) -> Function:
        if function.__doc__:  # not with python -OO
            own, others = _sections(function), _sections(model)
            described = _parameters(others["Parameters"]) | _parameters(own.get("Parameters", ""))
            entries = [described[name] for name in inspect.signature(function).parameters if name in described]
            sections = others | own | {"Parameters": "\n".join(entries)}
            text = (f"\n\n{name}\n{'-' * len(name)}\n{sections[name]}" for name in ("Parameters", "Returns", "Raises"))
            function.__doc__ = sections[""] + "".join(text)
        return function
    return document
