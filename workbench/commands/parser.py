"""The command line: the commands of the program `workbench` and their options, for `cli` to parse."""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench._version import __version__

QUICK_SECONDS = 180  # of a quick exam
_BACKENDS = "auto (the default), reference, openmp, cuda or cuda-sim"

_EXAMPLES = """examples:
  workbench demo                 run the wave equation and write a report
  workbench doctor               what works here and what to install
  workbench doctor --measure     measure this machine, for the bounds on cards
  workbench words laplacian      what a word of a cell means, with an example
  workbench cache info           how much is in the build cache
  workbench exam --quick         accuracy of the hydrodynamics solver, and equal bits of its plans
  workbench tune laplace3d.conf  the best parameters of any program, in few tests
  workbench bench                the problems that can be compared with NumPy, Numba, JAX, Halide, torch.compile
  workbench bench wave3d         measure one of them, with a report to send
  workbench table5 --cells 512   how storing or recomputing values changes the speed of hydrodynamics
  workbench compile heat.txt -o heat   graph, plan and C++ text of a cell, as files
  workbench cuda-check           registers and spills of hydrodynamics' CUDA kernels for sm_90, without a GPU
"""


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line; what it parses has the name of the command in `command`, or None."""
    parser = argparse.ArgumentParser(
        prog="workbench",
        description="Stencils from a notebook cell to CPU and GPU.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"stencil-workbench {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command")
    for name, (text, add_options) in _COMMANDS.items():
        add_options(commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}."))
    return parser


def _add_demo(demo: argparse.ArgumentParser) -> None:
    demo.add_argument("--backend", default="auto", help=_BACKENDS)
    demo.add_argument("--report", type=Path, metavar="FILE", help="write the HTML report to FILE")


def _add_doctor(doctor: argparse.ArgumentParser) -> None:
    doctor.add_argument(
        "--measure", action="store_true", help="measure memory bandwidth and peak rate, for later cards"
    )


def _add_cache(cache: argparse.ArgumentParser) -> None:
    cache.add_argument(
        "action",
        choices=("info", "clear", "forget"),
        help="info: number and size of builds; clear: remove all builds; forget: remove the results of studies",
    )


def _add_words(words: argparse.ArgumentParser) -> None:
    words.add_argument("word", nargs="?", metavar="WORD", help="such as laplacian; without it, list all words")
    words.add_argument(
        "--notebook", type=Path, metavar="FILE", help="write the reference notebook of all words to FILE"
    )


def _add_exam(exam: argparse.ArgumentParser) -> None:
    exam.add_argument("--dims", type=_numbers, default=(1, 2, 3), metavar="1,2,3", help="of the solvers (default all)")
    exam.add_argument("--backend", default="auto", help=_BACKENDS)
    exam.add_argument("--dtype", default="f64", help="f64 (the default) or f32")
    exam.add_argument(
        "--resolutions", type=_numbers, metavar="16,32,...", help="cells per unit length (default 16 to 1024)"
    )
    exam.add_argument("--oblique", type=_numbers, metavar="16,32,...", help="the same for flows oblique to the grid")
    exam.add_argument(
        "--schemes",
        type=_names,
        default=("minmod", "mc", "weno_z"),
        metavar="minmod,mc,...",
        help="interpolations to examine (default all)",
    )
    exam.add_argument("--problems", type=_names, metavar="entropy,...", help="entropy, sound and sod (default all)")
    exam.add_argument("--placements", type=_names, metavar="oblique", help="coaxial and oblique (default both)")
    exam.add_argument("--no-checks", action="store_true", help="measure errors and orders only")
    exam.add_argument("--threads", type=int, default=0, metavar="N", help="of each run on the CPU (default all)")
    exam.add_argument(
        "--genomes", type=int, default=10, metavar="N", help="random genomes that must change no bit (default 10)"
    )
    exam.add_argument("--quick", action="store_true", help=f"small grids, two genomes, at most {QUICK_SECONDS} seconds")
    exam.add_argument(
        "--seconds", type=float, metavar="N", help="time limit; the report says what is missing (default none)"
    )
    exam.add_argument(
        "--results", type=Path, metavar="FILE", help="keep the errors in FILE, and measure none that is there"
    )
    exam.add_argument("--json", type=Path, metavar="FILE", help="write all results to FILE")
    exam.add_argument(
        "--choices",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="draw the error curves of these plans: files of studies, JSON or genomes",
    )
    exam.add_argument(
        "--report", type=Path, metavar="FILE", help="with --choices: write a page with the curves to FILE"
    )


def _add_table5(table: argparse.ArgumentParser) -> None:
    table.add_argument("--cells", type=int, default=1024, help="along each axis (default 1024)")
    table.add_argument("--dim", type=int, default=2, help="1, 2 (the default) or 3")
    table.add_argument("--backend", default="auto", help=_BACKENDS)
    table.add_argument("--rounds", type=int, default=5, help="measurements of each plan, in turn (default 5)")
    table.add_argument("--seconds", type=float, default=0.5, help="of one measurement, about (default 0.5)")
    table.add_argument("--json", type=Path, metavar="FILE", help="write all results to FILE")


def _add_bench(bench: argparse.ArgumentParser) -> None:
    bench.add_argument("problem", nargs="?", help="such as wave3d, or accelerate; without it, list all")
    bench.add_argument(
        "--only",
        type=_names,
        default=(),
        metavar="NAME,...",
        help="systems to measure; workbench stands for all of its own schedules (of accelerate: programs)",
    )
    bench.add_argument(
        "--shape", type=_shape, default=(), metavar="256x256", help="number of cells; one number for all axes"
    )
    bench.add_argument("--dtype", choices=("f32", "f64"), default="", help="float type (default: the problem's own)")
    bench.add_argument("--threads", type=int, default=0, metavar="N", help="of each system (default all)")
    bench.add_argument("--rounds", type=int, default=9, metavar="N", help="in which all take turns (default 9)")
    bench.add_argument(
        "--seconds",
        type=float,
        help="of a system in a round, about (default 0.5); of accelerate: of a call of another system at most (default "
        "10), longer ones are left out",
    )
    bench.add_argument("--sizes", type=int, metavar="N", help="at most so many smaller sizes (default 4)")
    bench.add_argument(
        "--inputs",
        choices=("small", "usual", "thesis"),
        help="accelerate only: of a few elements, of milliseconds (the default), or as large as in McDonell's thesis",
    )
    bench.add_argument("--budget", type=float, help="seconds in all (default 240); not for accelerate")
    bench.add_argument("--json", type=Path, metavar="FILE", help="write all results to FILE")
    bench.add_argument("-o", "--report", type=Path, metavar="FILE", help="write the HTML report to FILE")


def _add_compile(compiling: argparse.ArgumentParser) -> None:
    compiling.add_argument(
        "file", type=Path, help="the text of a cell, with or without its line %%%%stencil, or of a graph"
    )
    compiling.add_argument("-o", "--output", type=Path, required=True, metavar="DIR", help="folder for the files")
    compiling.add_argument("--backend", default="", help="openmp (the default), cuda, cuda-sim or auto")
    decided = compiling.add_mutually_exclusive_group()
    decided.add_argument(
        "--choices", type=Path, metavar="FILE", help="choices as JSON, such as an earlier choices.json"
    )
    decided.add_argument("--genome", default="", metavar="GENOME", help="the genome of a plan, as in machine.genome")
    compiling.add_argument("--name", default="", help="of a cell's machine (default: the file's name)")
    compiling.add_argument("--dim", type=int, help="axes of a cell (default: as many as its offsets have)")
    compiling.add_argument("--dtype", default="", help="float type of a cell: f64 (the default) or f32")
    compiling.add_argument("--boundary", default="", metavar="RULE", help="rule of fields that declare none")


def _add_tune(tune: argparse.ArgumentParser) -> None:
    tune.add_argument(
        "file", type=Path, nargs="?", help="configuration: INI as for the independence auto-tuner, or TOML (.toml)"
    )
    tune.add_argument("--log", type=Path, metavar="FILE", help="write a CSV row for each test to FILE, not to its log")
    tune.add_argument("--report", type=Path, metavar="FILE", help="write an HTML report to FILE")
    tune.add_argument("--resume", action="store_true", help="continue from the log, and repeat none of its tests")
    tune.add_argument("--brute-force", action="store_true", help="test every combination; ignore the tree")


def _add_cuda_check(check: argparse.ArgumentParser) -> None:
    check.add_argument("--solvers", type=_names, default=("hydro",), metavar="heat,wave", help="or all (default hydro)")
    check.add_argument("--dims", type=_numbers, default=(1, 2, 3), metavar="1,2,3", help="dimensions (default all)")
    check.add_argument(
        "--dtypes", type=_names, default=("f32", "f64"), metavar="f32,f64", help="float types (default both)"
    )
    check.add_argument(
        "--architecture", type=_names, default=("sm_90",), metavar="sm_80,sm_90", help="of devices (default sm_90)"
    )
    check.add_argument("--json", type=Path, metavar="FILE", help="write all results to FILE")


def _add_large_run(large: argparse.ArgumentParser) -> None:
    large.add_argument("--cells", type=int, default=128, help="along each axis (default 128)")
    large.add_argument("--dim", type=int, default=3, help="1, 2 or 3 (the default)")
    large.add_argument("--steps", type=int, default=5, help="number of steps (default 5)")
    large.add_argument("--backend", default="auto", help=_BACKENDS)
    large.add_argument("--dtype", default="f64", help="f64 (the default) or f32")


# What a command does, for `workbench --help` and its own --help, and its options.
_COMMANDS = {
    "demo": ("run the quickstart, print its results and write a report", _add_demo),
    "doctor": ("list what works on this machine, what does not, and what to install", _add_doctor),
    "cache": ("show or empty the build cache", _add_cache),
    "words": ("list the words of a cell, or explain one of them with an example", _add_words),
    "exam": ("measure the accuracy of the hydrodynamics solver, and check that its plans give equal bits", _add_exam),
    "table5": (
        "measure how storing or recomputing values changes the speed of hydrodynamics (Paraiso, Table 5)",
        _add_table5,
    ),
    "bench": ("compare the workbench with other systems, measured in turn, and write a report", _add_bench),
    "compile": ("write graph, plan, choices and source of a cell or graph text to files", _add_compile),
    "tune": ("find the best parameters of any program; without a file, run a self-test", _add_tune),
    "cuda-check": ("compile solvers' CUDA kernels and list their registers and spills; needs no GPU", _add_cuda_check),
    "large-run": (
        "run hydrodynamics on millions of cells and compare its memory with the plan's prediction",
        _add_large_run,
    ),
}


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
