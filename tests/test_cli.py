"""The command line answers."""

import pytest

from workbench import __version__
from workbench.cli import main


def test_version_is_printed(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert end.value.code == 0
    assert capsys.readouterr().out == f"stencil-workbench {__version__}\n"


def test_unknown_option_is_refused(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--no-such-option"])
    assert end.value.code == 2
    assert "--no-such-option" in capsys.readouterr().err
