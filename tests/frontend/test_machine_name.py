"""A machine's name stands in generated text, in the names of files and in messages: it must stay on its line."""

import pytest

import workbench as wb
from workbench.errors import TraceError

CELL = 'u = field("u")\nu.next = u + 1'
NAMES = ["a\nb", "a\r#error", "a\\", "a\x00b", "a\x0bb", "a\u2028b", "tab\tx", "x" * 101, 5, b"b", None]


@pytest.mark.parametrize("name", NAMES)
def test_names_that_leave_their_line_are_refused(name):
    with pytest.raises(TraceError, match=r"is no name for a machine\nGive at most 100 characters on one line"):
        wb.trace(CELL, name=name)


def test_functions_are_named_by_the_same_rule():
    with pytest.raises(TraceError, match=r"name='a\\nb' is no name"):

        @wb.stencil(name="a\nb")
        def machine():
            u = field("u")  # noqa: F821
            u.next = u + 1


@pytest.mark.parametrize("name", ["wave (order 4)", "é ü", "*/", "波", "x" * 100])
def test_other_names_reach_the_generated_text(name):
    for backend in ("openmp", "cuda"):
        assert wb.trace(CELL, name=name).source(backend).text.splitlines()[0] == f"// {name}"
