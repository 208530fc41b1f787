"""The report is one page that escapes what it is given."""

from workbench.commands.report import Figure, Section, Table, report_page


def test_texts_are_escaped_and_pictures_are_not():
    section = Section(
        "a < b", ("p & q",), "u[+1] < v", (Table(("h<",), (("c<",),)),), (Figure("<svg></svg>", "caption >"),)
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
