"""Colours never change a text."""

import pytest

from tests.views.machines import TRADE_OFF, wave
from workbench.views.source.highlighting import KINDS, highlight


@pytest.mark.parametrize("backend", ["openmp", "cuda"])
def test_the_pieces_of_generated_text_are_the_text(backend):
    source = wave().source(backend)
    lines = highlight(source.text, source.language)
    assert "\n".join("".join(text for _, text in line) for line in lines) == source.text
    kinds = {kind for line in lines for kind, _ in line}
    assert kinds <= set(KINDS)
    assert {"keyword", "type", "number", "comment", "meta"} <= kinds


def test_a_cell_is_python():
    lines = highlight(TRADE_OFF, "python")
    assert ("number", "0.1") in lines[4]
    assert ("string", '"u"') in lines[1]
    assert ["".join(text for _, text in line) for line in lines] == TRADE_OFF.split("\n")


def test_a_comment_over_several_lines_keeps_its_colour():
    assert highlight("/* a\nb */ int", "c++") == (
        (("comment", "/* a"),),
        (("comment", "b */"), ("", " "), ("type", "int")),
    )


def test_an_empty_text_is_one_empty_line():
    assert highlight("", "c++") == ((),)
