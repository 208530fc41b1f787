"""Interactions: machines from the language of the interaction compiler."""

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

    precision: "single", "double" (the default) or "quadruple", the type of names that the text gives no type. A text of
    pairs is called with arrays. A text with FLUX defines the function flux(rho, v, p, axis=0), its value at the lower
    faces, which the stencil cell `update` may use in its step; without `update` the machine stores the fluxes.
    boundary: the rule of that cell's fields. Raises TraceError with the line of the text.
    """
    traced = trace_interaction(text, name=name, precision=precision, update=update, boundary=boundary)
    return make_machine(traced, "")
