"""Teams: more threads than a host has are refused before the system refuses them, which would end the process."""

import os

import numpy as np
import pytest

import workbench as wb
from workbench.backends.teams import check_threads, most_threads
from workbench.errors import RunError
from workbench.planning import Choices, PlanChoices


@pytest.mark.parametrize("threads", [0, 1, 2, 256, 4 * os.cpu_count()])
def test_what_a_host_may_have_is_taken(threads):
    check_threads(threads)


@pytest.mark.parametrize("threads", [-1, 1.5, True, "2", None, most_threads() + 1, 100_000, 2**70])
def test_anything_else_is_refused(threads):
    with pytest.raises(RunError, match="threads"):
        check_threads(threads)


def test_choices_are_refused_as_arguments_are():
    machine = wb.trace('u = field("u")\nu.next = u + 1')
    choices = Choices(plan=PlanChoices().changed(threads=50_000))
    with pytest.raises(RunError, match="threads=50000 is more than"):
        machine.simulate(u=np.zeros(4), backend="openmp", choices=choices)
