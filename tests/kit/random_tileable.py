"""Random cells whose steps can run together in tiles: one loop a step, ghost cells that never change."""

import random

WAVE = """
u, w = fields("u w", boundary=constant(0.5))
c = param("c", 0.1)
u.next = 2 * u - w + c * (sum(u.at(+1, x) + u.at(-1, x) for x in axes) - 2 * len(axes) * u)
w.next = u
"""
HEAT = """
u = field("u", boundary=constant(1.0))
a = param("a", 0.1)
u.next = u + a * (sum(u.at(+1, x) + u.at(-1, x) for x in axes) - 2 * len(axes) * u)
"""
# Three arrays whose places turn in a circle; long and one-sided reaches; a coefficient field that never changes.
TURNING = """
a, b, c = fields("a b c", boundary=constant(0.25))
k = field("k", boundary=constant(2.0))
a.next = b + k * 0.1 * (a.at(+2, axes[0]) - a) + 0.01 * k.at(-1, axes[-1])
b.next = c
c.next = a
"""

# A diagnostic scalar, a boundary value that is a param, fields of two types.
WATCHED = """
edge = param("edge", 0.5)
u = field("u", boundary=constant(edge))
w = field("w", dtype="f32", boundary=constant(1.0))
total = scalar("total")
u.next = u + 0.1 * (u[+1, 0] - 2 * u + u[-1, 0]) + 0.01 * w[0, -2]
w.next = 0.5 * w + 0.25 * (w[0, +1] + w[0, -1])
total.next = reduce_sum(u)
"""

ANALYTIC = """
u = field("u", boundary={"x-": analytic(lambda i, j: 0.5 * i + 0.25 * j), "x+": constant(1.0), "y": constant(0.0)})
u.next = 0.25 * (u[+1, 0] + u[-1, 0] + u[0, +2] + u[0, -1])
"""

# Several loops a step: a rule for each side, some of them functions of time, a stage that is extended and one that is
# computed outside the domain too.
STAGED = """
time = scalar("time")
time.next = time + 0.25
u = field("u", boundary={"x": "periodic", "y-": reflect(sign=-1), "y+": fixed(time)})
w = field("w", dtype="f32", boundary={
    "x": periodic(sign=-1), "y-": neumann(0.125, 1.0), "y+": analytic(lambda i, j: 0.5 * i + j + time)})
s = extend(0.5 * u + 0.1 * u[+1, 0] + 0.1 * w[-1, +1], {"x": mirror(), "y-": mirror(), "y+": fixed(time)})
g = manifest(0.1 * (u[0, +1] - u))
u.next = 0.5 * u + 0.1 * (s[+1, 0] + s[-1, 0] + s[0, +1] + s[0, -1]) + g - g[0, -1]
w.next = 0.9 * w + 0.01 * s[+1, -1]
"""

# Values outside that are needed on both sides of the domain.
BOTH_SIDES = STAGED.replace("g - g[0, -1]", "g - g[0, -1] + 0.5 * g[0, +1]")

# Rings in which a cell is updated in place, so that none may be done twice.
LEAPING = """
u, v = fields("u v", boundary="periodic")
u.next = 1.5 * u - 0.5 * v + 0.05 * sum(u.at(+1, x) + u.at(-1, x) - 2 * u for x in axes)
v.next = u
"""

# Reads that reach further along the last axis, which is that of the wave.
SKEWED = """
u = field("u", boundary=constant(0.5))
u.next = 0.5 * u + 0.2 * u[0, +2] + 0.1 * u[0, -2] + 0.1 * u[+1, 0]
"""

# A ring along each axis, ends that look inside along none.
RINGED = """
time = scalar("time")
time.next = time + 0.5
u = field("u", boundary="periodic")
u.next = 0.5 * u + 0.05 * sum(u.at(+1, x) + u.at(-1, x) for x in axes) + 0.001 * time
"""

# Ghost cells that change in time alone, and an array that is read further when it is a step old.
TIMED = """
time = scalar("time")
time.next = time + 0.5
u = field("u", boundary=constant(0.25 * time))
v, w = fields("v w", boundary="outflow")
u.next = 0.5 * u[+1] + 0.25 * u[-1]
v.next = 0.25 * v[+1] + 0.25 * w[-2] + 0.125 * u
w.next = v
"""

# Fields of different constant sides whose arrays turn in one circle, because the second loop writes where `a` was.
SHARED = """
a, b = field("a", boundary=constant(1.0)), field("b", boundary=constant(2.0))
new = manifest(0.5 * a[+1] + 0.25 * a[-1])
s = extend(new, constant(1.0))
a.next = new
b.next = 0.5 * b[+1] + 0.25 * b[-1] + 0.125 * (s[+1] + s[-1])
"""

# The Laplacian of a Laplacian that is stored: beyond the domain it is computed from cells two away from the end.
BENT = """
u = field("u", boundary=mirror())
bend = manifest(sum(u.at(+1, x) + u.at(-1, x) for x in axes) - 2 * len(axes) * u)
u.next = u - 0.01 * (sum(bend.at(+1, x) + bend.at(-1, x) for x in axes) - 2 * len(axes) * bend)
"""

# Ghost cells that change while the values beside them stay.
UNLIKE = """
a, b = field("a", boundary=constant(0.5)), field("b", boundary=constant(1.0))
a.next = a[+1] + b[+1]
b.next = a
"""
LATE = """
t = scalar("t")
t.next = t + 1
u, k = fields("u k", boundary=constant(t))
u.next = u[+1] + k[-1]
"""

# Faces on walls, the last of which has no partner: odd and even, along the axis of diamonds and along that of waves.
FACES = """
u = field("u", boundary={"x-": mirror(), "x+": reflect(sign=-1), "y": "outflow"}, location=("face", 0))
v = field("v", boundary={"x": mirror(), "y-": reflect(sign=-1), "y+": mirror()}, location=("face", 1))
w = field("w", dtype="f32", boundary={"x": reflect(sign=-1), "y": reflect()}, location=("face", 0, 1))
u.next = 0.5 * u + 0.2 * (u[+2, 0] - u[-2, 0]) + 0.1 * v[+1, -1] + 0.1 * w[0, +1]
v.next = 0.5 * v + 0.2 * (v[0, +2] - v[0, -2]) + 0.1 * u[-1, +1] + 0.1 * w[-1, 0]
w.next = 0.5 * w + 0.1 * (w[+1, +1] - w[-1, -1]) + 0.1 * u[+1, +1]
"""


def random_cell(seed, dim):
    """The text of a cell over one to four fields; some take another field's value, some never change."""
    rng = random.Random(seed)
    names = "abcd"[: rng.randint(1, 4)]
    value = rng.choice(("0.0", "1.5", "p"))
    changing = rng.sample(names, rng.randint(1, len(names)))
    lines = ['p = param("p", 0.3)']
    for name in names:
        lines.append(f'{name} = field("{name}", boundary=constant({value if rng.random() < 0.9 else 7.0}))')
    lines.append(f"used = p + {' + '.join(names)}")
    for name in changing:
        others = [n for n in names if n != name]
        if others and name != changing[0] and rng.random() < 0.5:
            lines.append(f"{name}.next = {rng.choice(others)}")
        else:
            lines.append(f"{name}.next = {formula(rng, names, dim)} + 0.0625 * used")
    return "\n".join(lines) + "\n"


def formula(rng, names, dim):
    terms = []
    for _ in range(rng.randint(1, 5)):
        weight, name = rng.choice(("0.5", "0.25", "p", "-0.125")), rng.choice(names)
        terms.append(f"{weight} * {name}{random_offset(rng, dim, 4)}")
    return " + ".join(terms)


def random_offset(rng, dim, reach):
    """Where a value is read, as text: "" for its own cell."""
    near = (0, 0, 1, -1, min(reach, 2), -min(reach, 2))
    offset = [rng.choice((*near, rng.randint(-reach, reach))) for _ in range(dim)]
    return "" if not any(offset) else f"[{', '.join(f'{o:+d}' if o else '0' for o in offset)}]"
