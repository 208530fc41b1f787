"""Random programs of pairs: the text of a cell, arrays for both sides, and how their totals are computed anywhere."""

import random
from dataclasses import dataclass

import numpy as np

import workbench as wb
from tests.kit.random_programs import random_array
from workbench.backends.base import MarchRequest

SHORT, LONG = (0, 1, 2, 5, 33), (1023, 1024, 1025)
FLOAT_STEPS = (
    "{a} + {b}", "{a} - {b}", "{a} - {b}", "{a} * {b}", "{a} * {b}", "minimum({a}, {b})", "maximum({a}, {b})",
    "{a} / (1.5 + {b} * {b})", "sqrt(abs({a}))", "where({a} < {b}, {a}, {c})", "where(index(0) == index(1), {a}, {b})",
    "0.75 * {a}", "k * {a}", "-{a}", "fma({a}, {b}, {c})", "{a}**3", "{a} / sqrt({b}**2 + 0.5)",
    "astype({a} > {b}, 'f64') * {c}",
)  # fmt: skip

NEARER = """
def nearer(a, b):
    less = (b[0] < a[0]) | ((b[0] == a[0]) & (b[1] < a[1]))
    return where(less, b[0], a[0]), where(less, b[1], a[1])
"""
"""The record with the smaller first component, of equal ones with the smaller second one; none that begins with NaN."""


@dataclass(frozen=True)
class RandomPairs:
    """A program: its cell, its machine, what a call is given, and the number of elements of each side."""

    seed: int
    text: str
    machine: wb.Machine
    given: dict
    lengths: tuple

    def totals(self, program, threads=1):
        """What a compiled program makes of the arrays, by name."""
        graph = program.plan.graph
        instance = program.instantiate(self.lengths, threads)
        for static in graph.fields:
            if static.name in self.given:
                instance.write_field(static.name, self.given[static.name])
        instance.write_global("k", self.given["k"])
        with np.errstate(all="ignore"):
            instance.march(MarchRequest("main", 1))
        found = {name: instance.read_field(name) for name, _ in graph.kernels[0].stores()}
        instance.close()
        return found

    def called(self, backend, threads=0, sources=slice(None)):
        """What a call of the machine returns, with some of the sources only."""
        targets = {name: a for name, a in self.given.items() if name != "k" and not name.endswith(".source")}
        given = {name.removesuffix(".source"): a[sources] for name, a in self.given.items() if name.endswith(".source")}
        options = {"targets": targets, "sources": given, "k": self.given["k"], "threads": threads}
        return self.machine(backend=backend, **options)


def random_pairs(seed, types=("f32", "f64", "f64", "dd"), longest=1025, reduces=None):
    """The program of a seed. One set or two; 1 to 4 totals, most of them sums; one number of elements may be large."""
    draw = random.Random(f"pairs {seed}")
    one_set = draw.random() < 0.3
    known = _declared(draw, types, one_set)
    lines = [f'{names}, = {side}("{own}", dtype="{type_}")' for side, names, own, type_, _ in known]
    values = [names for _, names, _, _, _ in known]
    of_sources = {names for side, names, *_ in known if side == "sources"}
    for number in range(draw.randint(2, 9)):
        a, b, c = (draw.choice(values[-6:]) for _ in range(3))
        step = draw.choice(FLOAT_STEPS)
        lines.append(f"v{number} = {step.format(a=a, b=b, c=c)}")
        if any(name in of_sources for name, part in ((a, "{a}"), (b, "{b}"), (c, "{c}")) if part in step):
            of_sources.add(f"v{number}")
        if "index" in step:
            of_sources.add(f"v{number}")
        values.append(f"v{number}")
    contributed = [value for value in values if value in of_sources]
    totals = []
    for number in range(draw.randint(1, 4)):
        reduce = draw.choice(reduces or ("sum", "sum", "sum", "max", "min", "product", "any", "all", "nearest"))
        dtype = None if reduce in ("any", "all") else draw.choice(types)
        totals.append(_total(draw, f"t{number}", reduce, dtype, contributed))
    every = f"({' - '.join(names for _, names, *_ in known)})"  # so that each array is used
    totals.append(_total(draw, "every", "sum", draw.choice(types), [every]))
    text = "\n".join(
        ['k = param("k", 1.25)', *NEARER.splitlines(), *lines, *(line for total in totals for line in total)]
    )
    machine = wb.trace(text, name=f"pairs{seed}")
    short = draw.choice(SHORT)
    lengths = [short, draw.choice((short, *SHORT, *(n for n in LONG if n <= longest)))]
    draw.shuffle(lengths)
    if one_set:
        lengths = [draw.choice((1, 2, 33, 70))] * 2
    return RandomPairs(seed, text, machine, _given(machine.graph, draw, lengths), tuple(lengths))


@dataclass(frozen=True)
class RandomParticles:
    """A program of particles: its cell, its machine, where it starts, and the extents of its axes."""

    seed: int
    text: str
    machine: wb.Machine
    given: dict
    lengths: tuple

    def states(self, program, threads=1):
        """All state after three steps, by name."""
        graph = program.plan.graph
        instance = program.instantiate(self.lengths, threads)
        for name, values in self.given.items():
            instance.write_field(name, values)
        with np.errstate(all="ignore"):
            instance.march(MarchRequest("step", 3))
        found = {static.name: instance.read_field(static.name) for static in graph.fields}
        found |= {static.name: np.asarray(instance.read_global(static.name)) for static in graph.scalars}
        instance.close()
        return found


def random_particles(seed, types=("f32", "f64", "f64", "dd")):
    """The program of a seed: one population or two, each seen as sources too, reductions over either and over these."""
    draw = random.Random(f"particles {seed}")
    known = [("p", f"a{k}", draw.choice(types)) for k in range(draw.randint(1, 3))]
    known += [("stars", f"s{k}", draw.choice(types)) for k in range(draw.choice((0, 0, 1, 2)))]
    lines = ["k = 1.25", 'top = scalar("top")']
    lines += [f'{name}, = particles("{name}", of="{of}", dtype="{type_}")' for of, name, type_ in known]
    for of in dict.fromkeys(of for of, *_ in known):
        own = [name for each, name, _ in known if each == of]
        values = [*own, *(f"{name}.source" for name in own), *(name for each, name, _ in known if each != of)]
        made = []
        for number in range(draw.randint(2, 5)):
            a, b, c = (draw.choice(values) for _ in range(3))
            step = draw.choice([step for step in FLOAT_STEPS if "index" not in step])
            lines.append(f"{of}{number} = {step.format(a=a, b=b, c=c)} + 0 * ({own[0]}.source - {own[0]})")
            made.append(f"{of}{number}")
            values += made[-1:]
        earlier = None
        for name in own:
            reduce = draw.choice(("sum", "sum", "max", "min"))
            over = ['"source"'] if of == "p" else [f'"{of}_source"']
            others = sorted({each for each, *_ in known if each != of})
            inner = f"0.01 * {draw.choice(made)}"
            if earlier:  # what was reduced, as sources have it
                inner += f" + 0.001 * ({earlier}.source - {earlier})"
            pair = earlier = f"p_{of}_{name}"
            lines.append(f"{pair} = reduce_{reduce}({inner}, over={over[0]})")
            for other in others:  # where the value has the other population's axis too
                first = next(n for each, n, _ in known if each == other)
                lines[-1] = f'{pair} = reduce_{reduce}({inner} + 0 * {first}, over=({over[0]}, "{other}"))'
            lines.append(f"{name}.next = where(isfinite({pair}) & (abs({pair}) < 100), 0.5 * {name} + {pair}, {name})")
    lines.append(f"top.next = reduce_max(astype({known[0][1]}, 'f64'))")
    text = "\n".join(lines)
    machine = wb.trace(text, name=f"particles{seed}")
    graph, generator = machine.graph, np.random.default_rng(draw.getrandbits(32))
    numbers = {axis.extent: draw.choice((1, 2, 7, 33, 40)) for axis in graph.space.axes}
    if len(numbers) == 1 and draw.random() < 0.3:
        numbers = dict.fromkeys(numbers, draw.choice((1023, 1024, 1025)) if "dd" not in text else 200)
    lengths = tuple(numbers[axis.extent] for axis in graph.space.axes)
    shapes = {s.name: s.space.extents_in(graph.space, lengths) for s in graph.fields}
    given = {s.name: random_array(generator, s.type, shapes[s.name], False) for s in graph.fields}
    return RandomParticles(seed, text, machine, given, lengths)


def _declared(draw, types, one_set):
    """(side, variable, array, type, whether both sides have it); a name of both sides is one array of one set."""
    rows = []
    for number in range(draw.randint(1, 3)):
        type_ = draw.choice(types)
        rows.append(("targets", f"a{number}", f"x{number}", type_, one_set))
        rows.append(("sources", f"b{number}", f"x{number}", type_, one_set))
    rows.append(("sources", "m", "m", draw.choice(types), False))
    if draw.random() < 0.3:
        rows.append(("targets", "n", "n", "i32", False))
    draw.shuffle(rows)
    return rows


def _total(draw, name, reduce, dtype, contributed):
    if reduce == "nearest":
        dtype = "f64" if dtype == "dd" else dtype
        yield f'{name}, = totals("{name} {name}_of", reduce=nearer, identity=(inf, -1), dtype=("{dtype}", "i64"))'
        yield from (f"{name}.include(({draw.choice(contributed)}, {draw.choice(('index(1)', '7'))}))" for _ in "ab")
        return
    typed = "" if dtype is None else f', dtype="{dtype}"'
    yield f'{name}, = totals("{name}", reduce="{reduce}"{typed})'
    if reduce == "sum" and dtype in ("f32", "f64", "dd") and draw.random() < 0.3:
        yield f"{name} = fma({draw.choice(contributed)}, {draw.choice(contributed)}, {name})"
        return
    for _ in range(draw.choice((1, 1, 2))):
        value = draw.choice(contributed)
        if dtype is None:
            yield f"{name}.include({value} {draw.choice('<>')} {draw.choice((0.0, 0.5))})"
            continue
        if reduce == "product":  # so that it stays finite
            value = f"(1 + 0.001 * minimum(1, maximum(-1, {value})))"
        yield f"{name} += {value}" if reduce == "sum" else f"{name}.include({value})"


def _given(graph, draw, lengths):
    """An array for each that the program reads, and the param; one set has equal arrays on both sides."""
    generator, found = np.random.default_rng(draw.getrandbits(32)), {"k": draw.choice((1.25, -0.5, 3.0))}
    stored = {name for name, _ in graph.kernels[0].stores()}
    for static in graph.fields:
        if static.name in stored:
            continue
        other = static.name.removesuffix(".source")
        n = lengths[static.name.endswith(".source")]
        if other in found and len(found[other]) == n and lengths[0] == lengths[1]:
            found[static.name] = found[other]
        else:
            found[static.name] = random_array(generator, static.type, (n,), False)
    return found
