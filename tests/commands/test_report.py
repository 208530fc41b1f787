"""The report is one page that escapes what it is given."""

from pathlib import Path

import pytest

from workbench.cli import main
from workbench.commands.report import Figure, ReportTable, Section, report_page


def test_texts_are_escaped_and_pictures_are_not():
    section = Section(
        "a < b", ("p & q",), "u[+1] < v", (ReportTable(("h<",), (("c<",),)),), (Figure("<svg></svg>", "caption >"),)
    )
    page = report_page("T<", "s", [section])
    assert "<svg></svg>" in page
    for text in ("a &lt; b", "p &amp; q", "u[+1] &lt; v", "h&lt;", "c&lt;", "caption &gt;", "T&lt;"):
        assert text in page


def test_nothing_comes_from_outside():
    page = report_page("T", "s", [Section("a")])
    assert "<script" not in page
    assert "http" not in page
    assert "prefers-color-scheme: dark" in page


@pytest.mark.parametrize(("file", "cause"), [("none/r.html", "there is no folder"), (".", "it is a folder")])
@pytest.mark.parametrize(
    "command",
    [("tune", "t.conf", "--report"), ("exam", "--json"), ("bench", "wave3d", "-o"), ("table5", "--json")],
    ids=lambda command: command[0],
)
def test_file_that_cannot_be_written_is_refused_before_anything_runs(
    tmp_path, capsys, monkeypatch, command, file, cause
):
    monkeypatch.chdir(tmp_path)
    Path("t.conf").write_text("[variables]\nvariables = A\n[values]\nA = 1\n[testing]\ntest = touch ran\n")
    assert main([*command, file]) == 1
    printed, said = capsys.readouterr()
    assert cause in said
    assert printed == ""
    assert not Path("ran").exists()
