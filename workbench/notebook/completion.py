"""Completion in `%%stencil` cells: options and their values on the magic's line, vocabulary and own names below it."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterable, Mapping
from types import ModuleType

from IPython.core.completer import Completer, CompletionContext, SimpleCompletion, SimpleMatcherResult, context_matcher

from workbench.notebook.options import OPTIONS

_MAGIC = re.compile(r"\s*%%?stencil(\s|$)")
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
    return tuple(text for text in (*names, *flags, "--help") if text.startswith(token))


def body_completions(
    text: str, token: str, vocabulary: Iterable[str], notebook: Mapping[str, object]
) -> tuple[str, ...]:
    """What may be meant in the body, in the order in which names are looked up there, and members of fields.

    The notebook's names and Python's own are offered as well: Jedi, which would, does not read below a magic's line.
    """
    body = text.partition("\n")[2]
    declared = [name for match in _DECLARED.findall(body) for name in match.split()]
    if "." in token:
        base, _, member = token.rpartition(".")
        module = notebook.get(base)
        members = _MEMBERS if base in declared else dir(module) if isinstance(module, ModuleType) else ()
        return tuple(f"{base}.{m}" for m in members if m.startswith(member) and (member or m[:1] != "_"))
    assigned = [name.strip() for match in _ASSIGNED.findall(body) for name in match.split(",")]
    own = (name for name in (*declared, *assigned) if name != token)
    known = [*own, *vocabulary]
    if token:
        known += [*(name for name in notebook if name[:1] != "_"), *dir(builtins), *keyword.kwlist]
    return tuple(dict.fromkeys(name for name in known if name.startswith(token)))


class StencilMatcher:
    """The matcher of one shell; `matcher` is what the completer calls."""

    def __init__(self, names: Mapping[str, object], machine_type: type, vocabulary: tuple[str, ...]) -> None:
        """`names` is the notebook's namespace, looked at when asked; machines in it complete as NAME."""

        @context_matcher()
        def stencil_matcher(context: CompletionContext) -> SimpleMatcherResult:
            if not is_stencil_text(context.full_text):
                return {"completions": []}
            if context.cursor_line > 0:
                found = body_completions(context.full_text, context.token, vocabulary, names)
                return {"completions": [SimpleCompletion(text=text, type="keyword") for text in found]}
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
