"""Plans written down without the planner: one sub-kernel that stores everything, so that codegen stands on its own."""

from workbench.graph import Extend, Load, Reduce
from workbench.graph.diagnostics import ancestors, diagnostic_stores
from workbench.planning.choices import Choices
from workbench.planning.kernel_plan import (
    Cost,
    Fill,
    Finisher,
    Home,
    KernelPlan,
    Launch,
    Read,
    ScalarStore,
    Step,
    Storage,
    Subkernel,
)
from workbench.planning.plan import GlobalSlot, Plan, Slot

NO_COST = Cost(0.0, 0.0, 0.0, 0.0)


def plan_by_hand(graph, reach=1, choices=None):
    """Every Extend in place on its field with `reach` ghost cells, every store into a second array, then a rotation.

    Extends of anything but a Load, and reductions that feed cells, are beyond it.
    """
    fields = [f.name for f in graph.fields]
    count = len(fields)
    slots = [Slot(i, f.type.itemsize, f.name, f.name) for i, f in enumerate(graph.fields)]
    slots += [Slot(count + i, f.type.itemsize, "", f"{f.name} next") for i, f in enumerate(graph.fields)]
    global_slots = []
    for static in (*graph.params, *graph.scalars):
        global_slots.append(GlobalSlot(len(global_slots), static.name, static.role, static.type))
    for kernel in graph.kernels:
        for index, node in enumerate(kernel.nodes):
            if isinstance(node.instruction, Reduce):
                global_slots.append(GlobalSlot(len(global_slots), "", "reduction", node.type, kernel.name, index))
    halo = ((reach, reach),) * graph.dim
    kernels = tuple(_kernel_plan(kernel, graph, fields, global_slots, halo) for kernel in graph.kernels)
    return Plan(graph, choices or Choices(), halo, tuple(slots), tuple(global_slots), kernels)


def _kernel_plan(kernel, graph, fields, global_slots, halo):
    nodes = kernel.nodes
    homes, fills = [], []
    for index, node in enumerate(nodes):
        match node.instruction:
            case Load(name) if name in fields:
                homes.append(Home(index, fields.index(name)))
            case Extend():
                loaded = nodes[node.operands[0]].instruction
                slot = fields.index(loaded.name)
                homes.append(Home(index, slot))
                fills.append(Fill(index, slot, slot, halo))
    diagnostic = diagnostic_stores(graph, kernel)
    whole = _step(kernel, graph, fields, global_slots, (homes, fills), frozenset())
    plain = _step(kernel, graph, fields, global_slots, (homes, fills), diagnostic) if diagnostic else whole
    storage = tuple(Storage.GLOBAL if n.is_global else Storage.DELAYED for n in nodes)
    margins = (((0, 0),) * graph.dim,) * len(nodes)
    return KernelPlan(kernel, storage, ("",) * len(nodes), margins, plain, whole)


def _step(kernel, graph, fields, global_slots, stored, without):
    """One step that leaves out the scalars `without` and every reduction that only they need."""
    nodes, count = kernel.nodes, len(fields)
    homes, fills = stored
    zero = ((0, 0),) * graph.dim
    boxes = {fill.node: tuple((-below, above) for below, above in fill.margins) for fill in fills}
    reads = tuple(Read(home.node, home.slot, boxes.get(home.node, zero)) for home in homes)
    stores = [(fields.index(name), value) for name, value in kernel.stores() if name in fields]
    outputs = tuple(Home(value, count + field) for field, value in stores)
    by_node = {s.node: s.index for s in global_slots if s.kernel == kernel.name}
    by_name = {s.name: s.index for s in global_slots if s.role == "scalar"}
    kept = [(name, value) for name, value in kernel.stores() if name in by_name and name not in without]
    needed = frozenset().union(*(ancestors(kernel, value) for _, value in kept))
    reductions = tuple(i for i, n in enumerate(nodes) if isinstance(n.instruction, Reduce) and i in needed)
    sweep = Subkernel(0, kernel.name, zero, outputs, reductions, reads, 0, NO_COST)
    finishers = tuple(Finisher(r, by_node[r]) for r in reductions)
    scalar_stores = tuple(ScalarStore(by_name[name], value) for name, value in kept)
    launches = [Launch("fill", tuple(range(len(fills))))] if fills else []
    if outputs or reductions:
        launches.append(Launch("subkernel", (0,)))
    if finishers:
        launches.append(Launch("finisher", tuple(range(len(finishers)))))
    rotation = list(range(2 * count))
    for field, _ in stores:
        rotation[field], rotation[count + field] = count + field, field
    return Step((*homes, *outputs), tuple(fills), (sweep,), finishers, tuple(launches), scalar_stores, tuple(rotation))
