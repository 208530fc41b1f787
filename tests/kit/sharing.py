"""How the workers of xdist share tests under `--dist loadfile`: by file, and one of them has all that measures."""

from xdist.scheduler import LoadFileScheduling

MEASURING = "tests/tuning/"


def unit_of(nodeid):
    """What stays together with this test: its file, whose fixtures are then made once.

    Studies measure one at a time on a machine, so those of two workers would wait for each other: they are one unit.
    """
    return MEASURING if nodeid.startswith(MEASURING) else nodeid.partition("::")[0]


class Files(LoadFileScheduling):
    """Units with the most tests come first."""

    def _split_scope(self, nodeid):
        return unit_of(nodeid)
