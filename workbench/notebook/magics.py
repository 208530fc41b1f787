"""The magics: `%%stencil NAME` turns a cell into a machine, `%stencil` says what is alive."""

from __future__ import annotations

import builtins
import keyword
import linecache
from types import ModuleType
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from IPython.display import display
from traitlets import Bool, Enum, Unicode, default, observe

from workbench.errors import StencilError
from workbench.frontend.words import explain, words_text
from workbench.machine import Machine
from workbench.notebook.defining import CellOptions, define, summary
from workbench.notebook.living import living_text
from workbench.notebook.options import ARITHMETICS, BACKENDS, OPTIONS
from workbench.notebook.shown import ShownCard
from workbench.planning.checking import is_checking, set_checking
from workbench.views.page.slow_notice import SlowNotice

_HELP = {option.name: f"{option.help}" for option in OPTIONS}
_FIRST_LINE = 2  # the body's first line as the user counts: the magic itself is line 1
_DEFINING = ("dim", "dtype", "backend", "boundary", "arithmetic")  # options of a machine, not of its card


@magics_class
class StencilMagics(Magics):
    """Defaults of `%%stencil`; an option on a cell wins. Set one with `%config StencilMagics.backend = "openmp"`."""

    backend = Enum(BACKENDS, default_value="auto", help=_HELP["backend"]).tag(config=True)
    dtype = Enum(("f64", "f32"), default_value="f64", help=_HELP["dtype"]).tag(config=True)
    boundary = Unicode("", help=_HELP["boundary"]).tag(config=True)
    arithmetic = Enum(ARITHMETICS, default_value="ieee", help=_HELP["arithmetic"]).tag(config=True)
    check = Bool(help="Verify every graph and plan as it is made; off unless WORKBENCH_CHECK=1.").tag(config=True)

    @default("check")
    def _check_from_environment(self) -> bool:
        return is_checking()

    @observe("check")
    def _switch_checking(self, change: dict[str, object]) -> None:
        set_checking(bool(change["new"]))

    @magic_arguments()
    @argument("name", metavar="NAME", nargs="?", help="The machine's name in the notebook.")
    @argument("--dim", type=int, metavar="N", help=_HELP["dim"])
    @argument("--shape", metavar="NxN", help=_HELP["shape"])
    @argument("--dtype", choices=("f64", "f32"), help=_HELP["dtype"])
    @argument("--backend", choices=BACKENDS, help=_HELP["backend"])
    @argument("--boundary", metavar="RULE", help=_HELP["boundary"])
    @argument("--arithmetic", choices=ARITHMETICS, help=_HELP["arithmetic"])
    @argument("--words", action="store_true", help="The words of a cell; with NAME the help on that word.")
    @line_cell_magic
    def stencil(self, line: str, cell: str | None = None) -> None:
        """Turn this cell into a machine called NAME, or say what there is.

        Examples::

            %%stencil heat --dim 2 --shape 512x512
            u = field("u", boundary="periodic")
            k = param("k", 0.2)
            u.next = u + k * (u[+1, 0] + u[-1, 0] + u[0, +1] + u[0, -1] - 4 * u)

            %stencil                 what is alive: machines, simulations, memory, cache
            %stencil heat            the card of heat once more
            %stencil --words         the words of a cell; with one behind it its help: %stencil --words laplacian
            %config StencilMagics.backend = "openmp"

        Afterwards, in another cell: sim = heat.simulate(u=array); sim.run(1000)
        """
        if {"-h", "--help"} & set(line.split()):
            print(self.stencil.__doc__)  # noqa: T201  # asked for on the magic's line
            return
        arguments = parse_argstring(self.stencil, line)
        if cell is None:
            self._show(arguments)
        else:
            self._define(arguments, line, cell)

    @line_magic("%stencil")  # type: ignore[arg-type]  # IPython types only its form without a name
    def misplaced(self, line: str) -> None:
        """IPython asks for this where a line `%%stencil NAME` is not the first one of its cell."""
        raise UsageError(f"%%stencil {line}: this must be the first line of its cell. Put nothing above it.")

    def _show(self, arguments: Any) -> None:  # noqa: ANN401  # argparse's namespace
        """The line magic: a list, or the card of one machine."""
        names = self._names()
        if arguments.words:
            print(words_text() if arguments.name is None else explain(arguments.name))  # noqa: T201  # the answer
            return
        unused = [f"--{word}" for word in _DEFINING if getattr(arguments, word) is not None]
        if unused:
            raise UsageError(f"{', '.join(unused)}: only %%stencil, which defines a machine, takes that. Leave it out.")
        if arguments.name is None:
            print(living_text(names))  # noqa: T201  # the answer to %stencil
            return
        machine = names.get(arguments.name)
        if not isinstance(machine, Machine):
            known = ", ".join(name for name, value in names.items() if isinstance(value, Machine) and name[:1] != "_")
            raise UsageError(
                f"{arguments.name} is no machine. "
                + (f"There are: {known}." if known else "There is none yet: define one with %%stencil NAME.")
            )
        display(ShownCard(summary(machine, name=arguments.name, extents=parse_shape(arguments.shape))))

    def _define(self, arguments: Any, line: str, cell: str) -> None:  # noqa: ANN401  # argparse's namespace
        """The cell magic: trace, compile, bind NAME, show the card."""
        name = check_name(arguments.name)
        # The user's own frames in a traceback find their lines here, counted as the user sees them.
        text = f"%%stencil {line}\n{cell}"
        filename = f"<stencil {name}>"
        linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
        previous = self._names().get(name)
        if isinstance(previous, ModuleType):
            raise UsageError(
                f"{name} is a module in this notebook, which the machine would hide from all later cells. "
                f"Choose another name, as in: %%stencil my_{name}"
            )
        options = CellOptions(
            name=name,
            dim=arguments.dim,
            dtype=arguments.dtype or self.dtype,
            boundary=arguments.boundary or self.boundary or None,
            backend=arguments.backend or self.backend,
            extents=parse_shape(arguments.shape),
        )
        with SlowNotice(f"compiling {name} ...") as notice:
            try:
                machine, card = define(
                    cell,
                    options,
                    first_line=_FIRST_LINE,
                    namespace=self._names(),
                    previous=previous if isinstance(previous, Machine) else None,
                )
            except StencilError as error:
                if (
                    error.line is not None and not error.source and not error.origin
                ):  # found by a later stage, which has no text
                    error.source = linecache.getline(filename, error.line)
                raise
            self._names()[name] = machine
            notice.replace(ShownCard(card))

    def _names(self) -> dict[str, Any]:
        """The notebook's namespace."""
        assert self.shell is not None
        names: dict[str, Any] = self.shell.user_ns
        return names


def check_name(name: str | None, magic: str = "%%stencil") -> str:
    """The name if what the magic makes may have it. Raises UsageError."""
    if name is None:
        raise UsageError(f"a name is missing. Write it behind the magic: {magic} wave")
    if not name.isidentifier() or keyword.iskeyword(name):
        raise UsageError(f"{name!r} is no name for a variable. Use letters, digits and _, as in: {magic} wave")
    if hasattr(builtins, name):
        made = "machine" if magic == "%%stencil" else "tuning"
        raise UsageError(
            f"{name} is a word of Python, which the {made} would hide from all later cells. "
            f"Choose another name, as in: {magic} my_{name}"
        )
    return name


def parse_shape(text: str | None) -> tuple[int, ...] | None:
    """Extents from "256x256", "256,256" or "256"; None for None. Raises UsageError."""
    if text is None:
        return None
    parts = text.lower().replace("×", "x").replace(",", "x").split("x")
    if not all(part.isdigit() and int(part) > 0 for part in parts):
        raise UsageError(f"argument --shape: {text!r} is no shape. Write cells along each axis, as in 256x256")
    return tuple(int(part) for part in parts)
