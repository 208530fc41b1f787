"""Cells of the notebook in which `bench_field_view` measures: two simulations, and notes of when frames are made."""

SETUP = '''\
import json, os, threading, time
import numpy as np
import workbench as wb
wave = wb.trace("""
u, v = fields("u v", boundary="periodic")
c = param("c", 1.0)
v1 = v + 0.1 * c * (u[+1, 0] + u[-1, 0] + u[0, +1] + u[0, -1] - 4 * u)
u.next, v.next = u + 0.1 * v1, v1
""", name="wave")
x, y = np.meshgrid(np.linspace(0, 6.28, 512), np.linspace(0, 6.28, 512), indexing="ij")
sim = wave.simulate(u=np.sin(x) * np.cos(y), v=0.0, threads=1)
other = wave.simulate(u=np.sin(x) * np.cos(y), v=0.0, threads=1)
'''
PARTICLES = '''\
import json, os, threading, time
import numpy as np
import workbench as wb
disc = wb.trace("""
x, v = particles("x v", dim=3)
c = param("c", 0.01)
middle = x + 0.5 * c * v
v1 = v - c * middle / (dot(middle, middle) + 0.05) ** 1.5
x.next, v.next = middle + 0.5 * c * v1, v1
""", name="disc")
x, y = np.random.default_rng(5).normal(size=(2, 3, {particles}))
sim = disc.simulate(x=x, v=0.3 * y, threads=1)
other = disc.simulate(x=x, v=0.3 * y, threads=1)
'''
NOTED = """\
from workbench.views.field import view as field_view
taken, sent, noting = {}, {}, True
original, original_show = field_view.frame_message, field_view.FieldView._show
def noted(number, *seen):
    if noting:
        taken[number] = time.time()
    return original(number, *seen)
def noted_show(view, number):
    original_show(view, number)
    if noting:
        sent[number] = time.time()
field_view.frame_message, field_view.FieldView._show = noted, noted_show
"""
