"""Kept stages: what a long program was simplified to, its plan and its text, for the next process that asks.

Once its library is in the build cache, a first call of a long program spends more time on these than on all else. What
a stage made lies in the cache as a pickle, under the hash of everything that the stage was given: the graph with its
names and lines, the choices, the code of the rooms that make it, and the versions of Python, NumPy and jinja2. A hash
of the pickle of what is given tells it apart, as a pickle says all of a record.
"""

from __future__ import annotations

import hashlib
import pickle
import sys
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from importlib.metadata import version
from io import BytesIO
from operator import attrgetter
from typing import Any, TypeVar

from workbench.backends.build_cache import BuildCache
from workbench.backends.cache_folder import default_cache
from workbench.backends.code_digest import code_digest
from workbench.codegen.source import Source
from workbench.graph import Graph
from workbench.graph.limits import NO_LIMITS
from workbench.graph.marks import NO_HINT, NOWHERE
from workbench.graph.spaces import GLOBAL
from workbench.graph.types import BY_NAME
from workbench.planning.checking import check_graph, check_plan, is_checking
from workbench.planning.choices import Choices
from workbench.planning.plan import Plan
from workbench.planning.simplify import SIMPLIFIED, simplify

_LEAST = 100
"""Nodes of a program; the stages of a smaller one are as quick as a look into a file."""
_ROOMS = ("graph", "planning", "codegen")
_KEPT_KEYS = 32  # of graphs and plans of this process
_CONSTANTS: dict[str, object] = {
    **{f"type {name}": type_ for name, type_ in BY_NAME.items()},
    "no hint": NO_HINT,
    "nowhere": NOWHERE,
    "global": GLOBAL,
    "no limits": NO_LIMITS,
}
"""Records of which there is one in a process."""

Kept = TypeVar("Kept", Graph, Plan, Source)


class KeptStages:
    """Stages of long programs in a cache, the user's own if none is given; where it is off, nothing is kept."""

    def __init__(self, folder: BuildCache | None = None) -> None:
        self._given = folder
        self._keys: deque[tuple[object, str]] = deque(maxlen=_KEPT_KEYS)
        self.is_on = True

    def simplified(self, graph: Graph) -> Graph:
        """What `simplify` makes of a graph."""
        if graph in SIMPLIFIED or not self.keeps(graph):
            return simplify(graph)
        found, is_new = self._obtain(_hash("graph", self._key_of(graph)), Graph, lambda: simplify(graph), {})
        if not is_new and is_checking():
            check_graph(found, "that was kept")
        return found if is_new else SIMPLIFIED.add(found)

    def planned(self, graph: Graph, choices: Choices, follows_chains: bool, make: Callable[[], Plan]) -> Plan:
        """The plan of a graph under choices, for a backend that follows chains or one that does not."""
        if not self.keeps(graph):
            return make()
        key = _hash("plan", self._key_of(graph), _pickled((choices, follows_chains), {}))
        found, is_new = self._obtain(key, Plan, make, _parts_of(graph))
        if not is_new and is_checking():
            check_plan(found)
        return found

    def rendered(self, plan: Plan, backend: str, make: Callable[[Plan], Source]) -> Source:
        """A plan's text for a backend."""
        if not self.keeps(plan.graph):
            return make(plan)
        return self._obtain(_hash("text", backend, self._key_of(plan)), Source, lambda: make(plan), {})[0]

    def keeps(self, graph: Graph) -> bool:
        """Whether its stages are kept: it is long."""
        return self.is_on and sum(len(kernel.nodes) for kernel in graph.kernels) >= _LEAST

    def _key_of(self, record: Graph | Plan) -> str:
        """The key under which a stage found it, else a hash of all that it is."""
        known = next((key for each, key in tuple(self._keys) if each is record), None)
        if known is not None:
            return known
        if isinstance(record, Plan):
            return _hash(self._key_of(record.graph), _pickled(record, _parts_of(record.graph)))
        return _hash(_pickled(record, {}))

    def _obtain(
        self, key: str, kind: type[Kept], make: Callable[[], Kept], parts: Mapping[str, object]
    ) -> tuple[Kept, bool]:
        """What was kept under a key, or what is made now and kept, and whether it is that; parts: as in `_pickled`."""
        cache = default_cache() if self._given is None else self._given
        kept = cache.read_kept(key)
        read = None if kept is None else _Reader(BytesIO(kept), parts).load()
        is_new = not isinstance(read, kind)
        found = read if isinstance(read, kind) else make()
        if is_new:
            cache.write_kept(key, _pickled(found, parts))
        if kind is not Source:
            self._keys.append((found, key))
        return found, is_new


@cache
def _libraries() -> str:
    """Of what is not the package's."""
    return f"{sys.version} {version('numpy')} {version('jinja2')}"


def _hash(*parts: str | bytes) -> str:
    """Of what a stage was given, and of all that it is made by."""
    found = hashlib.sha256()
    for part in (code_digest(*_ROOMS), _libraries(), *parts):
        content = part.encode() if isinstance(part, str) else part
        found.update(f"{len(content)} ".encode() + content)
    return found.hexdigest()


def _parts_of(graph: Graph) -> dict[str, object]:
    """What a plan has of its graph, by name."""
    parts: dict[str, object] = {"graph": graph}
    for kernel in graph.kernels:
        parts[f"kernel {kernel.name}"], parts[f"nodes {kernel.name}"] = kernel, kernel.nodes
    return parts


def _pickled(record: object, parts: Mapping[str, object]) -> bytes:
    """A record as bytes, in which parts that its reader has stand by their names."""
    made = BytesIO()
    _Writer(made, parts).dump(record)
    return made.getvalue()


class _Reductions(dict[type, Callable[[Any], tuple[Any, ...]]]):
    """How records are taken apart: into what their class is called with, which is quicker than the usual way."""

    def __missing__(self, kind: type) -> Callable[[Any], tuple[Any, ...]]:
        if not is_dataclass(kind) or not all(each.init for each in fields(kind)):
            raise KeyError(kind)
        names = [each.name for each in fields(kind)]
        taken: Callable[[Any], Any] = attrgetter(*names) if names else lambda _: ()
        found = self[kind] = lambda each: (kind, (taken(each),) if len(names) == 1 else taken(each))
        return found


class _Writer(pickle.Pickler):
    dispatch_table = _Reductions()

    def __init__(self, file: BytesIO, parts: Mapping[str, object]) -> None:
        super().__init__(file, 5)
        self._names = {id(part): name for name, part in (*_CONSTANTS.items(), *parts.items())}

    def persistent_id(self, record: object) -> str | None:
        """The name of what the reader has."""
        return self._names.get(id(record))


class _Reader(pickle.Unpickler):  # of a folder whose libraries we run
    def __init__(self, file: BytesIO, parts: Mapping[str, object]) -> None:
        super().__init__(file)
        self._parts = {**_CONSTANTS, **parts}

    def persistent_load(self, name: str) -> object:
        """The constant or part of that name."""
        return self._parts[name]


STAGES = KeptStages()
"""Those of this process."""
