"""Word help: Shift+Tab in a `%%stencil` cell shows what the word under the cursor means."""

from __future__ import annotations

from typing import Any

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


class InspectionHook:
    """The answer of one kernel to Shift+Tab: help on a word of the language, else what it answered before.

    The kernel of IPython has no place for inspectors, so that its method is replaced on this one object.
    """

    def __init__(self, kernel: Any) -> None:  # noqa: ANN401  # ipykernel's, which is not imported for its type
        """`kernel` is the shell's, None in a terminal."""
        self._kernel = kernel

    def attach(self) -> None:
        """Answer from now on."""
        if self._kernel is None:
            return
        before = self._kernel.do_inspect

        def do_inspect(code: str, cursor_pos: int, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401  # passed on
            text = help_at(code, cursor_pos)
            if not text:
                return before(code, cursor_pos, *arguments, **options)
            return {"status": "ok", "found": True, "data": {"text/plain": text}, "metadata": {}}

        self._kernel.do_inspect = do_inspect

    def detach(self) -> None:
        """Leave the answer to the kernel again."""
        if self._kernel is not None:
            vars(self._kernel).pop("do_inspect", None)
