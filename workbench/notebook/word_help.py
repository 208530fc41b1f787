"""Word help: Shift+Tab in a `%%stencil` cell shows what the word under the cursor means, in other cells `word?` too.

Other cells know no words of the language, so they are explained there only while the name stands for nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from IPython.core import page
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.tokenutil import token_at_cursor

from workbench.frontend.words import find_word
from workbench.notebook.completion import is_stencil_text, own_names


def help_at(code: str, cursor: int) -> str:
    """The help on the word of the language at the cursor; empty outside a cell's body, and for names of its own.

    Inside the parentheses of a call that is the function called, as everywhere in a notebook.
    """
    if not is_stencil_text(code) or "\n" not in code[:cursor]:
        return ""
    name = token_at_cursor(code, cursor)
    word = find_word(name)
    return "" if word is None or name in own_names(code) else str(word)


def help_on(name: str, shell: InteractiveShell) -> str:
    """The help on a word of the language that is no name of the notebook, nor a builtin; "" for all others."""
    word = find_word(name) if name.isidentifier() else None
    known: Any = shell  # whose methods carry no annotations
    return "" if word is None or known.object_inspect(name)["found"] else str(word)


class InspectionHook:
    """The answers of one shell to Shift+Tab and to `word?`: help on a word of the language, else as before.

    The kernel of IPython has no place for inspectors, so that its method is replaced on this one object. What `?` calls
    is a magic, which is replaced as magics are.
    """

    def __init__(self, shell: InteractiveShell) -> None:
        """A shell without a kernel, in a terminal, has only `?`."""
        self._shell: Any = shell  # whose methods carry no annotations
        self._kernel: Any = getattr(shell, "kernel", None)  # ipykernel's, which is not imported for its type
        self._before: dict[str, Callable[[str], object]] = {}

    def attach(self) -> None:
        """Answer from now on."""
        for name in ("pinfo", "pinfo2"):
            self._replace(name)
        if self._kernel is None:
            return
        before = self._kernel.do_inspect

        def do_inspect(code: str, cursor_pos: int, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401  # passed on
            text = help_at(code, cursor_pos)
            if not text and not is_stencil_text(code):
                text = help_on(token_at_cursor(code, cursor_pos), self._shell)
            if not text:
                return before(code, cursor_pos, *arguments, **options)
            return {"status": "ok", "found": True, "data": {"text/plain": text}, "metadata": {}}

        self._kernel.do_inspect = do_inspect

    def _replace(self, name: str) -> None:
        """Let one magic answer for words first."""
        before: Callable[[str], object] = self._shell.find_line_magic(name)  # loads it, where shells do so late
        self._before[name] = before

        def explain(line: str) -> object:
            text = help_on(line.strip(), self._shell)
            return page.page({"text/plain": text}) if text else before(line)

        explain.__doc__ = before.__doc__
        self._shell.magics_manager.magics["line"][name] = explain

    def detach(self) -> None:
        """Leave the answers to the shell again."""
        self._shell.magics_manager.magics["line"].update(self._before)
        self._before = {}
        if self._kernel is not None:
            vars(self._kernel).pop("do_inspect", None)
