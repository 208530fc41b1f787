"""StudyView: a study live: each individual's score as it is measured, the best so far, pause and stop."""

from __future__ import annotations

import base64
import weakref
from importlib.util import find_spec
from typing import TYPE_CHECKING

from workbench.graph.shown import Bundle
from workbench.tuning.study import Study
from workbench.views.drawing.shapes import Drawing, to_png, to_svg
from workbench.views.study.drawing import draw_study
from workbench.views.study.summary import StudySummary, summarise_study

if TYPE_CHECKING:
    from workbench.views.study.figure import StudyFigure


class StudyView:
    """What a study has found. Live where Bokeh is installed and a page shows it; a picture and words elsewhere.

    `close()` frees page and thread; the study goes on.
    """

    def __init__(self, study: Study) -> None:
        self.study = study
        self._figure: StudyFigure | None = None
        if find_spec("bokeh") is not None and find_spec("ipywidgets") is not None:
            from workbench.views.study.figure import StudyFigure

            self._figure = StudyFigure(self.summary, picture=lambda: self.drawing, text=lambda: str(self))
            self._figure.on_tool(self._obey)
        view = weakref.ref(self)

        def heard(_: Study) -> None:
            if (alive := view()) is not None:
                alive.update()

        study.listen(heard)

    @property
    def summary(self) -> StudySummary:
        """What is shown now."""
        return summarise_study(self.study)

    @property
    def drawing(self) -> Drawing:
        """The same as a picture."""
        return draw_study(self.summary)

    @property
    def svg(self) -> str:
        """The picture as an SVG file's text."""
        return to_svg(self.drawing)

    @property
    def png(self) -> bytes:
        """The picture as a PNG file."""
        return to_png(self.drawing)

    def update(self) -> None:
        """Show what is new; called after each individual, and useful after `study.refresh()`."""
        if self._figure is not None:
            self._figure.update(self.summary)

    def close(self) -> None:
        """Free page and thread."""
        if self._figure is not None:
            self._figure.close()

    def __str__(self) -> str:
        """The study in words."""
        return self.summary.text()

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Bundle:
        """Live where the page has the extension; picture and words elsewhere."""
        if self._figure is not None:
            return self._figure.bundle()
        return {"text/plain": str(self), "image/png": base64.b64encode(self.png).decode("ascii")}

    def _obey(self, name: str, value: str) -> None:
        if name == "pause":
            (self.study.resume if self.study.state == "paused" else self.study.pause)()
        elif name == "stop":
            self.study.stop()
        self.update()


def open_study_view(study: Study) -> StudyView:
    """A view of a study."""
    return StudyView(study)
