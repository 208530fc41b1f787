"""Wrong cells of arrays, each with the line, the error and the advice that it gets."""

X = 'A, x = array("A", "r", "c"), array("x", "c")\n'

BAD_ARRAYS = [
    (X + 'output("y", x[1:])', 2, "x[1:]: a cell reads arrays by indices", "below @wb.collective, x[1:]"),
    (X + 'output("y", A.T)', 2, "in a cell an array has no .T", "below @wb.collective"),
    (X + 'output("y", A.sum(axis=1))', 2, "an array has no .sum", 'Write fold(add, x, axis="n").'),
    (X + 'output("y", A @ x)', 2, "A @ x: @ has no meaning in a cell", 'fold(add, a * b, axis="k")'),
    (X + 'output("y", np.cumsum(x))', 2, "np.cumsum has no meaning in a cell", "Write scan(add, x"),
    (X + 'output("y", np.roll(x, 1))', 2, "np.roll has no meaning in a cell", "below @wb.collective"),
    (
        X + 'output("y", fold(lambda s: s, x, identity=0))',
        2,
        "but 2 were given",
        "fold calls this function with 2 values.",
    ),
    (X + 'output("y", generate("c", lambda i, j: i))', 2, "missing 1 required", "generate calls this function."),
    (X + 'output("y", generate(10, lambda i: i))', 2, "there is no axis 10", "Use one of r, c, or"),
    (X + 'output("y", generate(x.shape, lambda i: i))', 2, "no axis that is a value", "Use one of r, c, or"),
    (X + 'output("y", iterate(lambda x: x, start=x))', 2, "'at_most'", "help(workbench.language.iterate)"),
]
