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
        offset = [rng.choice((0, 0, 1, -1, 2, -2, rng.randint(-4, 4))) for _ in range(dim)]
        where = "" if not any(offset) else f"[{', '.join(f'{o:+d}' if o else '0' for o in offset)}]"
        terms.append(f"{rng.choice(('0.5', '0.25', 'p', '-0.125'))} * {rng.choice(names)}{where}")
    return " + ".join(terms)
