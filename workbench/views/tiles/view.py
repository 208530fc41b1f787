"""TilesView: the tiles of a schedule in space and time, turn by turn: which thread does which cells of which step."""

from __future__ import annotations

import base64
import threading
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from workbench.errors import RunError
from workbench.graph.display_hook import Bundle
from workbench.planning.plan import Plan
from workbench.views.drawing.shapes import Drawing, to_png, to_svg
from workbench.views.page.live import still_entries
from workbench.views.tiles.drawing import draw_tiles
from workbench.views.tiles.pieces import TilesSummary
from workbench.views.tiles.summary import describe_tiles, summarise_tiles

if TYPE_CHECKING:
    from workbench.views.tiles.figure import TilesFigure

_SECONDS = 0.12  # between two turns while it plays


class TilesView:
    """Turns of a schedule one after the other. Live where Bokeh is installed and a page shows it; else a picture.

    `turn` is how many turns are done; `show(turn)`, `play()` and `pause()` change it. `close()` frees page and thread.
    """

    def __init__(self, summary: TilesSummary) -> None:
        """Shows all turns first. Use `open_tiles_view`."""
        self.summary = summary
        self.turn = summary.turns
        self._playing: threading.Event | None = None
        self._lock = threading.Lock()
        self._closed = False
        self._figure: TilesFigure | None = None
        if find_spec("bokeh") is not None and find_spec("ipywidgets") is not None:
            from workbench.views.tiles.figure import TilesFigure

            self._figure = TilesFigure(self)

    @property
    def playing(self) -> bool:
        """Whether turns follow each other by themselves."""
        return self._playing is not None and not self._playing.is_set()

    @property
    def drawing(self) -> Drawing:
        """The picture of now."""
        return draw_tiles(self.summary, self.turn)

    @property
    def svg(self) -> str:
        """The picture as an SVG file's text."""
        return to_svg(self.drawing)

    @property
    def png(self) -> bytes:
        """The picture as a PNG file."""
        return to_png(self.drawing)

    def show(self, turn: int) -> None:
        """Show what is done after so many turns, at most all. Raises RunError for what is no whole number."""
        if not isinstance(turn, int) or isinstance(turn, bool):
            raise RunError(f"turn={turn!r} is no whole number", advice=f"Use 0 to {self.summary.turns}.")
        self.turn = max(0, min(turn, self.summary.turns))
        if self._figure is not None:
            self._figure.update()

    def play(self) -> None:
        """Let turns follow each other from this one on, from the first one if all are done."""
        with self._lock:
            if self.playing or self._closed:
                return
            self._playing = stop = threading.Event()
        if self.turn >= self.summary.turns:
            self.turn = 0
        threading.Thread(target=self._play, args=(stop,), name="tiles", daemon=True).start()

    def pause(self) -> None:
        """Stay where it is."""
        if self._playing is not None:
            self._playing.set()
        if self._figure is not None:
            self._figure.update()

    def close(self) -> None:
        """Free page and thread. Closing twice does nothing."""
        self._closed = True
        self.pause()
        if self._figure is not None:
            self._figure.close()

    def _play(self, stop: threading.Event) -> None:
        while not stop.wait(_SECONDS) and self.turn < self.summary.turns:
            self.show(self.turn + 1)
        stop.set()
        if self._figure is not None:
            self._figure.update()

    def __str__(self) -> str:
        """In words."""
        return describe_tiles(self.summary, self.turn)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Bundle:
        """Live where the page has the extension; picture and words elsewhere."""
        if self._figure is not None and not self._closed:
            return self._figure.bundle()
        picture = {"image/png": base64.b64encode(self.png).decode("ascii")}
        return {**still_entries(str(self), closed=self._closed), **picture}


def open_tiles_view(plan: Plan, **options: Any) -> TilesView:  # noqa: ANN401  # those of summarise_tiles
    """A view of the tiles or towers of a plan such as `machine.plan()`; options are those of `summarise_tiles`."""
    return TilesView(summarise_tiles(plan, **options))
