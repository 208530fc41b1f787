"""Compiled templates: another process finds them, and nothing that is made of another text."""

import json

import jinja2
import pytest

from tests.kit.golden_programs import planned
from workbench.backends.build_cache import BuildCache
from workbench.codegen import rendering, template_store
from workbench.codegen.cpp.render import render_openmp


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A folder of our own, in which nothing is kept yet."""
    made = BuildCache(tmp_path)
    monkeypatch.setattr(template_store, "_stores", [lambda: made])
    rendering._environment.cache_clear()
    yield made
    rendering._environment.cache_clear()  # whose templates are those of this test


def rendered_anew():
    """As another process renders, which has compiled no template."""
    rendering._environment.cache_clear()
    return render_openmp(planned("wave"))


def refuse(*arguments, **options):
    raise AssertionError("a template is compiled")


def notes_in(cache):
    return sorted((cache.folder / "notes").glob("template-*.json"))


def test_another_process_compiles_none(cache, monkeypatch):
    before = rendered_anew()
    monkeypatch.setattr(jinja2.Environment, "compile", refuse)
    assert rendered_anew() == before
    monkeypatch.setattr(template_store, "_stores", [])
    with pytest.raises(AssertionError, match="a template is compiled"):
        rendered_anew()


def test_a_template_that_was_changed_is_compiled_again(cache, monkeypatch):
    before, read = rendered_anew(), rendering.template_text

    def changed(name):
        return read(name).replace("// {{ unit.title }}", "// now {{ unit.title }}")

    monkeypatch.setattr(rendering, "template_text", changed)
    assert before.text.startswith("// wave")
    assert rendered_anew().text.startswith("// now wave")
    monkeypatch.undo()
    monkeypatch.setattr(template_store, "_stores", [lambda: cache])
    assert rendered_anew() == before


@pytest.mark.parametrize(
    "damage",
    [
        lambda note: {**note, "code": note["code"][:-8]},
        lambda note: {**note, "code": "4wAAAAAA"},
        lambda note: {**note, "sha256": 0},
        lambda note: {**note, "made_of": [*note["made_of"][:2], "2.7", *note["made_of"][3:]]},
        lambda note: {"code": 7},
        lambda note: [],
    ],
)
def test_what_is_damaged_or_of_another_python_is_made_again(cache, monkeypatch, damage):
    before, notes = rendered_anew(), notes_in(cache)
    for path in notes:
        path.write_text(json.dumps(damage(json.loads(path.read_text()))))
    with monkeypatch.context() as patch:
        patch.setattr(jinja2.Environment, "compile", refuse)
        with pytest.raises(AssertionError, match="a template is compiled"):
            rendered_anew()
    assert rendered_anew() == before
    monkeypatch.setattr(jinja2.Environment, "compile", refuse)
    assert rendered_anew() == before
    assert len(notes) > 1


def test_without_a_folder_the_text_is_the_same(cache, monkeypatch):
    before = rendered_anew()
    monkeypatch.setattr(template_store, "_stores", [])
    assert rendered_anew() == before
