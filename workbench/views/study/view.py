"""StudyView: a study live: each individual's score as it is measured, the best so far, pause and stop."""

from __future__ import annotations

import base64
import weakref
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol

from workbench.graph.display_hook import Bundle
from workbench.tuning.afterwards import use_everywhere
from workbench.tuning.general_study import GeneralStudy
from workbench.tuning.study import Study
from workbench.views.drawing.shapes import Drawing, to_png, to_svg
from workbench.views.study.drawing import draw_study
from workbench.views.study.general_summary import summarise_general
from workbench.views.study.summary import Scores, summarise_study
from workbench.views.study.tests_figure import draw_tests, summarise_tests

if TYPE_CHECKING:
    from workbench.views.study.figure import StudyFigure


class Watched(Protocol):
    """A study of any kind, as far as a view needs it."""

    @property
    def state(self) -> str:
        """What it does now."""

    def listen(self, listener: Callable[[Any], None]) -> None:
        """Tell of each result and each change of state."""

    def pause(self) -> object:
        """Measure nothing more until `resume`."""

    def resume(self) -> object:
        """Go on."""

    def stop(self) -> object:
        """End."""


class StudyView:
    """The results of a study. Live where Bokeh is installed and a page shows it; a picture and text elsewhere.

    `close()` frees page and thread; the study goes on.
    """

    def __init__(
        self,
        study: Watched,
        summarise: Callable[[], Scores],
        draw: Callable[[], Drawing] | None = None,
        use: Callable[[], str] | None = None,
    ) -> None:
        """Use `open_study_view` or `open_general_view`.

        draw: the picture, unless it is that of the scores alone. use: lets open simulations take the best, and says so.
        """
        self.study = study
        self._summarise, self._draw, self._use = summarise, draw, use
        self._figure: StudyFigure | None = None
        if find_spec("bokeh") is not None and find_spec("ipywidgets") is not None:
            from workbench.views.study.figure import StudyFigure

            self._figure = StudyFigure(
                summarise, picture=lambda: self.drawing, text=lambda: str(self), usable=use is not None
            )
            self._figure.on_tool(self._obey)
        view = weakref.ref(self)

        def heard(_: object) -> None:
            if (alive := view()) is not None:
                alive.update()

        study.listen(heard)

    @property
    def summary(self) -> Scores:
        """What is shown now."""
        return self._summarise()

    @property
    def drawing(self) -> Drawing:
        """The same as a picture."""
        return draw_study(self.summary) if self._draw is None else self._draw()

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
            self._figure.update()

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
        elif name == "use" and self._use is not None and self._figure is not None:
            self._figure.say(self._use())
        self.update()


def open_study_view(study: Study) -> StudyView:
    """A view of a study."""
    return StudyView(study, lambda: summarise_study(study), use=lambda: use_everywhere(study))


def open_general_view(study: GeneralStudy) -> StudyView:
    """A view of a general tuning; its picture has a row for each variable."""
    return StudyView(
        study, lambda: summarise_general(study), lambda: draw_tests(summarise_tests(study.tuned, study.name))
    )
