"""Bad cells, each with its line, what the first line of the error says and what the last one advises."""

import math

import numpy as np


def misspelt(a):
    return whre(a > 0, a, 0)  # noqa: F821  # the fault that the table is about


def without_import(a):
    return where(a > 0, a, 0)  # noqa: F821  # the fault that the table is about


def branches(a):
    return a if a > 0 else -a


NAMESPACE = {
    "array": np.zeros(3),
    "np": np,
    "math": math,
    "misspelt": misspelt,
    "without_import": without_import,
    "branches": branches,
}
U = 'u = field("u", boundary="periodic")\n'
S = U + 's = scalar("s")\n'
K = 'k = field("k", dtype="u8")\n'

# text of the cell, line, what the first line says, what the last line says
BAD = [
    # truth and iteration
    (U + "if u > 0:\n    u.next = u", 2, "'if' needs one true or false, but u > 0 has one", "Use where(u > 0, a, b)."),
    (U + "v = u > 0\nif v:\n    u.next = u", 3, "'if' needs one true or false, but v has one", "Use where(v, a, b)."),
    (U + "v = u > 0\nu.next = 1 if v else 2", 3, "'if' needs one true or false, but v has", "Use where(v, a, b)."),
    (U + "v = u > 0\nwhile v:\n    pass", 3, "'while' needs one true or false, but v has", "Iterate with sim.run"),
    (U + "if isnan(u):\n    pass", 2, "'if' needs one true or false, but isnan(u) has", "where(isnan(u), a, b)."),
    (U + "if max(u, 0):\n    pass", 2, "max(u, 0): builtin max needs one true or false", "Use maximum(a, b)."),
    (U + "v = u > 0\nassert v", 3, "'assert' needs one true or false, but v has", "Remove the assert"),
    (U + "v = u > 0\nif not v:\n    pass", 3, "'not' needs one true or false, but v has", "Write ~(v)."),
    (U + "v = u > 0\nif v and u:\n    pass", 3, "'and' needs one true or false, but v has", "(a > 0) & (b > 0)"),
    (U + "u.next = 1 if u > 0 else 2", 2, "'if' needs one true or false", "Use where(u > 0, a, b)."),
    (U + 'c = param("c", 1)\nif c > 1:\n    u.next = u', 3, "c > 1 is known only when the simulation", "Use where("),
    (U + "while u > 0:\n    u = u - 1", 2, "'while' needs one true or false", "Iterate with sim.run(until="),
    (U + "assert u > 0", 2, "'assert' needs one true or false", "Remove the assert"),
    (U + "u.next = where(u > 0 and u < 1, u, 0)", 2, "'and' needs one true or false, but u > 0", "(a > 0) & (b > 0)"),
    (U + "u.next = where(u > 0 or u < 1, u, 0)", 2, "'or' needs one true or false", "(a > 0) | (b > 0)"),
    (U + "u.next = where(not u > 0, u, 0)", 2, "'not' needs one true or false", "Write ~(u > 0)."),
    (U + "u.next = where(0 < u < 1, u, 0)", 2, "'0 < u < 1' compares in a chain", "Write (a < b) & (b < c)."),
    (U + "u.next = where(u in (1, 2), u, 0)", 2, "'in' needs one true or false", "Write (u == a) | (u == b)."),
    (U + "u.next = branches(u)", 2, "branches(u) asks for one true or false inside", "where(condition, a, b) in that"),
    (U + "for cell in u:\n    pass", 2, "cannot be looped over", "loops over cells are implied"),
    (U + "for i in range(size(0)):\n    u.next = u", 2, "range(size(0)): range needs a number", "index(axis)"),
    (U + "u.next = sum(u)", 2, "builtin sum runs over items", "Use reduce_sum(u)"),
    (U + "u.next = min(u)", 2, "builtin min runs over items", "Use reduce_min(u) for all cells, or minimum(a, b)"),
    (U + "u.next = max(u, 0)", 2, "builtin max needs one true or false", "Use maximum(a, b)."),
    (U + "u.next = abs(u, u)", 2, "abs() takes exactly one argument", "Correct this line"),
    (U + "u.next = len(u)", 2, "len(u) has no length", "Use size(axis)"),
    # conversions
    (U + "u.next = float(u)", 2, "float needs one number", 'astype(u, "f32")'),
    (U + "u.next = math.sqrt(u)", 2, "math.sqrt takes one number", "Use sqrt(u)"),
    (U + "u.next = math.asin(u)", 2, "math.asin takes one number", "Use arcsin(u)"),
    (U + "from math import sin\nu.next = sin(u)", 3, "sin takes one number", "Use sin(u) of the cell's vocabulary."),
    (U + "u.next = round(u, 2)", 2, "round to decimals", "Write round(u * 100) / 100."),
    # reads
    (U + "u.next = u[1:]", 2, "u[1:] takes a part of an array", "Write u[+1] for the next cell"),
    (U + "u.next = u[+1, 0]\nw = u[+1]", 3, "u[+1] has 1 offset, but the machine has 2 dim", "u[+1, 0]"),
    (U + "u.next = u[+1]\nw = u[+1, 0]", 3, "u[+1, 0] has 2 offsets, but the machine has 1 dim", ".at(+1, axis)"),
    (U + "u.next = u[0.5]", 2, "an offset must be a whole number", "u[+1]"),
    (U + "u.next = u[u]", 2, "an offset must be a whole number", "u[+1]"),
    (
        U + 'n = param("n", 1)\nu.next = u[n]',
        3,
        "u[n]: an offset must be a whole number known when",
        "Write the number",
    ),
    (U + 'n = param("n", 1)\nu.next = u[n]', 3, "but n is known only when the simulation runs", "where(k == 1, u[+1]"),
    (U + "n = index(0)\nu.next = u[n]", 3, "but n has one value per cell", "varies from cell to cell is no stencil"),
    (
        U + "u.next = u[1.5]",
        2,
        "u[1.5]: an offset must be a whole number known when the cell is traced, not 1.5",
        "u[+1]",
    ),
    (U + "u.next = u[10**12]", 2, "an offset of 1000000000000 cells is too far", "Stay within 2147483647"),
    (S + "u.next = u + s[+1]", 3, "s[+1]: the value is one number for the whole grid", "Leave the offset out."),
    (U + "u.next = index(3)", 2, "there is no axis 3", "Use an axis below 1"),
    (U + 'u.next = index("x")', 2, "an axis is a whole number, not 'x'", "Pass 0, 1, ..."),
    (U + "u.next = u.at(+1, -1)", 2, "there is no axis -1", "Use an axis from 0 to 0."),
    # stores
    (U + "u[0] = 3", 2, "u[0]: single cells cannot be assigned", "where(index(0) == 0, a, b)"),
    (U + "u.nxt = 3", 2, ".nxt of a traced value cannot be assigned", "Assign .next"),
    (
        U + "u.next = u\nu.next = 2 * u",
        3,
        "u.next is assigned twice in kernel step, first in line 2",
        "Assign u.next once",
    ),
    (U + "u.next += 1", 2, "u.next is read in kernel step before it is assigned", "read u for the value at"),
    (U + "w = u + 1\nw.next = u", 3, "w.next: only a field or a scalar has .next", "Declare it"),
    (U + "w = u + 1", 1, "the kernel step stores nothing", "Assign the value of the next step"),
    ("", 1, "the kernel step stores nothing", "Assign the value of the next step"),
    (U + 'w = field("w")\nu.next = u', 2, "field w is neither read nor stored", "remove its declaration"),
    ('c = param("c", 1)\nc.next = 2', 2, "c is a param, an input that no kernel stores", "Declare c with scalar()"),
    (U + "u.next = u > 0", 2, "u is f64, but u.next is given bool", 'astype(value, "f64")'),
    (U + K + "k.next = u", 3, "k is u8, but k.next is given f64", 'k.next = astype(value, "u8")'),
    ('b = field("b", dtype="bool")\n' + K + "b.next = k", 3, "b is bool, but b.next is given u8", "b.next = value > 0"),
    (K + "k.next = 0.5", 2, "k is u8, but k.next is given 0.5", "Write a number of that type."),
    (S + "s.next = u", 3, "s is one number, but s.next is given a value per cell", "Reduce it first"),
    ('u = fields("u")\nu.next = 1', 2, "u.next takes fields(...), a tuple of one field", "fields always gives a tuple"),
    ('u = fields("u")\nw = u + 1', 2, "u + 1 takes fields(...), a tuple of one field", 'Write u = field("u", ...)'),
    ('u = fields("u")\nw = 2 * u', 2, "2 * u takes fields(...), a tuple of one field", 'Write u = field("u", ...)'),
    ('u = fields("u v")\nw = u[+1]', 2, "u[+1] takes fields(...), a tuple of 2", 'Write u, v = fields("u v", ...)'),
    ('u = fields("u v")\nw = sqrt(u)', 2, "sqrt(u) takes fields(...), a tuple of 2", 'Write u, v = fields("u v"'),
    ('u = fields("u v")\nw = np.sqrt(u)', 2, "takes fields(...), a tuple of 2", 'Write u, v = fields("u v", ...).'),
    (U + 'c = param("c", 1)\nu.next = c(u + 1)', 3, "c(u + 1): c is a value, not a function", "Write c * (u + 1)"),
    (U + "u.next = u(1)", 2, "u(1): u is a value, not a function", "Write u[+1] for the value in a neighbouring cell."),
    (U + "u.next = u(-1, 0)", 2, "u(-1, 0): u is a value, not a function", "Write u[-1, 0] for the value"),
    ('v = vector("v")\nv.next = v(1)', 2, "v(1): v is a value, not a function", "Write v.at(+1, axis) for the value"),
    # declarations
    (U + 'u = field("u")', 2, "u is declared twice: as a field in line 1", "Give it another name."),
    ('r = field("run")\nr.next = r', 1, "'run' would hide sim.run", "Choose another name."),
    ('r = scalar("shape")\nr.next = r', 1, "'shape' would hide", "Choose another name."),
    ('r = field("lambda")', 1, "'lambda' is no name for a field", "Use letters"),
    ('r = field("a b")', 1, "'a b' is no name for a field", 'Write fields("a b")'),
    ('r = field("µ")', 1, "'µ' cannot be a name in generated C++", "Use ASCII letters"),
    ('r = fields("")', 1, "fields needs names", 'fields("u v")'),
    ('k = field("k", dtype="f16")', 1, "'f16' is no storage type", "Use bool, i8"),
    ('u = field("u", location="edge")', 1, "'edge' is no location", 'location=("face", 0)'),
    ('c = param("c", "x")', 1, "the default of param 'c' is 'x'", 'param("c", 1.0)'),
    ('c = param("c", 1)\ns = scalar("s", c)', 2, "the default of scalar 's' is computed", "in a kernel init"),
    # boundaries
    ('u = field("u", boundary="cyclic")', 1, "'cyclic' is no boundary rule", '"periodic"'),
    ('u = field("u", boundary={"x-": "periodic", "x+": "outflow"})', 1, "axis x is periodic on one side", '"x"'),
    (
        'u = field("u", boundary={"x-": "periodic", "x+": periodic(-1)})',
        1,
        "axis x is periodic with two signs",
        "both sides",
    ),
    ('u = field("u", boundary={"left": "outflow"})', 1, "'left' names no side", '"x-"'),
    ('u = field("u", boundary={"x-": "outflow", "x": "outflow"})', 1, "side 'x' has two rules", "Keep one"),
    ('u = field("u", boundary=reflect(sign=2))', 1, "the sign of reflect is +1 or -1, not 2", "reflect(sign=-1)"),
    ('v = field("v")\nu = field("u", boundary=constant(v))', 2, "constant needs one number", "analytic(lambda i"),
    ('v = field("v")\nu = field("u", boundary=analytic(lambda i: v))\nu.next = u[1]', 2, "uses field v", "in a scalar"),
    ('u = field("u", boundary=analytic(lambda i: u))\nu.next = u[1]', 1, "uses the field itself", "Use indices"),
    ('u = field("u", boundary=analytic(lambda: 1))\nu.next = u[1]', 1, "does not take one index", "analytic(lambda i:"),
    (K + "k.next = k + 10**5000", 2, "a whole number of 16610 bits does not fit u8", "Use a wider type"),
    ('u = field("u", boundary=analytic(3))', 1, "analytic needs a function of the indices", "lambda i"),
    ('k = field("k", "u8", boundary=constant(0.5))\nk.next = k[1]', 1, "0.5 does not fit u8", "smaller number"),
    (K.replace(")", ", boundary=reflect(-1))") + "k.next = k[1]", 1, "but u8 has none", "Use sign=1 or a signed type."),
    ('b = field("b", "bool", boundary=fixed(True))\nb.next = b[1]', 1, "cells, which are bool", "Use constant(v)"),
    (U + 'u.next = extend(u, "foo")', 2, "extend: 'foo' is no boundary rule", '"periodic"'),
    # types
    (U + "u.next = u + (u > 0)", 2, "a condition (bool) meets a number (f64)", "where(condition, a, b)"),
    (U + "u.next = -(u > 0)", 2, "- does not take bool: -(u > 0)", "where(condition, a, b)"),
    (U + "u.next = where(u > 0 & u < 1, u, 0)", 2, "& joins conditions or whole numbers", "(a > 0) & (b > 0)"),
    (U + "u.next = u^2", 2, "u^2: ^ is the exclusive or", "Write u**2 for the power, or (a > 0) ^ (b > 0)"),
    (U + "u.next = 0.5*u^2 + 1", 2, "^ is the exclusive or of conditions or", "Write 0.5*u**2 + 1 for the power"),
    (U + "u.next = where(u, 1, 2)", 2, "where needs a condition (bool) first, but got f64", "where(u > 0, a, b)"),
    (K + "k.next = k + 300", 2, "300 does not fit u8", "Use a wider type"),
    (K + 'i = field("i", "i64")\nl = field("l", "u64")\ni.next = i + l', 4, "no integer type holds both", "Cast one"),
    ('u = field("u", dtype="f32")\nu.next = u * 1e300', 2, "1e+300 is too large for f32", "Write a smaller number"),
    (U + 'u.next = astype(3, "f32")', 2, "astype casts traced values, not the Python number 3", "Leave the cast out"),
    (U + "u.next = u ** 10000", 2, "the exponent 10000 is too large", "Write a float exponent"),
    (U + "u.next = u @ u", 2, "u @ u: a value per cell is no matrix", "reduce_sum(u * v)"),
    (U + "u.next = u * 1j", 2, "complex numbers such as 1j", "Use two fields."),
    (U + 'u.next = u + "a"', 2, "str ('a') meets a traced value", "Write a number"),
    (U + "u.next = u + None", 2, "None meets a traced value", "return its result"),
    (U + "u.next = u + sqrt", 2, "a function (sqrt) meets a traced value", "Write a number"),
    (U + "u.next = u * array", 2, "array is an array of the notebook (shape (3,))", 'array = field("array")'),
    (U + "u.next = u * np.ones(2)", 2, "ndarray of shape (2,) meets a traced value", "Declare a field"),
    (U + "u.next = u * [1, 2]", 2, "list meets a traced value", "Declare a field"),
    # reductions and NumPy
    (S + "s.next = reduce_sum(3.0)", 3, "reduce_sum needs a value per cell", "Leave the reduction out"),
    (S + "s.next = reduce_sum(u > 0)", 3, "reduce_sum does not take bool", "Count cells"),
    (S + "s.next = reduce_any(u)", 3, "reduce_any does not take f64", "reduce_any(u > 0)"),
    (S + "s.next = np.sum(u, axis=0)", 3, "np.sum: axis= has no meaning", "all axes are meant"),
    (U + "u.next = u.sum()", 2, "a traced value has no .sum", "Write reduce_sum(u)."),
    (U + "u.next = np.roll(u, 1)", 2, "np.roll has no meaning in a cell", "Write u[-1]"),
    (U + "u.next = np.gcd(u, 1)", 2, "np.gcd has no meaning in a cell", "Use one of"),
    (U + "u.next = np.array(u)", 2, "a traced value is no array", "np.sqrt(u)"),
    # hints, kernels, coordinates
    (U + "a = manifest(u * 2)\nb = delayed(u * 2)", 3, "contradicts line 2", "Keep one of the two hints"),
    (
        U + "a = rolling(u * 2)\nb = delayed(u * 2)",
        3,
        "contradicts line 2, where the same value is marked rolling",
        "Keep",
    ),
    (U + "u.next = manifest(3)", 2, "manifest needs a value per cell", "Leave it out."),
    (U + 'u.next = named(u, "my flux")', 2, "'my flux' is no name for a value", 'named(x, "flux")'),
    (U + "@kernel\ndef step():\n    u.next = u", 2, "kernel 'step' cannot be defined", "another name"),
    (U + "@kernel\ndef init(a):\n    u.next = u", 2, "kernel 'init' takes arguments", "Use fields"),
    (U + "@kernel\ndef init():\n    w = u\nu.next = u", 2, "the kernel init stores nothing", "Assign the value"),
    (U + "@kernel\ndef init():\n    u.next = 0\ninit()", 5, "kernel init is called inside", 'sim.call("init")'),
    (U + "coordinate(0, u)\nu.next = u", 2, "coordinate 'x' depends on u", "Use index(axis)"),
    (U + "coordinate(0, 1.0)\ncoordinate(0, 2.0)", 3, "axis or name has one already", "Give one per axis"),
    # Python
    (U + "u.next = u +", 2, "this is no valid Python: invalid syntax", "Correct the Python of this line."),
    (U + "u.next = u\n  w = 3", 3, "this is no valid Python: unexpected indent", "Correct the Python of this line."),
    (U + "return u", 2, "'return' outside function", "Correct the Python of this line."),
    (U + "%time u.next = u", 2, "this is no valid Python", "Put magics and shell commands into a cell of their own."),
    (U + "u.next = whre(u > 0, u, 0)", 2, "the name whre is not defined", "Write where if that is meant."),
    (U + "u.next = gibberish(u)", 2, "the name gibberish is not defined", "All words of a cell: %stencil --words"),
    (U + "velocity = u\nu.next = velocty", 3, "the name velocty is not defined", "Write velocity or vector if one of"),
    (U + "u.next = asin(u)", 2, "the name asin is not defined", "Write arcsin."),
    (
        U + "u.next = numpy.sqrt(u)",
        2,
        "the name numpy is not defined",
        "Import it: import numpy as np in a cell before",
    ),
    (U + "u.next = misspelt(u)", 2, "whre is not defined in a function defined outside", "Write where"),
    (U + "u.next = without_import(u)", 2, "where is not defined in a function", "from workbench.language import where"),
    (U + "u.next = 1 / 0", 2, "ZeroDivisionError: division by zero", "Correct this line"),
    (U + 'u.next = {}["a"]', 2, "KeyError: 'a'", "Correct this line"),
    (U + "def f(x):\n    return f(x + 1)\nu.next = f(u)", 3, "calls itself without end", "Give the recursion an end"),
    (U + "w = u\nwhile True:\n    w = w * w + u", 4, "the cell made more than", "End the loop or recursion sooner."),
    (U + "while True:\n    pass", 2, "a loop made more than", "sim.run(n)"),
    (U + "w = [i for i in range(10**12)]", 2, "a loop made more than", "sim.run(n)"),
]
