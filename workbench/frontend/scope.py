"""Scope: what a name in a cell means: body, vocabulary, notebook (read-only), builtins (semantics §6)."""

from __future__ import annotations

import ast
import builtins
import difflib
import dis
import math
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import CodeType, FunctionType, ModuleType
from typing import Literal

import numpy as np

from workbench.errors import TraceError
from workbench.frontend import language
from workbench.frontend.attribute_misuse import instead_in_cells
from workbench.frontend.language import __all__ as vocabulary
from workbench.frontend.misuse import INSTEAD_OF_MATH
from workbench.frontend.tensors import Tensor
from workbench.frontend.value import Value
from workbench.graph.types import BY_NAME


@dataclass(frozen=True, slots=True)
class Captured:
    """A name taken from the notebook: its value when the cell was traced and the line of its first use.

    text: of a list and the like, which may change in place, what it was.
    """

    name: str
    value: object
    line: int
    text: str = ""

    @classmethod
    def now(cls, name: str, value: object, line: int) -> Captured:
        """The name with its present value."""
        return cls(name, value, line, text_of(value))

    def after(self) -> Captured:
        """The same when the body has run; what the body itself changes, such as a log, means nothing for the result."""
        return replace(self, text="") if self.text != text_of(self.value) else self

    @property
    def shown(self) -> str:
        """The value when the cell was traced, as Python prints it; of an array its shape."""
        return self.text or shown_value(self.value)

    def __str__(self) -> str:
        if callable(self.value):
            return f"{self.name} (function)"
        shown = self.shown
        return f"{self.name} = {shown if len(shown) <= 60 else shown[:57] + '...'}"


class NotebookScope(dict[str, object]):
    """The builtins of a cell, with the notebook's names before them. Lookups in the notebook are recorded.

    A dict that really holds the builtins, because import and class statements look there without asking __getitem__.
    """

    def __init__(
        self, namespace: Mapping[str, object], captured: dict[str, Captured], *, of_arrays: bool = False
    ) -> None:
        """of_arrays: it is that of a function of arrays, and no cell's."""
        super().__init__(vars(builtins))
        self._of_arrays = of_arrays
        self._namespace = namespace
        self._captured = captured

    def __getitem__(self, name: str) -> object:
        if name in self._captured:
            return self._captured[name].value
        if name not in self._namespace or name.startswith("__"):
            return super().__getitem__(name)
        value = self._namespace[name]
        if isinstance(value, ModuleType):
            return value
        if isinstance(value, np.generic):
            value = value.item()
        parts = tuple(value.stored.values()) if isinstance(value, Tensor) else ()
        if any(isinstance(part, Value) for part in (value, *parts)):
            raise TraceError(
                f"{name} is a traced value of another cell", advice="Declare in this cell every field that it uses."
            )
        numbers = bool(parts) and all(isinstance(part, bool | int | float) for part in parts)
        is_array = hasattr(value, "__array__") or hasattr(value, "__cuda_array_interface__")
        if is_array and not numbers and not isinstance(value, type):
            shape = np.shape(np.asarray(value)) if parts else getattr(value, "shape", "")
            if self._of_arrays and not isinstance(value, np.ndarray):
                raise TraceError(
                    f"{name} is an array from outside of the function (shape {shape})",
                    advice=f"Let the function have it as an argument, {name}, and give it in the call.",
                )
            if not self._of_arrays:
                raise TraceError(
                    f"{name} is an array of the notebook (shape {shape}), and a cell takes no arrays",
                    advice=f'Declare a field, {name} = field("{name}"), and give the array to simulate({name}=array).',
                )
        line = sys._getframe(1).f_lineno
        self._captured[name] = Captured.now(name, value, line)
        if isinstance(value, FunctionType) and value.__globals__.get("__name__") == self._namespace.get("__name__"):
            capture_reads(value, self._namespace, self._captured, line)
        return value


def capture_reads(
    function: FunctionType,
    namespace: Mapping[str, object],
    captured: dict[str, Captured],
    line: int,
    variables: Iterable[str] = (),
) -> None:
    """Record what a function of the notebook reads there when it is called: numbers, arrays, other functions.

    variables: those of functions around it, which the namespace has too.
    """
    for name in (*_read_outside(function.__code__), *variables):
        value = namespace.get(name)
        value = value.item() if isinstance(value, np.generic) else value
        if name in captured or not isinstance(value, _RECORDED):
            continue
        captured[name] = Captured.now(name, value, line)
        if isinstance(value, FunctionType) and value.__globals__ is function.__globals__:
            capture_reads(value, namespace, captured, line)


def shown_value(value: object) -> str:
    """A value as Python prints it; of an array its shape."""
    return f"an array of shape {value.shape}" if isinstance(value, np.ndarray) else repr(value)


def text_of(value: object) -> str:
    """A list, dict or set of plain Python values as Python prints it; "" for all else."""
    return repr(value) if isinstance(value, list | dict | set) and _is_plain(value) else ""


def _is_plain(value: object) -> bool:
    if isinstance(value, dict):
        return all(map(_is_plain, (*value, *value.values())))
    if isinstance(value, list | set | tuple):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, bool | int | float | str)


_RECORDED = (bool, int, float, str, tuple, list, dict, set, FunctionType, np.ndarray)
"""What a function that a cell calls may read from the notebook and is recorded."""


def _read_outside(code: CodeType) -> Iterator[str]:
    """The names that a function's code, and that of functions in it, reads from its module."""
    for step in dis.get_instructions(code):
        if step.opname == "LOAD_GLOBAL" and isinstance(step.argval, str):
            yield step.argval
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _read_outside(constant)


def hidden_names(tree: ast.Module, namespace: Mapping[str, object]) -> list[tuple[str, int]]:
    """Names of the notebook that the cell does not see, as it uses the word of that name, with their first lines.

    What means the same there is left out: words that were imported, and functions and numbers of NumPy and math.
    """
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    own = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    own |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    own |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    used: dict[str, int] = {}
    for node in names:
        if node.id in vocabulary and node.id in namespace and node.id not in own:
            used[node.id] = min(node.lineno, used.get(node.id, node.lineno))
    return [(name, line) for name, line in used.items() if not _means_the_word(name, namespace[name])]


def _means_the_word(name: str, value: object) -> bool:
    meant = (getattr(module, name, None) for module in (language, np, math))
    return any(value is each or (type(value) is float and repr(value) == repr(each)) for each in meant)


Home = Literal["notebook", "text", "function"]
"""What a name may come from: a notebook's other cells, only the text of `trace`, or what stands about a function."""


_NUMPY: dict[Home, str] = {
    "notebook": "Import it: import numpy as np in a cell before, or use the cell's own words: sqrt, where, pi.",
    "text": 'Give it: trace(text, namespace={{"{0}": {0}}}), or begin the text with import {1}. '
    "The text has words of its own: sqrt, where, pi.",
    "function": "Write import {1} where the function is defined.",
}


def explain_name(
    name: str, known: Iterable[str], foreign: bool, home: Home = "notebook", *, of_arrays: bool = False
) -> TraceError:
    """The error for a name that means nothing. `foreign`: it was used in a function defined outside the cell.

    home: what it may come from. of_arrays: it was used in a function of arrays, where names of NumPy have a meaning.
    """
    if foreign and name in vocabulary:
        advice = f"Add to where the function is defined: from workbench.language import {name}."
    elif name in ("np", "numpy"):
        advice = _NUMPY["function" if foreign else home].format(name, "numpy as np" if name == "np" else name)
    elif of_arrays and callable(getattr(np, name, None)):
        advice = f"Write np.{name}."
    elif not (advice := _elsewhere(name)):
        words = dict.fromkeys([*known, *vocabulary])
        close = difflib.get_close_matches(name, words, n=3) if len(name) > 1 else []  # i is no misspelt pi
        advice = "Define it above this line. All words of a cell: %stencil --words, or help(workbench.language)."
        if foreign:
            advice = "Define it where the function is defined."
        elif home == "text":
            advice = f'Define it above this line, or give its value: trace(text, namespace={{"{name}": value}}). '
            advice += "All words of the text: help(workbench.language)."
        if len(close) == 1:
            advice = f"Write {close[0]} if that is meant."
        elif close:
            advice = f"Write {', '.join(close[:-1])} or {close[-1]} if one of them is meant."
    where = " in a function defined outside the cell" if foreign else ""
    return TraceError(f"the name {name} is not defined{where}", advice=advice)


def _elsewhere(name: str) -> str:
    """The advice for a name that means something in `math`, in NumPy or as a storage type, "" for others."""
    types = [str(type_) for type_ in BY_NAME.values() if name in (str(type_), type_.numpy.name)]
    if name in INSTEAD_OF_MATH:
        return f"Write {INSTEAD_OF_MATH[name]}."
    if types:
        return f'Cast a value: astype(value, "{types[0]}"). Declare one: dtype="{types[0]}".'
    if name in ("ravel", "reshape", "transpose"):
        return instead_in_cells(name)
    if name == "norm":
        return "Write sqrt(dot(v, v))."
    if callable(getattr(math, name, None)):
        return f"For numbers write: from math import {name}. No word of a cell computes it of values: write a formula."
    if hasattr(math, name):
        return f"Import it: from math import {name}, or define it in the cell."
    if name in ("math", "scipy"):
        return f"Import it: import {name} in this cell; of values use the cell's own words: sqrt, exp, pi."
    return ""
