"""Componentwise: functions of values that take tensors too, and the names that components are stored by."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, cast

from workbench.frontend.tensors import Index, Tensor, combine
from workbench.frontend.value import Value

_Arguments = ParamSpec("_Arguments")


def componentwise(function: Callable[_Arguments, Value]) -> Callable[_Arguments, Value]:
    """Let a function of values take tensors too, component by component."""

    @wraps(function)
    def applied(*arguments: _Arguments.args, **options: _Arguments.kwargs) -> Value:
        if not any(isinstance(a, Tensor) for a in arguments):
            return function(*arguments, **options)
        return cast(Value, combine(lambda *parts: function(*parts, **options), *arguments))

    return applied


def component_name(name: str, index: Index) -> str:
    """The name of a component as it is stored: momentum0, stress01; with _ between indices of several digits."""
    return name + ("_" if any(a > 9 for a in index) else "").join(map(str, index))
