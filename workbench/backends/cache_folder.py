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
_left: dict[Path, BuildCache] = {}  # folders from which nothing could be loaded, and what is used instead
_open_lock = forkable_lock()


def default_cache(environ: Mapping[str, str] = os.environ) -> BuildCache:
    """The user's cache: $WORKBENCH_CACHE or the system's cache folder; one object a folder in a process.

    A private temporary folder is used instead, and a warning says so once, when that folder cannot be written, when
    its file system lets nothing be executed, or when it is another user's and $WORKBENCH_CACHE does not name it:
    its owner decides what this process executes.
    """
    named = environ.get("WORKBENCH_CACHE", "")
    wanted = Path(named).expanduser().absolute() if named else _system_folder()
    with _open_lock:
        folder = _folders.get(wanted)
        if folder is None:
            why = _unfit(wanted, foreign=bool(named))
            folder = _folders[wanted] = _instead_of(wanted, why) if why else wanted
        return _left.get(folder) or _open.setdefault(folder, BuildCache(folder))


def in_use(cache: BuildCache) -> BuildCache:
    """The cache itself, or the one that is used since nothing could be loaded from it."""
    return _left.get(cache.folder, cache)


def leave_folder(cache: BuildCache) -> BuildCache | None:
    """Another cache, from now on used in place of one from which no library can be loaded; None if there is no more."""
    with _open_lock:
        if cache.folder in _left:
            return _left[cache.folder]
        if any(cache is other for other in _left.values()):
            return None
        folder = _instead_of(cache.folder, "lets no library be loaded from it")
        if folder == cache.folder:
            return None
        _left[cache.folder] = _open.setdefault(folder, BuildCache(folder))
        return _left[cache.folder]


def _system_folder() -> Path:
    import platformdirs  # here, because it takes longer to import than the rest of this module

    return platformdirs.user_cache_path("stencil-workbench")


def _unfit(folder: Path, *, foreign: bool) -> str:
    """Why compiled code cannot lie in a folder, which is made if need be; "" if it can."""
    if not _writable(folder):
        return "cannot be written"
    if not foreign and hasattr(os, "getuid") and folder.stat().st_uid != os.getuid():
        return f"belongs to another user ({folder.stat().st_uid})"
    if not _executable(folder):
        return "is on a file system from which nothing may be executed (noexec)"
    return ""


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _executable(folder: Path) -> bool:
    return not (hasattr(os, "statvfs") and os.statvfs(folder).f_flag & getattr(os, "ST_NOEXEC", 0))


def _instead_of(wanted: Path, why: str) -> Path:
    """A folder of this user alone in a temporary folder, because what lies in it will be executed."""
    roots = [Path(root) for root in (tempfile.gettempdir(), "/var/tmp", "/dev/shm")]  # noqa: S108  # private below
    fit = [root for root in roots if root.is_dir() and root != wanted.parent and _executable(root)]
    folder = next(filter(None, map(_private_folder, fit)), None) or Path(tempfile.mkdtemp(prefix="stencil-workbench-"))
    warnings.warn(
        f"the build cache folder {wanted} {why}; compiled kernels go to {folder} and may be lost. "
        "Set WORKBENCH_CACHE to a folder of yours that can be written and executed from.",
        stacklevel=4,
    )
    return folder


def _private_folder(root: Path) -> Path | None:
    """The user's folder there; None if it cannot be made, or another user made it."""
    folder = root / f"stencil-workbench-{os.getuid() if hasattr(os, 'getuid') else 'cache'}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
        private = not folder.is_symlink() and (status.st_mode & 0o077) == 0 and status.st_uid == os.getuid()
    except (OSError, AttributeError):
        return None
    return folder if private and _writable(folder) else None
