"""Any backend against the interpreter, bit for bit: the same random state, the same march."""

import struct

import numpy as np

from tests.kit.bits import parts
from workbench.backends.base import MarchRequest
from workbench.backends.reference import ReferenceBackend, ReferenceInstance
from workbench.graph.extended_numbers import join


def bits(a):
    """Equal bits, except that any NaN equals any NaN; of a dd those of both parts."""
    a = parts(a)
    return np.where(a != a, np.zeros_like(a), a).tobytes(), (a != a).tobytes()


def random_cells(static, extents, seed=0):
    rng = np.random.default_rng(seed)
    if static.type.is_record:
        return join(rng.normal(size=extents), 1e-17 * rng.normal(size=extents))
    if static.type.is_float:
        return rng.normal(size=extents).astype(static.type.numpy)
    return rng.integers(0, 100, size=extents).astype(static.type.numpy)


def assert_agrees(program, extents, request, globals_=None, threads=0):
    """March both from one random state; fields, scalars, observations and how it ended must be equal."""
    plan = program.plan
    mine = program.instantiate(extents, threads)
    reference = ReferenceBackend().compile(plan).instantiate(extents)
    for instance in (mine, reference):
        for seed, static in enumerate(plan.graph.fields):
            shape = static.space.extents_in(plan.graph.space, extents)
            instance.write_field(static.name, random_cells(static, shape, seed))
        for name, value in (globals_ or {}).items():
            instance.write_global(name, value)
    with np.errstate(all="ignore"):
        got, wanted = mine.march(request), reference.march(request)
    assert (got.steps, got.ended, got.diagnostics_current) == (wanted.steps, wanted.ended, wanted.diagnostics_current)
    for static in plan.graph.fields:
        a, b = mine.read_field(static.name), reference.read_field(static.name)
        assert bits(a) == bits(b), f"{static.name} {extents} threads {threads}:\n{a}\n{b}"
    for static in plan.graph.scalars:
        assert bits(mine.read_global(static.name)) == bits(reference.read_global(static.name)), static.name
    assert got.observed_steps.tolist() == wanted.observed_steps.tolist()
    for a, b in zip(got.observed, wanted.observed, strict=True):
        assert bits(a) == bits(b)
    mine.close()


def state_after(instance, graph, extents):
    """All that can be seen after two steps from a random state, by name."""
    for seed, static in enumerate(graph.fields):
        shape = static.space.extents_in(graph.space, extents)
        instance.write_field(static.name, random_cells(static, shape, seed))
    with np.errstate(all="ignore"):
        result = instance.march(MarchRequest("step", 2, observe_every=1))
    found = {field.name: instance.read_field(field.name) for field in graph.fields}
    return found | {scalar.name: seen for scalar, seen in zip(graph.scalars, result.observed, strict=True)}


def assert_folds_agree(program, extents, threads):
    graph = program.plan.graph
    right = state_after(ReferenceInstance(graph, extents), graph, extents)
    for count in threads:
        mine = program.instantiate(extents, count)
        for name, found in state_after(mine, graph, extents).items():
            assert bits(found) == bits(right[name]), f"{graph.name}: {name}, {extents}, {count} threads"
        mine.close()


def at_origin(instance, origin, global_extents):
    """The same instance as a part of a larger domain."""
    dim = len(instance.extents)
    words = list(struct.unpack(f"<{len(instance.shape) // 8}q", instance.shape))
    words[2 * dim : 3 * dim] = origin
    words[3 * dim : 4 * dim] = global_extents
    instance.shape = struct.pack(f"<{len(words)}q", *words)
