"""The magic of the general tuner: `%%tune NAME` holds a configuration file, `%tune` is the self-test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from IPython.display import display

from workbench.errors import TuningError
from workbench.notebook.magics import check_name
from workbench.notebook.options import TUNE_OPTIONS
from workbench.tuning.configuration import Configuration, parse_configuration
from workbench.tuning.demonstration import demonstrate
from workbench.tuning.general_study import GeneralStudy, begin_general_study

_HELP = {option.name: option.help for option in TUNE_OPTIONS}


@magics_class
class TuneMagics(Magics):
    """`%%tune` and `%tune`."""

    @line_magic("%tune")  # type: ignore[arg-type]  # IPython types only its form without a name
    def misplaced(self, line: str) -> None:
        """IPython asks for this where a line `%%tune NAME` is not the first one of its cell."""
        raise UsageError(f"%%tune {line}: this must be the first line of its cell. Put nothing above it.")

    @magic_arguments()
    @argument("name", metavar="NAME", nargs="?", help="The tuning's name in the notebook.")
    @argument("--folder", metavar="FOLDER", help=_HELP["folder"])
    @argument("--toml", action="store_true", help=_HELP["toml"])
    @argument("--resume", action="store_true", help=_HELP["resume"])
    @argument("--brute-force", action="store_true", help=_HELP["brute-force"])
    @line_cell_magic
    def tune(self, line: str, cell: str | None = None) -> None:
        """Tune any program as the configuration in this cell says, in the background; NAME is the tuning.

        Examples::

            %%tune blocks
            [variables]
            variables = {FLAG, {BLOCK}}
            [values]
            FLAG = -O1, -O2, -O3
            BLOCK = 8, 16, 32
            [testing]
            compiler = gcc %FLAG% -DBLOCK=%BLOCK% -o blocks_%%ID%% blocks.c
            test = ./blocks_%%ID%%
            cleanup = rm -f blocks_%%ID%%

            %tune                    the self-test: independence against brute force

        The format is that of `workbench tune FILE`. Afterwards, in another cell: blocks.wait(), blocks.optimum,
        blocks.tests; the name alone shows its view once more.
        """
        if {"-h", "--help"} & set(line.split()):
            print(self.tune.__doc__)  # noqa: T201  # asked for on the magic's line
            return
        arguments = parse_argstring(self.tune, line)
        if cell is None:
            if line.strip():
                raise UsageError("%tune alone is the self-test. Write %%tune NAME at the head of a cell to tune.")
            demonstrate(print)
            return
        name = check_name(arguments.name, magic="%%tune")
        setting = _configuration(arguments, cell)
        assert self.shell is not None
        if isinstance(earlier := self.shell.user_ns.get(name), GeneralStudy):
            earlier.stop().wait()  # a cell that runs again begins anew
        study = begin_general_study(name, setting, resume=arguments.resume, brute_force=arguments.brute_force)
        self.shell.user_ns[name] = study
        for note in setting.notes():
            print(f"note: {note}")  # noqa: T201
        display(study)


def _configuration(arguments: Any, cell: str) -> Configuration:  # noqa: ANN401  # argparse's namespace
    """The cell's configuration; lines of its errors count from the magic, which is line 1."""
    folder = Path(arguments.folder or ".").expanduser().resolve()
    if not folder.is_dir():
        raise UsageError(f"argument --folder: there is no folder {folder}. Name the one where your commands run.")
    try:
        return parse_configuration(f"\n{cell}", folder, toml=arguments.toml)
    except TuningError as error:
        if error.line is not None and not error.source:
            error.source = cell.splitlines()[error.line - 2]
        raise
