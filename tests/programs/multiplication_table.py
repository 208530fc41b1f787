"""A 10 x 20 multiplication table and its sum, in integers."""

import numpy as np

TEXT = """\
table = field("table", dtype="i64")
total = scalar("total", dtype="i64")
product = (index(0) + 1) * (index(1) + 1)
table.next = product
total.next = reduce_sum(product)
"""
STEPS = 1


def start():
    return {"table": 0, "shape": (10, 20)}


def check(simulation):
    assert np.array_equal(simulation.table, np.outer(np.arange(1, 11), np.arange(1, 21)))
    assert simulation.total == 55 * 210
