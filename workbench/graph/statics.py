"""Statics, labels of axes and loops over whole arrays: what a graph has beside its kernels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from workbench.graph.instructions import Node
from workbench.graph.limits import NO_LIMITS, Limits
from workbench.graph.marks import NOWHERE, Span
from workbench.graph.spaces import Space
from workbench.graph.types import StorageType


@dataclass(frozen=True, slots=True)
class Static:
    """A named variable that outlives a kernel call: a field (Local), a scalar (Global state) or a param (input).

    A field has the graph's space or some of its axes.
    """

    name: str
    role: Literal["field", "scalar", "param"]
    type: StorageType
    space: Space
    default: bool | int | float | None = None
    unit: str = ""
    boundary: str = ""  # as the card shows it; the meaning is in the Extend nodes
    face_axes: tuple[int, ...] = ()  # axes along which the field sits on faces; empty: cell centre
    group: str = ""  # the vector or tensor that this component belongs to
    component: tuple[int, ...] = ()
    span: Span = NOWHERE
    limits: Limits = NO_LIMITS  # of a param: what may be given to it
    inner: bool = False  # what a While keeps between its turns: no user gives, reads or saves it

    def allows(self, value: float) -> bool:
        """Whether a param may have the value: within its limits, and infinite only if it has none or is so itself."""
        return self.limits.allows(value) and not (self.must_be_finite and math.isinf(value))

    @property
    def must_be_finite(self) -> bool:
        """Whether a param has limits and a finite default."""
        return bool(self.limits) and self.default is not None and math.isfinite(self.default)


@dataclass(frozen=True, slots=True)
class Coordinate:
    """A label for one axis: nodes that compute a Local from indices, sizes and params; the last is the result."""

    axis: int
    name: str
    unit: str
    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class While:
    """A loop over whole arrays, before each run of the kernel `before`, which reads what the loop ends with.

    The kernel `begin` runs once, then `turn` again and again as long as the bool scalar `going` is true, `at_most` so
    many times. Both store inner statics only. at_most_ok: there the loop just ends; else it is an error. `before` may
    be the `turn` of another loop, in whose turns this one runs.
    """

    before: str
    begin: str
    turn: str
    going: str
    at_most: int
    at_most_ok: bool = False
    span: Span = NOWHERE
