"""Interactions: machines from the language of the interaction compiler."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.frontend.interactions import trace_interaction
from workbench.machine import Machine, make_machine


def interaction(
    text: str,
    *,
    name: str = "interaction",
    precision: str | Mapping[str, str] | None = None,
    update: str | None = None,
    boundary: object = None,
) -> Machine:
    """A machine from declarations (LMEM, BMEM, RMEM, ...) and formulas in the language of the interaction compiler.

    precision: "single", "double" (the default) or "quadruple", the type of names without a type of their own (REAL8,
    REAL16, IMPLICIT REAL8), or types by name, {"ax": "quadruple"}, as REAL16 ax; in the text. "f32", "f64" and "dd" are
    other words for them. A machine of pairs is called with arrays. A text with FLUX defines a function flux(rho, v,
    p, axis=0), the flux through the lower face of each cell, which the stencil cell `update` may use; without `update`
    the machine stores the fluxes. boundary: the rule for the fields of that cell. Raises TraceError with the line of
    the text.
    """
    traced = trace_interaction(text, name=name, precision=precision, update=update, boundary=boundary)
    return make_machine(traced, "")
