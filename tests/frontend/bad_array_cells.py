"""Wrong cells of arrays, each with the line, the error and the advice that it gets."""

X = 'A, x = array("A", "r", "c"), array("x", "c")\n'

BAD_ARRAYS = [
    (X + 'output("y", x[1:])', 2, "x[1:]: a cell reads arrays by indices", "below @wb.collective, x[1:]"),
    (X + 'output("y", A.T)', 2, "in a cell an array has no .T", "transpose the output after the call"),
    (X + 'output("y", np.transpose(A))', 2, "np.transpose has no meaning in a cell", "transpose the output after"),
    (X + 'output("y", A.reshape(-1))', 2, "in a cell an array has no .reshape", "give the array in that shape"),
    (X + 'output("y", reshape(A, -1))', 2, "the name reshape is not defined", "give the array in that shape"),
    (X + 'output("y", transpose(A))', 2, "the name transpose is not defined", "transpose the output after the call"),
    (X + 'output("y", np.outer(x, x))', 2, "np.outer has no meaning in a cell", "axes have different names"),
    (X + 'output("y", A.sum(axis="k"))', 2, "over axis 'k' of a value with the axes r, c", "Name one of them"),
    (X + 'output("y", A.sum(axis=0, keepdims=True))', 2, ".sum: keepdims= has no meaning in a cell", "Leave it out."),
    (X + 'output("y", A.sum(axis=2))', 2, "over axis 2 of a value with the axes r, c", "or give its number"),
    (X + 'output("y", np.cumsum(A))', 2, "cumsum over the axes r, c", 'axis="c"'),
    (X + 'output("y", np.argmax(A))', 2, "argmax over the axes r, c", 'axis="c"'),
    (X + 'output("y", x @ A)', 2, "last axis of the one, c, and the first of the other, r", 'axis="r"'),
    (X + 'B = array("B", "c", "r")\noutput("y", A @ B)', 2, "other arrays have them in another order", "in one order"),
    (X + 'output("y", A @ 2.0)', 2, "@ takes arrays, not numbers", "Write a * b"),
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
