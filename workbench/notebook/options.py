"""The options of `%%stencil`, once: for the parser, the completion and the help."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from workbench.backends.registry import backend_names
from workbench.frontend.boundaries import Named
from workbench.graph import TYPES


@dataclass(frozen=True, slots=True)
class Option:
    """One option: its name, what stands for the value in the help, the values to offer, and what it does."""

    name: str
    placeholder: str
    values: tuple[str, ...]
    help: str


BACKENDS = ("auto", *backend_names())
BOUNDARIES: tuple[str, ...] = get_args(Named)
ARITHMETICS = ("ieee",)

OPTIONS = (
    Option("dim", "N", ("1", "2", "3"), "Number of axes. Without it, taken from the reads; 1 if there are none."),
    Option(
        "shape",
        "NxN",
        ("1024", "256x256", "64x64x64"),
        "Cells along each axis, as in 256x256: sizes the figures on the card, compiles nothing.",
    ),
    Option(
        "dtype",
        "TYPE",
        tuple(t.name for t in TYPES if t.is_float),
        "Storage type of fields that declare none; f64 unless given.",
    ),
    Option("backend", "NAME", BACKENDS, "Where it runs; auto takes the fastest that works here."),
    Option("boundary", "RULE", BOUNDARIES, "Rule at the boundary of fields that declare none."),
    Option("arithmetic", "MODE", ARITHMETICS, "ieee: every operation rounds once, on every backend alike."),
)

TUNE_OPTIONS = (
    Option("folder", "FOLDER", (), "Where commands run and the log is written; the notebook's folder unless given."),
    Option("toml", "", (), "The cell is TOML with the same names."),
    Option("resume", "", (), "Do not repeat the tests of the log that the cell names."),
    Option("brute-force", "", (), "Test every combination, as if nothing were independent."),
)
"""Of `%%tune`."""
