"""Page: the tables as text and as sections of a report."""

from __future__ import annotations

from statistics import median

from workbench.amounts import counted
from workbench.commands.bench.accelerate.results import AccelerateResults, FirstCalls, ProgramResult, Timing, slope
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
    sections = [section for section in (_speed(table), _matrices(table), _makings(table)) if section is not None]
    if table.first_calls:
        sections.append(_first_calls(table))
    if table.ablations:
        sections.append(_ablations(table))
    if len(table.curve) >= _LEAST_POINTS:
        sections.append(_curve(table))
    return report_page("Programs of whole arrays", subtitle, [*sections, _method(table)])


def table_lines(table: AccelerateResults) -> list[str]:
    """The table of speeds as lines of text."""
    measured = [program for program in (*table.programs, *table.matrices) if program.done]
    if not measured:
        return []
    rows = [_HEAD, *map(_row, measured)]
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


def _speed(table: AccelerateResults) -> Section | None:
    measured = [program for program in table.programs if program.done]
    if not measured and not table.left_out:
        return None
    words = [
        "Table 6.1 of McDonell (2015) with what is installed here. “Times as fast” is how many times ours is as fast "
        "as the fastest of the others, the median of ratios inside a round and the range of their middle half; below 1 "
        "ours is slower. “No fusion”: each value is stored by a loop of its own. “No sharing”: no value is kept for "
        "another loop."
    ]
    words += [f"{title} is {why}." for title, why in table.left_out]
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


def _matrices(table: AccelerateResults) -> Section | None:
    """Table 6.4."""
    measured = [program for program in table.matrices if program.done]
    if not measured:
        return None
    words = (
        "Table 6.4: GFLOP/s, two operations for each element; f64, columns in i32. Matrices have the numbers of rows, "
        "columns and elements of those in the thesis; lengths of rows and places of elements are drawn: columns around "
        "the diagonal, but anywhere in Dense, Webbase and LP."
    )
    names = list(dict.fromkeys(t.name for program in measured for t in program.timings if t.name not in _MINE))
    rows = []
    for program in measured:
        ours, stored = program.timings[0], program.timing("stored")
        others = [program.timing(name) for name in names]
        best = program.best_of(tuple(names))
        ratio = None if best is None else program.ratio(best)
        rates = [_rate(program, timing) for timing in (ours, stored, *others)]
        rows.append((program.title, program.size, *rates, "" if ratio is None else str(ratio)))
    head = ("", "size", "ours", "no fusion", *names, "times as fast as the best of the others")
    return Section("Sparse product by lengths of rows", (words,), tables=(ReportTable(head, tuple(rows)),))


def _rate(program: ProgramResult, timing: Timing | None) -> str:
    """Three digits of GFLOP/s, or why there are none."""
    if timing is None:
        return ""
    return f"{program.flops / timing.median / 1e9:.3g}" if timing.seconds else timing.note


def _first_calls(table: AccelerateResults) -> Section:
    words = (
        "What calls take beside the run itself, with inputs of a few elements, in fresh processes that have imported "
        "the program: the first call with an empty build cache, and in a second process with that cache. What "
        "compiled programs run is taken away from all of them. Around a later call is what Python makes before and "
        "after it: the rays of a picture, the box of a blast. Unless --threads is given, calls leave the number of "
        "threads to the program: one for a few elements.",
    )
    rows = tuple(
        (
            each.title,
            *(_seconds(median(found)) for found in (each.cold, each.warm, each.later, each.around)),
            *map(str, each.compiled),
        )
        for each in table.first_calls
    )
    head = (
        "",
        "first call",
        "in a second process",
        "a later call",
        "around it",
        "files compiled",
        "in a second process",
    )
    return Section("First calls", words, tables=(ReportTable(head, rows),))


def first_calls_text(calls: FirstCalls) -> str:
    """One line: "dot product: first call 1.2 s with an empty cache, ..."."""
    cold, warm, later, around = map(_seconds, map(median, (calls.cold, calls.warm, calls.later, calls.around)))
    return f"{calls.title}: first call {cold}, in a second process {warm}, a later call {later}, around it {around}"


def _makings(table: AccelerateResults) -> Section | None:
    if not any(program.making for program in table.programs):
        return None
    words = (
        "Table 6.2: what the programs of a row are and take before their first run. Arrays: those that are made beside "
        "arguments and results, and their axes at most. Print: writing the C++ text. "
        "Compile is with an empty build cache and a compiler on each processor, which share a long text; one by one: "
        "with one compiler after the other; cached: the same once more."
    )
    rows = []
    for program in table.programs:
        made = program.making
        if made is None:
            continue
        stages = (made.trace, made.plan, made.render, made.compile, made.one_by_one, made.cached)
        arrays = f"{made.arrays}" + (f" of {made.axes} ax{'i' if made.axes == 1 else 'e'}s" if made.arrays else "")
        rows.append((program.title, str(made.loops), arrays, *map(_seconds, stages)))
    head = ("", "loops", "arrays", "trace", "plan", "print", "compile", "one by one", "cached")
    return Section("Making them", (words,), tables=(ReportTable(head, tuple(rows)),))


def _ablations(table: AccelerateResults) -> Section:
    rows = [
        (
            program.title,
            program.size,
            t.label,
            _seconds(t.median) if t.seconds else t.note,
            "" if t is program.timings[0] else str(program.ratio(t) or ""),
        )
        for program in table.ablations
        for t in program.timings
        if t.seconds or t.note
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
    words: tuple[str, ...] = (
        "All run in one process on the same arrays, one after the other in each round, after the results of each were "
        "compared with ours; who differs by more than rounding is left out. Ours and Numba have the same number of "
        "threads; NumPy's and SciPy's products of dense matrices have those of their BLAS, all else of theirs one. "
        "Numba compiles loops by hand with fastmath. JAX has its arrays before a call, as many processors as threads, "
        "and may contract products and sums. Who takes too long or too much memory is left out with the reason: with "
        "inputs as large as in the thesis, what each takes with the usual ones says so before. Only ratios inside one "
        "run mean anything.",
    )
    if table.interrupted:
        words = ("Interrupted: rows have the whole rounds that were measured.", *words)
    rows = [*table.host.items(), ("rounds", str(table.rounds))]
    rows += [(library, "not installed") for library in table.absent]
    return Section("How it was measured", words, tables=(ReportTable(("", ""), tuple(rows)),))
