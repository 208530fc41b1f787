"""Worker drawing: who was built and measured when, as asynchronous workers do it (Muranushi 2012, Fig. 8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.amounts import counted
from workbench.errors import TuningError
from workbench.tuning.trials import Individual
from workbench.views.drawing.numbers import short, ticks
from workbench.views.drawing.shapes import Drawing, Label, Line, Shape, rectangle, text_width
from workbench.views.study.frame import FAILED, GRID, INK, SOFT

_WIDTH, _LEFT, _RIGHT, _TOP, _LANE, _BOTTOM = 760, 80, 16, 66, 30, 48
_BUILT, _MEASURED = "#a9cbe8", "#1a6fb5"


@dataclass(frozen=True, slots=True)
class Stay:
    """An individual in one worker: seconds since the first began at which it came, was built, and was done."""

    number: int
    worker: int
    came: float
    built: float
    done: float
    failed: bool


def stays_of(individuals: Sequence[Individual]) -> tuple[Stay, ...]:
    """When each individual that was built was where, in the order in which they came.

    A study notes when an individual was done and how long its building and its run took; workers are told apart by
    who is free. What was measured before under another number is left out, and so are waits.
    """
    spans = []
    for one in individuals:
        build, run = one.outcome.build_seconds, one.outcome.run_seconds
        if not one.same_as and build + run > 0:
            spans.append((one.told - run - build, one.told - run, one.told, one))
    spans.sort(key=lambda span: span[0])
    free: list[float] = []
    stays = []
    for came, built, done, one in spans:
        worker = next((at for at, since in enumerate(free) if since <= came + 1e-3), len(free))
        if worker == len(free):
            free.append(done)
        free[worker] = done
        first = spans[0][0]
        stays.append(Stay(one.number, worker, came - first, built - first, done - first, one.score is None))
    return tuple(stays)


def draw_workers(individuals: Sequence[Individual], first: int = 1, last: int | None = None) -> Drawing:
    """A lane for each worker: individuals `first` to `last`, pale while they are built, deep while they are run.

    Those that failed are red. TuningError if none of them was built.
    """
    end = len(individuals) if last is None else last
    stays = stays_of([one for one in individuals if first <= one.number <= end])
    if not stays:
        raise TuningError("none of these individuals was built", advice="Wait for the first one, or name others.")
    lanes = 1 + max(stay.worker for stay in stays)
    height, span = _TOP + _LANE * lanes + _BOTTOM, max(stay.done for stay in stays) or 1.0
    scale = (_WIDTH - _LEFT - _RIGHT) / span
    bottom = height - _BOTTOM
    title = f"{counted(len(stays), 'individual')} by {counted(lanes, 'worker')}"
    shapes: list[Shape] = [Label((_LEFT, 16), title, INK, 15)]
    x = float(_LEFT)
    for words, colour in (("plan and build", _BUILT), ("compare and measure", _MEASURED), ("failed", FAILED)):
        shapes += [rectangle(x, 36, 9, 9, colour), Label((x + 14, 41), words, SOFT, 12)]
        x += text_width(words, 12) + 36
    for value in ticks(0.0, span, 8):
        if 0 <= value <= span:
            at = _LEFT + scale * value
            shapes += [
                Line(((at, _TOP), (at, bottom)), GRID),
                Label((at, bottom + 14), short(value), SOFT, 12, "centre"),
            ]
    for worker in range(lanes):
        shapes.append(Label((_LEFT - 8, _TOP + _LANE * (worker + 0.5)), f"worker {worker + 1}", SOFT, 12, "right"))
    for stay in stays:
        y = _TOP + _LANE * stay.worker + 5
        came, built, done = (_LEFT + scale * seconds for seconds in (stay.came, stay.built, stay.done))
        shapes.append(rectangle(came, y, max(built - came, 0.5), _LANE - 10, FAILED if stay.failed else _BUILT))
        shapes.append(rectangle(built, y, max(done - built, 0.5), _LANE - 10, FAILED if stay.failed else _MEASURED))
        if text_width(str(stay.number), 11) < built - came:
            shapes.append(Label(((came + built) / 2, y + (_LANE - 10) / 2), str(stay.number), INK, 11, "centre"))
    shapes.append(Label(((_LEFT + _WIDTH - _RIGHT) / 2, height - 10), "seconds", SOFT, 12, "centre"))
    return Drawing(_WIDTH, height, tuple(shapes), title)
