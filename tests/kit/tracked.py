"""The texts of the repository, for tests that read them all."""

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def tracked_texts():
    """(path, text) of every file git knows or would add; in a source distribution, of every file there is."""
    git = shutil.which("git")
    command = [git, "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True) if git else None
    if listed and listed.returncode == 0:
        names = listed.stdout.splitlines()
    else:
        names = [str(p.relative_to(ROOT)) for part in ("workbench", "tests") for p in (ROOT / part).rglob("*")]
    for name in names:
        path = ROOT / name
        if path.is_file():
            data = path.read_bytes()
            if b"\0" not in data:
                yield name, data.decode("utf-8")
