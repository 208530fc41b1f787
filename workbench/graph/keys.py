"""Keys, version 2 (semantics §3): hashes of the text form that name values, programs and states where these are stored.

A node's key hashes its line of the text form with the operands' keys for their numbers and a region's own text for its
number; names, lines and hints are no part of it. No Python `repr` of a record enters, so that a further field or class
changes no key of a program that does not use it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from workbench.graph.instructions import Node, Region
from workbench.graph.spaces import GLOBAL, Space
from workbench.graph.statics import Static, While
from workbench.graph.text import name_text, operation_text, region_head, space_text, while_text

GRAPH_VERSION = 2
"""Of the keys: another number voids every stored genome and choice. A checkpoint needs `state_key` only."""


def node_keys(nodes: Sequence[Node], local: Space) -> tuple[str, ...]:
    """Return the key of each node of a kernel in the space `local`, 16 hex digits.

    Nodes with one key compute the same.
    """
    keys: list[str] = []
    for node in nodes:
        keys.append(_hashed(operation_text(node, [keys[o] for o in node.operands], local, _region_text)))
    return tuple(keys)


def program_key(
    space: Space, statics: Sequence[Static], kernels: Sequence[tuple[str, Sequence[str]]], loops: Sequence[While]
) -> str:
    """Return the hash of version, space, statics (name, role, type, space), every kernel's name and keys, and loops."""
    lines = [f"version {GRAPH_VERSION}", space_text(space, GLOBAL)]
    lines += [f"{name_text(s.name)} {s.role} {s.type} {space_text(s.space, space)}" for s in statics]
    lines += [f"kernel {name_text(name)} {' '.join(keys)}" for name, keys in kernels]
    lines += [f"while {while_text(loop)}" for loop in loops]
    return _hashed("\n".join(lines))


def state_key(declared: Sequence[Static]) -> str:
    """Return the hash of the statics' names, roles, types and spaces, in any order: what a checkpoint must fit.

    No version is in it: a state does not depend on how programs are hashed.
    """
    statics = (f"{name_text(s.name)} {s.role} {s.type} {space_text(s.space, GLOBAL)}" for s in declared)
    return _hashed("\n".join(sorted(statics)))


def _region_text(region: Region) -> str:
    nodes = enumerate(region.nodes)
    lines = [f"%{i} = {operation_text(n, [f'%{o}' for o in n.operands], GLOBAL, _region_text)}" for i, n in nodes]
    return "\n".join([f"region {region_head(region)}", *lines])


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
