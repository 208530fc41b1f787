"""Cells whose machines the views show."""

HELLO = """
density = field("density")
x = density
y = x * x
z = y + y
density.next = z
"""
CHAIN = """
u = field("u", boundary="periodic")
a = exp(u) + exp(2 * u)
b = exp(a[+1] + a[-1])
c = exp(b[+1] + b[-1])
u.next = c[+1] + c[-1]
"""
