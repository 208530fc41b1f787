"""Files: what a field view writes, by the ending of a file's name."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from workbench.errors import RunError
from workbench.run.parts import FieldParts
from workbench.run.snapshots import Snapshot
from workbench.views.field.curves import Chart
from workbench.views.field.figure import svg_of
from workbench.views.field.still import png_of
from workbench.views.field.summary import FieldSummary

Charts = tuple[Chart, ...]


@dataclass(frozen=True, slots=True)
class FileKind:
    """A media type and how to write it."""

    media_type: str
    what: str
    write: Callable[[Snapshot, FieldSummary, Charts], bytes]


def _array(snapshot: Snapshot) -> bytes:
    if isinstance(snapshot.values, FieldParts):
        raise RunError(
            "a view writes all values only of fields that memory has room for",
            advice=f'Copy the array from its file: np.save(path, sim.device("{snapshot.name}")).',
        )
    file = io.BytesIO()
    np.save(file, snapshot.values, allow_pickle=False)
    return file.getvalue()


def _table(snapshot: Snapshot, summary: FieldSummary, charts: Charts) -> bytes:
    """Comma-separated values: chart, curve, place, value; 17 digits bring each number back exactly."""
    lines = ["chart,curve,place,value"]
    for chart in charts:
        for curve in chart.curves:
            names = ",".join('"' + name.replace('"', '""') + '"' for name in (chart.title, curve.name))
            for place, value in zip(curve.places.tolist(), curve.values.tolist(), strict=True):
                lines.append(f"{names},{place!r},{value!r}")
    return ("\n".join(lines) + "\n").encode()


KINDS: Mapping[str, FileKind] = {
    "png": FileKind("image/png", "the picture, cell by cell", lambda _, summary, charts: png_of(summary)),
    "svg": FileKind(
        "image/svg+xml", "the picture with axes, and the charts", lambda _, s, charts: svg_of(s, charts).encode()
    ),
    "npy": FileKind("application/octet-stream", "all values, exactly", lambda snapshot, _, charts: _array(snapshot)),
    "csv": FileKind("text/csv", "the curves of all charts", _table),
}


def write_file(kind: str, snapshot: Snapshot, summary: FieldSummary, charts: Charts) -> bytes:
    """The contents of a file of this kind. Raises RunError for an unknown one."""
    if kind not in KINDS:
        known = ", ".join(f".{name} ({each.what})" for name, each in KINDS.items())
        raise RunError(f"a view writes no {kind!r} files", advice=f"Use one of {known}; .gif by record().")
    return KINDS[kind].write(snapshot, summary, charts)
