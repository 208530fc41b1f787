"""Text file: the whole text of a file that a user names."""

from __future__ import annotations

from pathlib import Path

from workbench.errors import TuningError


def text_of(path: str | Path) -> str:
    """The text. TuningError with the path where the file cannot be read, or is no UTF-8."""
    try:
        return Path(path).read_text(encoding="utf-8-sig")  # editors of Windows write a mark before the text
    except OSError as error:
        raise TuningError(f"{path} cannot be read: {error.strerror}", advice="Name a file that is there.") from None
    except UnicodeDecodeError as error:
        raise TuningError(f"{path} is no text in UTF-8: {error.reason}", advice="Save it as UTF-8.") from None
