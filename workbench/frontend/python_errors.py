"""Python's own errors in a cell: what they mean there, and what to write instead."""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterator

from workbench.amounts import counted
from workbench.errors import TraceError
from workbench.frontend.array_misuse import UFUNCS
from workbench.frontend.words import find_word
from workbench.python_text import parse

_ARGUMENTS = re.compile(r"(?P<name>[\w<>]+)\(\) (takes|missing|got an unexpected keyword|got multiple values)")
_NAMES = re.compile(
    r"\b(?P<word>fields|targets|sources|totals|particles|arrays)\((?P<quote>['\"])(?P<names>.*?)(?P=quote)"
)
_GIVEN = re.compile(r"but (?P<number>\d+) (was|were) given")


def explain_error(error: Exception, text: str, line: str) -> TraceError:
    """The error for one of Python's own that the cell raised, in the formula `text` of `line`, "" where unknown."""
    said = str(error)
    if "object is not callable" in said and ("'Value'" in said or "'Tensor'" in said):
        return _no_call(text, "'Tensor'" in said)
    advice = "Correct this line; it is ordinary Python."
    if isinstance(error, TypeError) and (found := _ARGUMENTS.search(said)) is not None:
        advice = _about_arguments(error, found["name"], text) or advice
    if "values to unpack" in said:
        named = _NAMES.search(line)
        advice = "Unpack as many names as there are components; --dim says how many a vector has."
        if named is not None:
            count = counted(len(re.findall(r"\w+", named["names"])), "name")
            advice = f"{named['word']}(...) gives one value for each name in its text: here {count}."
    if said.startswith("ArrayValue."):
        said = said.removeprefix("ArrayValue.")
        advice = "Give axis= and keepdims= alone; cast and choose elements before."
    if "for divmod()" in said:
        advice = f"Write {UFUNCS['divmod']}."
    return TraceError(f"{type(error).__name__}: {said}", advice=advice)


def _about_arguments(error: TypeError, name: str, text: str) -> str:
    """The advice for a word that was called wrongly, and for a function that a word calls; "" for the cell's own calls.

    text: "" unless the call stands in the cell.
    """
    known = find_word(f"u.{name}" if str(error).startswith("Value.") else name)
    if known is not None:
        example = "" if "." in known.name else f" An example: help(workbench.language.{name})."
        return f"Write {known.signature}.{example}"
    if text:
        return ""
    word = next((each for each in reversed([*_called(error)]) if find_word(each) is not None), "")
    given = _GIVEN.search(str(error))
    values = f" with {counted(int(given['number']), 'value')}" if given is not None else ""
    return f"{word} calls this function{values}. An example: help(workbench.language.{word})." if word else ""


def _called(error: Exception) -> Iterator[str]:
    """The names of the functions in which an error arose, the outermost first."""
    place = error.__traceback__
    while place is not None:
        yield place.tb_frame.f_code.co_name
        place = place.tb_next


def _no_call(text: str, tensor: bool) -> TraceError:
    """The error for u(1) and c(a + b)."""
    call = None
    with contextlib.suppress(SyntaxError):
        call = parse(text.strip(), mode="eval").body
    if not isinstance(call, ast.Call):
        return TraceError(
            "a traced value stands where a function is needed",
            advice="Write lambda u: -u for a function of yours, u[+1] for a neighbour.",
        )
    name, given = ast.unparse(call.func), ", ".join(ast.unparse(a) for a in call.args)
    whole = [_whole_constant(a) for a in call.args]
    offsets = ", ".join(f"{n:+d}" if n else "0" for n in whole if n is not None)
    advice = f"Write {name} * ({given}) for a product."
    if whole and None not in whole:
        read = f"{name}.at({offsets}, axis)" if tensor else f"{name}[{offsets}]"
        advice = f"Write {read} for the value in a neighbouring cell."
    return TraceError(f"{text}: {name} is a value, not a function", advice=advice)


def _whole_constant(node: ast.expr) -> int | None:
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value if type(value) is int else None
