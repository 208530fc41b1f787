"""Divisions in generated text whose operands are the same in all cells: names are followed through a function."""

import re
from itertools import pairwise

_TEMPLATE = re.compile(r"(\w)<[\w:, *&]*>(?=[({ ])")
_DECLARED = re.compile(r"\s*const [\w:]+ (\w+) = (.*)", re.DOTALL)
_TOKEN = re.compile(r"0x[\da-f.]+p[+-]\d+|\d[\w.]*(?:e[+-]\d+)?|[A-Za-z_][\w.:]*|<=|>=|==|!=|&&|\|\||[^\s\w]")
_WORDS = {"true", "false", "const", "return"}
_ENDS = {"+", "-", ",", "=", ";", "?", ":", "<", ">", "<=", ">=", "==", "!=", "&&", "||", "!", "&", "|"}


def functions(text):
    """(name, body) of each function at the outermost level of a text: all between its braces."""
    depth, begin, found = 0, 0, []
    for match in re.finditer(r"[{}]", text):
        if match[0] == "{":
            if depth == 0:
                begin = match.end()
                head = text[: match.start()].rpartition("}")[2].rpartition(";")[2]
                names = re.findall(r"(\w+)\(", head)
            depth += 1
        else:
            depth -= 1
            if depth == 0 and names:
                found.append((names[-1], text[begin : match.start()]))
    return found


def uniform_divisions(body):
    """(all divisions in a function's body, those of them whose operands are the same in all cells).

    The same in all cells are numbers, the Globals, the shape, and constants that are formulas of these alone.
    """
    body = re.sub(r"/\*.*?\*/|//[^\n]*", "", body, flags=re.DOTALL)
    body = _TEMPLATE.sub(r"\1", body)
    uniform, divisions, of_uniforms = {"globals", "shape"}, 0, []
    for statement in re.split(r"[;{}]", body):
        declared = _DECLARED.fullmatch(statement)
        tokens = _TOKEN.findall(statement)
        for at, token in enumerate(tokens):
            if token == "/":
                divisions += 1
                operands = [*_before(tokens, at), *_after(tokens, at)]
                if _all_uniform(operands, uniform):
                    of_uniforms.append(" ".join(statement.split()))
        if declared and _all_uniform(_TOKEN.findall(declared[2]), uniform):
            uniform.add(declared[1])
    return divisions, of_uniforms


def _all_uniform(tokens, uniform):
    names = [
        token.partition(".")[0]
        for token, following in pairwise([*tokens, ""])
        if (token[0].isalpha() or token[0] == "_") and following != "("
    ]
    return all(name in uniform or name in _WORDS for name in names)


def _before(tokens, at):
    """The left operand of the division: the factors of the product that ends there."""
    depth, first = 0, at
    while first > 0:
        token = tokens[first - 1]
        depth += (token in ")]") - (token in "([")
        if depth < 0 or (depth == 0 and token in _ENDS):
            break
        first -= 1
    return tokens[first:at]


def _after(tokens, at):
    """The right operand: one factor, with its sign."""
    depth, last = 0, at + 1
    while last < len(tokens):
        token = tokens[last]
        depth += (token in "([") - (token in ")]")
        is_sign = last == at + 1 and token in "+-"
        if depth < 0 or (depth == 0 and not is_sign and token in _ENDS | {"*", "/", "%"}):
            break
        last += 1
    return tokens[at + 1 : last]
