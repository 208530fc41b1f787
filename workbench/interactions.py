"""Interactions: machines from the text of the interaction compiler's slides."""

from __future__ import annotations

from workbench.frontend.interactions import trace_interaction
from workbench.machine import Machine, make_machine


def interaction(
    text: str,
    *,
    name: str = "interaction",
    precision: str | None = None,
    update: str | None = None,
    boundary: object = None,
) -> Machine:
    """A machine from a text of declarations (LMEM, BMEM, RMEM, CONST, IMPLICIT REAL8, REAL16, ...) and assignments.

    precision: "single", "double" or "quadruple", in which names live that the text gives no type; double without it. A
    text of pairs is called with arrays. A text with FLUX is the function flux(rho, v, p, axis=0) of the stencil cell
    `update`, which makes a step of its values at the lower faces; without `update` the machine stores them. boundary:
    the rule of that cell's fields. Raises TraceError with the line of the text.
    """
    traced = trace_interaction(text, name=name, precision=precision, update=update, boundary=boundary)
    return make_machine(traced, "")
