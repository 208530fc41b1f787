"""Views of fields in files: they show what views of the same fields in memory show, and stay within memory=."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.in_files import folder_of_fields, resident_bytes
from tests.kit.random_tileable import HEAT, WAVE
from tests.views.field.pages import TestPage
from workbench.backends.array_files import ArrayFiles
from workbench.errors import RunError
from workbench.views.field.summary import Look, plain_axes
from workbench.views.field.view import FieldView

SHAPES = {1: (300_000,), 2: (2100, 90), 3: (160, 24, 30)}


@pytest.fixture
def folder(monkeypatch):
    with folder_of_fields(monkeypatch) as made:
        yield made


def pair(dim=3, text=WAVE, memory="512 KiB", **values):
    """Equal simulations in files and in memory."""
    machine = wb.trace(text, dim=dim, name="waves")
    start = {"u": np.random.default_rng(dim).random(SHAPES[dim]), **values}
    if text is WAVE:
        start["w"] = 0.5
    made = [machine.simulate(**start, backend="openmp", memory=limit) for limit in (memory, None)]
    assert "in files" in str(made[0])
    return made


def test_planes_probes_and_profiles_are_those_that_memory_gives(folder, tmp_path):
    there, here = (simulation.run(3) for simulation in pair())
    views = there.view("u"), FieldView(here, "u", plain_axes(here.shape), Look(across=1, up=2))
    looks = (
        lambda view: view.probe(3, 4, 5),
        lambda view: view.look(cuts={0: 150}),
        lambda view: view.look(plane=(0, 2), cuts={1: 7}),
        lambda view: view.look(plane=(2, 0)),
        lambda view: view.look(volume=True).probe(80, 9, 29),
        lambda view: view.look(name="w", plane=(0, 1)),
        lambda view: view.look(limits=(0.4, 0.6)),
    )
    for look in looks:
        for view in views:
            look(view)
        assert views[0].png == views[1].png
        for simulation in (there, here):
            simulation.run(2)
        assert views[0].svg == views[1].svg  # with all charts
        assert repr(views[0]) == repr(views[1])
    for view, name in zip(views, ("there", "here"), strict=True):
        view.save(tmp_path / f"{name}.csv").record(tmp_path / f"{name}.gif", frames=2)
    for kind in ("csv", "gif"):
        assert (tmp_path / f"there.{kind}").read_bytes() == (tmp_path / f"here.{kind}").read_bytes()


def test_a_volume_is_first_shown_in_planes_that_lie_together(folder):
    there, here = pair()
    assert there.view("u").summary.shown == (1, 2)
    assert here.view("u").summary.shown == (0, 1)


@pytest.mark.parametrize(("dim", "stride"), [(1, 74), (2, 3)])
def test_of_large_planes_and_lines_only_what_is_shown_is_read(dim, stride, folder):
    there, here = (simulation.run(2) for simulation in pair(dim, memory="256 KiB"))
    seen, right = there.view("u").summary, here.view("u").summary
    assert (seen.stride, right.stride, seen.sampled, right.sampled) == (stride, stride, True, False)
    assert np.array_equal(seen.values, right.values)
    assert (seen.minimum, seen.maximum) == (seen.values.min(), seen.values.max())
    assert right.minimum < seen.minimum
    assert f"read and drawn: one cell of {stride} along each axis; min and max are of these" in repr(there.view("u"))
    assert seen.points.size == right.points.size == (2 * -(-SHAPES[1][0] // stride) if dim == 1 else 0)


def test_profiles_along_long_axes_say_what_was_read(folder):
    there, _ = pair(1, memory="256 KiB")
    (chart,) = (chart for chart in there.view("u").charts if chart.group == "profiles")
    assert chart.title.endswith("least and greatest of each 118 cells, one cell of 5 read")
    (curve,) = chart.curves
    assert curve.values.size == curve.places.size == 2 * -(-60_000 // 118)
    assert curve.places[2] == 118 * 5


@pytest.mark.parametrize(("plane", "cut"), [((0, 1), 2), ((0, 2), 1)])
def test_a_look_across_the_file_keeps_within_memory(plane, cut, folder, monkeypatch):
    there, here = pair(3, u=np.random.default_rng(1).random((900, 60, 64)), memory="2 MiB")
    give_up, in_memory = ArrayFiles.give_up, []

    def noted(files):
        in_memory.append(resident_bytes(files))
        give_up(files)

    view = there.view("u").look(plane=plane)
    give_up(there._state.instance.files)
    monkeypatch.setattr(ArrayFiles, "give_up", noted)
    view.look(cuts={cut: 59}).probe(899, 59, 0)
    assert 0 < max(in_memory) <= 2 << 20
    assert np.array_equal(view.summary.values[::-1].T, here.u.take(59, axis=cut))


def test_pairs_are_shown_by_their_leading_parts(folder):
    text = HEAT.replace('u = field("u",', 'u = field("u", dtype="dd",')
    there, here = (simulation.run(1) for simulation in pair(text=text, memory="1 MiB"))
    views = there.view("u"), FieldView(here, "u", plain_axes(here.shape), Look(across=1, up=2))
    assert len({view.probe(5, 6, 7).svg for view in views}) == 1


def test_values_that_are_no_numbers_are_found_where_they_are_shown(folder):
    values = np.random.default_rng(1).random(SHAPES[3])
    values[80, 7, 11], values[9, 1, 1] = np.inf, np.nan
    view = pair(u=values)[0].view("u")
    assert str(view.summary.wrong) == "infinity at step 0 in cell (80, 7, 11)"
    assert "0 NaN, 1 infinite" in repr(view)
    shown = pair(u=values)[0].view("u").look(plane=(0, 2), cuts={1: 1})
    assert shown.summary.not_numbers == 1


def test_what_takes_whole_fields_is_not_offered_and_told(folder, tmp_path):
    there, _ = pair(text=HEAT.replace("u.next = u +", "v = u\nu.next = v +"))
    view = there.view("u")
    assert view._looking.names == ("u",)
    with pytest.raises(RunError, match="the value v takes whole fields"):
        there.view("v")
    with pytest.raises(RunError, match="the value v takes whole fields"):
        view.look(name="v")
    with pytest.raises(RunError, match="writes all values only of fields that memory has room for"):
        view.save(tmp_path / "u.npy")
    assert view.look(cuts={0: 3}).summary.name == "u"
    text = HEAT + 'v = vector("v")\nfor i in range(3):\n    v[i].next = u\n'
    vector, _ = pair(text=text, v=np.zeros((3, *SHAPES[3])), memory="2 MiB")
    with pytest.raises(RunError, match=r'a view of v takes whole fields[^\n]*\n[^\n]*such as "v0"'):
        vector.view("v")


def test_a_page_plays_and_says_that_it_cannot_reset(folder):
    there, here = pair()
    view = FieldView(there, "u", plain_axes(there.shape), Look(across=1, up=2))
    page = TestPage(view)
    view.attach(page)
    view.ready()
    page.wait("frame", lambda m: m["step"] == 0)
    view.receive({"type": "play"})
    page.wait("frame", lambda m: m["step"] > 2)
    view.receive({"type": "pause"})
    page.wait("status", lambda m: not m["running"])
    view.receive({"type": "reset"})
    error = page.wait("error", lambda m: True)
    assert "waves cannot be reset: its fields are larger than memory=, and no copy is kept" in error["text"]
    there.stop()
    steps = there.steps
    view.close()
    assert np.array_equal(there.u, here.run(steps).u)
