"""Code digest: a hash of the package's own code, for what it found and is kept for other processes."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
_READ = frozenset({".py", ".jinja", ".h"})


@cache
def code_digest(*rooms: str) -> str:
    """Hash of all code, templates and headers in some rooms of the package: ten milliseconds, once a process.

    By content: files of an installed package may all have one time.
    """
    found = hashlib.sha256()
    for room in rooms:
        for file in sorted(path for path in (_ROOT / room).rglob("*") if path.suffix in _READ):
            found.update(f"{file.relative_to(_ROOT)}\n".encode() + file.read_bytes())
    return found.hexdigest()
