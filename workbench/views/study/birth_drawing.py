"""Birth drawing: how children got their genes, an example of each kind of birth (Muranushi 2012, Fig. 9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from workbench.amounts import scaled
from workbench.errors import TuningError
from workbench.tuning.history import BIRTHS
from workbench.tuning.trials import Individual
from workbench.views.drawing.shapes import Drawing, Label, Shape, rectangle
from workbench.views.study.frame import BEST, GRID, INK, SOFT

_WIDTH, _LEFT, _RIGHT, _TOP = 760, 210, 16, 16
_HEAD, _STRIP, _PITCH, _GAP = 40, 14, 20, 14  # pixels: a title with its legend, a strip, from strip to strip, below
_SAME, _PARENTS = GRID, ("#1a6fb5", "#2c8c5a", "#b0458c")
_ROLES: Mapping[str, tuple[str, ...]] = {
    "mutation": ("parent",),
    "crossover": ("first parent", "second parent"),
    "triangulation": ("Primary", "Secondary", "Base"),
}


def draw_births(individuals: Sequence[Individual], numbers: Sequence[int] = ()) -> Drawing:
    """A strip of genes for each parent, the best first, and one for the child, whose genes have their parent's colour.

    Genes that all of them share are grey, those that no parent has are orange. numbers: of the children to show; else
    the fastest of each kind of birth that changed something. TuningError if there is none, or a number is not of a
    child of one to three parents.
    """
    by_number = {one.number: one for one in individuals}
    children = [_bred(by_number, number) for number in numbers] if numbers else _examples(by_number)
    if not children:
        raise TuningError("no individual of this study has parents", advice='Tune with strategy="paraiso".')
    shapes: list[Shape] = []
    top = float(_TOP)
    for child in children:
        parents = [by_number[number] for number in child.parents]
        shapes += _strips(child, parents, top)
        top += _HEAD + _PITCH * (len(parents) + 1) + _GAP
    words = "Births: " + ", ".join(f"individual {one.number} by {_kind(one)}" for one in children)
    return Drawing(_WIDTH, round(top), tuple(shapes), words)


def _bred(by_number: Mapping[int, Individual], number: int) -> Individual:
    one = by_number.get(number)
    if one is None or not 1 <= len(one.parents) <= len(BIRTHS):
        raise TuningError(f"individual {number} has no parents here", advice="Name children: one.parents lists them.")
    return one


def _examples(by_number: Mapping[int, Individual]) -> list[Individual]:
    """The fastest of each kind whose genes are not those of a parent; by a rule only if there is no other."""
    found = []
    for count in range(1, len(BIRTHS) + 1):
        born = [
            one
            for one in by_number.values()
            if len(one.parents) == count and all(one.point != by_number[parent].point for parent in one.parents)
        ]
        if born:
            found.append(max(born, key=lambda one: (one.birth == BIRTHS[count - 1], one.final_score or 0.0)))
    return found


def _kind(one: Individual) -> str:
    return BIRTHS[len(one.parents) - 1]


def _strips(child: Individual, parents: Sequence[Individual], top: float) -> list[Shape]:
    kind = _kind(child)
    genes = list(zip(*(one.point for one in (*parents, child)), strict=True))
    same = [len(set(values)) == 1 for values in genes]
    new = [values[-1] not in values[:-1] for values in genes]
    told = f"{kind}: {len(genes)} genes, {len(genes) - sum(same)} not equal in all, {sum(new)} new in the child"
    shapes: list[Shape] = [Label((_TOP, top + 10), told, INK, 13)]
    y = top + _HEAD
    for at, (role, parent) in enumerate(zip(_ROLES[kind], parents, strict=True)):
        colours = [_SAME if equal else _PARENTS[at] for equal in same]
        shapes += _strip(f"{role}, {_named(parent)}", colours, y)
        y += _PITCH
    colours = [
        _SAME if equal else BEST if fresh else _PARENTS[values.index(values[-1])]
        for equal, fresh, values in zip(same, new, genes, strict=True)
    ]
    return shapes + _strip(f"child, {_named(child)}", colours, y)


def _named(one: Individual) -> str:
    score = one.final_score
    return f"{one.number}: {'failed' if score is None else scaled(score, 'cells/s')}"


def _strip(words: str, colours: Sequence[str], y: float) -> list[Shape]:
    """A row of genes; neighbours of one colour are one rectangle."""
    shapes: list[Shape] = [Label((_LEFT - 8, y + _STRIP / 2), words, SOFT, 11, "right")]
    pitch = (_WIDTH - _LEFT - _RIGHT) / len(colours)
    begin = 0
    for colour, run in groupby(colours):
        count = len(list(run))
        shapes.append(rectangle(_LEFT + pitch * begin, y, pitch * count, _STRIP, colour))
        begin += count
    return shapes
