"""Random loops that each cell makes for itself: bodies of exact operators, and what they end with."""

from functools import partial

from workbench.graph import GLOBAL, OPERATORS, Arith, Gather, Imm, KernelBuilder, Loop, Parameter, Region, Static
from workbench.graph.operators import accepts
from workbench.graph.types import BOOL, I64

EXACT = tuple(row for row in OPERATORS.values() if row.ulp == 0 and row.rule in ("same", "bool", "select"))


def random_body(rng, carried, read, constant, arrays=()):
    """A body that carries values of some types and reads others; `constant(type)` gives numbers.

    arrays: (type, axes) of those of which elements are read; their lengths are parameters before them.
    """
    parameters = (
        *(Parameter(f"s{k}", t) for k, t in enumerate(carried)),
        *(Parameter(f"c{k}", t) for k, t in enumerate(read)),
        *(Parameter(f"n{k}_{axis}", I64) for k, (_, axes) in enumerate(arrays) for axis in range(axes)),
        *(Parameter(f"a{k}", *each) for k, each in enumerate(arrays)),
    )
    builder = KernelBuilder(GLOBAL, [Static(p.name, "param", p.type, GLOBAL) for p in parameters])
    values = [builder.load(p.name) for p in parameters if not p.axes]
    read_some = partial(read_elements, rng, builder, values, arrays)

    def some(type_):
        found = [v for v in values if builder.node(v).type == type_]
        if not found or rng.random() < 0.2:
            values.append(builder.imm(constant(type_), type_))
            return values[-1]
        return rng.choice(found[-4:])

    def grown(type_):
        rows = [row for row in EXACT if row.rule != "bool" and accepts(row, type_)]
        row = rng.choice(rows)
        operands = [some(type_) for _ in range(row.arity)]
        if row.rule == "select":
            operands[0] = asked()
        values.append(builder.arith(row.name, *operands))
        return values[-1]

    def asked():
        kinds = [t for t in (*carried, *read) if t != BOOL]
        if not kinds:
            return some(BOOL)
        type_ = rng.choice(kinds)
        return builder.arith(rng.choice(("less", "not_equal", "greater_equal")), some(type_), some(type_))

    read_some(0.5)
    if rng.random() < 0.3:
        values.append(inner(rng, builder, some, carried[0], constant))
    for _ in range(rng.randint(0, 3)):
        grown(rng.choice(carried))
    read_some(0.5)
    goes = builder.imm(True, BOOL) if rng.random() < 0.2 else asked()
    read_some(1)
    following = [grown(t) if rng.random() < 0.8 else some(t) for t in carried]
    return Region(parameters, builder.finish("").nodes, None, (goes, *following))


def read_elements(rng, builder, values, arrays, share):
    """Add elements of a share of the arrays, by values modulo their lengths; or what a walk through one ends with."""

    def place(k, axis):
        number = builder.cast(rng.choice(values), I64)
        return builder.arith("remainder", number, builder.load(f"n{k}_{axis}"))

    for k, (type_, axes) in enumerate(arrays):
        if rng.random() >= share:
            continue
        array = builder.load(f"a{k}")
        alike = [v for v in values if builder.node(v).type == type_]
        if alike and axes == 1 and rng.random() < 0.3:
            operands = (builder.imm(rng.randint(0, 3), I64), rng.choice(alike), builder.load(f"n{k}_0"), array)
            values.append(builder.loop(walked(type_), 0, operands))
        else:
            values.append(builder.element(array, [place(k, axis) for axis in range(axes)]))


def inner(rng, builder, some, type_, constant):
    """A loop inside of the body, of one value."""
    body = random_body(rng, (type_,), (), constant) if rng.random() < 0.2 else doubled(type_)
    return builder.loop(body, 0, (builder.imm(rng.randint(0, 3), I64), some(type_)))


def doubled(type_):
    """The body of a loop that combines a value with itself in each turn."""
    builder = KernelBuilder(GLOBAL, [Static("s0", "param", type_, GLOBAL)])
    value = builder.load("s0")
    twice = builder.arith("logical_or" if type_ == BOOL else "add", value, value)
    goes = builder.imm(True, BOOL)
    return Region((Parameter("s0", type_),), builder.finish("").nodes, None, (goes, twice))


def walked(type_):
    """The body of a loop that goes from element to element of an array."""
    parameters = (Parameter("s0", type_), Parameter("n0", I64), Parameter("a0", type_, 1))
    builder = KernelBuilder(GLOBAL, [Static(p.name, "param", p.type, GLOBAL) for p in parameters])
    value, goes = builder.load("s0"), builder.imm(True, BOOL)
    place = builder.arith("remainder", builder.cast(value, I64), builder.load("n0"))
    found = builder.element(builder.load("a0"), [place])
    return Region(parameters, builder.finish("").nodes, None, (goes, found))


def turned(body, most, starts, read, value_of):
    """What a loop ends with, turn by turn, on plain numbers; value_of(node, operands) computes one operator.

    An array is a function from indices to the element.
    """
    states = list(starts)
    for _ in range(most):
        known = dict(zip((p.name for p in body.parameters), (*states, *read), strict=True))
        values = []
        for node in body.nodes:
            given = [values[o] for o in node.operands]
            match node.instruction:
                case Imm(value):
                    values.append(value)
                case Arith():
                    values.append(value_of(node, [body.nodes[o].type for o in node.operands], given))
                case Gather():
                    array, *indices = given
                    values.append(array(tuple(indices)))
                case Loop(inside, result):
                    count = len(inside.results) - 1
                    values.append(turned(inside, given[0], given[1 : count + 1], given[count + 1 :], value_of)[result])
                case load:
                    values.append(known[load.name])
        if not values[body.results[0]]:
            break
        states = [values[r] for r in body.results[1:]]
    return states
