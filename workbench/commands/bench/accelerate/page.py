"""Page: the tables as text and as sections of a report."""

from __future__ import annotations

from workbench.amounts import counted
from workbench.commands.bench.accelerate.results import AccelerateResults, ProgramResult, Timing, slope
from workbench.commands.bench.accelerate.row import OURS, VARIANTS
from workbench.commands.report import Figure, ReportTable, Section, report_page
from workbench.views.drawing.line_plot import Curve, line_plot

_MINE = (OURS.name, *(variant.name for variant in VARIANTS))
_LEAST_POINTS = 2  # of a curve


def page(table: AccelerateResults) -> str:
    """The whole HTML page."""
    subtitle = f"workbench bench accelerate, {table.host['date']}; {table.host['processor']}, " + counted(
        table.threads, "thread"
    )
    sections = [_speed(table), _makings(table)]
    if table.ablations:
        sections.append(_ablations(table))
    if len(table.curve) >= _LEAST_POINTS:
        sections.append(_curve(table))
    return report_page("Programs of whole arrays", subtitle, [*sections, _method(table)])


def table_lines(table: AccelerateResults) -> list[str]:
    """The table of speeds as lines of text."""
    rows = [_HEAD, *(_row(program) for program in table.programs if program.done)]
    widths = [max(len(row[k]) for row in rows) for k in range(len(_HEAD))]
    return ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]


_HEAD = ("", "size", "best of the others", "ours", "times as fast", *(variant.label for variant in VARIANTS))


def _row(program: ProgramResult) -> tuple[str, ...]:
    others = tuple(t.name for t in program.timings if t.name not in _MINE)
    best = program.best_of(others)
    variants = [_against(program, program.timing(variant.name)) for variant in VARIANTS]
    ratio = None if best is None else program.ratio(best)
    return (
        program.title,
        program.size,
        "" if best is None else f"{best.label} {_seconds(best.median)}",
        _seconds(program.timings[0].median),
        "" if ratio is None else str(ratio),
        *variants,
    )


def _against(program: ProgramResult, timing: Timing | None) -> str:
    """How many times the seconds of ours it takes, or why that is not known."""
    ratio = None if timing is None else program.ratio(timing)
    return (timing.note if timing is not None else "") if ratio is None else f"{ratio.median:.2f} times as long"


def _speed(table: AccelerateResults) -> Section:
    measured = [program for program in table.programs if program.done]
    words = [
        "Table 6.1 of McDonell (2015) with what is installed here. “Times as fast” is how many times ours is as fast "
        "as the fastest of the others, the median of ratios inside a round and the range of their middle half; below 1 "
        "ours is slower. “No fusion”: each value is stored by a loop of its own. “No sharing”: no value is kept for "
        "another loop."
    ]
    if table.interrupted:
        words.append("Interrupted: rows have the whole rounds that were measured.")
    all_of = []
    for program in measured:
        for t in program.timings:
            if t.name in _MINE:
                continue
            all_of.append(
                (program.title, t.label, _seconds(t.median) if t.seconds else t.note, str(program.ratio(t) or ""))
            )
    tables = (
        ReportTable(_HEAD, tuple(map(_row, measured))),
        ReportTable(("", "", "a call", "of ours, times as long"), tuple(all_of)),
    )
    return Section("Speed", tuple(words), tables=tables)


def _makings(table: AccelerateResults) -> Section:
    words = (
        "Table 6.2: what the programs of a row are and take before their first run. Arrays: those that are made beside "
        "arguments and results, and their axes at most. Print: writing the C++ text. "
        "Compile is with an empty build cache, cached the same once more."
    )
    rows = []
    for program in table.programs:
        made = program.making
        if made is None:
            continue
        stages = (made.trace, made.plan, made.render, made.compile, made.cached)
        arrays = f"{made.arrays}" + (f" of {made.axes} ax{'i' if made.axes == 1 else 'e'}s" if made.arrays else "")
        rows.append((program.title, str(made.loops), arrays, *map(_seconds, stages)))
    head = ("", "loops", "arrays", "trace", "plan", "print", "compile", "cached")
    return Section("Making them", (words,), tables=(ReportTable(head, tuple(rows)),))


def _ablations(table: AccelerateResults) -> Section:
    rows = [
        (
            program.title,
            program.size,
            t.label,
            _seconds(t.median),
            "" if t is program.timings[0] else str(program.ratio(t)),
        )
        for program in table.ablations
        for t in program.timings
        if t.seconds
    ]
    head = ("", "size", "", "a call", "times as long as the first")
    return Section("What single steps do", ("All find the same bits.",), tables=(ReportTable(head, tuple(rows)),))


def _curve(table: AccelerateResults) -> Section:
    points = table.curve
    x = [float(each.steps) for each in points]
    curves = [
        Curve("trace", x, [each.trace for each in points], marks=True),
        Curve("plan", x, [each.plan for each in points], marks=True),
    ]
    slopes = {curve.label: slope(points, list(curve.y)) for curve in curves}
    svg = line_plot(curves, "steps in one program", "seconds", logarithmic=True)
    caption = (
        "Floyd-Warshall, so many nodes in one program (figure 6.1). The exponents of a power law through the points: "
        + ", ".join(f"{label} {found:.1f}" for label, found in slopes.items())
        + "."
    )
    return Section("Time to plan", figures=(Figure(svg, caption),))


def _seconds(value: float) -> str:
    """Three digits: "1.23 ms"."""
    return f"{value:.3g}\u00a0s" if value >= 1 else f"{1e3 * value:.3g}\u00a0ms"


def _method(table: AccelerateResults) -> Section:
    words = (
        "All run in one process on the same arrays, one after the other in each round, after the results of each were "
        "compared with ours; who differs by more than rounding is left out. Ours and Numba have the same number of "
        "threads; NumPy's and SciPy's products of dense matrices have those of their BLAS, all else of theirs one. "
        "Numba compiles loops by hand with fastmath. Only ratios inside one run mean anything.",
    )
    rows = [*table.host.items(), ("rounds", str(table.rounds))]
    rows += [(library, "not installed") for library in table.absent]
    return Section("How it was measured", words, tables=(ReportTable(("", ""), tuple(rows)),))
