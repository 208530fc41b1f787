"""Boundaries in practice, in 1-D, 2-D and 3-D, ghost cell by ghost cell against an oracle that shares no code.

Random vectors whose components have rules and places of their own: signs by component, inflow from params and scalars,
values that depend on place and time, stages that take their rule again, faces on walls; domains of 1 to 5 cells read up
to 7 cells away. All numbers are whole, so every result must be equal, not close.
"""

import random
from functools import cache
from itertools import product
from typing import get_args

import numpy as np
import pytest

import workbench as wb
from tests.kit.capabilities import backends_here
from tests.kit.ghost_cells import Outside
from workbench.frontend.boundaries import Kind

TEXT = """\
t = scalar("t", 1.0)
inflow = param("inflow", 3.0)
{rules}
m = vector("m", boundary=lambda a: rules[a], location=lambda a: places[a])
first = compose(lambda a: ({first})[a])
again = extend(first, lambda a: later[a], location=lambda a: places[a])
m.next = compose(lambda a: ({second})[a])
t.next = t + 1
"""
LETTERS = "xyz"
COMPILED = 1  # of the seeds: how many run on compiled backends too


class Deck:
    """Draws that leave nothing out: each block of them holds every card once, in an order that is its own.

    A card more, for a rule more, changes which cards meet, and nothing that the tests ask of them.
    """

    def __init__(self, name, cards):
        self.generator, self.cards, self.hand = random.Random(name), tuple(cards), []

    def deal(self, allowed=lambda card: True):
        """The next card that is allowed; the others wait for the next time."""
        while not any(map(allowed, self.hand)):
            self.hand += self.generator.sample(self.cards, len(self.cards))
        card = next(filter(allowed, self.hand))
        self.hand.remove(card)
        return card


FAR = "analytic(lambda *i: sum((k + 1) * n for k, n in enumerate(i)) + 10 * t)"


def rising(t):
    return ("analytic", lambda index: sum((k + 1) * n for k, n in enumerate(index)) + 10 * t)


# Text in a cell -> what the oracle takes at time t; "vector" stands for the sign by which a vector is reflected.
RULES = {
    '"outflow"': lambda t: ("outflow",),
    **{text: lambda t: ("reflect", "vector") for text in ('"reflect"', "reflect")},
    **{text: lambda t: ("mirror", "vector") for text in ('"mirror"', "mirror")},
    **{f"{k}(sign={s})": lambda t, k=k, s=s: (k, s) for k in ("reflect", "mirror") for s in (1, -1)},
    "constant(inflow)": lambda t: ("constant", 3.0),
    "constant(2 * t - inflow)": lambda t: ("constant", 2 * t - 3),
    "fixed(t)": lambda t: ("fixed", t),
    "neumann(2, 3)": lambda t: ("neumann", 6),
    "neumann(-2, 3)": lambda t: ("neumann", -6),
    FAR: rising,
}
CYCLES = {'"periodic"': 1, "periodic": 1, "periodic(sign=-1)": -1}
NO_CYCLE = 12  # of 15 axes have a rule of its own on each side


def on_a_face(text):
    """Whether a rule can be given where values sit on the wall itself."""
    return not text.startswith(("fixed", "neumann"))


def side_rule(text, axis, component):
    """What the oracle takes at time t for this side of a vector's component: the normal one changes its sign."""

    def rule(t):
        kind, *given = RULES[text](t)
        return (kind, -1 if axis == component else 1) if given == ["vector"] else (kind, *given)

    return rule


class Decks:
    """What the cases of one number of dimensions are dealt from."""

    def __init__(self, dim):
        self.extents = Deck(f"extents {dim}", range(1, 6))
        self.places = [
            Deck(f"places {dim} {a}", [(), (a,), tuple(b for b in range(dim) if b != a)]) for a in range(dim)
        ]
        self.cycles = Deck(f"cycles {dim}", [*CYCLES, *[None] * NO_CYCLE])
        self.rules = Deck(f"rules {dim}", RULES)


class Case:
    """A random program and its meaning by the oracle."""

    def __init__(self, seed, dim, decks):
        self.dim = dim
        self.extents = tuple(decks.extents.deal() for _ in range(dim))
        reach = 7 if min(self.extents) <= 3 else 3
        self.faces = [deck.deal() for deck in decks.places]
        self.sides = [[], []]  # of the field, of the stage; then by component and axis
        texts = [[], []]
        for which in (0, 1):
            for a in range(dim):
                pairs, written = [], []
                for axis in range(dim):
                    cycle = decks.cycles.deal()
                    if cycle is not None:
                        pairs.append((lambda t, sign=CYCLES[cycle]: ("periodic", sign),) * 2)
                        written.append(f'"{LETTERS[axis]}": {cycle}')
                        continue
                    allowed = on_a_face if axis in self.faces[a] else RULES.__contains__
                    chosen = [decks.rules.deal(allowed) for _ in "-+"]
                    pairs.append(tuple(side_rule(text, axis, a) for text in chosen))
                    written += [f'"{LETTERS[axis]}{s}": {text}' for s, text in zip("-+", chosen, strict=True)]
                self.sides[which].append(pairs)
                texts[which].append("{" + ", ".join(written) + "}")
        places = ", ".join(repr(("face", *f)) if f else "None" for f in self.faces)
        rules = f"rules = [{', '.join(texts[0])}]\nlater = [{', '.join(texts[1])}]\nplaces = [{places}]"
        generator = random.Random(f"terms {seed} {dim}")
        # For each stage and component: (weight, component read, offset).
        self.terms = [
            [
                [
                    (
                        generator.choice([-3, -2, -1, 1, 2, 3]),
                        generator.randrange(dim),
                        tuple(generator.randint(-reach, reach) for _ in range(dim)),
                    )
                    for _ in range(5)
                ]
                for _ in range(dim)
            ]
            for _ in (0, 1)
        ]
        self.text = TEXT.format(
            rules=rules, first=self.formulas(self.terms[0], "m"), second=self.formulas(self.terms[1], "again")
        )

    @staticmethod
    def formulas(terms, name):
        rows = (
            " + ".join(f"{w} * {name}[{b}][{', '.join(f'{o:+d}' for o in offset)}]" for w, b, offset in row)
            for row in terms
        )
        return ", ".join(rows) + ","

    def start(self):
        return np.random.default_rng(self.dim).integers(-20, 20, (self.dim, *self.extents)).astype(float)

    def step(self, m, t):
        """One step of the program, cell by cell."""

        def sided(which, a):
            return [tuple(rule(t) for rule in pair) for pair in self.sides[which][a]]

        def reading(terms, read):
            def at(a, index):
                return sum(w * read(b, tuple(map(sum, zip(index, o, strict=True)))) for w, b, o in terms[a])

            return at

        @cache
        def field(b, index):
            return Outside(lambda i: m[(b, *i)], self.extents, sided(0, b), self.faces[b]).at(index)

        first = cache(reading(self.terms[0], field))

        @cache
        def stage(b, index):
            return Outside(lambda i: first(b, i), self.extents, sided(1, b), self.faces[b]).at(index)

        second = reading(self.terms[1], stage)
        after = np.empty_like(m)
        for a in range(self.dim):
            for index in product(*map(range, self.extents)):
                after[(a, *index)] = second(a, index)
        return after


COUNTS = {1: 20, 2: 16, 3: 8}
CASES = [(dim, seed) for dim, count in COUNTS.items() for seed in range(count)]


@cache
def cases(dim):
    decks = Decks(dim)
    return [Case(seed, dim, decks) for seed in range(COUNTS[dim])]


@pytest.mark.parametrize(("dim", "seed"), CASES)
def test_every_ghost_cell_is_the_oracles(dim, seed):
    case = cases(dim)[seed]
    machine = wb.trace(case.text, dim=dim)
    expected, t = case.start(), 1.0
    states = []
    for _ in range(2):
        expected, t = case.step(expected, t), t + 1
        states.append(expected)
    for backend in backends_here() if seed < COMPILED else ("reference",):
        simulation = machine.simulate(m=case.start(), backend=backend)
        for state in states:
            found = simulation.run(1).m
            assert np.array_equal(found, state), f"{backend}, extents {case.extents}\n{case.text}"
    assert np.abs(expected).max() < 2**52


def test_the_cases_cover_every_rule_and_place():
    everything = [case for dim in COUNTS for case in cases(dim)]
    texts = "".join(case.text for case in everything)
    kinds = {rule(0)[0] for rule in RULES.values()} | {"periodic"}
    assert kinds == set(get_args(Kind)) - {"undefined"}, "give a new rule a row of RULES and its meaning in tests/kit"
    assert [rule for rule in (*RULES, *CYCLES) if not any(f": {rule}{end}" in texts for end in ",}")] == []
    places = ("('face', 0)", "('face', 1)", "('face', 0, 1)", "('face', 1, 2)")
    assert [place for place in places if place not in texts] == []
    assert {n for case in everything for n in case.extents} == {1, 2, 3, 4, 5}


@pytest.mark.parametrize("kind", ["reflect", "mirror"])
@pytest.mark.parametrize("dim", [1, 2, 3])
def test_a_wrong_sign_of_one_component_is_seen(dim, kind):
    """The oracle tells apart what the tests are about: it changes when one rule of one component on one side does."""

    def case_with(sign):
        case = Case(0, dim, Decks(dim))
        case.extents, case.faces = (4,) * dim, [()] * dim
        sides = [[[(lambda t: (kind, 1)) for _ in "-+"] for _ in range(dim)] for _ in range(dim)]
        for (component, axis, side), given in sign.items():
            sides[component][axis][side] = lambda t, given=given: (kind, given)
        case.sides = [sides, [[[lambda t: ("outflow",)] * 2] * dim] * dim]
        steps = [tuple(o * (axis == along) for axis in range(dim)) for along in range(dim) for o in (-1, 1)]
        every = [(7**b, b, step) for b in range(dim) for step in steps]
        case.terms = [[every] * dim, [[(1, a, (0,) * dim)] for a in range(dim)]]
        return case

    start = np.random.default_rng(dim).integers(1, 20, (dim,) + (4,) * dim).astype(float)
    right = case_with({}).step(start, 1.0)
    for wrong in product(range(dim), range(dim), (0, 1)):
        assert not np.array_equal(right, case_with({wrong: -1}).step(start, 1.0)), wrong


STAGES = """\
t = scalar("t", 1.0)
def outside(now):
    far = analytic(lambda *i: sum((k + 1) * n for k, n in enumerate(i)) - now)
    return {{"x-": far, "x+": constant(3 * now), {others}}}
def rates(u, m, now):
    turning = compose(lambda a: u.at(+1, a) - m[a].at(-1, (a + 1) % dim))
    return 2 * m[0].at(+2, 0) - u.at(-2, dim - 1) + now, turning
u, m = field("u", boundary=outside(t)), vector("m", boundary="reflect")
u.next, m.next = {rule}((u, m), rates, 2.0, lambda now: (outside(now), "reflect"), time=t)
t.next = t + 2
"""


class StagedOracle:
    """One step of STAGES by either rule; a state is an array whose first axis counts u, m0, m1, ..."""

    def __init__(self, dim, extents):
        self.dim, self.extents = dim, extents

    def moved(self, index, offset, axis):
        return (*index[:axis], index[axis] + offset, *index[axis + 1 :])

    def rates(self, state, now):
        """The right side in every cell, each ghost cell by the rules at the time of the stage."""

        def far(index):
            return sum((k + 1) * n for k, n in enumerate(index)) - now

        u_sides = [(("analytic", far), ("constant", 3 * now)), *((("mirror", 1), ("outflow",)),) * (self.dim - 1)]
        values = [Outside(lambda i: state[(0, *i)], self.extents, u_sides, ())]
        for a in range(self.dim):
            sides = [(("reflect", -1 if axis == a else 1),) * 2 for axis in range(self.dim)]
            values.append(Outside(lambda i, a=a: state[(a + 1, *i)], self.extents, sides, ()))
        u, m = values[0], values[1:]
        result = np.empty_like(state)
        for index in product(*map(range, self.extents)):
            ahead, behind = self.moved(index, 2, 0), self.moved(index, -2, self.dim - 1)
            result[(0, *index)] = 2 * m[0].at(ahead) - u.at(behind) + now
            for a in range(self.dim):
                before = self.moved(index, -1, (a + 1) % self.dim)
                result[(a + 1, *index)] = u.at(self.moved(index, 1, a)) - m[a].at(before)
        return result

    def midpoint(self, state, now):
        return state + 2 * self.rates(state + self.rates(state, now), now + 1)

    def ssp_rk2(self, state, now):
        first = state + 2 * self.rates(state, now)
        return (state + first + 2 * self.rates(first, now + 2)) / 2


@pytest.mark.parametrize("rule", ["midpoint", "ssp_rk2"])
@pytest.mark.parametrize("extents", [(5,), (2,), (4, 3), (1, 4), (3, 2, 4)])
def test_stages_see_their_rules_at_their_own_time(rule, extents):
    dim = len(extents)
    others = ", ".join(f'"{letter}-": "mirror", "{letter}+": "outflow"' for letter in LETTERS[1:dim])
    machine = wb.trace(STAGES.format(rule=rule, others=others), dim=dim)
    state, now = np.random.default_rng(dim).integers(-9, 9, (dim + 1, *extents)).astype(float), 1.0
    backends = backends_here() if extents in ((5,), (4, 3)) else ("reference",)
    simulations = [machine.simulate(u=state[0], m=state[1:], backend=backend) for backend in backends]
    for _ in range(2):
        state, now = getattr(StagedOracle(dim, extents), rule)(state, now), now + 2
        for simulation in simulations:
            simulation.run(1)
            assert np.array_equal(simulation.u, state[0]), simulation.backend
            assert np.array_equal(simulation.m, state[1:]), simulation.backend
    assert np.abs(state).max() < 2**50
