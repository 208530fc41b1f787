"""Words: what is seen of a field as text, for terminals, for screen readers and below pictures."""

from __future__ import annotations

from workbench.views.drawing.numbers import short
from workbench.views.field.particles import Particles
from workbench.views.field.summary import FieldSummary


def describe(summary: FieldSummary) -> str:
    """The summary in words, for terminals, for screen readers and below pictures."""
    size = " x ".join(map(str, summary.shape)) + (" cells" if summary.particles is None else " particles")
    unit = f" {summary.unit}" if summary.unit else ""
    lines = [f"{summary.subject}: {size} at step {summary.step}{time_text(summary, 6)}"]
    if summary.minimum is None or summary.maximum is None:
        lines.append("no finite value")
    else:
        values = "values" if summary.particles is None else summary.name
        lines.append(f"{values} {_ends(summary.minimum, summary.maximum)}{unit}")
    if summary.up is None:
        lines.append(f"{summary.across.name} to the right, {summary.name} up")
    else:
        lines.append(f"{summary.across.name} to the right, {summary.up.name} up")
        shown = "" if summary.particles is None else f"{summary.name} in "
        lines[-1] += f"; {shown}colours {summary.palette}, {_ends(summary.low, summary.high)}"
    if summary.others:
        lines += [f"and the planes {p.across.name}-{p.up.name}" for p in summary.others if p.up is not None]
    if thinning_text(summary):
        lines.append(thinning_text(summary))
    lines += [f"cut at {cut.label.name} = cell {cut.index} of {cut.label.cells}" for cut in summary.cuts]
    if summary.not_numbers or summary.infinite:
        lines.append(f"{summary.not_numbers} NaN, {summary.infinite} infinite")
    if summary.wrong is not None:
        lines.append(str(summary.wrong))
    return "\n".join(lines)


def time_text(summary: FieldSummary, digits: int = 4) -> str:
    """ ", t = 0.25 s", or "" where no scalar tells the time."""
    if summary.clock is None or summary.time is None:
        return ""
    unit = f" {summary.clock.unit}" if summary.clock.unit else ""
    return f", {summary.clock.name} = {short(summary.time, digits)}{unit}"


def thinning_text(summary: FieldSummary) -> str:
    """That not every cell or particle is drawn, and what is done about the others; "" if all are."""
    if summary.particles is not None:
        return _left_out(summary.stride, summary.particles)
    every = max(plane.stride for plane in summary.planes)
    if every == 1:
        return ""
    if summary.sampled:
        return f"read and drawn: one cell of {every} along each axis; min and max are of these"
    if summary.kind == "line":
        return f"drawn: least and greatest of each {every} cells"
    return f"drawn: one cell of {every} along each axis; min and max are of all cells"


def _left_out(every: int, particles: Particles) -> str:
    drawn = [] if every == 1 else [f"drawn: one particle of {every}; min and max are of all particles"]
    if particles.outside:
        of = f"{particles.levels.size} drawn" if every > 1 else str(particles.levels.size)
        drawn.append(f"{particles.outside} of {of} lie outside of the picture")
    return "; ".join(drawn)


def _ends(low: float, high: float) -> str:
    """Both numbers, told apart."""
    digits = 6
    while high > low and f"{low:.{digits}g}" == f"{high:.{digits}g}":
        digits += 1
    return f"{low:.{digits}g} to {high:.{digits}g}"
