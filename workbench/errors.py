"""Errors a user can meet: what is wrong, the value, the line in the cell, and what to do about it.

Every error of the package derives from `StencilError`. The text of one reads

    line 3: field u is read 2 cells away, but its halo is 1: u[+2]
        v = u[+2] - u
            ^
    Declare field("u", halo=2).

First the line and what is wrong, then the line of source with a caret if it is known, last an imperative advice. A line
that is not one of the user's cell says whose it is: "line 22 of workbench/solvers/heat.py: ...".
"""

import os
import sys
import sysconfig
import traceback
import warnings
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

_PACKAGE = Path(__file__).resolve().parent

# Where code lives that is not the user's: this package, the standard library, generated functions.
_MACHINERY = (
    str(_PACKAGE) + os.sep,
    sysconfig.get_path("stdlib") + os.sep,
    "<frozen",
    "<string>",
)


class StencilError(Exception):
    """Something the user wrote or asked for cannot be done; the text says what to do instead.

    `line` counts from 1 at the first line of the cell body, `column` from 0 within `source`, the text of that line.
    `origin`: the file or function of which it is a line; empty for a cell and for a function that is one.
    All but `what` may be unknown. The fields stay writable, because the place of an error is often known only further
    out than its cause: see `located` and `belonging`.
    """

    def __init__(
        self,
        what: str,
        *,
        advice: str = "",
        line: int | None = None,
        source: str = "",
        column: int | None = None,
        origin: str = "",
    ) -> None:
        """`what` is the sentence with the offending value in it, `advice` an imperative sentence."""
        super().__init__(what)
        self.what = what
        self.advice = advice
        self.line = line
        self.source = source
        self.column = column
        self.origin = origin

    def located(self, line: int, source: str = "", column: int | None = None, *, origin: str = "") -> Self:
        """Add the place in the cell unless an inner caller knew it already; returns the same error, to be raised."""
        if self.line is None:
            self.line, self.source, self.column, self.origin = line, source, column, origin
        return self

    def belonging(self, origin: str) -> Self:
        """Say whose line it is, if there is a line and it was not said before; returns the same error, to be raised."""
        if self.line is not None:
            self.origin = self.origin or origin
        return self

    def __str__(self) -> str:
        """The whole text: line and cause, source with caret, advice."""
        owner = f" of {self.origin}" if self.origin else ""
        lines = [self.what if self.line is None else f"line {self.line}{owner}: {self.what}", *self._source_lines()]
        return "\n".join([*lines, self.advice] if self.advice else lines)

    def _source_lines(self) -> tuple[str, ...]:
        """The source line without its indentation and, below it, the caret; empty when the source is unknown."""
        stripped = self.source.strip()
        if not stripped:
            return ()
        if self.column is None:
            return (f"    {stripped}",)
        indentation = len(self.source) - len(self.source.lstrip())
        return (f"    {stripped}", "    " + " " * max(self.column - indentation, 0) + "^")

    def _render_traceback_(self) -> list[str]:
        """The lines IPython shows instead of a traceback: the user's own frames, then the message.

        A frame of a cell whose line the message shows has only its place.
        """
        frames = [self._without_line(frame) for frame in _user_frames(self.__traceback__)]
        return [*"".join(traceback.format_list(frames)).splitlines(), *f"{type(self).__name__}: {self}".splitlines()]

    def _without_line(self, frame: traceback.FrameSummary) -> traceback.FrameSummary:
        shown = bool(self.source) and frame.filename.startswith("<stencil ") and frame.lineno == self.line
        return traceback.FrameSummary(frame.filename, frame.lineno, frame.name, line="") if shown else frame


def shorten(interrupt: KeyboardInterrupt, text: str) -> KeyboardInterrupt:
    """The same exception, for which IPython shows the user's own frames and `text`, and a script `text` at the end.

    The type stays, because Python ends a script as interrupted for this very type alone.
    """
    interrupt.add_note(text)

    def rendered() -> list[str]:
        frames = "".join(traceback.format_list(_user_frames(interrupt.__traceback__))).splitlines()
        return [*frames, *f"KeyboardInterrupt: {text}".splitlines()]

    interrupt._render_traceback_ = rendered  # type: ignore[attr-defined]
    return interrupt


def _user_frames(trace: TracebackType | None) -> list[traceback.FrameSummary]:
    """The frames of the user's own code: neither this package nor what it and the notebook stand on."""
    return [frame for frame in traceback.extract_tb(trace) if not _is_machinery(frame)]


def _is_machinery(frame: traceback.FrameSummary) -> bool:
    """True for installed code, and for the line into which IPython translates a magic."""
    return (frame.line or "").startswith("get_ipython().run_") or is_machinery(frame.filename)


def is_machinery(filename: str) -> bool:
    """Whether code of that file is not the user's."""
    installed = "site-packages" in filename or "dist-packages" in filename
    return installed or filename.startswith(_MACHINERY)


def warn_user(text: str, category: type[Warning]) -> None:
    """Warn at the user's line that led here, which Python shows beside the text; in a thread of ours at its first."""
    frame, level = sys._getframe(1), 2
    while is_machinery(frame.f_code.co_filename) and frame.f_back is not None:
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)


def shown_path(filename: str) -> str:
    """A file as messages name it: this package's from "workbench" on, others from where the process runs, if below."""
    path = Path(filename).resolve()
    start = _PACKAGE.parent if path.is_relative_to(_PACKAGE) else Path.cwd()
    return path.relative_to(start).as_posix() if path.is_relative_to(start) else str(path)


class TraceError(StencilError):
    """The cell does not describe a stencil: a name, an operation or an assignment that has no meaning in it."""


class FieldError(StencilError):
    """A field, parameter or scalar is missing, unknown, or has the wrong type."""


class MissingAttributeError(FieldError, AttributeError):
    """An attribute that an object does not have, or that cannot be set; `hasattr` and `getattr` know it as one."""


class ShapeError(FieldError):
    """Extents or ranks do not fit each other."""


class GraphError(StencilError):
    """A graph breaks a rule that the verifier names."""


class PlanError(StencilError):
    """A choice cannot be honoured, or a plan breaks a rule that the verifier names."""


class GenomeError(PlanError):
    """A genome's text does not describe choices for this program."""


class BackendError(StencilError):
    """A backend is unknown, not available on this machine, or cannot do what was asked."""


class NoRoomError(ShapeError, BackendError):
    """There is too little memory, on the host or on a device."""


class BuildError(BackendError):
    """The compiler is missing or refused the generated source."""


class ArgumentError(StencilError, TypeError):
    """A method was called with other arguments than it takes."""


class RunError(StencilError):
    """A simulation cannot go on, or was asked for something its state does not allow."""


@dataclass(frozen=True, slots=True)
class OutsideIndex:
    """An index outside of an array: what is read there, in the names that a program has for arrays and axes.

    array: what is read, empty where a scatter sends. static: its name if it is one. own: its axes, of which `axis` has
    `extent` elements (of cells, if it is one of a grid). at: where, an index for each axis of the cells that read or
    send.
    """

    array: str
    static: str
    index: int
    own: tuple[str, ...]
    axis: str
    extent: int
    of_cells: bool
    at: tuple[tuple[str, int], ...]

    def text(self, *, array: str = "", axis: str = "", place: str | None = None) -> str:
        """It in words, also in other ones; place: of the reading cell, empty if there is one alone."""
        count = f"{self.extent} {'cell' if self.of_cells else 'element'}{'s' * (self.extent != 1)}"
        known = ", ".join(f"{name} = {number}" for name, number in self.at) if place is None else place
        has = f", for {known}" if known else ""
        has += f", but {'' if self.array else 'the result '}has {count} along {axis or self.axis}"
        if not self.array:
            return f"scatter sends to index {self.index}{has}"
        return f"{array or self.array} is read at index {self.index}{has}"


class OutsideError(RunError):
    """An index lies outside of the array that is read, or to which a scatter sends."""

    def __init__(self, outside: OutsideIndex, *, line: int | None, what: str = "") -> None:
        """what: the sentence, if it is another one than that of `outside`."""
        n, where = outside.extent, "" if outside.array else ", or leave these out: where="
        advice = f"Give indices from 0 to {n - 1}{where}."
        if n == 0:
            advice = "Give no index where there is nothing to read." if outside.array else "Send nothing: where=."
        super().__init__(what or outside.text(), advice=advice, line=line)
        self.outside = outside


class TurnsError(RunError):
    """A loop over whole arrays did not end within the iterations that it may make."""


class NonFiniteError(RunError):
    """A field became infinite or not a number; the simulation stands at the last step at which it was not.

    `field`, `cell` and `step` say where; `node` is the node of the kernel that made it, None if the value was given so
    or if the reference backend does not make it.
    """

    def __init__(
        self,
        what: str,
        *,
        advice: str,
        field: str,
        cell: tuple[int, ...],
        step: int,
        node: int | None = None,
        line: int | None = None,
    ) -> None:
        """`what` names all of them in words."""
        super().__init__(what, advice=advice, line=line)
        self.field, self.cell, self.step, self.node = field, cell, step, node


class TuningError(StencilError):
    """A tuning run cannot be done as described: its variables, values, commands or files make no sense."""
