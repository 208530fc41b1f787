"""Page: the results as sections of a report: who is how fast, the same results, roofline, sizes, first results."""

from __future__ import annotations

from workbench.amounts import counted, scaled, seconds_text
from workbench.commands.bar_plot import Bar, bar_plot
from workbench.commands.bench.contenders import MORE_TIME
from workbench.commands.bench.measure import VERIFIED_STEPS, rate_text, shape_text
from workbench.commands.bench.results import BenchResults
from workbench.commands.report import Figure, ReportTable, Section, report_page
from workbench.views.drawing.line_plot import Curve, line_plot

_INTENSITIES = (0.5, 4.0)  # of the least and the greatest point, by which the roofline goes beyond them


def page(results: BenchResults) -> str:
    """The whole HTML page."""
    title = f"{results.title}: {shape_text(results.shape)} cells, {results.dtype}"
    subtitle = (
        f"workbench bench {results.problem}, {results.host['date']}; {results.host['processor']}, "
        f"{counted(results.threads, 'thread')}"
    )
    sections = [_speed(results), _agreement(results)]
    if results.done:
        sections += [_model(results), _roofline(results), _sizes(results)]
    sections += [
        _first(results),
        Section("The cell", (f"{results.title}: {results.scheme}.",), code=results.cell),
        _method(results),
    ]
    return report_page(title, subtitle, sections)


def headline(results: BenchResults) -> str:
    """The result in a sentence."""
    base = results.base
    if base is None:
        late = any(absent.late for absent in results.absent)
        return "Nothing was measured: no round was finished." + (f" {MORE_TIME}" if late else "")
    text = f"{base.label} updates {rate_text(base.rate)}"
    rest = [e for e in results.ranking if e is not base]
    others = [e for e in rest if not e.ours] or rest
    ratio = results.ratio(others[0]) if others else None
    if ratio is None or not base.ours:
        return f"{text}."
    which = "" if others[0].ours else ", the fastest of the others"
    return f"{text}, {ratio} times the rate of {others[0].label}{which}."


def cut_text(results: BenchResults) -> str:
    """What the budget left no time for."""
    return f"The time budget of {seconds_text(results.budget)} left no time for {' and '.join(results.cut)}"


def table_lines(results: BenchResults) -> list[str]:
    """The table of rates as lines of text."""
    rows = [_head(results), *_rows(results)]
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _head(results: BenchResults) -> tuple[str, ...]:
    return ("", "version", "rate", "times as fast", "of a copy", f"differs from {results.compared_with}")


def _rows(results: BenchResults) -> list[tuple[str, ...]]:
    """`times as fast`: how many times the rate of each is that of the fastest of ours."""
    rows: list[tuple[str, ...]] = []
    for entry in results.ranking:
        share, ratio = results.bandwidth_share(entry), results.ratio(entry)
        same = "" if entry.agreement is None else str(entry.agreement)
        rows.append(
            (
                entry.label,
                entry.version,
                rate_text(entry.rate).replace(" ", "\u00a0"),
                "" if ratio is None or entry is results.base else str(ratio),
                "" if share is None else f"{100 * share.median:.0f} %",
                same,
            )
        )
    return rows


def _speed(results: BenchResults) -> Section:
    paragraphs = [headline(results)]
    if results.interrupted:
        paragraphs.append(
            f"Interrupted: {results.done} of {counted(results.rounds, 'round')} were finished; this is what they say."
        )
    if results.cut:
        paragraphs.append(f"{cut_text(results)}; this is what was measured until then.")
    if results.absent:
        gone = "; ".join(absent.label for absent in results.absent)
        paragraphs.append(f"Without figures here: {gone}. Why, and what to do about it, stands at the end.")
    if not results.done:
        return Section("Speed", tuple(paragraphs))
    base = results.base
    assert base is not None
    model = results.model
    bound = results.copy_rate
    bars = [Bar(e.label, e.rate, min(e.rates), max(e.rates), rate_text(e.rate), ours=e.ours) for e in results.ranking]
    caption = f"Medians of {counted(results.done, 'round')}, and the slowest and the fastest round of each."
    if bound and model is not None:
        caption += (
            f" The dashed line is where {model.bytes_moved:.3g} bytes an update, each array moved once a step, take "
            "the bandwidth of a copy measured in the same rounds. Beyond it are those that run several steps while "
            "cells are in the cache, and all whose arrays fit into caches."
        )
    words = (
        f"“Times as fast” is how many times {base.label} is as fast as the row, the median of ratios inside a round "
        "and the range of their middle half. “Of a copy” is the bandwidth at which each array would be moved once a "
        "step, to that of a copy in the same round."
    )
    svg = bar_plot(bars, "updates of a cell a second", bound=bound, bound_label="bound of a copy a step")
    return Section(
        "Speed",
        (*paragraphs, words),
        tables=(ReportTable(_head(results), tuple(_rows(results))),),
        figures=(Figure(svg, caption),),
    )


def _agreement(results: BenchResults) -> Section:
    rows = [
        (e.label, "bit-equal" if e.agreement.bit_equal else f"{e.agreement.deviation:.1e}")
        for e in results.entries
        if e.agreement is not None
    ]
    if not rows:
        return Section("The same results", ("No fields were compared.",))
    other = results.compared_with
    words = (
        f"Every contender began with the same values on {shape_text(results.shape)} cells. After {VERIFIED_STEPS} "
        f"steps all fields were compared with those of {other}: the largest difference, divided by the largest value. "
        "Where it is not zero, another order of operations rounds differently."
    )
    return Section("The same results", (words,), tables=(ReportTable(("", f"differs from {other} by"), tuple(rows)),))


def _model(results: BenchResults) -> Section:
    told = {name: (results.entry(name), prediction) for name, prediction in results.predictions.items()}
    if not told:
        return Section("The model", ("What the caches of this machine move is not known, so nothing was predicted.",))
    words = (
        "What was to be expected by the plan: the loads and stores of an update, by what the nearest cache moved in "
        "the same rounds; arithmetic is done beside them. Then what crosses the border of a step or tile, by what "
        "loops over as many bytes as the arrays have moved; for tiles also each array once a step through the second "
        "cache. "
        "A step that stores to an array which it does not read brings its lines in first, and is charged for it.",
        "Tiles that share nothing and have such a cache move at least so many bytes, whatever their shape; more where "
        "they leave axes whole, as ours do with the last one of three (Minkowski's inequality for what they read "
        "around them; Muranushi and Makino, Procedia Computer Science 51 (2015) 1303, prove such a limit of temporal "
        "blocking).",
        *(f"{entry.label}: {each.reason}." for entry, each in told.values() if each.reason),
    )
    moved = [
        (
            entry.label,
            f"{model.needs.memory:.3g}",
            f"{model.least:.2g}",
            f"{model.least_uncut:.2g}" if model.needs.shape == "tile" else "",
        )
        for entry, _ in told.values()
        if (model := entry.model) is not None
    ]
    rates = [
        (entry.label, rate_text(each.expected), rate_text(each.measured), f"{each.ratio:.2f}", each.limit)
        for entry, each in told.values()
    ]
    return Section(
        "The model",
        words,
        tables=(
            ReportTable(("", "expected", "measured", "measured / expected", "limit"), tuple(rates)),
            ReportTable(("", "bytes an update", "at least", "at least with axes whole"), tuple(moved)),
        ),
    )


def _roofline(results: BenchResults) -> Section:
    model = results.model
    if model is None or not model.bytes_moved or not results.peak:
        return Section("Roofline", ("The workbench's stepwise plan, which says what an update moves, did not run.",))
    points = [(e, model.operations / (e.bytes_moved or model.bytes_moved)) for e in results.ranking]
    bandwidth = results.copy_bandwidth
    ridge = results.peak / bandwidth
    low = min(x for _, x in points) * _INTENSITIES[0]
    high = max(*(x for _, x in points), ridge) * _INTENSITIES[1]
    roof = Curve(
        "roof",
        [low, ridge, high],
        [low * bandwidth / 1e9, results.peak / 1e9, results.peak / 1e9],
    )
    curves = [Curve(e.label, [x], [e.rate * model.operations / 1e9], marks=True) for e, x in points]
    svg = line_plot([*curves, roof], "operations per byte moved to and from memory", "Gop/s", logarithmic=True)
    caption = (
        f"An update takes {model.operations:.3g} weighted operations and, stepwise, {model.bytes_moved:.3g} bytes by "
        "the plan; what others move is taken to be the same, tiles move less. The roof: a copy's "
        f"{scaled(bandwidth, 'B/s')}, the median of these rounds, and {scaled(results.peak, 'op/s')} of additions and "
        "multiplications."
    )
    return Section("Roofline", figures=(Figure(svg, caption),))


def _sizes(results: BenchResults) -> Section:
    if len(results.sizes) < 2:
        return Section("Sizes", ("Only one size was measured.",))
    curves = []
    for entry in results.ranking:
        points = [(s.cells, s.rates[entry.name]) for s in results.sizes if entry.name in s.rates]
        curves.append(Curve(entry.label, [p[0] for p in points], [p[1] / 1e9 for p in points], marks=True))
    svg = line_plot(curves, "cells", "Gcells/s", logarithmic=True)
    head = ("Gcells/s", *(shape_text(s.shape) for s in results.sizes))
    rows = tuple(
        (e.label, *(f"{s.rates[e.name] / 1e9:.3g}" if e.name in s.rates else "" for s in results.sizes))
        for e in results.ranking
    )
    caption = "Rates at smaller sizes, medians of three interleaved rounds of a fraction of a second."
    if any(entry.name == "auto" for entry in results.ranking):
        caption += " “auto” takes a schedule for each size anew; its label has that of the largest."
    return Section("Sizes", tables=(ReportTable(head, rows),), figures=(Figure(svg, caption),))


def _first(results: BenchResults) -> Section:
    rows = tuple((e.label, _seconds(e.cold_seconds), _seconds(e.first_seconds)) for e in results.entries)
    words = (
        "Seconds from the start of a process to the first step done: imports, code generation, compiler, arrays. Cold "
        "is with an empty build cache, warm the same again. Other systems began without compiled code of earlier runs, "
        "so their one figure is cold too."
    )
    shown = tuple((label, cold or first, first if cold else "") for label, cold, first in rows)
    return Section("First result", (words,), tables=(ReportTable(("", "cold", "warm"), shown),))


def _seconds(value: float | None) -> str:
    return "" if value is None else seconds_text(value)


def _method(results: BenchResults) -> Section:
    rows = [(key, value) for key, value in results.host.items()]
    rows.append(("rounds", f"{results.done} of {results.rounds}"))
    rows.append(("seconds", f"{results.seconds:.0f}, of a budget of {results.budget:.0f}"))
    rows += [(f"steps of {e.label}", f"{e.steps} a round") for e in results.ranking]
    words = (
        "Contenders run in processes of their own, one after the other in each round, with equal threads that are not "
        "pinned; idle ones sleep. NumPy, JAX and torch.compile take the step as expressions of whole arrays, Numba as "
        "parallel loops with fastmath, Halide as pipelines with a schedule by hand; the workbench takes the cell above "
        "without a hint. Only ratios inside one run mean anything: another run on the same machine may find other "
        "rates.",
    )
    tables = [ReportTable(("", ""), tuple(rows))]
    if results.absent:
        gone = tuple((a.label, a.reason, a.advice) for a in results.absent)
        tables.append(ReportTable(("not here", "why", "what to do"), gone))
    return Section("How it was measured", words, tables=tuple(tables))
