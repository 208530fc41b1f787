"""What only the number of cells decides: a reflection that comes out at a side without a rule."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.ghost_cells import Outside
from workbench.errors import ShapeError, StencilError
from workbench.planning.extents import check_extents

RULES = {
    "reflect": ('"reflect"', ("reflect", 1), ()),
    "mirror": ('"mirror"', ("mirror", 1), ()),
    "fixed": ("fixed(2)", ("fixed", 2.0), ()),
    "wall": ('"reflect"', ("reflect", 1), (0,)),
    "outflow": ('"outflow"', ("outflow",), ()),
    "constant": ("constant(3)", ("constant", 3.0), ()),
}


def machine(rule, side, reach):
    text, _, faces = RULES[rule]
    location = f', location=("face", {faces[0]})' if faces else ""
    offset = -reach if side == "-" else reach
    declared = f'u = field("u", boundary={{"x{side}": {text}}}{location})'
    return wb.trace(f'{declared}\nv = field("v")\nv.next = u[{offset}]\nu.next = u')


def by_oracle(rule, side, reach, cells):
    """The values that v gets, or None where the oracle meets the side without a rule."""

    class Missing(Exception):
        pass

    def inside(index):
        return float(10 + index[0])

    class Sides(tuple):
        def __getitem__(self, number):
            if tuple.__getitem__(self, number) is None:
                raise Missing
            return tuple.__getitem__(self, number)

    _, given, faces = RULES[rule]
    pair = Sides((given, None) if side == "-" else (None, given))
    outside = Outside(inside, (cells,), (pair,), faces)
    offset = -reach if side == "-" else reach
    try:
        return [outside.at((i + offset,)) for i in range(cells)]
    except Missing:
        return None


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("side", "-+")
def test_refused_exactly_where_a_reflection_meets_a_side_without_a_rule(rule, side):
    refused = ran = 0
    for reach in (1, 2, 3, 4):
        made = machine(rule, side, reach)
        for cells in (1, 2, 3, 4, 5):
            expected = by_oracle(rule, side, reach, cells)
            start = 10.0 + np.arange(cells)
            if expected is None:
                refused += 1
                with pytest.raises(ShapeError, match="where it is reflected"):
                    check_extents(made.plan(), (cells,))
                with pytest.raises(ShapeError):
                    made.simulate(u=start, v=0.0, backend="reference")
            else:
                ran += 1
                assert made.simulate(u=start, v=0.0, backend="reference").run(1).v.tolist() == expected
    assert ran >= 8
    assert (refused > 0) == (rule in ("reflect", "mirror", "fixed", "wall"))


def test_the_refusal_says_what_to_do():
    made = machine("reflect", "-", 3)
    with pytest.raises(StencilError) as error:
        made.simulate(u=np.zeros(2), v=0.0, backend="openmp")
    assert str(error.value).splitlines() == [
        "line 3: u is read 3 cells outside at side x-, where it is reflected; with 2 cells along x the reflection lies "
        "outside at side x+, which has no rule",
        "Give u a rule at x+, or at least 3 cells along x.",
    ]
    assert made.simulate(u=np.arange(3.0), v=0.0, backend="openmp").run(1).v.tolist() == [2.0, 1.0, 0.0]
