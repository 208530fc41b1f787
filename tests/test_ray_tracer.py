"""The ray tracer: pictures of a reference in NumPy, equal bits, loops of a turn, and what compiles nothing."""

import numpy as np
import pytest

from tests.kit.bits import assert_same_bits
from workbench.commands.bench.peers import numpy_rays
from workbench.programs.ray_tracer import Lights, Planes, Scene, Spheres, arguments, board, picture, traced_rays

EYE, TOWARDS = (0.3, 1.6, -5.0), (0.1, 0.7, 0.0)
SIZES = [((5, 7), 2), ((23, 31), 4)]


@pytest.mark.parametrize(("shape", "limit"), SIZES)
def test_pictures_are_those_of_the_reference_and_have_equal_bits(shape, limit):
    scene = board()
    found = picture(scene, EYE, TOWARDS, shape=shape, limit=limit, backend="openmp")
    exact = numpy_rays.picture(scene, EYE, TOWARDS, 1.0, 0.3, shape, limit)
    np.testing.assert_allclose(found, exact, atol=1e-9)  # the same formulas in another order, of numbers up to 10
    assert np.min(found) >= 0
    assert np.max(found) <= 1
    assert len(np.unique(found[0])) > min(20, shape[0] * shape[1] // 2)
    for backend, threads in (("reference", 0), ("openmp", 1), ("openmp", 3), ("cuda-sim", 0)):
        again = picture(scene, EYE, TOWARDS, shape=shape, limit=limit, backend=backend, threads=threads)
        for mine, bits in zip(again, found, strict=True):
            assert_same_bits(mine, bits)


def test_bright_light_is_cut_off_at_each_surface():
    spheres, planes, lights = board()
    scene = Scene(spheres, planes, lights._replace(red=200 * lights.red))
    found = picture(scene, EYE, TOWARDS, shape=(23, 31), backend="openmp")
    exact = numpy_rays.picture(scene, EYE, TOWARDS, 1.0, 0.3, (23, 31), 4)
    np.testing.assert_allclose(found, exact, atol=1e-9)
    assert (found[0] == 1).sum() > 50


def test_a_scene_may_lack_spheres_planes_and_lights():
    scene = board()
    for lacking in range(3):
        parts = [type(p)(*(a[:0] for a in p)) if number == lacking else p for number, p in enumerate(scene)]
        found = picture(Scene(*parts), EYE, TOWARDS, shape=(12, 15), backend="openmp")
        np.testing.assert_allclose(
            found, numpy_rays.picture(Scene(*parts), EYE, TOWARDS, 1.0, 0.3, (12, 15), 4), atol=1e-9
        )
    nothing = [kind(*(np.zeros(0),) * len(kind._fields)) for kind in (Spheres, Planes, Lights)]
    assert not np.any(picture(Scene(*nothing), EYE, TOWARDS, shape=(3, 4), backend="openmp"))


def test_a_turn_has_nine_loops_and_no_array_of_pixels_and_objects():
    plan = traced_rays.machine(*arguments(board(), EYE, TOWARDS, 1.0, 0.3, (6, 8), 4)).plan("openmp")
    assert [len(kernel.observed.subkernels) for kernel in plan.kernels] == [1, 4, 9]  # after, before, and in a turn
    axes = [set(slot.axes) for slot in plan.array_slots]
    spheres, planes, lights = (
        next(iter(axes[number])) for number in (0, 8, 19)
    )  # arrays are in the order of arguments
    assert max(map(len, axes)) == 3
    of_pixels = [each for each in axes if len(each) == 3]
    assert all(lights in each for each in of_pixels)  # whether a light is hidden by spheres, and by planes
    pixels = set.union(*of_pixels) - {lights}
    assert len(pixels) == 2
    assert not [each for each in axes if each & pixels and each & {spheres, planes}]


def test_a_large_picture_is_made_some_rows_at_a_time(monkeypatch):
    whole = picture(board(), EYE, TOWARDS, shape=(23, 31), backend="openmp")
    calls, call = [], type(traced_rays).__call__

    def counted(function, scene, across, up, *further, **how):
        calls.append(len(up))
        return call(function, scene, across, up, *further, **how)

    monkeypatch.setattr("workbench.programs.ray_tracer._RAYS", 5 * 31)
    monkeypatch.setattr(type(traced_rays), "__call__", counted)
    for mine, bits in zip(picture(board(), EYE, TOWARDS, shape=(23, 31), backend="openmp"), whole, strict=True):
        assert_same_bits(mine, bits)
    assert calls == [5, 5, 5, 5, 3]
    picture(board(), EYE, TOWARDS, shape=(2, 31), backend="openmp")
    assert calls[5:] == [2]


def test_another_camera_size_limit_and_scene_compile_nothing(monkeypatch):
    scene = board()
    first = picture(scene, EYE, TOWARDS, shape=(6, 8), backend="openmp")
    before = len(traced_rays._traced)
    one = Scene(*(type(part)(*(a[:1] for a in part)) for part in scene))
    for given in ((scene, 2, (6, 8)), (one, 4, (6, 8)), (scene, 9, (7, 9))):
        picture(given[0], (1.0, 2.0, -4.0), TOWARDS, 0.8, 0.1, limit=given[1], shape=given[2], backend="openmp")
    assert len(traced_rays._traced) == before
    assert (picture(scene, (1.0, 2.0, -4.0), TOWARDS, shape=(6, 8), backend="openmp")[0] != first[0]).any()
