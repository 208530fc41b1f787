"""Keys, version 1, frozen: what named values and programs in genomes and checkpoints before version 2.

They hashed Python's `repr` of the records. It is written out here as it was, class by class, so that records may
change. A program that uses what version 1 did not know has no such keys.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import MISSING, Field, fields

from workbench.graph import instructions, side_rules, spaces
from workbench.graph.graph import Graph, Kernel
from workbench.graph.instructions import Node, Parameter, Region
from workbench.graph.marks import Hint, Span
from workbench.graph.types import StorageType

_RECORDS: dict[type, tuple[str, tuple[str, ...]]] = {
    instructions.Imm: ("Imm", ("value",)),
    instructions.Load: ("Load", ("name",)),
    instructions.Store: ("Store", ("name",)),
    instructions.Reduce: ("Reduce", ("operator", "axes")),
    instructions.Broadcast: ("Broadcast", ("space",)),
    instructions.Shift: ("Shift", ("offset",)),
    instructions.LoadIndex: ("LoadIndex", ("axis",)),
    instructions.LoadSize: ("LoadSize", ("axis",)),
    instructions.Arith: ("Arith", ("operator",)),
    instructions.Extend: ("Extend", ("sides",)),
    side_rules.Undefined: ("Undefined", ()),
    side_rules.Periodic: ("Periodic", ("sign",)),
    side_rules.Outflow: ("Outflow", ()),
    side_rules.Reflect: ("Reflect", ("sign",)),
    side_rules.Mirror: ("Mirror", ("sign",)),
    side_rules.Wall: ("Wall", ("sign",)),
    side_rules.Prescribed: ("Value", ("operand",)),
    side_rules.Fixed: ("Fixed", ("operand",)),
    side_rules.Neumann: ("Neumann", ("operand",)),
    spaces.Space: ("Space", ("axes",)),
    spaces.Axis: ("Axis", ("name", "extent", "kind")),
    spaces.NamedExtent: ("NamedExtent", ("name",)),
    spaces.ConstantExtent: ("ConstantExtent", ("value",)),
    spaces.AffineExtent: ("AffineExtent", ("base", "scale", "offset")),
    spaces.MinimumExtent: ("MinimumExtent", ("left", "right")),
    StorageType: ("StorageType", ("name", "kind", "bits", "components")),
    Region: ("Region", ("parameters", "nodes", "identity")),
    Parameter: ("Parameter", ("name", "type")),
    Node: ("Node", ("instruction", "operands", "type", "space", "names", "spans", "hint")),
    Span: ("Span", ("line", "column", "end_column")),
    Hint: ("Hint", ("allocation", "sync_before", "sync_after", "line")),
}
"""Names of classes and fields as version 1 wrote them, by the class that holds the same now."""


class NotInVersion1Error(Exception):
    """The program uses a record or a field that version 1 did not have."""


def node_keys_1(kernel: Kernel) -> tuple[str, ...]:
    """Return the key of each node as version 1 hashed it. Raises NotInVersion1Error."""
    keys: list[str] = []
    for node in kernel.nodes:
        parts = (_written(node.instruction), _written(node.type), _written(node.space))
        keys.append(_hashed(f"({', '.join(parts)}, {_written(tuple(keys[o] for o in node.operands))})"))
    return tuple(keys)


def program_key_1(graph: Graph) -> str:
    """Return the program's fingerprint as version 1 hashed it. Raises NotInVersion1Error."""
    statics = [(s.name, s.role, s.type.name) for s in graph.statics]
    kernels = [(k.name, node_keys_1(k)) for k in graph.kernels]
    return _hashed(f"(1, {_written(graph.space)}, {statics!r}, {kernels!r})")


def _written(value: object) -> str:
    """What `repr` gave in version 1."""
    if isinstance(value, tuple):
        return f"({', '.join(map(_written, value))}{',' if len(value) == 1 else ''})"
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    row = _RECORDS.get(type(value))
    if row is None or any(_is_used(value, field) for field in fields(value) if field.name not in row[1]):  # type: ignore[arg-type]  # a record
        raise NotInVersion1Error(type(value).__name__)
    name, known = row
    return f"{name}({', '.join(f'{field}={_written(getattr(value, field))}' for field in known)})"


def _is_used(value: object, field: Field[object]) -> bool:
    """Whether a field that version 1 did not have says anything: it differs from its default, or has none."""
    factory: Callable[[], object] | object = field.default_factory
    default = factory() if callable(factory) else field.default
    return default is MISSING or getattr(value, field.name) != default


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
