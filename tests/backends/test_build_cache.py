"""The build cache: one entry for one recipe, whatever other threads, processes and disks do."""

import os
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests.kit.cache_entries import damage_one_byte
from workbench.backends import build_cache, cache_folder
from workbench.backends.build_cache import BuildCache, BuildCancelledError, Recipe, counters
from workbench.errors import BuildError

RECIPE = Recipe("wave", "int f();", ("-O3",), "g++ 12", "avx2", "1.0")


def test_an_entry_is_found_by_its_recipe(tmp_path):
    cache = BuildCache(tmp_path)
    assert cache.find(RECIPE.key) is None
    stored = cache.store(RECIPE, b"library", report="fine", seconds=2.0)
    found = BuildCache(tmp_path).find(RECIPE.key)
    assert found == replace(stored, from_cache=True)
    assert found.path.read_bytes() == b"library"
    assert found.path.suffix == ".so"
    assert (found.report, found.seconds) == ("fine", 2.0)


@pytest.mark.parametrize("field", ["source", "compiler", "target", "generator", "suffix"])
def test_every_part_of_a_recipe_is_in_the_key(field):
    assert replace(RECIPE, **{field: "another"}).key != RECIPE.key


def test_flags_are_in_the_key_one_by_one_and_the_name_is_not():
    assert replace(RECIPE, flags=("-O2",)).key != RECIPE.key
    assert replace(RECIPE, flags=("-O", "3")).key != RECIPE.key
    assert replace(RECIPE, name="heat").key == RECIPE.key


def damage_by_truncation(entry):
    entry.path.write_bytes(entry.path.read_bytes()[:3])


def damage_by_removing_the_artefact(entry):
    entry.path.unlink()


def damage_the_record(entry):
    entry.path.with_name(f"{entry.key}.json").write_text('{"artefact": "lib')


def damage_to_a_foreign_record(entry):
    entry.path.with_name(f"{entry.key}.json").write_text("[1, 2]")


@pytest.mark.parametrize(
    "damage",
    [
        damage_by_truncation,
        damage_one_byte,
        damage_by_removing_the_artefact,
        damage_the_record,
        damage_to_a_foreign_record,
    ],
)
def test_a_damaged_entry_is_built_again(tmp_path, damage):
    cache = BuildCache(tmp_path)
    damage(cache.store(RECIPE, b"library"))
    assert cache.find(RECIPE.key) is None
    made = []
    entry = cache.obtain(RECIPE, lambda: made.append(1) or (b"library", ""))
    assert made == [1]
    assert not entry.from_cache
    assert cache.find(RECIPE.key).path.read_bytes() == b"library"


def test_counters_tell_builds_from_hits(tmp_path):
    cache = BuildCache(tmp_path)
    before = counters()
    cache.obtain(RECIPE, lambda: (b"library", ""))
    after_build = counters()
    assert (after_build.compiled, after_build.cache_hits) == (before.compiled + 1, before.cache_hits)
    cache.obtain(RECIPE, lambda: pytest.fail("made again"))
    after_hit = counters()
    assert (after_hit.compiled, after_hit.cache_hits) == (after_build.compiled, before.cache_hits + 1)
    assert after_hit.seconds == after_build.seconds


def test_threads_with_one_key_share_one_build(tmp_path):
    cache = BuildCache(tmp_path)
    made, entries = [], []

    def make():
        made.append(threading.get_ident())
        time.sleep(0.1)
        return b"library", ""

    threads = [threading.Thread(target=lambda: entries.append(cache.obtain(RECIPE, make))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert sorted(entry.from_cache for entry in entries) == [False, True, True, True]


def test_who_cancels_stops_nobody_else(tmp_path):
    """The first thread gives up in the middle of the build; the second, which waited for it, builds itself."""
    cache = BuildCache(tmp_path)
    started, give_up = threading.Event(), threading.Event()
    outcomes = {}

    def abandon():
        started.set()
        give_up.wait(10)
        raise BuildCancelledError("wave")

    def first():
        with pytest.raises(BuildCancelledError):
            cache.obtain(RECIPE, abandon)
        outcomes["first"] = "cancelled"

    def second():
        outcomes["second"] = cache.obtain(RECIPE, lambda: (b"library", "")).path.read_bytes()

    threads = [threading.Thread(target=first), threading.Thread(target=second)]
    threads[0].start()
    assert started.wait(10)
    threads[1].start()
    time.sleep(0.1)
    give_up.set()
    for thread in threads:
        thread.join(10)
    assert outcomes == {"first": "cancelled", "second": b"library"}


def test_who_waits_may_cancel(tmp_path):
    cache = BuildCache(tmp_path)
    started, finish = threading.Event(), threading.Event()

    def slow():
        started.set()
        finish.wait(10)
        return b"library", ""

    thread = threading.Thread(target=lambda: cache.obtain(RECIPE, slow))
    thread.start()
    assert started.wait(10)
    with pytest.raises(BuildCancelledError, match="'wave' was cancelled"):
        cache.obtain(RECIPE, lambda: pytest.fail("built twice"), cancelled=lambda: True)
    finish.set()
    thread.join(10)
    assert cache.find(RECIPE.key) is not None


def test_a_failed_build_leaves_nothing_and_may_be_tried_again(tmp_path):
    cache = BuildCache(tmp_path)

    def fail():
        raise BuildError("refused")

    with pytest.raises(BuildError, match="refused"):
        cache.obtain(RECIPE, fail)
    assert cache.info().entries == 0
    assert cache.obtain(RECIPE, lambda: (b"library", "")).path.exists()


def test_processes_that_build_one_key_all_succeed(tmp_path):
    """Four processes store different bytes under the same keys, again and again; each always reads a whole library."""
    program = textwrap.dedent("""
        import sys
        from pathlib import Path
        from workbench.backends.build_cache import BuildCache, Recipe
        folder, mark = Path(sys.argv[1]), sys.argv[2].encode()
        cache = BuildCache(folder)
        for number in range(40):
            recipe = Recipe("wave", str(number % 4), (), "g++", "avx2", "1")
            stored = cache.store(recipe, mark * 50_000)
            assert stored.path.read_bytes() == mark * 50_000
            found = cache.find(recipe.key)
            assert found is not None, "a record without its artefact"
            content = found.path.read_bytes()
            assert len(content) == 50_000 and len(set(content)) == 1, "bytes of two writers mixed"
        print("done")
    """)
    processes = [
        subprocess.Popen([sys.executable, "-c", program, str(tmp_path), mark], stdout=subprocess.PIPE, text=True)
        for mark in "abcd"
    ]
    assert [process.communicate(timeout=60)[0].strip() for process in processes] == ["done"] * 4
    assert BuildCache(tmp_path).info().entries == 4
    assert list((tmp_path / "temporary").iterdir()) == []


def test_the_least_recently_used_entries_go(tmp_path):
    cache = BuildCache(tmp_path, limit=4500)
    recipes = [replace(RECIPE, source=str(number)) for number in range(4)]
    for age, recipe in enumerate(recipes[:3]):
        entry = cache.store(recipe, bytes(1000))
        then = time.time() - 1000 + age
        for path in (entry.path, entry.path.with_name(f"{entry.key}.json")):
            os.utime(path, (then, then))
    assert cache.find(recipes[0].key) is not None  # the oldest, but used just now
    cache.store(recipes[3], bytes(1000))
    assert [cache.find(recipe.key) is not None for recipe in recipes] == [True, False, True, True]
    assert cache.info().bytes <= 4500


def test_an_entry_above_the_limit_stays_while_it_is_new(tmp_path):
    cache = BuildCache(tmp_path, limit=100)
    cache.store(RECIPE, bytes(1000))
    assert cache.find(RECIPE.key) is not None


def test_info_and_clear(tmp_path):
    cache = BuildCache(tmp_path)
    empty = cache.info()
    assert (empty.entries, empty.bytes) == (0, 0)
    cache.store(RECIPE, bytes(5000))
    cache.write_note("compiler", {"kind": "gcc"})
    full = cache.info()
    assert full.entries == 1
    assert full.bytes > 5000
    assert f"{tmp_path}: 1 build, " in str(full)
    assert cache.clear() == full
    assert cache.info() == empty
    assert cache.read_note("compiler") is None


def test_only_the_last_failures_are_kept(tmp_path):
    cache = BuildCache(tmp_path)
    for number in range(30):
        path = cache.keep_failure(f"wave-{number}.cpp", "int")
    assert path.read_text() == "int"
    assert len(list((tmp_path / "failed").iterdir())) == 20


def test_a_folder_that_cannot_take_an_entry_says_what_to_do(tmp_path):
    (tmp_path / "entries").write_text("a file where a folder should be")
    with pytest.raises(BuildError, match="cannot take 'wave'") as caught:
        BuildCache(tmp_path).store(RECIPE, b"library")
    assert str(caught.value).endswith("or set WORKBENCH_CACHE to a folder with room.")


def test_the_user_names_the_folder(tmp_path):
    environ = {"WORKBENCH_CACHE": str(tmp_path / "mine")}
    cache = cache_folder.default_cache(environ)
    assert cache.folder == tmp_path / "mine"
    assert cache_folder.default_cache(environ) is cache


def test_an_unwritable_folder_warns_once_and_a_temporary_one_is_used(tmp_path):
    (tmp_path / "file").write_text("")
    environ = {"WORKBENCH_CACHE": str(tmp_path / "file" / "cache")}
    with pytest.warns(UserWarning, match="cannot be written") as caught:
        cache = cache_folder.default_cache(environ)
    assert len(caught) == 1
    assert "Set WORKBENCH_CACHE" in str(caught[0].message)
    assert cache.folder.stat().st_mode & 0o077 == 0, "others could plant a library in it"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cache_folder.default_cache(environ) is cache


def foreign(monkeypatch):
    """Folders that exist belong to another user from now on."""
    owner = os.getuid()
    monkeypatch.setattr("os.getuid", lambda: owner + 1)


def test_a_folder_of_another_user_is_used_only_if_it_is_named(tmp_path, monkeypatch):
    foreign(monkeypatch)
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name: tmp_path / name)
    with pytest.warns(UserWarning, match="belongs to another user") as caught:
        cache = cache_folder.default_cache({})
    assert len(caught) == 1
    assert not cache.folder.is_relative_to(tmp_path)
    named = tmp_path / "stencil-workbench"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cache_folder._folders.clear()
        assert cache_folder.default_cache({"WORKBENCH_CACHE": str(named)}).folder == named


def test_a_folder_from_which_nothing_is_executed_is_passed_over(tmp_path, monkeypatch):
    folder, statvfs = tmp_path / "noexec", os.statvfs

    def noexec(path):
        return SimpleNamespace(f_flag=os.ST_NOEXEC) if path.is_relative_to(folder) else statvfs(path)

    monkeypatch.setattr("os.statvfs", noexec)
    with pytest.warns(UserWarning, match=r"\(noexec\).*Set WORKBENCH_CACHE"):
        cache = cache_folder.default_cache({"WORKBENCH_CACHE": str(folder)})
    assert not cache.folder.is_relative_to(folder)


def test_a_dropped_entry_is_gone(tmp_path):
    cache = BuildCache(tmp_path)
    cache.store(RECIPE, b"library")
    cache.drop(RECIPE.key)
    assert cache.find(RECIPE.key) is None
    assert cache.info().bytes == 0


def test_what_was_kept_is_found_and_cleared(tmp_path):
    cache = BuildCache(tmp_path)
    assert cache.read_kept("stage") is None
    cache.write_kept("stage", b"graph")
    cache.write_kept("stage", b"plan")
    assert BuildCache(tmp_path).read_kept("stage") == b"plan"
    assert cache.info().bytes > len(b"plan")
    cache.clear()
    assert cache.read_kept("stage") is None


def test_what_was_used_longest_ago_is_let_go(tmp_path, monkeypatch):
    monkeypatch.setattr(build_cache, "_MOST_KEPT", 300)
    cache = BuildCache(tmp_path)
    for number, name in enumerate(("first", "second")):
        cache.write_kept(name, bytes(80))
        os.utime(tmp_path / "kept" / name, (number, number))
    assert cache.read_kept("first") is not None  # which is now the one used last
    cache.write_kept("third", bytes(100))
    assert [cache.read_kept(name) is not None for name in ("first", "second", "third")] == [True, False, True]
    cache.write_kept("large", bytes(1000))
    assert cache.read_kept("large") == bytes(1000)
    assert len(list((tmp_path / "kept").iterdir())) == 1


def test_a_full_disk_keeps_nothing_and_says_nothing(tmp_path):
    (tmp_path / "kept").write_text("")
    cache = BuildCache(tmp_path)
    cache.write_kept("stage", b"graph")
    assert cache.read_kept("stage") is None
