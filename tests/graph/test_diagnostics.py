"""Which scalars are evaluated on observed steps only."""

from workbench.graph import GLOBAL, Graph, KernelBuilder, Static, grid_space
from workbench.graph.diagnostics import ancestors, diagnostic_stores
from workbench.graph.types import F64

SPACE = grid_space(1)
STATICS = (
    Static("u", "field", F64, SPACE),
    Static("e", "scalar", F64, GLOBAL, 0.0),
    Static("s", "scalar", F64, GLOBAL, 0.0),
    Static("t", "scalar", F64, GLOBAL, 0.0),
    Static("dt", "param", F64, GLOBAL, 0.5),
)


def graph_of(*builds, names=("step", "other")):
    kernels = []
    for number, build in enumerate(builds):
        builder = KernelBuilder(SPACE, STATICS)
        build(builder)
        kernels.append(builder.finish(names[number]))
    return Graph("g", SPACE, STATICS, tuple(kernels))


def advance(b):
    """u and its sum e, time t, and s = sum(u) + the e before."""
    u = b.load("u")
    total = b.reduce("sum", u)
    b.store("e", total)
    b.store("t", b.arith("add", b.load("t"), b.load("dt")))
    b.store("u", b.arith("add", u, b.broadcast(b.load("dt"))))


def test_a_reduction_that_nothing_reads_is_diagnostic():
    graph = graph_of(advance)
    assert diagnostic_stores(graph, graph.kernels[0]) == {"e"}


def test_a_graph_that_runs_once_has_none():
    """All that it computes is wanted."""
    graph = graph_of(advance, names=("main",))
    assert diagnostic_stores(graph, graph.kernels[0]) == frozenset()


def test_time_is_not_diagnostic_because_it_saves_nothing():
    def clock(b):
        b.store("s", b.load("dt"))
        b.store("u", b.load("u"))

    graph = graph_of(clock)
    assert diagnostic_stores(graph, graph.kernels[0]) == frozenset()


def test_an_accumulating_scalar_is_evaluated_every_step():
    def accumulate(b):
        b.store("s", b.arith("add", b.load("s"), b.reduce("sum", b.load("u"))))

    graph = graph_of(accumulate)
    assert diagnostic_stores(graph, graph.kernels[0]) == frozenset()


def test_a_scalar_that_a_diagnostic_one_loads_is_not_diagnostic():
    def chain(b):
        advance(b)
        b.store("s", b.arith("add", b.load("e"), b.reduce("max", b.load("u"))))

    graph = graph_of(chain)
    assert diagnostic_stores(graph, graph.kernels[0]) == {"s"}


def test_a_scalar_that_another_kernel_feeds_to_a_field_is_not_diagnostic():
    def other(b):
        b.store("u", b.broadcast(b.load("e")))

    graph = graph_of(advance, other)
    assert diagnostic_stores(graph, graph.kernels[0]) == frozenset()


def test_a_load_that_nothing_stores_does_not_count():
    def dead(b):
        advance(b)
        b.broadcast(b.load("e"))

    graph = graph_of(dead)
    assert diagnostic_stores(graph, graph.kernels[0]) == {"e"}


def test_ancestors_are_transitive():
    graph = graph_of(advance)
    kernel = graph.kernels[0]
    stored = dict(kernel.stores())
    below = ancestors(kernel, stored["t"])
    names = {kernel.nodes[i].instruction.name for i in below if hasattr(kernel.nodes[i].instruction, "name")}
    assert names == {"t", "dt"}
