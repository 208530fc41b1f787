"""Completion in `%%stencil` cells: options and their values on the magic's line, vocabulary and own names below it."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import ModuleType

from IPython.core.completer import Completer, CompletionContext, SimpleCompletion, SimpleMatcherResult, context_matcher

from workbench.notebook.options import OPTIONS, TUNE_OPTIONS

_MAGIC = re.compile(r"\s*%%?stencil(\s|$)")
_TUNE_LINE = re.compile(r"\s*%%tune\s")
_DECLARED = re.compile(r"""\b(?:fields?|scalar|param|vector|tensor)\(\s*["']([^"']*)["']""")
_ASSIGNED = re.compile(r"^\s*(?:def\s+)?([A-Za-z_]\w*(?:\s*,\s*[A-Za-z_]\w*)*)\s*(?:=(?!=)|\()", re.MULTILINE)
_MEMBERS = ("next", "at")  # of a field in a cell


def is_stencil_text(text: str) -> bool:
    """Whether the text of a cell begins with the magic."""
    return _MAGIC.match(text) is not None


def option_completions(before: str, token: str, machines: Iterable[str]) -> tuple[str, ...]:
    """What may follow on the magic's line. `before` ends at the cursor and with `token`, the word being typed."""
    ahead = before[: len(before) - len(token)]
    words = ahead.split()
    option = next((o for o in OPTIONS if ahead.rstrip().endswith((f"--{o.name}", f"--{o.name}="))), None)
    if option is not None:
        return tuple(value for value in option.values if value.startswith(token))
    used = {word.partition("=")[0] for word in words}
    flags = tuple(f"--{o.name}" for o in OPTIONS if f"--{o.name}" not in used)
    names = tuple(machines) if len(words) == 1 else ()
    of_line_magic = () if before.lstrip().startswith("%%") or "--words" in used else ("--words",)
    return tuple(text for text in (*names, *flags, *of_line_magic, "--help") if text.startswith(token))


def tune_completions(before: str, token: str) -> tuple[str, ...]:
    """What may follow on the line of `%%tune`: options that are not there yet; nothing behind --folder."""
    words = before[: len(before) - len(token)].split()
    if words[-1] == "--folder":
        return ()
    flags = [*(f"--{option.name}" for option in TUNE_OPTIONS), "--help"]
    return tuple(flag for flag in flags if flag not in words and token and flag.startswith(token))


def body_completions(
    text: str, token: str, vocabulary: Iterable[str], notebook: Mapping[str, object]
) -> tuple[str, ...]:
    """What may be meant in the body, in the order in which names are looked up there, and members of fields.

    The notebook's names and Python's own are offered as well: Jedi, which would, does not read below a magic's line.
    """
    declared = _declared(text)
    if "." in token:
        base, _, member = token.rpartition(".")
        module = notebook.get(base)
        members = _MEMBERS if base in declared else dir(module) if isinstance(module, ModuleType) else ()
        return tuple(f"{base}.{m}" for m in members if m.startswith(member) and (member or m[:1] != "_"))
    known = [*(name for name in own_names(text) if name != token), *vocabulary]
    if token:
        known += [*(name for name in notebook if name[:1] != "_"), *dir(builtins), *keyword.kwlist]
    return tuple(dict.fromkeys(name for name in known if name.startswith(token)))


@lru_cache(maxsize=4)
def own_names(text: str) -> tuple[str, ...]:
    """The names that a cell declares, assigns or defines, in this order."""
    body = text.partition("\n")[2]
    assigned = [name.strip() for match in _ASSIGNED.findall(body) for name in match.split(",")]
    return tuple(dict.fromkeys([*_declared(text), *assigned]))


def _declared(text: str) -> list[str]:
    return [name for match in _DECLARED.findall(text.partition("\n")[2]) for name in match.split()]


def kind_of(name: str, text: str, vocabulary: Mapping[str, object], notebook: Mapping[str, object]) -> str:
    """What a name of a cell's body is, in the words by which front ends choose a sign: "function", "instance", ..."""
    base, dot, member = name.rpartition(".")
    if dot:
        found = notebook.get(base)
        value = getattr(found, member, None) if isinstance(found, ModuleType) else None
        return "function" if member == "at" or callable(value) else "property"
    if name in own_names(text):
        return "function" if re.search(rf"^\s*def\s+{name}\b", text, re.MULTILINE) else "instance"
    if keyword.iskeyword(name):
        return "keyword"
    value = next((names[name] for names in (vocabulary, notebook, vars(builtins)) if name in names), None)
    if isinstance(value, ModuleType | type):
        return "module" if isinstance(value, ModuleType) else "class"
    return "function" if callable(value) else "instance"


class StencilMatcher:
    """The matcher of one shell; `matcher` is what the completer calls."""

    def __init__(self, names: Mapping[str, object], machine_type: type, vocabulary: Mapping[str, object]) -> None:
        """`names` is the notebook's namespace, looked at when asked; machines in it complete as NAME.

        vocabulary: the words of a cell and what they are.
        """

        @context_matcher()
        def stencil_matcher(context: CompletionContext) -> SimpleMatcherResult:
            if _TUNE_LINE.match(context.full_text) and context.cursor_line == 0:
                flags = tune_completions(context.text_until_cursor, context.token)
                return {"completions": [SimpleCompletion(text=flag, type="param") for flag in flags]}
            if not is_stencil_text(context.full_text):
                return {"completions": []}
            if context.cursor_line > 0:
                text = context.full_text
                found = body_completions(text, context.token, vocabulary, names)
                kinds = [(name, kind_of(name, text, vocabulary, names)) for name in found]
                return {"completions": [SimpleCompletion(text=name, type=kind) for name, kind in kinds]}
            machines = [name for name, value in names.items() if isinstance(value, machine_type)]
            found = option_completions(context.text_until_cursor, context.token, machines)
            # File names and Python names mean nothing on this line.
            return {"completions": [SimpleCompletion(text=text, type="param") for text in found], "suppress": True}

        self.matcher = stencil_matcher

    def attach(self, completer: Completer) -> None:
        """Add the matcher to IPython's completer."""
        completer.custom_matchers.append(self.matcher)

    def detach(self, completer: Completer) -> None:
        """Take it out again; nothing happens if it is gone already."""
        if self.matcher in completer.custom_matchers:
            completer.custom_matchers.remove(self.matcher)
