"""The command `workbench`: parses the command line, prints results, and turns errors into exit statuses."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from workbench._version import __version__
from workbench.errors import StencilError

_EXAMPLES = """examples:
  workbench demo                 run the wave equation and write a report
  workbench doctor               what works here and what to install
  workbench doctor --measure     measure this machine, for the bounds on cards
  workbench words laplacian      what a word of a cell means, with an example
  workbench cache info           how much is in the build cache
  workbench exam --quick         accuracy of the hydrodynamics solver, and what must hold to the bit
  workbench tune laplace3d.conf  the best values of any program's parameters, by few tests
  workbench bench                the problems that can be measured beside NumPy, Numba, JAX, Halide, torch.compile
  workbench bench wave3d         measure one of them, with a report to send
  workbench table5 --cells 512   what storing or recomputing intermediate values does to speed
  workbench compile heat.txt -o heat   graph, plan and C++ text of a cell, as files
  workbench cuda-check           registers and spills of hydro's sub-kernels for sm_90, without a GPU
"""

_QUICK_SECONDS = 180  # of a quick exam
_INCOMPLETE = 3


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line, one subparser a command."""
    parser = argparse.ArgumentParser(
        prog="workbench",
        description="Stencils from a notebook cell to CPU and GPU.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"stencil-workbench {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")

    demo = commands.add_parser("demo", help="run the quickstart on real input, print its figures, write a report")
    demo.add_argument("--backend", default="auto", help="auto (the default), reference, openmp, cuda or cuda-sim")
    demo.add_argument("--report", type=Path, metavar="FILE", help="where the HTML report goes")
    demo.set_defaults(command=_demo)

    doctor = commands.add_parser("doctor", help="say what works here, what does not, and what to install")
    doctor.add_argument("--measure", action="store_true", help="measure memory bandwidth and peak, for later cards")
    doctor.set_defaults(command=_doctor)

    cache = commands.add_parser("cache", help="look at the build cache, or empty it")
    cache.add_argument(
        "action",
        choices=("info", "clear", "forget"),
        help="info counts, clear removes all builds, forget what studies have found (wisdom)",
    )
    cache.set_defaults(command=_cache)

    words = commands.add_parser("words", help="the words of a cell, or what one of them means, with an example")
    words.add_argument("word", nargs="?", metavar="WORD", help="such as laplacian; without it all are listed")
    words.add_argument("--notebook", type=Path, metavar="FILE", help="write the page of all words there")
    words.set_defaults(command=_words)

    _add_exam(commands.add_parser("exam", help="the accuracy exam of the hydrodynamics solver"))

    table = commands.add_parser("table5", help="Paraiso's Table 5: what storing or recomputing does to hydro's speed")
    table.add_argument("--cells", type=int, default=1024, help="along each axis (default 1024)")
    table.add_argument("--dim", type=int, default=2, help="1, 2 (the default) or 3")
    table.add_argument("--backend", default="auto", help="auto (the default), reference, openmp, cuda or cuda-sim")
    table.add_argument("--rounds", type=int, default=5, help="measurements of each plan, in turn (default 5)")
    table.add_argument("--seconds", type=float, default=0.5, help="of one measurement, about (default 0.5)")
    table.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    table.set_defaults(command=_table5)

    _add_bench(commands.add_parser("bench", help="the workbench beside other systems, interleaved, with a report"))

    _add_compile(commands.add_parser("compile", help="a cell or graph text to files: graph, plan, choices, source"))

    tune = commands.add_parser("tune", help="tune any program by a configuration file; without one, a self-test")
    tune.add_argument("file", type=Path, nargs="?", help="INI as of the independence auto-tuner, or .toml")
    tune.add_argument("--log", type=Path, metavar="FILE", help="a CSV row for each test; wins over the file's log")
    tune.add_argument("--report", type=Path, metavar="FILE", help="write an HTML report there")
    tune.add_argument("--resume", action="store_true", help="go on with the log: run none of its tests again")
    tune.add_argument("--brute-force", action="store_true", help="test every combination, whatever the tree says")
    tune.set_defaults(command=_tune)

    device = commands.add_parser("cuda-check", help="registers and spills of solvers' sub-kernels; needs no GPU")
    device.add_argument("--solvers", type=_names, default=("hydro",), metavar="heat,wave", help="or all; default hydro")
    device.add_argument("--dims", type=_numbers, default=(1, 2, 3), metavar="1,2,3", help="dimensions; default all")
    device.add_argument("--dtypes", type=_names, default=("f32", "f64"), metavar="f32,f64", help="default both")
    device.add_argument("--architecture", type=_names, default=("sm_90",), metavar="sm_80,sm_90", help="default sm_90")
    device.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    device.set_defaults(command=_cuda_check)

    large = commands.add_parser("large-run", help="hydro on millions of cells: memory against the plan's prediction")
    large.add_argument("--cells", type=int, default=128, help="along each axis (default 128)")
    large.add_argument("--dim", type=int, default=3, help="1, 2 or 3 (the default)")
    large.add_argument("--steps", type=int, default=5, help="how many (default 5)")
    large.add_argument("--backend", default="auto", help="auto (the default), reference, openmp, cuda or cuda-sim")
    large.add_argument("--dtype", default="f64", help="f64 (the default) or f32")
    large.set_defaults(command=_large_run)
    return parser


def _add_exam(exam: argparse.ArgumentParser) -> None:
    exam.add_argument("--dims", type=_numbers, default=(1, 2, 3), metavar="1,2,3", help="which solvers")
    exam.add_argument("--backend", default="auto", help="auto (the default), reference, openmp, cuda or cuda-sim")
    exam.add_argument("--dtype", default="f64", help="f64 (the default) or f32")
    exam.add_argument("--resolutions", type=_numbers, metavar="16,32,...", help="cells to a unit; default 16 to 1024")
    exam.add_argument("--oblique", type=_numbers, metavar="16,32,...", help="the same for oblique flows")
    exam.add_argument("--schemes", type=_names, default=("minmod", "mc", "weno_z"), metavar="minmod,mc,...")
    exam.add_argument("--problems", type=_names, metavar="entropy,...", help="some of entropy, sound and sod")
    exam.add_argument("--placements", type=_names, metavar="oblique", help="coaxial, oblique or (the default) both")
    exam.add_argument("--no-checks", action="store_true", help="errors and their orders only")
    exam.add_argument("--threads", type=int, default=0, metavar="N", help="of each run on the CPU; default all")
    exam.add_argument("--genomes", type=int, default=10, metavar="N", help="random genomes that must change no bit")
    exam.add_argument(
        "--quick", action="store_true", help=f"small grids, two genomes, at most {_QUICK_SECONDS} seconds"
    )
    exam.add_argument("--seconds", type=float, metavar="N", help="end then, with what is done; default none")
    exam.add_argument("--results", type=Path, metavar="FILE", help="keep each error there and measure none twice")
    exam.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    exam.add_argument(
        "--choices", type=Path, nargs="+", metavar="FILE", help="error curves by these plans: studies, JSON or genomes"
    )
    exam.add_argument("--report", type=Path, metavar="FILE", help="with --choices: a page with the curves")
    exam.set_defaults(command=_exam)


def _add_bench(bench: argparse.ArgumentParser) -> None:
    bench.add_argument("problem", nargs="?", help="such as wave3d, or accelerate; without it all are listed")
    bench.add_argument(
        "--only",
        type=_names,
        default=(),
        metavar="NAME,...",
        help="contenders; workbench is all of ours",
    )
    bench.add_argument("--shape", type=_shape, default=(), metavar="256x256", help="cells; one number for all axes")
    bench.add_argument("--dtype", choices=("f32", "f64"), default="", help="default: the problem's own")
    bench.add_argument("--threads", type=int, default=0, metavar="N", help="of every contender; default all")
    bench.add_argument("--rounds", type=int, default=9, metavar="N", help="in which all run in turn (default 9)")
    bench.add_argument("--seconds", type=float, help="of a contender in a round, about (default 0.5)")
    bench.add_argument("--sizes", type=int, metavar="N", help="smaller sizes at most (default 4)")
    bench.add_argument("--small", action="store_true", help="of accelerate: inputs of a few elements")
    bench.add_argument("--budget", type=float, help="seconds in all (default 240); not of accelerate")
    bench.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    bench.add_argument("-o", "--report", type=Path, metavar="FILE", help="where the HTML report goes")
    bench.set_defaults(command=_bench)


def _add_compile(compiling: argparse.ArgumentParser) -> None:
    compiling.add_argument("file", type=Path, help="the text of a cell (without its %%%%stencil line) or of a graph")
    compiling.add_argument("-o", "--output", type=Path, required=True, metavar="DIR", help="where the files go")
    compiling.add_argument("--backend", default="openmp", help="openmp (the default), cuda, cuda-sim or auto")
    decided = compiling.add_mutually_exclusive_group()
    decided.add_argument(
        "--choices", type=Path, metavar="FILE", help="choices as JSON, such as an earlier choices.json"
    )
    decided.add_argument("--genome", default="", metavar="GENOME", help="what a plan decided, as machine.genome has it")
    compiling.add_argument("--dim", type=int, help="axes of a cell; default as its reads say")
    compiling.add_argument("--dtype", default="f64", help="f64 (the default) or f32, of a cell")
    compiling.set_defaults(command=_compile)


def _shape(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.lower().replace(",", "x").split("x"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no shape such as 256x256x256") from None


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no list of whole numbers such as 1,2,3") from None


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status. `arguments` defaults to those of the process.

    0: done. 1: the command could not do what was asked, and said why. 2: the command line makes no sense (argparse
    exits). 3: an exam ended before all was examined, and nothing has failed. 130: interrupted.
    """
    parser = build_parser()
    parsed = parser.parse_args(arguments)
    command: Callable[[argparse.Namespace], int] | None = getattr(parsed, "command", None)
    if command is None:
        parser.print_help()
        return 0
    try:
        return command(parsed)
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

    from workbench.experiments.exam import PLACEMENTS, PROBLEMS, RESOLUTIONS, Course, Results, run_exam

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
        seconds=parsed.seconds or (_QUICK_SECONDS if parsed.quick else math.inf),
    )
    exam = run_exam(course, _say, Results(parsed.results) if parsed.results else None)
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
    from workbench.commands.compile import Request, compile_file

    _say(str(compile_file(Request(**{name: getattr(parsed, name) for name in Request.__dataclass_fields__}))))
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
    """Print a line at once, so that whoever waits sees how far it is."""
    print(line, flush=True)
