"""Amounts in words: one spelling for all, and nobody else spells a unit after a number of certain digits."""

import re

import pytest

from tests.kit.tracked import tracked_texts
from workbench.amounts import (
    bytes_in,
    bytes_text,
    counted,
    digits_text,
    in_digits,
    scaled,
    seconds_text,
    share_text,
    span_text,
)


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (bytes_text(1), "1 byte"),
        (bytes_text(999), "999 bytes"),
        (bytes_text(999.6), "1 kB"),
        (bytes_text(3 << 20), "3.15 MB"),
        (bytes_text(5.368e9), "5.37 GB"),
        (counted(1, "step"), "1 step"),
        (counted(0, "step"), "0 steps"),
        (in_digits(8.333, 3), "8.33"),
        (in_digits(12345.0, 3), "12,345"),
        (scaled(1.234e9, "cells/s"), "1.23 Gcells/s"),
        (scaled(999_900.0, "B/s"), "1 MB/s"),
        (scaled(999.9e6, "cells/s"), "1 Gcells/s"),
        (scaled(12, "cells/s"), "12 cells/s"),
        (share_text(0.25), "25 %"),
        (share_text(0.00001), "< 0.01 %"),
        (share_text(0.0), "none"),
        (seconds_text(12345.6), "12,346 s"),
        (seconds_text(0.0), "0 s"),
        (seconds_text(0.9999), "1 s"),
        (seconds_text(1.27e-2), "12.7 ms"),
        (seconds_text(3e-6), "3 µs"),
        (seconds_text(2e-9), "2 ns"),
        (span_text(0.1), "1 s"),
        (span_text(90), "90 s"),
        (span_text(720), "12 min"),
        (span_text(9000), "2.5 h"),
        (span_text(3 * 86400), "3 days"),
        (digits_text(1e-15), "15 digits"),
    ],
)
def test_an_amount_in_words(said, text):
    assert said == text


# A number of so many digits and a unit behind it.
SPELT = re.compile(r"\{[^{}\n]*:[.,0-9]*[efg]\} (?:[kMGT]?(?:B|flop|op|cells?)(?:/s)?|[KM]iB|[mµn]?s|min|h|days)\b")
ELSEWHERE = {
    "workbench/amounts.py": "this is where they are spelt",
    "workbench/tuning/history.py": "a score and its deviation have one unit",
    "workbench/tuning/history_components.py": "four digits tell two scores apart",
    "workbench/tuning/study_text.py": "four digits tell two scores apart",
    "workbench/tuning/worker.py": "a limit, with the digits that it was given",
}


def test_units_are_spelt_in_one_place():
    texts = [(name, text) for name, text in tracked_texts() if name.startswith("workbench/") and name.endswith(".py")]
    print(f"{len(texts)} files looked at")
    assert len(texts) > 600
    found = {(name, match.group()) for name, text in texts for match in SPELT.finditer(text)}
    assert {name for name, _ in found} == set(ELSEWHERE), sorted(found)


def test_a_unit_that_is_spelt_is_noticed():
    assert SPELT.search("f'{rate / 1e9:.3g} GB/s'")
    assert SPELT.search("f'{seconds:.2f} s a step'")
    assert not SPELT.search("f'{tick:.1f}h{width}'")


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("4 GiB", 4 << 30),
        ("512MiB", 512 << 20),
        ("1.5 GB", 1_500_000_000),
        ("3 kB", 3000),
        ("4096", 4096),
        ("7 bytes", 7),
    ],
)
def test_bytes_are_read_from_texts(text, count):
    assert bytes_in(text) == count


@pytest.mark.parametrize("text", ["", "4 GiB!", "-1 GB", "4 G", "2 Mio", "4 iB", "GB"])
def test_other_texts_are_no_bytes(text):
    assert bytes_in(text) is None
