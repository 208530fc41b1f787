"""Proofs are taken up again: what passed is left out, but only while the sources are the same."""

from types import SimpleNamespace

from tests.proofs import Proofs, digest_of_sources


def selected(proofs, names):
    items = [SimpleNamespace(nodeid=name) for name in names]
    gone = []
    config = SimpleNamespace(hook=SimpleNamespace(pytest_deselected=lambda items: gone.extend(items)))
    proofs.pytest_collection_modifyitems(config, items)
    assert len(gone) + len(items) == len(names)
    return [item.nodeid for item in items]


def test_what_passed_is_left_out_while_the_sources_are_the_same(tmp_path):
    file = tmp_path / "proofs"
    proofs = Proofs(file, "one")
    for name, when, outcome in (("a[1 x]", "call", "passed"), ("b", "call", "failed"), ("c", "setup", "passed")):
        proofs.pytest_runtest_logreport(SimpleNamespace(nodeid=name, when=when, outcome=outcome))
    assert selected(Proofs(file, "one"), ["a[1 x]", "b", "c"]) == ["b", "c"]
    assert selected(Proofs(file, "two"), ["a[1 x]", "b", "c"]) == ["a[1 x]", "b", "c"]


def test_a_changed_source_is_another_digest(tmp_path):
    for folder in ("workbench", "tests"):
        (tmp_path / folder).mkdir()
    (tmp_path / "pyproject.toml").write_text("")
    source = tmp_path / "workbench" / "graph.py"
    source.write_text("1")
    first = digest_of_sources(tmp_path)
    source.write_text("2")
    assert digest_of_sources(tmp_path) != first
    source.write_text("1")
    assert digest_of_sources(tmp_path) == first
