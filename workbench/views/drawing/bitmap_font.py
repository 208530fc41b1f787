"""Bitmap font: a table of letters as pixels, so that a PNG can hold words without any font library."""

from __future__ import annotations

import zlib
from base64 import b64decode

import numpy as np
import numpy.typing as npt

CHARACTERS = (
    " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~°²³µ·½×éπ–—…→−≤≥"
)
"""What can be written; anything else becomes a question mark."""

CHARACTER_WIDTH = 14
CHARACTER_HEIGHT = 27
SMALL_WIDTH = 7
SMALL_HEIGHT = 13

# One bit a pixel, all characters side by side, deflated. Drawn from DejaVu Sans Mono (free licence of Bitstream Vera).
_TABLE = (
    "eNrtWE2LHMcZfsu1dCtQqhbk0sLNtiGQcw0LTgkNGoVAfkcvc8glCS0EYQybnRomaC6L9qqDsW8+GwLGBhNqGNi5iNUhFx9yqGWCdBFKC19aMEzl"
    "qe6e/ZLsYAzGh/TsMjPd9fF+PM/7vDVE/79+0mv3Z2CD/XHTDf6L6zcV1zzd4ZY5Thw7nO+hchrFLjd8umH1oB7Q+nxOjEE6qbjbcD/bxM6uPK9V"
    "5mL+WMbWm4Okilf+W/4ktjftX9gzH88t1eSIUiLReXJIuKGpSC8t/NZVCYZZsdmlUfj6QbDr+hhBp/SUsZqtg/npxQCRuEO+SWrmvPHJJndjc+5B"
    "jYxyzzcD68/8dK20txshNXOr6aweVOPpJl77tX3BvuTqjh36SaXoXjCCN3+NGQMD+yWlEQ2uGBRd/nLA6QBT1A37q/D1BjVBuHpx2jNDur+iB1i2"
    "iOjp/a2ZcXbbLBYJjTSVlieZLrdz2IzVsZnPz440gsjmQnJi01jSaFSdLeVuVi4WC7Iw/s90KpQmV0pi5m6LAdvEDcbjj5uIGXYFW8xc+qLJxnh7"
    "FGzD+3vU5fAqNIVL7aFC+AX8s/nWTjadYVbJ7IcIFLHFVFzMvW89q5QueRyeOc6NpWIxNbu7fe0W08dCKUtKSHXX9JZSkMpgV5E56uLf5YI3xmKT"
    "KwZdBrrEaPi3b0QLDvMuqIEIkRqfqghrYhyrePfAucYrdXtqEK/CrvilSaV7CdiQXZgoBMopSnvWRctjqbQb8iOpSHC8FaI3mVEWw8o0yjrctkSw"
    "gQgNLLIrBqVXENKYfqPg2KUjAr2DCLm/3at7hiyH06MtmZXSjVdRAZJTqmBhi8Udokyle5w/JpjLQny0oEg4zf4+HB5JncJbEerCapq+kO6hkcxi"
    "AG9iPuB9Wief59xPX961h6yOZMy+WnzNqj17zz6bVOPKLdnngUD7PpgkAhGY4XwaNr9//yD3F9b/uiXCzJ/e76sSCbDM/NV2ZM6ERO5tzNOBeUZS"
    "ilLLhnwoD3HGBUoQhTwUMbVEANj/+M03L1CQSo3kgAjandyZV9JyU2LAxASADJy3frbOKxSBpM7NIVhlx7WfoGrk1W9eb/K1VvZVIFA6hi02pD6E"
    "tXAWRNBqvPQXxPmoahPam94iHfSipGLvVof3EDNglJuTpB44zpawE3jKP93cI/5od6kVCI48pMy2RFhzc/uLvTt2NftYqrIOREgffFKMWMVsBni3"
    "ABdZvxz97hgxoNViScjh0JTZ8375erGUWfK30hRSqJ7pnUhJpWiJENiRakVxFWdZWZx7wDYoaQFnovg3pYkJGExbp0NyzKlLScd2f5okGbMD2Om4"
    "yWM/rdj8+DUcw+orH69L8oEIA3LRR0enZeqX7LjOLYjwKP3DkwBM5CndApxLmdJ8AafBJosc3rZZ1HsstEIx5gbj+FSKItubTPGROg4rOpICMHSv"
    "EBe15TwPKtDgLM0p46gfEV4q33RVau/LiASrdIFKZMrEnTkUxlC9c3LLbH+xCQzwc5/dG9TAuQQRPhnufRwNzuxwzdYgwtnJ7c9iJE4jT+eVHsUK"
    "JLOFErA6KIKL2dFwCkRqi2qAcW4+S08QOivCPMkrQ4nbBREcdzlnjzqUiPGbCnLXSMxTXgv2WKEYA/qxxwQkSgUixBQL6Jx1qczyumtOmFO9aVrO"
    "Fx0RkqOGCKmk4ZMTEIFKvTBJIEJv9qcJqlsGfNqu0ieVG5pMjGsR8xDWCHJqh6lb8McRqgcDrrTaf3Rn4rIiAucse+3bOoyMJYZP/Nm0VSz/6eYg"
    "sBI4497lor//lFq0hqyAIWkgAhJ3EhFqpEQxeBXmBTu0EEXQqi0Rhg0RlsDASe8ruzKZVAU5hEC4fxYvyUbwQXdEiNc6RQOSbzizi2kgwiGV6Qno"
    "u2JHEJ1BIEK2f1qg3eFAoKKD39atvikpd1k1rotn3nvDfIXUxFXzzNc7z/Mnd1siEN/qOyIPwbzjHQ9Btq4ph2vk6IDzdM+LCFKwgiKotFEE5VzE"
    "ju6hBEEKYDKIMFX9b3pGceQy6ogAlEdA1RKhK9VlIjRKgr0rEIHrD5/s0imDJItWCoK+IbQ37KuMsLcPecGD8XGbn0ixNPoQ4Y0btNpOTjR0zpEc"
    "1xSIV+rmQTz3DvQ5EX7FAqCDIkStIqQalQWQCo4F/MLplwmaDMA5vDoi2I4IdE4EfYkIFgoEvDy9+Q9p38furSJ0vgfBe7DATlstI/aiNZY9od+z"
    "m3NHrEGrCmopyUp0AyWF+lA6VwpUt6AI6CqR1d4SVR9cyxBEPkGOGA+tUZEuVlOMUiFjVqn3OdoK3rQOqiMCnD4zIguqHbdEmLVEmEqplSIeiPA+"
    "fxajDipS58UxEAHBxtIsuMJOqxCSX5g25Cf8l2Y4GnXGN4mDDLElFZomNrrRz8qUz3Z0UARgaYRADf6FyI+GMrRG5SrkCBpn0kiNHixMDNWeWyWz"
    "2JyF/GkQQXZEkP1GEZIoKEJDhMKqQIRGEQTNbRlnsf12PmOu6WvOW/5+aG93dvppowgPv77ochBR421+vKFt+ZXB45QGE3+8HjiGdrmWNJ6vKXDh"
    "A7qFQM2+YM/WSe25f0RJDWHI0ez55+xoN3eObUQ8QHe/YU4/QOFMfIxC1xEBWpzU47k3Nq/cwpsi1ckJiJA7P/Ecqp3MPXNZUItkfa4IoYz5pneN"
    "N2mgRvafriA1cBJF4rh9Yym0OW3zSGgiYjuGZFVUHKJVN4m9R3obEFsy83BD64HxZ4bVMH6B+jh4Y4Z8UmnKOS1RRnOskrlMcI9DTtkR4WDRpxqt"
    "ERj+Uivv0ihmr0GEtjWyvGJV3+oIaZfcXyHCR21HeBglwfi7+Mj8C7/tWLuDQdFs0/Ts/J3npvK88/3ey709TzDz9vHkyqFGXDuD8faMwC+fUsvv"
    "3PJWtwgz2y6dvfNYu+1+mfteD7LrN3Li3L3z5HzhGL92ggkWyNBxXuD9vLa+fe1sF7H0rsPc28fAwfee29+7fiOcruu3wlZezZe9lng8ZqBTdZEj"
    "iNh3bcl+6C8HvPrxP16EI/flhdS13zPC4z5vz/nfieuf+Eq8u27ipdRcJ0L/2o809mfgAff1D56j/teA/wIAX6zl"
)


def _unpacked() -> npt.NDArray[np.bool_]:
    width = CHARACTER_WIDTH * len(CHARACTERS)
    bits = np.unpackbits(np.frombuffer(zlib.decompress(b64decode(_TABLE)), np.uint8))
    return bits[: CHARACTER_HEIGHT * width].reshape(CHARACTER_HEIGHT, width).astype(bool)


_PIXELS = _unpacked()


def letters(text: str) -> npt.NDArray[np.bool_]:
    """Which pixels are ink; shape (CHARACTER_HEIGHT, CHARACTER_WIDTH * len(text)), row 0 on top."""
    places = [CHARACTERS.find(character) for character in text]
    unknown = CHARACTERS.index("?")
    starts = [(place if place >= 0 else unknown) * CHARACTER_WIDTH for place in places]
    return np.hstack([_PIXELS[:, start : start + CHARACTER_WIDTH] for start in starts])


def small_letters(text: str) -> npt.NDArray[np.float64]:
    """How black each pixel is, 0 to 1: the mean of four of the table; shape (SMALL_HEIGHT, SMALL_WIDTH * len(text))."""
    if not text:
        return np.zeros((SMALL_HEIGHT, 0))
    mask = letters(text)[: 2 * SMALL_HEIGHT]
    ink: npt.NDArray[np.float64] = mask.reshape(SMALL_HEIGHT, 2, -1, 2).mean(axis=(1, 3))
    return ink
