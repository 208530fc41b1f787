"""Exporting: a program that runs once as C header, source and Makefile, for programs without Python."""

from __future__ import annotations

import os
from pathlib import Path

from workbench.backends.exporting import export_texts
from workbench.errors import RunError
from workbench.graph import Graph
from workbench.planning.choices import Choices
from workbench.run.calling import is_called


def export(graph: Graph, choices: Choices, folder: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Write header, source and Makefile into the folder, which is made; return their paths. Raises RunError."""
    if not is_called(graph):
        raise RunError(
            f"{graph.name} runs in steps, and only programs that run once are exported",
            advice="Write what a step computes with targets, sources and totals, or with array and output.",
        )
    if graph.loops:
        raise RunError(
            f"{graph.name} has a while_loop, which the workbench drives, and only programs without one are exported",
            advice="Export what one iteration computes, and write the loop in C.",
            line=graph.loops[0].span.line or None,
        )
    texts, place = export_texts(graph, choices), Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (place / name).write_text(text, encoding="utf-8")
    return tuple(place / name for name in texts)
