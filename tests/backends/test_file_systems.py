"""Of which kind the file system is that a folder lies on."""

from pathlib import Path

import pytest

from workbench.backends.file_systems import file_system, lies_in_memory

MOUNTS = """\
/dev/vda / ext4 rw 0 0
proc /proc proc rw 0 0
tmpfs /run tmpfs rw 0 0
server:/data /run/my\\040data nfs4 rw 0 0
overlay /srv overlay rw 0 0
tmpfs /srv tmpfs rw 0 0
"""


@pytest.mark.parametrize(
    ("folder", "kind"),
    [("/", "ext4"), ("/runs", "ext4"), ("/run/lock", "tmpfs"), ("/run/my data/u", "nfs4"), ("/srv/u", "tmpfs")],
)
def test_the_longest_mount_point_counts_and_of_one_the_last_mount(folder, kind, monkeypatch):
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: MOUNTS)
    assert file_system(Path(folder)) == kind
    assert lies_in_memory(Path(folder)) == (kind == "tmpfs")


def test_where_the_system_does_not_tell_nothing_is_known(monkeypatch):
    def refuse(*_, **__):
        raise OSError

    monkeypatch.setattr(Path, "read_text", refuse)
    assert file_system(Path("/")) == ""
    assert not lies_in_memory(Path("/"))
