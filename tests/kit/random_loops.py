"""Random loops that each cell makes for itself: bodies of exact operators, and what they end with."""

from workbench.graph import GLOBAL, OPERATORS, Arith, Imm, KernelBuilder, Loop, Parameter, Region, Static
from workbench.graph.operators import accepts
from workbench.graph.types import BOOL, I64

EXACT = tuple(row for row in OPERATORS.values() if row.ulp == 0 and row.rule in ("same", "bool", "select"))


def random_body(rng, carried, read, constant):
    """A body that carries values of some types and reads others; `constant(type)` gives numbers."""
    parameters = (
        *(Parameter(f"s{k}", t) for k, t in enumerate(carried)),
        *(Parameter(f"c{k}", t) for k, t in enumerate(read)),
    )
    builder = KernelBuilder(GLOBAL, [Static(p.name, "param", p.type, GLOBAL) for p in parameters])
    values = [builder.load(p.name) for p in parameters]

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

    if rng.random() < 0.3:
        values.append(inner(rng, builder, some, carried[0], constant))
    for _ in range(rng.randint(0, 3)):
        grown(rng.choice(carried))
    goes = builder.imm(True, BOOL) if rng.random() < 0.2 else asked()
    following = [grown(t) if rng.random() < 0.8 else some(t) for t in carried]
    return Region(parameters, builder.finish("").nodes, None, (goes, *following))


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


def turned(body, most, starts, read, value_of):
    """What a loop ends with, turn by turn, on plain numbers; value_of(node, operands) computes one operator."""
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
                case Loop(inside, result):
                    count = len(inside.results) - 1
                    values.append(turned(inside, given[0], given[1 : count + 1], given[count + 1 :], value_of)[result])
                case load:
                    values.append(known[load.name])
        if not values[body.results[0]]:
            break
        states = [values[r] for r in body.results[1:]]
    return states
