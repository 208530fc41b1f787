"""Proofs are taken up again: what passed is left out while the sources are the same. A sample repeats by its seed."""

from types import SimpleNamespace

from tests.kit.proofs import (
    DRAWN,
    ROOT,
    Proofs,
    Sample,
    digest_of_sources,
    long_cases,
    mark_long_cases,
    seeds_of_proof,
    with_enough,
)


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


SEEDED = {"seeds": range(10, 25), "batch": 10, "sample": 3}


def test_a_proof_has_all_of_its_seeds_in_batches():
    assert seeds_of_proof("a", None, **SEEDED) == [range(10, 20), range(20, 25)]


def test_a_sample_draws_seeds_that_were_never_written_down_and_repeats_them():
    drawn = {seed: seeds_of_proof("a", seed, **SEEDED) for seed in range(20)}
    assert drawn == {seed: seeds_of_proof("a", seed, **SEEDED) for seed in range(20)}
    firsts = {seeds[0] for (seeds,) in drawn.values()}
    assert len(firsts) == 20
    assert min(firsts) >= DRAWN[0] > 10**6
    assert all(len(seeds) == 3 for (seeds,) in drawn.values())
    assert seeds_of_proof("b", 1, **SEEDED) != drawn[1]


def test_a_sample_goes_on_until_enough_seeds_suit():
    assert with_enough(range(5, 8), lambda seed: True, needed=2) == [5, 6, 7]
    assert with_enough(range(5, 8), lambda seed: seed % 5 == 0, needed=2) == [5, 6, 7, 8, 9, 10]


def test_long_cases_are_there():
    """A name that no test has would be run by nobody's wish; whole tests are listed without brackets."""
    names = long_cases()
    for name in names:
        path, _, function = name.partition("::")
        text = (ROOT / path).read_text(encoding="utf-8")
        assert f"def {function.partition('[')[0]}(" in text, name
    assert 50 < len(names) < 600


def test_a_long_case_is_a_proof_and_a_sample_draws_of_all_of_them():
    items = [case(f"long{number}") for number in range(50)]
    for item in items:
        item.add_marker = lambda mark, item=item: setattr(item, "get_closest_marker", lambda _: mark)
    mark_long_cases(items, {item.nodeid for item in items[:40]})
    config = SimpleNamespace(hook=SimpleNamespace(pytest_deselected=lambda items: None))
    kept = list(items[:40])
    Sample(1).pytest_collection_modifyitems(config, kept)
    assert len(kept) == 36


def case(name, **options):
    mark = None if name.startswith("test_no_proof") else SimpleNamespace(kwargs=options)
    return SimpleNamespace(nodeid=name, get_closest_marker=lambda _: mark)


def test_of_a_proof_without_seeds_a_sample_has_as_many_tests_as_it_says():
    items = [case(f"test_one[{n}]", sample=3) for n in range(50)] + [case(f"test_two[{n}]") for n in range(9)]
    items += [case("test_seeded[1-3]", **SEEDED), case("test_no_proof")]

    def chosen(seed):
        gone, left = [], items[:]
        config = SimpleNamespace(hook=SimpleNamespace(pytest_deselected=lambda items: gone.extend(items)))
        Sample(seed).pytest_collection_modifyitems(config, left)
        assert len(gone) + len(left) == len(items)
        return [item.nodeid for item in left]

    assert chosen(1) == chosen(1) != chosen(2)
    functions = [name.partition("[")[0] for name in chosen(1)]
    assert functions == ["test_one"] * 3 + ["test_two", "test_seeded", "test_no_proof"]
