"""Save and restore: continuing is bit-equal to not having stopped, and a bad file says what is wrong."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import tracemalloc
import warnings
import zipfile

import numpy as np
import pytest

import workbench as wb
from tests.kit.capabilities import backends_here
from tests.programs.wave import TEXT as WAVE
from tests.programs.wave import start
from workbench.errors import RunError
from workbench.graph.keys_1 import NotInVersion1Error, program_key_1
from workbench.run import checkpoint
from workbench.run.checkpoint import OtherProgramWarning

MACHINE = wb.trace(WAVE, name="wave")


@pytest.fixture
def saved(tmp_path):
    with MACHINE.simulate(backend="reference", c=2.5, **start(21)) as simulation:
        simulation.run(9).save(tmp_path / "run.npz")
    return tmp_path / "run.npz"


@pytest.mark.parametrize("backend", backends_here())
def test_restored_run_continues_to_the_bit(saved, backend):
    with (
        MACHINE.simulate(backend="reference", c=2.5, **start(21)) as through,
        MACHINE.restore(saved, backend=backend) as restored,
    ):
        assert restored.steps == 9
        assert restored.c == 2.5
        expected, found = through.run(20).to_dict(), restored.run(11).to_dict()
    for name, value in expected.items():
        assert np.asarray(value).tobytes() == np.asarray(found[name]).tobytes(), name


def test_every_type_survives(tmp_path):
    text = "\n".join(f'f{t} = field("f{t}", dtype="{t}")\nf{t}.next = f{t}' for t in ("bool", "i8", "u64", "f32"))
    text += '\nn = scalar("n", dtype="u64", default=0)\nn.next = n'
    machine = wb.trace(text)
    values = {"fbool": [True, False], "fi8": [-128, 127], "ff32": [-0.0, np.nan]}
    values["fu64"] = np.array([2**64 - 1, 0], np.uint64)
    machine.simulate(**values, n=2**64 - 1, backend="reference").run(1).save(tmp_path / "types.npz")
    restored = machine.restore(tmp_path / "types.npz", backend="reference")
    for name, value in values.items():
        array = restored.to_numpy(name)
        assert array.tobytes() == np.array(value, array.dtype).tobytes()
    assert restored.n == 2**64 - 1


def test_failed_save_leaves_the_old_file_and_nothing_else(saved, monkeypatch):
    before = saved.read_bytes()

    def full(file, arrays):
        file.write(b"half of it")
        raise OSError(28, "No space left on device")

    with MACHINE.restore(saved, backend="reference") as simulation:
        monkeypatch.setattr(checkpoint, "write_arrays", full)
        with pytest.raises(RunError, match="No space left on device"):
            simulation.save(saved)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


def test_missing_file(tmp_path):
    with pytest.raises(RunError, match="there is no file"):
        MACHINE.restore(tmp_path / "none.npz")


@pytest.mark.parametrize("keep", [0, 10, 200, 0.5, 0.99])
def test_truncated_file_is_refused(saved, keep):
    content = saved.read_bytes()
    saved.write_bytes(content[: keep if isinstance(keep, int) else int(len(content) * keep)])
    with pytest.raises(RunError, match="is damaged"):
        MACHINE.restore(saved)


def test_every_flipped_byte_is_noticed_or_harmless(saved):
    content = saved.read_bytes()
    with MACHINE.restore(saved, backend="reference") as simulation:
        expected = simulation.to_dict()
    refused = 0
    for position in range(0, len(content), 37):
        saved.write_bytes(content[:position] + bytes([content[position] ^ 0xFF]) + content[position + 1 :])
        try:
            with MACHINE.restore(saved, backend="reference") as simulation:
                found = simulation.to_dict()
        except RunError:
            refused += 1
        else:
            assert all(np.array_equal(found[name], expected[name]) for name in expected), position
    print(f"{refused} of {len(range(0, len(content), 37))} damaged files refused")
    assert refused > 10


OTHER = wb.trace(WAVE.replace("0.5 *", "0.25 *"), name="other")


def with_words(path, **changes):
    """The file with other words about it; None takes one out."""
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    about = {**json.loads(str(arrays["about"])), **changes}
    arrays["about"] = np.array(json.dumps({name: value for name, value in about.items() if value is not None}))
    np.savez(path, **arrays)


def of_format_1(path):
    """The file as it was written before keys of version 2."""
    with_words(path, format=1, state=None, graph=program_key_1(MACHINE.graph))


@pytest.mark.parametrize("format_1", [False, True])
def test_state_goes_on_in_another_program_with_the_same_statics(saved, format_1):
    if format_1:
        of_format_1(saved)
    with warnings.catch_warnings(action="error"), MACHINE.restore(saved, backend="reference") as simulation:
        expected = simulation.to_dict()
    with pytest.warns(OtherProgramWarning, match="by another program, wave .*: other continues") as caught:
        simulation = OTHER.restore(saved, backend="reference")
    assert caught[0].filename == __file__
    with simulation:
        found = simulation.to_dict()
        assert all(np.array_equal(found[name], value) for name, value in expected.items())
        simulation.run(1)


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ('boundary="periodic"', 'boundary="periodic", dtype="f32"', "u is float64 there, float32 here"),
        ('"c"', '"speed"', "it has c, it has no speed"),
    ],
)
@pytest.mark.parametrize("format_1", [False, True])
def test_other_statics_are_refused(saved, format_1, old, new, what):
    if format_1:
        of_format_1(saved)
    assert old in WAVE
    other = wb.trace(WAVE.replace(old, new), name="other")
    with pytest.raises(RunError, match=f"state of machine wave, which other cannot continue: .*{what}"):
        other.restore(saved)


def test_other_roles_are_refused_although_the_arrays_fit(saved):
    with_words(saved, state="0123456789abcdef")
    with pytest.raises(RunError, match="roles or spaces of its statics differ"):
        MACHINE.restore(saved)


def test_file_of_format_1_of_a_program_that_version_1_did_not_know_is_of_another_one(saved, monkeypatch):
    of_format_1(saved)

    def unknown(graph):
        raise NotInVersion1Error("Gather")

    monkeypatch.setattr(checkpoint, "program_key_1", unknown)
    with pytest.warns(OtherProgramWarning):
        MACHINE.restore(saved, backend="reference").close()


def test_pickles_are_not_read(tmp_path):
    path = tmp_path / "pickle.npz"
    np.savez(path, about=np.array([object()], dtype=object))
    with pytest.raises(RunError, match="was not written by save"):
        MACHINE.restore(path)


def test_array_that_does_not_fit_its_extents_is_refused(saved):
    with np.load(saved) as archive:
        arrays = {name: archive[name] for name in archive.files}
    arrays["static/u"] = arrays["static/u"][:-1]
    np.savez(saved, **arrays)
    with pytest.raises(RunError, match="u is not f64 of shape"):
        MACHINE.restore(saved)


def test_later_format_is_refused(saved):
    with_words(saved, format=99)
    with pytest.raises(RunError, match="has format 99"):
        MACHINE.restore(saved)


def test_file_is_an_ordinary_archive(saved):
    assert zipfile.is_zipfile(saved)
    with np.load(saved) as archive:
        assert archive["static/u"].shape == (21,)


def test_two_threads_may_save_to_one_path(tmp_path, monkeypatch):
    path, both, write = tmp_path / "run.npz", threading.Barrier(2), checkpoint.write_arrays

    def in_step(file, arrays):
        write(file, arrays)
        both.wait(60)  # each has written its file before either gives it its name

    monkeypatch.setattr(checkpoint, "write_arrays", in_step)
    errors = []

    def save(k):
        try:
            with MACHINE.simulate(backend="reference", c=float(k), **start(21)) as simulation:
                simulation.run(k).save(path)
        except RunError as error:
            errors.append(error)

    threads = [threading.Thread(target=save, args=(k,)) for k in (2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert [p.name for p in tmp_path.iterdir()] == ["run.npz"]
    with MACHINE.restore(path, backend="reference") as restored:
        assert restored.c == float(restored.steps) in (2.0, 3.0)


KILLED = """
import os, signal, sys
import numpy as np
import workbench as wb
from workbench.run import checkpoint

def dies(file, arrays):
    file.write(b"half of it")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)

checkpoint.write_arrays = dies
wb.trace('u = field("u")\\nu.next = u').simulate(u=np.zeros(3), backend="reference").save(sys.argv[1])
"""


def test_what_a_killed_save_left_goes_away(saved):
    before = saved.read_bytes()
    done = subprocess.run([sys.executable, "-c", KILLED, saved], capture_output=True, timeout=60, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert saved.read_bytes() == before
    assert len(list(saved.parent.iterdir())) == 2
    with MACHINE.restore(saved, backend="reference") as simulation:
        simulation.save(saved)
    assert list(saved.parent.iterdir()) == [saved]


def test_a_save_under_way_is_no_remain(saved, monkeypatch):
    write, seen = checkpoint.write_arrays, []

    def meanwhile(file, arrays):
        if not seen:
            seen.append(True)
            with MACHINE.restore(saved, backend="reference") as other:
                other.run(1).save(saved.with_name("other.npz"))
        write(file, arrays)

    with MACHINE.restore(saved, backend="reference") as simulation:
        monkeypatch.setattr(checkpoint, "write_arrays", meanwhile)
        simulation.run(2).save(saved)
    assert MACHINE.restore(saved, backend="reference").steps == 11
    assert MACHINE.restore(saved.with_name("other.npz"), backend="reference").steps == 10
    assert len(list(saved.parent.iterdir())) == 2


def test_links_are_not_followed(saved, tmp_path_factory):
    """Neither one under the file's name, nor one that somebody laid where a temporary file was expected."""
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "precious"
    elsewhere.write_text("precious")
    link = saved.with_name("link.npz")
    link.symlink_to(elsewhere)
    saved.with_name(f".link.npz.{os.getpid()}.part").symlink_to(elsewhere)
    with MACHINE.restore(saved, backend="reference") as simulation:
        simulation.save(link)
    assert elsewhere.read_text() == "precious"
    assert not link.is_symlink()
    assert MACHINE.restore(link, backend="reference").steps == 9


def rewritten(path, about=None, method=zipfile.ZIP_STORED, arrays=None):
    """The file with other words about it and other arrays; `about` changes the words, as text."""
    with np.load(path) as archive:
        found = {name: archive[name] for name in archive.files}
    text = str(found.pop("about"))
    found = {"about": np.array(about(text) if about else text), **found, **(arrays or {})}
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, array in found.items():
            with archive.open(f"{name}.npy", "w") as file:
                np.lib.format.write_array(file, array)


def changed(**values):
    return lambda text: json.dumps({**json.loads(text), **values})


ABOUTS = {
    "negative steps": changed(steps=-1),
    "steps in words": changed(steps="9"),
    "half steps": changed(steps=9.5),
    "true steps": changed(steps=True),
    "steps beyond 64 bits": changed(steps=2**70),
    "observed later": changed(observed_step=10),
    "infinite steps": changed(steps=float("inf")),
    "infinite extents": changed(extents=[float("inf")]),
    "no extents": changed(extents=[0]),
    "infinite format": changed(format=float("inf")),
    "nested": lambda text: "[" * 100_000,
    "a list": lambda text: "[]",
    "long": lambda text: json.dumps({"more": "x" * (1 << 20)}),
}


@pytest.mark.parametrize("case", ABOUTS)
def test_words_that_save_never_writes_are_refused(saved, case):
    rewritten(saved, ABOUTS[case])
    with pytest.raises(RunError, match="is damaged"):
        MACHINE.restore(saved, backend="reference")


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_compressed_files_are_read_whole_or_refused(saved, method):
    with MACHINE.restore(saved, backend="reference") as simulation:
        expected = simulation.to_dict()
    rewritten(saved, method=method)
    with MACHINE.restore(saved, backend="reference") as simulation:
        assert all(np.array_equal(simulation.to_dict()[name], expected[name]) for name in expected)
    content, refused = saved.read_bytes(), 0
    for position in range(30, len(content), 41):
        saved.write_bytes(content[:position] + bytes([content[position] ^ 0x5B]) + content[position + 1 :])
        try:
            with MACHINE.restore(saved, backend="reference") as simulation:
                assert all(np.array_equal(simulation.to_dict()[name], expected[name]) for name in expected), position
        except RunError:
            refused += 1
    assert refused > 5


def test_encrypted_file_is_refused(saved):
    content = bytearray(saved.read_bytes())
    for mark, flags in ((b"PK\3\4", 6), (b"PK\1\2", 8)):  # the bit that says so, of each entry
        at = content.find(mark)
        while at >= 0:
            content[at + flags] |= 1
            at = content.find(mark, at + 4)
    saved.write_bytes(content)
    with pytest.raises(RunError, match=r"is damaged.*encrypted"):
        MACHINE.restore(saved)


def test_large_foreign_entries_are_not_unpacked(saved):
    large = np.zeros(5_000_000)
    rewritten(saved, method=zipfile.ZIP_DEFLATED, arrays={"static/other": large})
    tracemalloc.start()
    try:
        with contextlib.suppress(RunError):
            MACHINE.restore(saved, backend="reference").close()
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


def test_a_field_larger_than_said_is_not_unpacked(saved):
    rewritten(saved, method=zipfile.ZIP_DEFLATED, arrays={"static/u": np.zeros(5_000_000)})
    tracemalloc.start()
    try:
        with pytest.raises(RunError, match="u is not f64 of shape"):
            MACHINE.restore(saved, backend="reference")
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


def test_a_param_beyond_its_limits_is_refused(tmp_path):
    text = 'u = field("u")\nk = param("k", 0.5, at_least=0, at_most=1)\nu.next = k * u'
    machine = wb.trace(text, name="bounded")
    machine.simulate(u=np.zeros(3), backend="reference").save(tmp_path / "k.npz")
    for value in (1.5, np.nan, -np.inf):
        rewritten(tmp_path / "k.npz", arrays={"static/k": np.array(value)})
        with pytest.raises(RunError, match=r"holds k=.*must be at least 0 and at most 1"):
            machine.restore(tmp_path / "k.npz", backend="reference")
