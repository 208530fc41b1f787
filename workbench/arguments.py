"""Arguments: what is said of a call that does not fit a public method: by its form, or by a value of another type.

Methods say what is wrong with values themselves. What is here is asked when a call has failed with an error of Python's
own; then the first argument whose type is not the one that the signature names is what is wrong.
"""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from numbers import Integral, Real
from os import PathLike
from typing import Any, TypeVar

from workbench.errors import ArgumentError, StencilError

_Class = TypeVar("_Class")
_LONGEST = 60  # characters of a value in a message

# What an annotation without its brackets accepts, and the words for it; names that are not here accept anything.
# Classes of the rooms above are known by name, as nothing is imported from there.
_KINDS: dict[str, tuple[Callable[[object], bool], str]] = {
    "None": (lambda value: value is None, "None"),
    "bool": (lambda value: isinstance(value, bool), "True or False"),
    "int": (lambda value: isinstance(value, Integral) and not isinstance(value, bool), "a whole number"),
    "float": (lambda value: isinstance(value, Real) and not isinstance(value, bool), "a number"),
    "str": (lambda value: isinstance(value, str), "a text"),
    "ScheduleName": (lambda value: isinstance(value, str), "a text"),
    "Literal": (lambda value: isinstance(value, str), "a text"),
    "Path": (lambda value: isinstance(value, PathLike), "a path"),
    "os.PathLike": (lambda value: isinstance(value, PathLike), "a path"),
    "tuple": (lambda value: isinstance(value, tuple), "a tuple"),
    "Sequence": (lambda value: isinstance(value, Sequence) and not isinstance(value, str), "a list or tuple"),
    "Mapping": (lambda value: isinstance(value, Mapping), "a dict"),
    "Callable": (callable, "a function"),
    "Exact": (callable, "a function"),
    "Listener": (callable, "a function"),
    "ReplanListener": (callable, "a function"),
    "Steps": (lambda value: callable(value) or isinstance(value, Integral), "a whole number or a function"),
    "Until": (lambda value: callable(value) or isinstance(value, Real), "a number or a function"),
    "Choices": (lambda value: type(value).__name__ == "Choices", "the choices of a machine"),
    "Machine": (lambda value: type(value).__name__ == "Machine", "a machine"),
    "Simulation": (lambda value: type(value).__name__ == "Simulation", "a simulation"),
}


def explains_arguments(kind: type[_Class]) -> type[_Class]:
    """Let the public methods of a class say which of their arguments are wrong; returns the same class."""
    for name, member in list(vars(kind).items()):
        if name.startswith("_") and name != "__getitem__":
            continue
        if inspect.isfunction(member):
            setattr(kind, name, _explained(member))
        elif isinstance(member, classmethod):
            setattr(kind, name, classmethod(_explained(member.__func__)))
    return kind


def _explained(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def called(*args: object, **named: object) -> object:
        try:
            return method(*args, **named)
        except StencilError as error:
            error.advice = _meant(method, named, error.what) + error.advice
            raise
        except (TypeError, ValueError, AttributeError):
            fault = _fault(method, args, named)
            if fault is None:
                raise
        raise fault

    return called


def _meant(method: Callable[..., Any], named: Mapping[str, object], what: str) -> str:
    """A question that stands before an advice where a name that is refused looks like an argument; else ""."""
    refused = next((key for key in named if f"has no {key!r}" in what), "")
    if not refused:
        return ""
    known = [each.name for each in inspect.signature(method).parameters.values() if each.kind is each.KEYWORD_ONLY]
    close = difflib.get_close_matches(refused, known, n=1)
    return f"Did you mean {close[0]}=? " if close else ""


def _fault(method: Callable[..., Any], args: tuple[object, ...], named: dict[str, object]) -> ArgumentError | None:
    """What is wrong with the arguments; None if they fit, as far as the signature says."""
    signature = inspect.signature(method)
    owner = args[0] if isinstance(args[0], type) else type(args[0])
    name = f"{owner.__name__.lower()}.{method.__name__}"
    try:
        bound = signature.bind(*args, **named)
    except TypeError:
        return _misplaced(name, tuple(signature.parameters.values())[1:], args[1:], named)
    for key, value in bound.arguments.items():
        parameter = signature.parameters[key]
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            continue
        kinds = [_KINDS.get(each) for each in _alternatives(str(parameter.annotation))]
        known = [each for each in kinds if each is not None]
        if len(known) < len(kinds) or any(accepts(value) for accepts, _ in known):
            continue
        words = " or ".join(dict.fromkeys(word for _, word in known))
        return ArgumentError(f"{name}: {key} is {shown(value)}, but must be {words}", advice=f"Pass {key}= {words}.")
    return None


def _misplaced(
    name: str, parameters: tuple[inspect.Parameter, ...], args: tuple[object, ...], named: dict[str, object]
) -> ArgumentError:
    """What is wrong with a call that does not fit the signature: too many by place, an unknown name, one missing."""
    by_place = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    nameless = {p.name for p in parameters if p.kind is p.POSITIONAL_ONLY}
    others = any(p.kind is p.VAR_KEYWORD for p in parameters)
    form = ", ".join(p.name + "=" * (p.name not in nameless) for p in parameters if p.kind is not p.VAR_KEYWORD)
    advice = f"Write {name}({form or '...' * others})"
    advice += ", and fields, scalars and params by their names as well." if others else "."
    if len(args) > len(by_place):
        most = f"at most {len(by_place)}" if by_place else "none"
        what = f"{name} takes {most} of its arguments without a name, but was given {shown(args[len(by_place)])}"
        return ArgumentError(what, advice=advice)
    known = {each.name for each in parameters}
    unknown = [key for key in named if key not in known]
    if unknown:
        return ArgumentError(f"{name} has no argument {unknown[0]!r}", advice=advice)
    twice = [key for key in by_place[: len(args)] if key in named and key not in nameless]
    if twice:
        return ArgumentError(f"{name} was given {twice[0]} twice, by its place and by its name", advice=advice)
    missing = [p.name for p in parameters if p.default is p.empty and p.name not in named]
    needed = [key for key in missing if key not in by_place[: len(args)]]
    return ArgumentError(f"{name} needs {needed[0]}", advice=advice)


def _alternatives(annotation: str) -> list[str]:
    """What is between the bars of an annotation, without brackets: "int | tuple[int, ...]" is int and tuple."""
    before = ""
    while before != annotation:
        before, annotation = annotation, re.sub(r"\[[^\[\]]*\]", "", annotation)
    return [each.strip() for each in annotation.split("|")]


def shown(value: object) -> str:
    """A value in a message, in short: of an array its shape."""
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        return f"an array of shape {shape}"
    text = repr(value)
    return text if len(text) <= _LONGEST and " at 0x" not in text else f"of type {type(value).__name__}"
