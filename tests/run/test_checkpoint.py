"""Save and restore: continuing is bit-equal to not having stopped, and a bad file says what is wrong."""

import json
import zipfile

import numpy as np
import pytest

import workbench as wb
from tests.capabilities import backends_here
from tests.programs.wave import TEXT as WAVE
from tests.programs.wave import start
from workbench.errors import RunError

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

    def full(file, **arrays):
        file.write(b"half of it")
        raise OSError(28, "No space left on device")

    with MACHINE.restore(saved, backend="reference") as simulation:
        monkeypatch.setattr(np, "savez", full)
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


def test_file_of_another_machine_is_refused(saved):
    other = wb.trace(WAVE.replace("0.5 *", "0.25 *"), name="other")
    with pytest.raises(RunError, match="state of machine wave"):
        other.restore(saved)


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
    with np.load(saved) as archive:
        arrays = {name: archive[name] for name in archive.files}
    arrays["about"] = np.array(json.dumps({**json.loads(str(arrays["about"])), "format": 99}))
    np.savez(saved, **arrays)
    with pytest.raises(RunError, match="has format 99"):
        MACHINE.restore(saved)


def test_file_is_an_ordinary_archive(saved):
    assert zipfile.is_zipfile(saved)
    with np.load(saved) as archive:
        assert archive["static/u"].shape == (21,)
