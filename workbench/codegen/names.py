"""Names in generated text: the user's own, made legal and unique, the same for the same plan."""

from __future__ import annotations

import re
import unicodedata

from workbench.codegen.spelling import LIBRARY_NAMES, PRELUDE_NAMES, TYPE_NAMES
from workbench.graph.spaces import axis_name


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_KEYWORDS = _words(
    """alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class compl
    concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default delete
    do double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable
    namespace new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast
    requires restrict return short signed sizeof static static_assert static_cast struct switch template this
    thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor
    xor_eq"""
)
# Names that templates and preludes use in the same scopes, and macros of the standard headers.
_TAKEN = _words(
    """i std stencil shape globals block blocks row rows first last end at chunk lane count task run team worker rank
    part box tile tiles turn buffer plane block wide active more asked goes
    control source target walk value values rules grown margins slots partials array body main signbit linux unix
    errno NAN INFINITY EOF NULL assert threadIdx blockIdx blockDim gridDim warpSize floor ceil memcpy fabs sqrt
    modulo number reduce_chunk chunk_end partial_index row_at next_row next_near_row CHUNK LANES
    reduce_freely FreeLanes for_lanes FREE_LANES AT_A_TIME
    combine_add combine_multiply compute made keep quick large done stop not_finite
    whole end Stretch end_of_stretch Cells Vector VectorOf VectorAt vector_length whole_vectors side_by_side
    ShiftedCells joined prefetch LINES_AHEAD
    combine_minimum combine_maximum combine_logical_or combine_logical_and distance face
    Shape Row Block Blocks Box Part Tile Tiles Turn Step Walk SideRule Margins Team Control March"""
)
_INDICES = tuple(f"index_{axis_name(k)}" for k in range(16))
RESERVED: frozenset[str] = frozenset(
    {*_KEYWORDS, *_TAKEN, *_INDICES, *PRELUDE_NAMES, *LIBRARY_NAMES, *TYPE_NAMES.values()}
)


def identifier(name: str) -> str:
    """A legal identifier that still reads like `name`: Greek letters are spelt out, other signs become underscores."""
    text = "".join(_ascii(sign) for sign in name)
    text = re.sub(r"_+", "_", re.sub(r"[^A-Za-z0-9_]", "_", text)).strip("_")
    if not text or text[0].isdigit():
        text = f"v{text}"
    return f"{text}_" if text in RESERVED else text


def _ascii(sign: str) -> str:
    if sign.isascii():
        return sign
    plain = unicodedata.normalize("NFKD", sign)
    plain = "".join(c for c in plain if c.isascii() and c.isalnum())
    if plain:
        return plain
    words = unicodedata.name(sign, f"U{ord(sign):x}").split()
    last = words[-1]
    return last if "CAPITAL" in words and last.isalnum() else last.lower()


def offset_suffix(offset: tuple[int, ...], axes: tuple[int, ...] = ()) -> str:
    """The suffix of a name at an offset: "" for the cell itself, "_xp1_ym2" for (+1, -2); axes: () for all."""
    pairs = zip(axes or range(len(offset)), offset, strict=True)
    parts = [f"_{axis_name(k)}{'p' if o > 0 else 'm'}{abs(o)}" for k, o in pairs if o]
    return "".join(parts)


class NameBook:
    """Unique identifiers: the preferred one, or where that is taken with a number, in order of request."""

    def __init__(self, taken: frozenset[str] = RESERVED) -> None:
        self._taken = set(taken)

    def copy(self) -> NameBook:
        """A book of its own with the names that are taken so far."""
        return NameBook(frozenset(self._taken))

    def claim(self, preferred: str) -> str:
        """An identifier that is not taken yet: `preferred`, or that with a number."""
        base = identifier(preferred)
        name, number = base, 1
        while name in self._taken:
            number += 1
            name = f"{base}_{number}"
        self._taken.add(name)
        return name
