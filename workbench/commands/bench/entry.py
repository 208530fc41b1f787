"""Entry: which of the two benches a command line asks for, and the status that the command ends with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from workbench.commands.bench.accelerate.command import NAME as ACCELERATE
from workbench.commands.bench.accelerate.command import AccelerateRequest as TableRequest
from workbench.commands.bench.accelerate.command import run_table
from workbench.commands.bench.command import BenchRequest, list_problems, run_bench
from workbench.errors import RunError

_INTERRUPTED = 130  # as shells have it for Ctrl-C
_OF_PROBLEMS = ("shape", "dtype", "sizes", "budget")  # options without a meaning for the programs of arrays


def bench(options: Mapping[str, Any], say: Callable[[str], None]) -> int:
    """By the options of `workbench bench`, by name. Raises RunError for those that do not go together."""
    if options["problem"] is None:
        list_problems(say)
        return 0
    if options["problem"] == ACCELERATE:
        given = [f"--{name}" for name in _OF_PROBLEMS if options[name] not in (None, (), "")]
        if given:
            why = f"{ACCELERATE} has sizes and types of its own and measures a given number of rounds"
            raise RunError(
                f"{', '.join(given)}: {why}", advice=f"Leave out {' and '.join(given)}; use --only or --inputs."
            )
        table = run_table(TableRequest(**_those_of(TableRequest, options)), say)
        return _INTERRUPTED if table.interrupted else 0
    if options["inputs"] is not None:
        raise RunError(f"--inputs is an option of {ACCELERATE} alone", advice="Use --shape 64.")
    results = run_bench(BenchRequest(**_those_of(BenchRequest, options)), say)
    if results.interrupted:
        return _INTERRUPTED
    return 0 if results.done else 1


def _those_of(kind: type[BenchRequest] | type[TableRequest], options: Mapping[str, Any]) -> dict[str, Any]:
    """Options that were given; the others have the defaults of `kind`."""
    return {name: options[name] for name in kind.__dataclass_fields__ if options[name] is not None}
