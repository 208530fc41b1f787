"""Sites: what every bit of a genome that concerns single values decides; a function of the simplified graph alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from workbench.graph import Graph, Kernel, record_name
from workbench.planning.allocation import forced_storage


@dataclass(frozen=True, slots=True)
class Site:
    """One bit: whether a value is stored (part "manifest"), or has a barrier before or after it.

    `key` is "kernel/structural key" of the value, `name` what people call it, `node` its number in the kernel.
    """

    part: Literal["manifest", "before", "after"]
    key: str
    name: str
    node: int

    @property
    def called(self) -> str:
        """Kernel and name."""
        return f"{self.key.partition('/')[0]}.{self.name}"


def storage_sites(graph: Graph) -> tuple[Site, ...]:
    """One bit for each free value, in node order (1 = Manifest), kernel by kernel."""
    sites: list[Site] = []
    for kernel in graph.kernels:
        forced = forced_storage(kernel)
        sites += [Site("manifest", key, name, i) for i, key, name in _values(kernel) if forced[i][0] is None]
    return tuple(sites)


def barrier_sites(graph: Graph) -> tuple[Site, ...]:
    """Two bits for each value, in node order (before, after), kernel by kernel."""
    sites: list[Site] = []
    for kernel in graph.kernels:
        for i, key, name in _values(kernel):
            sites += [Site("before", key, name, i), Site("after", key, name, i)]
    return tuple(sites)


def _values(kernel: Kernel) -> Iterator[tuple[int, str, str]]:
    """(node, "kernel/key", name) of every node with a result, in order."""
    keys = kernel.keys()
    for index, node in enumerate(kernel.nodes):
        if node.type is not None:
            yield index, f"{kernel.name}/{keys[index]}", record_name(kernel, index)
