"""Where the build cache lives: the folder the user names, the system's cache folder, or a temporary one."""

import os
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path

from workbench.backends.build_cache import BuildCache
from workbench.forking import forkable_lock

_open: dict[Path, BuildCache] = {}
_folders: dict[Path, Path] = {}
_open_lock = forkable_lock()


def default_cache(environ: Mapping[str, str] = os.environ) -> BuildCache:
    """The user's cache: $WORKBENCH_CACHE or the system's cache folder; one object a folder in a process.

    When that folder cannot be written, a private temporary one is used and a warning says so once.
    """
    wanted = _wanted_folder(environ)
    with _open_lock:
        folder = _folders.get(wanted)
        if folder is None:
            folder = _folders[wanted] = wanted if _writable(wanted) else _temporary_folder(wanted)
        return _open.setdefault(folder, BuildCache(folder))


def _wanted_folder(environ: Mapping[str, str]) -> Path:
    named = environ.get("WORKBENCH_CACHE", "")
    if named:
        return Path(named).expanduser().absolute()
    import platformdirs  # here, because it takes longer to import than the rest of this module

    return platformdirs.user_cache_path("stencil-workbench")


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _temporary_folder(wanted: Path) -> Path:
    """A folder of this user alone in the system's temporary folder, because what lies in it will be executed."""
    folder = Path(tempfile.gettempdir()) / f"stencil-workbench-{os.getuid() if hasattr(os, 'getuid') else 'cache'}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
        private = not folder.is_symlink() and (status.st_mode & 0o077) == 0 and status.st_uid == os.getuid()
    except (OSError, AttributeError):
        private = False
    if not private or not _writable(folder):
        folder = Path(tempfile.mkdtemp(prefix="stencil-workbench-"))
    warnings.warn(
        f"the build cache folder {wanted} cannot be written; compiled kernels go to {folder} and may be lost. "
        "Set WORKBENCH_CACHE to a folder that can be written.",
        stacklevel=3,
    )
    return folder
