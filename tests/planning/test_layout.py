"""Every cell has its own element, rows lie as promised, and the padding is what the size calls for."""

import itertools

import numpy as np
import pytest

from workbench.backends.launch_sequence import shape_bytes
from workbench.planning.layout import ALIGNMENT, LARGE_BYTES, lay_out, lay_out_on_host, lay_out_packed


@pytest.mark.parametrize(
    ("extents", "halo"),
    [((7,), ((2, 3),)), ((3, 5), ((1, 0), (0, 2))), ((2, 3, 4), ((1, 1), (0, 3), (7, 7))), ((1, 1), ((7, 7), (7, 7)))],
)
@pytest.mark.parametrize("alignment", [8, ALIGNMENT])
@pytest.mark.parametrize("padding", [(), (0,), (2, 1)])
def test_cells_and_ghosts_have_elements_of_their_own(extents, halo, alignment, padding):
    layout = lay_out(extents, halo, 8, alignment, padding)
    ranges = [range(-below, n + above) for n, (below, above) in zip(extents, halo, strict=True)]
    cells = [
        layout.start + sum(i * s for i, s in zip(at, layout.strides, strict=True)) for at in itertools.product(*ranges)
    ]
    assert len(set(cells)) == len(cells)
    assert min(cells) >= 0
    assert max(cells) < layout.elements


def test_rows_of_small_arrays_start_on_cache_lines():
    layout = lay_out_on_host((100, 100), ((1, 1), (1, 1)), 4)
    assert layout.start * 4 % ALIGNMENT == 0
    assert layout.strides[0] * 4 % ALIGNMENT == 0


def test_rows_of_large_arrays_have_no_padding():
    extents = (384, 384, 384)
    layout = lay_out_on_host(extents, ((1, 1),) * 3, 4)
    assert np.prod(extents) * 4 > LARGE_BYTES
    assert layout.strides == (386 * 386, 386, 1)


def test_rows_of_large_arrays_start_on_cache_lines_where_that_is_asked():
    layout = lay_out_on_host((384, 384, 384), ((1, 1),) * 3, 4, on_lines=True)
    assert layout.strides[1] * 4 % ALIGNMENT == layout.start * 4 % ALIGNMENT == 0
    assert layout == lay_out((384, 384, 384), ((1, 1),) * 3, 4)
    column = lay_out_on_host((6_000_000, 1), ((1, 1),) * 2, 8, on_lines=True)
    assert column.strides == (3, 1)  # a line for each would be 2.7 times as much


def test_neighbouring_rows_never_compete_for_one_cache_set():
    for n in (1024 - 2, 4096 - 2, 1024):
        assert lay_out_on_host((n, n), ((1, 1), (1, 1)), 8).strides[0] * 8 % 4096 != 0


def test_a_domain_of_more_cells_than_64_bits_count_has_a_shape():
    """Of a function of arrays of 40 lengths: no array has all of its axes."""
    for layout in (lay_out_packed((100,) * 40, ((0, 0),) * 40, 8), lay_out((100,) * 40, ((0, 0),) * 40, 8)):
        words = np.frombuffer(shape_bytes(layout), np.int64)
        assert words[:40].tolist() == [100] * 40
        assert (words >= 0).all()
        assert words[79] == 1  # along the last axis
