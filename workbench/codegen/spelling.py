"""Spelling: types, constants and each operator of the table as C++ and as CUDA text, exact to the bit."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from workbench.errors import GraphError
from workbench.graph import OPERATORS, StorageType
from workbench.graph.elementary import SEQUENCES
from workbench.graph.extended_numbers import DoubleDouble
from workbench.graph.instructions import Constant
from workbench.graph.operators import PAIR_RULES
from workbench.graph.types import BOOL, DD, F32, F64

Number = bool | int | float

ATOM, UNARY, PRODUCT, SUM, COMPARED, EQUAL, AND, XOR, OR, CONDITIONAL = 100, 90, 80, 70, 50, 45, 40, 38, 36, 10
"""Precedences of C++ as far as generated text uses them; a larger number binds closer."""


@dataclass(frozen=True, slots=True)
class TargetLanguage:
    """Where two languages that share all the rest differ.

    math: what stands before a function of the mathematics library. wraps: whether signed arithmetic written with + - *
    wraps around (-fwrapv), else it goes through helper functions.
    """

    name: Literal["c++", "cuda"]
    math: str
    wraps: bool


CPP = TargetLanguage("c++", "math::", wraps=True)
CUDA = TargetLanguage("cuda", "", wraps=False)


@dataclass(frozen=True, slots=True)
class Text:
    """An expression and how closely its outermost operator binds.

    plain: the same constant without its type, for operators that take it from their other operand. loose: the text has
    type int and is right only modulo 2**bits of its narrower type; sums and products of it are too.
    """

    text: str
    precedence: int = ATOM
    plain: str = ""
    loose: bool = False

    def within(self, precedence: int) -> str:
        """The text, in parentheses if it binds less closely than `precedence`."""
        return self.text if self.precedence >= precedence else f"({self.text})"

    def strict(self, type_: StorageType) -> Text:
        """The text brought to the width of its type."""
        return Text(f"{type_name(type_)}({self.text})") if self.loose else self


TYPE_NAMES: dict[str, str] = {
    "bool": "bool",
    "i8": "int8_t",
    "i16": "int16_t",
    "i32": "int32_t",
    "i64": "int64_t",
    "u8": "uint8_t",
    "u16": "uint16_t",
    "u32": "uint32_t",
    "u64": "uint64_t",
    "f32": "float",
    "f64": "double",
    "dd": "dd",
}

_INFIX: dict[str, tuple[str, int]] = {
    "add": ("+", SUM),
    "subtract": ("-", SUM),
    "multiply": ("*", PRODUCT),
    "divide": ("/", PRODUCT),
    "less": ("<", COMPARED),
    "less_equal": ("<=", COMPARED),
    "greater": (">", COMPARED),
    "greater_equal": (">=", COMPARED),
    "equal": ("==", EQUAL),
    "not_equal": ("!=", EQUAL),
    "logical_and": ("&", AND),
    "logical_or": ("|", OR),
    "logical_xor": ("^", XOR),
    "bitwise_and": ("&", AND),
    "bitwise_or": ("|", OR),
    "bitwise_xor": ("^", XOR),
}
# Functions of the prelude: what the library or the language does not do exactly so.
_PRELUDE: dict[str, str] = {
    "floor_divide": "floor_divide",
    "remainder": "floored_remainder",
    "sign": "sign_of",
    "minimum": "minimum",
    "maximum": "maximum",
    "shift_left": "shifted_left",
    "shift_right": "shifted_right",
    "isfinite": "is_finite",
    "copysign": "with_sign_of",
    "rsqrt": "reciprocal_sqrt",
    **{name: f"{name}_of" for name in SEQUENCES},
}
# Functions of the mathematics library under another name than the operator's; all others keep theirs.
_LIBRARY: dict[str, str] = {
    "absolute": "fabs",
    "round": "rint",
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "arcsinh": "asinh",
    "arccosh": "acosh",
    "arctanh": "atanh",
    "arctan2": "atan2",
    "power": "pow",
}
# Those of f32 in C++, where vectors of them are our own (stencil_sines.h).
_SINES: dict[str, str] = {"sin": "sine_of", "cos": "cosine_of"}
# Whose result modulo 2**bits depends on their operands modulo 2**bits only.
_RING = frozenset(
    {"add", "subtract", "multiply", "negative", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not"}
)
_WRAPPED: dict[str, str] = {
    "add": "wrapped_add",
    "subtract": "wrapped_subtract",
    "multiply": "wrapped_multiply",
    "negative": "wrapped_negative",
}

QUICK = ("add", "subtract", "multiply")
"""Operators of dd that texts for CPUs have in a form without what overflow asks for (workbench.codegen.quick)."""
PRELUDE_NAMES: frozenset[str] = frozenset(
    {
        *_PRELUDE.values(),
        *_WRAPPED.values(),
        *_SINES.values(),
        "absolute",
        "saturated",
        "from_bits",
        "is_true",
        "bits_of",
        "pair_of",
        "alone",
        "read_global",
        "write_global",
    }
    | {f"dd_{name}" for name in OPERATORS}
    | {f"quick_{name}" for name in QUICK}
    | {spelled for name in TYPE_NAMES for spelled in (f"dd_from_{name}", f"{name}_from_dd")}
)
"""Names that expressions call and that no variable may hide."""


LIBRARY_NAMES: frozenset[str] = frozenset(_LIBRARY.get(name, name) for name, row in OPERATORS.items() if not row.symbol)
"""Names of the mathematics library, called without a namespace in CUDA text (and some names that are in no library)."""


def type_name(type_: StorageType) -> str:
    """The type in C++ and CUDA, always of a fixed width."""
    if type_.is_pair:
        return f"pair_of<{', '.join(map(type_name, type_.members))}>"
    return TYPE_NAMES[type_.name]


def literal(value: Constant, type_: StorageType) -> Text:
    """A constant of exactly these bits: short decimals where they are exact, else hexadecimal with a remark."""
    if isinstance(value, tuple):
        parts = (literal(part, each).text for part, each in zip(value, type_.members, strict=True))
        return Text(f"{type_name(type_)}{{{', '.join(parts)}}}")
    if type_.kind == "bool":
        return Text("true" if value else "false")
    if type_ == DD:
        hi, lo = float(value), value.lo if isinstance(value, DoubleDouble) else 0.0
        return Text(f"dd{{{literal(hi, F64).text}, {literal(lo, F64).text}}}")
    if type_.is_float:
        return _float_literal(float(value), type_)
    return _integer_literal(int(value), type_)


def _float_literal(value: float, type_: StorageType) -> Text:
    suffix = "f" if type_.bits == 32 else ""
    if not math.isfinite(value):
        layout, digits, bits = ("<f", 8, "uint32_t") if type_.bits == 32 else ("<d", 16, "uint64_t")
        code = int.from_bytes(struct.pack(layout, value), "little")
        remark = "NaN" if math.isnan(value) else "infinity" if value > 0 else "-infinity"
        return Text(f"from_bits<{type_name(type_)}>({bits}(0x{code:0{digits}x}u)) /* {remark} */")
    negative = math.copysign(1.0, value) < 0
    size = abs(value)
    short = repr(size)
    numerator, denominator = size.as_integer_ratio()
    # A decimal number with few digits that is a multiple of 1/1024 below 2**31 is exact, however it is rounded.
    if denominator <= 1024 and numerator < 2**31 and "e" not in short:
        text = f"{short}{suffix}"
    else:
        text = f"{_shortest_hex(size)}{suffix} /* {short} */"
    return Text(f"-{text}", UNARY) if negative else Text(text)


def _shortest_hex(value: float) -> str:
    mantissa, exponent = value.hex().split("p")
    return f"{mantissa.rstrip('0').rstrip('.')}p{exponent}" if "." in mantissa else f"{mantissa}p{exponent}"


def _integer_literal(value: int, type_: StorageType) -> Text:
    name = type_name(type_)
    if type_.kind == "int" and value == -(2 ** (type_.bits - 1)):  # its size has no literal of the type
        return Text(f"{name}({_integer_literal(value + 1, type_).text} - 1)")
    if type_.name == "i32":
        return Text(str(value), ATOM if value >= 0 else UNARY)
    plain = str(value) if 0 <= value < 2**31 else ""
    return Text(f"{name}({value}{'u' if type_.kind == 'uint' and value >= 2**31 else ''})", ATOM, plain)


def spell(
    operator: str,
    operands: tuple[Text, ...],
    operand_type: StorageType,
    result_type: StorageType,
    target: TargetLanguage,
) -> Text:
    """The operator applied to operands. `operand_type` is the type of the last operand (of the values, for select)."""
    if operator not in OPERATORS:
        raise GraphError(f"operator {operator!r} has no spelling", advice="Use a name from the operator table.")
    if OPERATORS[operator].rule in PAIR_RULES:
        return _spell_pair(operator, operands, operand_type, result_type)
    if not (operator in _RING and target.wraps):
        kinds = (BOOL, operand_type, operand_type) if operator == "select" else (operand_type,) * len(operands)
        operands = tuple(o.strict(t) for o, t in zip(operands, kinds, strict=True))
    if DD in (operand_type, result_type):
        return _spell_extended(operator, operands, operand_type, result_type)
    special = _SPECIAL.get(operator)
    if special is not None:
        return special(operands, operand_type, result_type, target)
    if operator in _WRAPPED and not target.wraps and (operand_type.kind == "int" or operand_type.bits == 16):
        return call(_WRAPPED[operator], operands)
    if operator in _INFIX:
        return _infix(operator, operands[0], operands[1], result_type)
    if operator in _PRELUDE:
        return call(_PRELUDE[operator], operands)
    if operator in _SINES and operand_type == F32 and target.name == "c++":
        return call(_SINES[operator], operands)
    return call(target.math + _LIBRARY.get(operator, operator), operands)


def elementary_name(operator: str) -> str:
    """What a text calls to apply an operator that is a sequence (stencil_elementary.h)."""
    return _PRELUDE[operator]


def function_name(operator: str) -> str:
    """What a text calls to apply an operator to values of type dd (stencil_extended.h)."""
    return f"dd_{operator}"


def cast_to_dd(source: StorageType) -> str:
    """What a text calls to cast a scalar type to dd."""
    return f"dd_from_{source}"


def cast_from_dd(target: StorageType) -> str:
    """What a text calls to cast dd to a scalar type."""
    return f"{target}_from_dd"


def _spell_extended(operator: str, operands: tuple[Text, ...], operand: StorageType, result: StorageType) -> Text:
    if operator == "fma":  # two functions, of which texts have quick forms (workbench.codegen.quick)
        return call(function_name("add"), (call(function_name("multiply"), operands[:2]), operands[2]))
    if operator != "cast":
        return call(function_name(operator), operands)
    if operand == result:
        return operands[0]
    return call(cast_to_dd(operand) if result == DD else cast_from_dd(result), operands)


def _spell_pair(operator: str, operands: tuple[Text, ...], operand: StorageType, result: StorageType) -> Text:
    if operator != "pair":
        return Text(f"{operands[0].within(ATOM)}.{operator}")
    parts = [
        f"{type_name(type_)}({part.text})" if type_.bits < 32 and not type_.is_pair else part.text
        for part, type_ in zip(operands, result.members, strict=True)
    ]  # a choice between narrow integers is an int, which no list of parts takes
    if result.members[0].is_float and _has_floats(result.members[1]) and _parts_of(result) % 2 == 0:
        parts[0] = f"alone({parts[0]})"  # one of any two neighbouring parts
    return Text(f"{type_name(result)}{{{', '.join(parts)}}}")


def _parts_of(type_: StorageType) -> int:
    return sum(map(_parts_of, type_.members)) if type_.is_pair else 1


def _has_floats(type_: StorageType) -> bool:
    return any(map(_has_floats, type_.members)) if type_.is_pair else type_.is_float


def _infix(operator: str, left: Text, right: Text, result_type: StorageType) -> Text:
    symbol, precedence = _INFIX[operator]
    if left.plain and not right.plain:
        left = Text(left.plain)
    elif right.plain and not left.plain:
        right = Text(right.plain)
    if precedence <= AND:  # readers do not remember how these bind among comparisons
        first = left.within(precedence if left.precedence == precedence else SUM)
        return _narrowed(Text(f"{first} {symbol} {right.within(SUM)}", precedence), operator, result_type)
    return _narrowed(
        Text(f"{left.within(precedence)} {symbol} {right.within(precedence + 1)}", precedence), operator, result_type
    )


def call(function: str, operands: tuple[Text, ...]) -> Text:
    """A function applied to operands."""
    return Text(f"{function}({', '.join(o.text for o in operands)})")


def _narrowed(text: Text, operator: str, type_: StorageType) -> Text:
    """Arithmetic on types narrower than int happens in int; its result must be brought back to its width some time."""
    if OPERATORS[operator].rule == "same" and type_.is_integer and type_.bits < 32:
        return Text(text.text, text.precedence, loose=True)
    return text


def _negative(operands: tuple[Text, ...], operand: StorageType, result: StorageType, target: TargetLanguage) -> Text:
    if operand.kind == "int" and not target.wraps:
        return call(_WRAPPED["negative"], operands)
    return _narrowed(Text(f"-{operands[0].within(UNARY + 1)}", UNARY), "negative", result)


def _absolute(operands: tuple[Text, ...], operand: StorageType, result: StorageType, target: TargetLanguage) -> Text:
    return call(f"{target.math}fabs" if operand.is_float else "absolute", operands)


def _logical_not(operands: tuple[Text, ...], operand: StorageType, result: StorageType, target: TargetLanguage) -> Text:
    return Text(f"!{operands[0].within(UNARY)}", UNARY)


def _bitwise_not(operands: tuple[Text, ...], operand: StorageType, result: StorageType, target: TargetLanguage) -> Text:
    return _narrowed(Text(f"~{operands[0].within(UNARY)}", UNARY), "bitwise_not", result)


def _select(operands: tuple[Text, ...], operand: StorageType, result: StorageType, target: TargetLanguage) -> Text:
    condition = operands[0].within(UNARY)
    yes, no = (o.within(CONDITIONAL + 1) for o in operands[1:])
    return Text(f"{condition} ? {yes} : {no}", CONDITIONAL)


def _isnan(operands: tuple[Text, ...], operand: StorageType, result: StorageType, target: TargetLanguage) -> Text:
    value = operands[0].within(EQUAL + 1)
    return Text(f"{value} != {value}", EQUAL)


def _cast(operands: tuple[Text, ...], operand: StorageType, result: StorageType, target: TargetLanguage) -> Text:
    if result.kind == "bool":
        zero = Text(f"{operands[0].within(EQUAL + 1)} != {literal(0, operand).text}", EQUAL)
        return operands[0] if operand.kind == "bool" else zero
    if operand.kind == "bool" and result.is_float and target.name == "c++":  # which gcc has vectors of
        condition = operands[0].within(UNARY)
        return Text(f"{condition} ? {literal(1.0, result).text} : {literal(0.0, result).text}", CONDITIONAL)
    if operand.is_float and result.is_integer:
        return call(f"saturated<{type_name(result)}>", operands)
    return call(type_name(result), operands)


_Special = Callable[[tuple[Text, ...], StorageType, StorageType, TargetLanguage], Text]
_SPECIAL: dict[str, _Special] = {
    "negative": _negative,
    "absolute": _absolute,
    "logical_not": _logical_not,
    "bitwise_not": _bitwise_not,
    "select": _select,
    "isnan": _isnan,
    "cast": _cast,
}
