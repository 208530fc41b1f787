"""Each word of the language has a meaning and an example that does what it says, and a mistake with its error."""

import inspect
import math

import numpy as np
import pytest

import workbench as wb
from workbench import language
from workbench.errors import StencilError
from workbench.frontend.words import find_word, groups, words_text
from workbench.run.calling import is_called

WORDS = [word for group in groups() for word in group.words]


def shown(value):
    """A result as the examples write it, to six digits."""
    if isinstance(value, np.ndarray) and value.ndim:
        return f"[{', '.join(map(shown, value))}]"
    value = value.item() if isinstance(value, np.ndarray | np.generic) else value
    return str(value) if isinstance(value, bool) else f"{value:.6g}"


def given(example):
    names = {"nan": math.nan, "inf": math.inf}
    return eval(f"dict({example.given})", names)  # text of the package


def test_the_words_are_the_vocabulary():
    members = {"u[+1]", "u.at", "u.next", "u.source", "outflow"}
    assert {word.name for word in WORDS} == {*language.__all__, *members}
    assert len({word.name for word in WORDS}) == len(WORDS)


@pytest.mark.parametrize("word", WORDS, ids=lambda word: word.name)
def test_the_example_computes_what_it_says(word):
    machine = wb.trace(word.example.cell, word.example.dim)
    if is_called(machine.graph):
        totals = machine(backend="reference", **given(word.example))
        assert ", ".join(f"{name} = {shown(value)}" for name, value in totals.items()) == word.example.gives
        return
    sim = machine.simulate(backend="reference", **given(word.example)).run(1)
    kept = dict.fromkeys(s.group or s.name for s in machine.graph.declared if s.role != "param")
    assert ", ".join(f"{name} = {shown(sim[name])}" for name in kept) == word.example.gives


@pytest.mark.parametrize("word", WORDS, ids=lambda word: word.name)
def test_the_mistake_gets_the_error(word):
    with pytest.raises(StencilError) as caught:
        wb.trace(word.example.wrong, word.example.dim).plan()
    assert f"line {caught.value.line}: {caught.value.what}" == word.example.error
    assert caught.value.advice == word.example.advice


@pytest.mark.parametrize("word", WORDS, ids=lambda word: word.name)
def test_the_word_is_in_its_example_and_has_a_meaning(word):
    assert word.name in word.example.cell or word.name in ("u[+1]",)
    assert word.meaning.endswith((".", ")"))
    assert word.signature.split("(")[0].strip("@") in str(word)


def test_help_shows_the_example_and_the_error():
    for word in WORDS:
        function = getattr(language, word.name, None)
        if inspect.isfunction(function):
            assert word.example.cell.splitlines()[-1].strip() in inspect.getdoc(function), word.name
            assert word.example.advice in inspect.getdoc(function), word.name


def test_words_are_found_by_name_and_members_whatever_the_value_is_called():
    assert find_word("laplacian").signature == "laplacian(u, dx, accuracy=2, form='cross')"
    assert find_word("rho.at") is find_word("u.at")
    assert find_word("flux.astype") is find_word("astype")
    assert find_word("rho") is None
    assert find_word("rho.nothing") is None
    assert "reduce_sum" in words_text()
    assert max(map(len, words_text().splitlines())) <= 100
