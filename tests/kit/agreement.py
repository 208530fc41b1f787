"""Whether backends agree: a random program under random choices, run against the reference, compared bit by bit.

A pair is a program and its choices, both made from one seed. The reference interprets the retyped graph, neither
simplified nor planned, so a mistake of any pass shows as well as one of code generation.
"""

import random
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.kit.bits import differences, parts
from tests.kit.random_choices import random_choices
from tests.kit.random_kernels import COMMON_TYPES
from tests.kit.random_programs import asking_to_roll, coverage, random_array, random_program
from tests.kit.random_spaces import joined_extents
from workbench.backends.base import MarchRequest
from workbench.backends.reference import ReferenceInstance
from workbench.graph.arithmetic import python_number, stored
from workbench.planning import Choices, Plan, Storage
from workbench.planning.allocation import hint_reasons
from workbench.planning.retype import retype

STEPS = 5  # of each kernel: two observed one by one, then three of which only the last one is
PACK = 64  # programs that a backend is given at once


@dataclass(frozen=True)
class Pair:
    """A random program, random choices for it, and sizes and initial values to run it with."""

    seed: int
    graph: Any
    choices: Choices
    plan: Plan
    sizes: tuple[tuple[int, ...], ...]


def make_pair(seed, nodes=(8, 24), cells=300, spaces=True, types=COMMON_TYPES):
    """The pair that a seed stands for; one of its sizes is tiny along every axis."""
    graph, extents, _, _ = random_program(seed, cells=cells, nodes=nodes, spaces=spaces, types=types)
    graph = asking_to_roll(graph, seed)
    choices, plan = random_choices(graph, seed)
    rng = random.Random(f"sizes {seed}")
    tiny = tuple(rng.choice((1, 2, 3)) for _ in extents)
    odd = tuple(rng.choice((1, 3, 5, 7)) for _ in extents)
    sizes = (extents, joined_extents(graph, tiny, cells), joined_extents(graph, odd, cells))
    return Pair(seed, graph, choices, plan, tuple(dict.fromkeys(sizes)))


@dataclass(frozen=True)
class Difference:
    """The first thing in which a backend is not the reference."""

    what: str
    extents: tuple[int, ...]

    def __str__(self):
        return f"extents {self.extents}: {self.what}"


def trajectory(instance, graph, extents, seed):
    """Yield (label, array) for everything that can be seen while all kernels of the graph run; the labels are words."""
    generator = np.random.default_rng(seed)
    special = seed % 5 < 2
    for field in graph.fields:
        shape = field.space.extents_in(graph.space, extents)
        instance.write_field(field.name, random_array(generator, field.type, shape, special))
    for param in graph.params:
        instance.write_global(param.name, python_number(random_array(generator, param.type, (), False), param.type))
    first = 0
    for kernel in graph.kernels:
        for request in (
            MarchRequest(kernel.name, 2, first, observe_every=1),
            MarchRequest(kernel.name, STEPS - 2, first + 2),
        ):
            with np.errstate(all="ignore"):
                result = instance.march(request)
            first += result.steps
            at = f"after step {first} ({kernel.name})"
            yield f"steps {at}", np.array([result.steps, result.diagnostics_current])
            yield f"observed steps {at}", result.observed_steps
            for static, values in zip(graph.scalars, result.observed, strict=True):
                yield f"recorded {static.name} {at}", values
            for static in graph.scalars:
                value = stored(instance.read_global(static.name), static.type)
                yield f"scalar {static.name} {at}", value
            for field in graph.fields:
                yield f"field {field.name} {at}", instance.read_field(field.name)


def first_difference(program, graph, extents, seed, threads):
    """Run a compiled program and the reference on `graph` from one state; None if all is equal."""
    mine = program.instantiate(extents, threads)
    try:
        found = trajectory(mine, graph, extents, seed)
        right = trajectory(ReferenceInstance(graph, extents), graph, extents, seed)
        for (label, a), (_, b) in zip(found, right, strict=True):
            if a.shape != b.shape:
                return Difference(f"{label}: shape {a.shape} instead of {b.shape}", extents)
            wrong = differences(a, b)
            if len(wrong):
                cell = tuple(int(i) for i in wrong[0])
                values = f"{parts(a)[cell]!r} instead of {parts(b)[cell]!r}"
                return Difference(f"{label}, at {cell}: {values}; {len(wrong)} of {a.size} differ", extents)
        return None
    finally:
        mine.close()


def check_program(program, pair):
    """All sizes of a pair; the first Difference or None."""
    graph = retype(pair.graph, pair.choices.meaning)
    for number, extents in enumerate(pair.sizes):
        threads = pair.choices.plan.cpu.threads if number == 0 else 1 + (pair.seed + number) % 2
        found = first_difference(program, graph, extents, pair.seed, threads)
        if found is not None:
            return found
    return None


def check_pairs(backend, pairs):
    """[(pair, Difference)] of the pairs in which the backend is not the reference."""
    wrong = []
    for start in range(0, len(pairs), PACK):
        pack = pairs[start : start + PACK]
        programs = backend.compile_many([pair.plan for pair in pack])
        for pair, program in zip(pack, programs, strict=True):
            found = check_program(program, pair)
            if found is not None:
                wrong.append((pair, found))
    return wrong


def plan_coverage(pairs):
    """How often each thing that a plan can hold stands in the pairs, with what the graphs hold."""
    found = Counter()
    for pair in pairs:
        found.update(coverage(pair.plan.graph))
        found[f"{pair.graph.dim} axes"] += 1
        found[f"schedule {pair.plan.schedule}"] += 1
        found[f"preset {pair.choices.plan.values.preset}"] += 1
        found["precision chosen"] += bool(pair.choices.meaning.precision)
        found["two kernels"] += len(pair.graph.kernels) > 1
        found.update(f"{n} cells along an axis" if n <= 3 else "more cells" for e in pair.sizes for n in e)
        for kernel in pair.plan.kernels:
            found["kernel with diagnostics"] += kernel.has_diagnostics
            found.update(
                f"storage {storage.value}{'' if forced else ' by choice'}"
                for storage, forced in zip(kernel.storage, kernel.forced, strict=True)
            )
            for index in hint_reasons(kernel.kernel, pair.choices.plan.values, kernel.storage):
                rolls = kernel.storage[index] is Storage.MANIFEST
                found["rolls as asked for" if rolls else "recomputed though it asks to roll"] += 1
            for step in {id(s): s for s in (kernel.plain, kernel.observed)}.values():
                found.update(f"launch of {launch.kind}s" for launch in step.launches)
                found["launch of several sub-kernels"] += any(
                    launch.kind == "subkernel" and len(launch.members) > 1 for launch in step.launches
                )
                found["rotation of slots"] += step.rotation != tuple(range(len(step.rotation)))
                found["sub-kernel with margins"] += any(any(map(any, s.margins)) for s in step.subkernels)
                found["loop over some axes"] += any(s.axes for s in step.subkernels)
                found["loop that folds several values"] += any(s.reduced and s.outputs[1:] for s in step.subkernels)
                found["fold beyond the domain"] += any(s.reduced and any(map(any, s.margins)) for s in step.subkernels)
                found["fill of some axes"] += any(len(f.margins) < pair.graph.dim for f in step.fills)
                found["barrier asked for"] += any(s.sync_before or s.sync_after for s in step.subkernels)
    return found


def describe(backend, pair, difference, shrink_pair):
    """Everything a person needs to find the mistake; `shrink_pair` makes it small."""
    small, smaller = shrink_pair(backend, pair, difference)
    return "\n".join(
        (
            f"{backend.name} is not the reference for seed {pair.seed}: {difference}",
            f"once more: pytest tests/test_fuzz.py --fuzz-seed {pair.seed} --fuzz-count 1 -k {backend.name}",
            f"shrunk to {sum(len(k.nodes) for k in small.graph.kernels)} nodes: {smaller}",
            str(small.graph),
            f"choices: {small.choices}",
            plan_text(small.plan),
        )
    )


def plan_text(plan):
    """The steps of a plan for reading."""
    lines = [f"halo {plan.halo}"]
    for kernel in plan.kernels:
        lines.append(f"kernel {kernel.kernel.name}: {[s.value for s in kernel.storage]}")
        for name, step in (("plain", kernel.plain), ("observed", kernel.observed)):
            lines.append(f"  {name}")
            for launch in step.launches:
                table = {"fill": step.fills, "subkernel": step.subkernels, "finisher": step.finishers}[launch.kind]
                lines += [f"    {table[m]}" for m in launch.members]
            lines.append(f"    scalar stores {step.scalar_stores}, rotation {step.rotation}")
    return "\n".join(lines)
