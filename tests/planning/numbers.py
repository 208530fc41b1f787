"""The meaning of a graph in numbers: one cell at a time, by recursion, with the operator table's own functions."""

import numpy as np

from tests.kit.symbolic import Meaning, domain_of
from workbench.graph import OPERATORS, REDUCTIONS, storage_type
from workbench.graph.operators import cast


class Numbers:
    """Stands in for `Terms`: a term is the number itself."""

    def __init__(self, extents):
        self.extents = extents

    def __call__(self, what, *parts):
        with np.errstate(all="ignore"):
            return self.find(what, parts)

    def find(self, what, parts):
        match what:
            case "imm":
                text, type_name = parts
                return storage_type(type_name).numpy.type(eval(text, {"nan": float("nan"), "inf": float("inf")}))
            case "index":
                return np.int64(parts[0])
            case "size":
                return np.int64(self.extents[parts[0]])
            case "fixed":
                return parts[0] + parts[0] - parts[1]
            case "neumann":
                distance, slope, edge = parts
                return edge + edge.dtype.type(distance) * slope
            case "negative" if len(parts) == 1:
                return -parts[0]
            case "reduce":
                operator, first, *rest = parts
                for value in rest:
                    first = OPERATORS[REDUCTIONS[operator].operator].meaning(first, value)[()]
                return first
            case "cast":
                return cast(parts[1], storage_type(parts[0]))[()]
        return np.asarray(OPERATORS[what].meaning(*parts[1:]))[()]


def step_in_numbers(graph, kernel, extents, seed):
    """What every stored static is after one step from a random state, as bytes; NaN in one spelling."""
    rng = np.random.default_rng(seed)
    state = {}
    for static in graph.statics:
        make = static.type.numpy.type
        draw = lambda make=make: make(rng.choice([0.0, -0.0, 1.0, -2.0, 3.0]) + rng.integers(3))  # noqa: E731
        state[static.name] = {c: draw() for c in domain_of(extents)} if static.role == "field" else draw()
    meaning = Meaning(Numbers(extents), kernel, extents, state)
    cells = list(domain_of(extents))
    result = {}
    for name, node in kernel.stores():
        where = cells if graph.static(name).role == "field" else [None]
        values = [meaning(node, c) for c in where]
        result[name] = [b"nan" if v != v else v.tobytes() for v in values]
    return result
