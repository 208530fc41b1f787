"""Places in a page: arrays of one program do not begin at the same one, in memory as in the plan."""

import numpy as np
import pytest

from workbench.planning.layout import ALIGNMENT, PAGE, place_in_page
from workbench.solvers import gray_scott


def test_all_places_are_taken_before_one_is_taken_again():
    places = [place_in_page(number) for number in range(PAGE // ALIGNMENT)]
    assert sorted(places) == list(range(0, PAGE, ALIGNMENT))


@pytest.mark.parametrize("count", [2, 3, 4, 8, 16])
def test_few_arrays_are_far_from_each_other(count):
    """Around the page, the least distance is at least a quarter of what an even spread has."""
    places = sorted(place_in_page(number) for number in range(count))
    gaps = np.diff([*places, places[0] + PAGE])
    assert min(gaps) >= PAGE / count / 4


@pytest.mark.parametrize("size", [40, 512])
def test_arrays_of_a_simulation_lie_apart(size):
    """Small ones and those that the system gives in whole pages."""
    run = gray_scott.machine().simulate(u=np.ones((size, size)), v=np.zeros((size, size)), backend="openmp")
    addresses = run._state.instance._slots
    assert len(addresses) == 4
    assert [int(address) % PAGE for address in addresses] == [place_in_page(number) for number in range(4)]
