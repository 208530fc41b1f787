"""Cells that the tests of this folder run."""

WAVE = '''\
import numpy as np
import workbench as wb
wave = wb.trace("""
u, v = fields("u v", boundary="periodic")
c = param("c", 1.0)
v1 = v + 0.1 * c * (u[+1, 0] + u[-1, 0] + u[0, +1] + u[0, -1] - 4 * u)
u.next, v.next = u + 0.1 * v1, v1
""", name="wave")
x, y = np.meshgrid(np.linspace(0, 1, 256), np.linspace(0, 1, 192), indexing="ij")
sim = wave.simulate(u=np.exp(-100 * ((x - 0.3)**2 + (y - 0.6)**2)), v=0.0)'''

WAVE_1D = '''\
import numpy as np
import workbench as wb
wave = wb.trace("""
u, v   = fields("u v", boundary="periodic")
energy = scalar("energy")
c      = param("c", 3.43, above=0)
dx = 2 * pi / size(0)
dt = dx / c
u1 = u + dt * v
a = c**2 / dx**2 * (u1[+1] - 2 * u1 + u1[-1])
v1 = v + dt * a
u.next, v.next = u1, v1
energy.next = reduce_sum(0.5 * (v**2 + c**2 * (u1[+1] - u1) * (u[+1] - u) / dx**2) * dx)
""", name="wave")'''

ENERGY = '''\
import numpy as np
import workbench as wb
wave = wb.trace("""
u = field("u", boundary="periodic", unit="m")
v = field("v", boundary="periodic")
energy, t = scalar("energy"), scalar("t")
c = param("c", 1.0)
v1 = v + 0.1 * c * (u[+1, 0] + u[-1, 0] + u[0, +1] + u[0, -1] - 4 * u)
u.next, v.next = u + 0.1 * v1, v1
energy.next, t.next = reduce_sum(v1 * v1), t + 0.1
""", name="wave")
x, y = np.meshgrid(np.linspace(0, 1, 128), np.linspace(0, 1, 96), indexing="ij")
sim = wave.simulate(u=np.exp(-100 * ((x - 0.3)**2 + (y - 0.6)**2)), v=0.0)'''

VOLUME = """\
import numpy as np
import workbench as wb
heat = wb.trace('T = field("T", boundary="periodic", unit="K")\\nT.next = T + 0.1 * (T[+1,0,0] - 2*T + T[-1,0,0])')
x, y, z = np.meshgrid(*(np.linspace(0, 1, n) for n in (48, 36, 24)), indexing="ij")
three = heat.simulate(T=np.exp(-20 * ((x - 0.4)**2 + (y - 0.6)**2 + (z - 0.3)**2)) + 0.2 * np.sin(9 * x))
three.view("T", palette="cividis")"""
