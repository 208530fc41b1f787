"""Palettes: colour tables for pictures, safe for colour-blind readers; the front end gets the same ones as text."""

from __future__ import annotations

from types import MappingProxyType

LEVELS = 255
"""Levels of a picture: code 0 is the lower limit, code 254 the upper one."""

NOT_A_NUMBER = 255
"""The code of a cell that holds NaN."""

NAN_COLOUR = "ff00ff"
"""Of cells that hold NaN: in none of the tables, and far from all of them in lightness or hue."""

# viridis: S. van der Walt, N. Smith (CC0). cividis: J. Nunez, C. Anderton, R. Renslow, PLoS ONE 13(7), 2018 (CC0).
# RdBu: C. Brewer, colorbrewer2.org (Apache 2.0), from red to blue; RdBu_r is reversed. Every eighth colour of 255 and
# the last one; the others lie on straight lines between them.
_VIRIDIS = (
    "440154 470d60 48186a 482374 472d7b 453781 424086 3e4989 3b528b 375b8d 33638d 2f6b8e 2c728e 297a8e 26828e 23898e "
    "20928c 1f998a 1fa188 22a884 29af7f 34b679 40bd72 50c46a 60ca60 73d056 86d549 9bd93c b0dd2f c5e021 dae319 efe51c "
    "fde725"
)
_CIVIDIS = (
    "00224e 00285b 002e6a 053371 1a386f 273e6e 32436d 3b496c 434e6c 4b546c 535a6d 5a5f6e 61656f 686a71 6f7073 767676 "
    "7e7c78 858279 8d8878 948e77 9c9576 a49b74 aca172 b5a86f bdae6c c5b568 cebc63 d6c35d dfca57 e8d24f f1d945 fbe138 "
    "fee838"
)
_RDBU_R = (
    "053061 0e4179 175290 1f63a8 2a71b2 3480b9 3f8ec0 529dc8 6bacd1 84bcd9 9bc9e0 aed3e6 c2ddec d4e6f1 e0ecf3 ecf2f5 "
    "f7f5f4 f9ede5 fbe4d6 fddbc7 facab1 f7b99c f5a886 ec9374 e37e64 da6853 cf5246 c43b3c b82531 a81529 900d26 790622 "
    "67001f"
)


def _table(text: str, *, reverse: bool = False) -> bytes:
    """255 colours, three bytes each, from every eighth one and the last."""
    known = [bytes.fromhex(word) for word in text.split()]
    if reverse:
        known.reverse()
    colours = []
    for level in range(LEVELS):
        left, rest = divmod(level, 8)
        width = min(8, LEVELS - 1 - 8 * left) or 1
        pairs = zip(known[left], known[min(left + 1, len(known) - 1)], strict=True)
        colours.append(bytes(round(a + (b - a) * rest / width) for a, b in pairs))
    return b"".join(colours)


PALETTES = MappingProxyType(
    {
        "viridis": _table(_VIRIDIS),
        "cividis": _table(_CIVIDIS),
        "RdBu_r": _table(_RDBU_R),
        "RdBu": _table(_RDBU_R, reverse=True),
    }
)
"""Name -> 255 colours, 765 bytes red, green, blue. A name means the same colours, lowest first, as in Matplotlib."""

DIVERGING = frozenset({"RdBu_r", "RdBu"})
"""Palettes whose middle stands for 0."""

DEFAULT = "viridis"


def colour_table(name: str) -> bytes:
    """256 colours: those of the levels and that of NaN; 768 bytes red, green, blue."""
    return PALETTES[name] + bytes.fromhex(NAN_COLOUR)
