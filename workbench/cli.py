"""The program `workbench`: runs the command that was given, prints results, and turns errors into exit statuses."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from workbench.commands.parser import QUICK_SECONDS, build_parser
from workbench.errors import StencilError

_FILES = ("report", "json")  # arguments: files that a command writes when all its work is done
_INCOMPLETE = 3  # exit status of an exam that ended early


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status. `arguments` defaults to those of the process.

    0: done. 1: the command could not do what was asked, and said why. 2: the command line makes no sense (argparse
    exits). 3: an exam ended before all was examined, and nothing has failed. 130: interrupted.
    """
    parser = build_parser()
    parsed = parser.parse_args(arguments)
    if parsed.command is None:
        parser.print_help()
        return 0
    try:
        if parsed.command != "demo":  # which makes the folder of its report
            _check_writable(getattr(parsed, name, None) for name in _FILES)
        return _COMMANDS[parsed.command](parsed)
    except StencilError as error:
        print(f"workbench: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"workbench: {error.filename or 'the system'}: {error.strerror or error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("workbench: interrupted", file=sys.stderr)
        return 130


# The commands are imported when they are asked for: --help and --version must be quick.


def _check_writable(paths: Iterable[Path | None]) -> None:
    for path in filter(None, paths):
        from workbench.commands.report import check_writable

        check_writable(path)


def _demo(parsed: argparse.Namespace) -> int:
    from workbench.commands.demo import run_demo

    run_demo(_say, backend=parsed.backend, report=parsed.report)
    return 0


def _doctor(parsed: argparse.Namespace) -> int:
    from workbench.commands.doctor import examine

    for line in examine(measure=parsed.measure):
        _say(line)
    return 0


def _cache(parsed: argparse.Namespace) -> int:
    from workbench.amounts import bytes_text, counted
    from workbench.backends.cache_folder import default_cache
    from workbench.tuning.wisdom import forget, read_wisdom

    cache = default_cache()
    if parsed.action == "info":
        _say(str(cache.info()))
        _say(str(read_wisdom()))
    elif parsed.action == "forget":
        kept = forget()
        _say(f"{kept.path}: removed {counted(len(kept.results), 'result')} of studies")
    else:
        before = cache.clear()
        _say(f"{before.folder}: removed {counted(before.entries, 'build')}, {bytes_text(before.bytes)}")
    return 0


def _words(parsed: argparse.Namespace) -> int:
    from workbench.frontend.words import explain, words_text

    if parsed.notebook:
        from workbench.commands.language_page import page

        parsed.notebook.write_text(page(), encoding="utf-8")
        _say(f"{parsed.notebook}: written")
    else:
        _say(words_text() if parsed.word is None else explain(parsed.word))
    return 0


def _exam(parsed: argparse.Namespace) -> int:
    if parsed.choices:
        return _exam_of_plans(parsed)
    import json

    from workbench.experiments.exam import PLACEMENTS, PROBLEMS, RESOLUTIONS, Course, ExamResults, run_exam

    resolutions = parsed.resolutions or ((16, 32, 64) if parsed.quick else RESOLUTIONS)
    course = Course(
        dims=parsed.dims,
        backend=parsed.backend,
        dtype=parsed.dtype,
        resolutions=resolutions,
        oblique_resolutions=parsed.oblique or resolutions,
        schemes=parsed.schemes,
        genomes=min(parsed.genomes, 2) if parsed.quick else parsed.genomes,
        problems=parsed.problems or tuple(PROBLEMS),
        placements=parsed.placements or PLACEMENTS,
        checks=not parsed.no_checks,
        threads=parsed.threads,
        seconds=parsed.seconds or (QUICK_SECONDS if parsed.quick else math.inf),
    )
    exam = run_exam(course, _say, ExamResults(parsed.results) if parsed.results else None)
    if parsed.json:
        parsed.json.write_text(json.dumps(exam.to_dict(), indent=1), encoding="utf-8")
    if exam.left and not exam.failures:
        return 130 if exam.interrupted else _INCOMPLETE
    return 0 if exam.passed else 1


def _exam_of_plans(parsed: argparse.Namespace) -> int:
    import json

    from workbench.backends.registry import select_backend
    from workbench.commands.report import Figure, Section, report_page
    from workbench.experiments.exam import PLACEMENTS, PROBLEMS, examine_plans, read_plan
    from workbench.experiments.exam.plans import GRIDS

    names = [path.name for path in parsed.choices]
    labels = [path.name if names.count(path.name) == 1 else str(path) for path in parsed.choices]
    exam = examine_plans(
        {label: read_plan(path, parsed.dims) for label, path in zip(labels, parsed.choices, strict=True)},
        backend=select_backend(parsed.backend).name,
        resolutions=parsed.resolutions or ((16, 32, 64) if parsed.quick else GRIDS),
        problems=parsed.problems or tuple(PROBLEMS),
        placements=parsed.placements or PLACEMENTS,
        threads=parsed.threads,
        say=_say,
    )
    if parsed.json:
        parsed.json.write_text(json.dumps(exam.to_dict(), indent=1), encoding="utf-8")
    if parsed.report:
        figures = tuple(Figure(svg, title) for title, svg in exam.pictures())
        sections = (Section("Errors", tuple(str(exam).splitlines()), figures=figures),)
        subtitle = "L1 errors of density, which no plan may change"
        parsed.report.write_text(report_page("Exam of plans", subtitle, sections), encoding="utf-8")
        _say(f"{parsed.report}: written")
    return 0 if exam.passed else 1


def _table5(parsed: argparse.Namespace) -> int:
    import json

    from workbench.experiments.hint_table import measure_hints

    table = measure_hints(
        parsed.cells,
        dim=parsed.dim,
        backend=parsed.backend,
        rounds=parsed.rounds,
        seconds=parsed.seconds,
        say=_say,
    )
    _say(str(table))
    if parsed.json:
        parsed.json.write_text(json.dumps(table.to_dict(), indent=1), encoding="utf-8")
    return 0


def _bench(parsed: argparse.Namespace) -> int:
    from workbench.commands.bench.entry import bench

    return bench(vars(parsed), _say)


def _compile(parsed: argparse.Namespace) -> int:
    from workbench.commands.compile import CompileRequest, compile_file

    options = {name: getattr(parsed, name) for name in CompileRequest.__dataclass_fields__}
    _say(str(compile_file(CompileRequest(**options))))
    return 0


def _tune(parsed: argparse.Namespace) -> int:
    from workbench.commands.tune import run_demonstration, run_tune

    if parsed.file is None:
        return 0 if run_demonstration(_say) else 1
    run_tune(
        parsed.file,
        _say,
        log=parsed.log,
        report=parsed.report,
        resume=parsed.resume,
        brute_force=parsed.brute_force,
    )
    return 0


def _cuda_check(parsed: argparse.Namespace) -> int:
    import json

    from workbench.commands.cuda_check import check_machines
    from workbench.solvers.catalogue import machines_of

    machines = machines_of(parsed.solvers, parsed.dims, parsed.dtypes)
    checks = check_machines(machines, parsed.architecture, _say)
    if parsed.json:
        parsed.json.write_text(json.dumps([check.to_dict() for check in checks], indent=1), encoding="utf-8")
    return 1 if any(check.flushing for check in checks) else 0


def _large_run(parsed: argparse.Namespace) -> int:
    from workbench.experiments.large_run import measure_large_run

    run = measure_large_run(parsed.dim, parsed.cells, steps=parsed.steps, backend=parsed.backend, dtype=parsed.dtype)
    _say(str(run))
    return 0 if run.passed else 1


def _say(line: str) -> None:
    """Print a line at once, so that a reader sees how far it is."""
    print(line, flush=True)


_COMMANDS = {
    "demo": _demo,
    "doctor": _doctor,
    "cache": _cache,
    "words": _words,
    "exam": _exam,
    "table5": _table5,
    "bench": _bench,
    "compile": _compile,
    "tune": _tune,
    "cuda-check": _cuda_check,
    "large-run": _large_run,
}
