"""Animation: pictures one after another as a GIF file, in the very colours of the view."""

from __future__ import annotations

import io

from workbench.errors import RunError
from workbench.views.drawing.png import indexed_image
from workbench.views.field.picture import side_by_side
from workbench.views.field.summary import Codes, FieldSummary

MOST_FRAMES = 300
MOST_BYTES = 64 * 2**20
FRAME_MILLISECONDS = 50


class Recorder:
    """Frames of one value, of a volume its planes side by side; at most MOST_FRAMES and MOST_BYTES.

    When full, every second one goes and later ones are kept more rarely, so that a recording of any length shows all
    of it. Not safe for threads.
    """

    def __init__(self) -> None:
        self._frames: list[tuple[Codes, bytes]] = []
        self._every = 1
        self._seen = 0
        self._step: int | None = None

    def append(self, summary: FieldSummary) -> None:
        """Take one further picture, unless it shows the same step."""
        if summary.step == self._step:
            return
        self._step = summary.step
        if self._seen % self._every == 0:
            frame = side_by_side(summary)
            if self._frames and self._frames[0][0].shape != frame[0].shape:
                self._frames.clear()  # other axes are shown
            self._frames.append(frame)
            if len(self._frames) >= MOST_FRAMES or frame[0].size * len(self._frames) > MOST_BYTES:
                del self._frames[1::2]
                self._every *= 2
        self._seen += 1

    def __len__(self) -> int:
        return len(self._frames)

    def gif(self) -> bytes:
        """The file. Raises RunError without frames."""
        if not self._frames:
            raise RunError("nothing was recorded", advice="Run the simulation while recording.")
        images = [indexed_image(codes, table) for codes, table in self._frames]
        file = io.BytesIO()
        images[0].save(
            file,
            "GIF",
            save_all=True,
            append_images=images[1:],
            duration=FRAME_MILLISECONDS,
            loop=0,
            optimize=False,
        )
        return file.getvalue()
