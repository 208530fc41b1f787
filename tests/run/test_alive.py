"""What is alive is listed, and being listed keeps nothing alive."""

import gc

import numpy as np

import workbench as wb
from workbench.run import alive


def test_machines_and_simulations_are_listed_while_held():
    gc.collect()  # what earlier tests left
    machine = wb.trace('u = field("u")\nu.next = u + 1', name="listed")
    simulation = machine.simulate(u=np.zeros(3), backend="reference")
    assert any(m is machine for m in alive.machines())
    assert any(s is simulation for s in alive.simulations())
    assert alive.machines()[-1] is machine
    count = len(alive.machines()), len(alive.simulations())
    del machine, simulation
    gc.collect()
    assert (len(alive.machines()), len(alive.simulations())) == (count[0] - 1, count[1] - 1)
