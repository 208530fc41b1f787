"""Arrays in files: what is in memory of them changes, what is read never does."""

import numpy as np
import pytest

from tests.kit.in_files import disk_folder, resident_bytes
from workbench.backends.array_files import ArrayFiles, array_in_file, give_up, pieces
from workbench.backends.in_files import FileStorage
from workbench.planning.layout import lay_out


@pytest.fixture
def folder():
    with disk_folder() as made:
        yield made


def filled(folder, extents=(64, 1000)):
    """An array of a simulation in a file, with a value in each cell, and its files."""
    files, layout = ArrayFiles(FileStorage(folder, 1 << 16)), lay_out(extents, ((1, 1), (1, 1)), 8)
    block = files.block(8 * layout.elements, 64, layout, 8)
    strides = tuple(8 * step for step in layout.strides)
    cells = np.ndarray(extents, np.float64, block.cells.data, 8 * layout.start, strides)
    cells[...] = np.arange(cells.size).reshape(extents)
    return files, cells


def test_what_is_given_up_is_read_again(folder):
    files, cells = filled(folder)
    assert resident_bytes(files) >= cells.nbytes
    files.give_up()
    assert resident_bytes(files) == 0
    assert np.array_equal(cells, np.arange(cells.size).reshape(cells.shape))


def test_a_copy_lives_longer_than_what_it_is_of(folder):
    files, cells = filled(folder)
    right, copy = cells.copy(), files.copied(cells)
    assert resident_bytes(files) == 0
    files.close()
    del files, cells
    assert copy.flags.c_contiguous
    assert np.array_equal(copy, right)


@pytest.mark.parametrize("mode", ["r", "r+", "c"])
def test_mappings_of_others_keep_what_was_changed_in_them(mode, folder):
    """One of mode "c" has its changes in memory alone, which must not be given up."""
    np.save(folder / "u.npy", np.zeros((50, 500)))
    mapped = np.load(folder / "u.npy", mmap_mode=mode)
    if mode != "r":
        mapped[7] = 1.0
    give_up(np.asarray(mapped)[5:])
    assert mapped.sum() == (0.0 if mode == "r" else 500.0)


def test_arrays_in_memory_are_left_alone():
    cells = np.ones(1000)
    give_up(cells)
    assert cells.all()


@pytest.mark.parametrize("shape", [(), (1,), (7,), (64, 3), (5, 4, 3)])
def test_pieces_are_all_of_an_array_in_order(shape):
    cells = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    for most in (1, 40, 10**6):
        found = [cells[piece].ravel() for piece in pieces(cells, most)]
        assert np.array_equal(np.concatenate(found), cells.ravel())
        assert most > 1 or len(found) == (len(cells) if shape else 1)


def test_an_array_in_a_file_is_zero_and_has_no_name(folder):
    cells = array_in_file(folder, (30, 7), np.dtype("f4"))
    assert cells.shape == (30, 7)
    assert not cells.any()
    assert not any(folder.iterdir())
