"""Letters: bits written as in a genome, two a letter: A=00 C=01 G=10 T=11, padded in front."""

from __future__ import annotations

from workbench.errors import GenomeError

LETTERS = "ACGT"


def letters_of(bits: str) -> str:
    """The letters of a text of 0 and 1."""
    bits = bits.zfill(len(bits) + len(bits) % 2)
    return "".join(LETTERS[int(bits[i : i + 2], 2)] for i in range(0, len(bits), 2))


def bits_of(letters: str, count: int, what: str = "the genome") -> str:
    """`count` bits from letters. GenomeError for other letters, another number of them, or a padding bit that is 1."""
    bad = sorted(set(letters) - set(LETTERS))
    if bad:
        raise GenomeError(f"{bad[0]!r} is no letter of a genome", advice=f"Use the letters {', '.join(LETTERS)} only.")
    if len(letters) != (count + 1) // 2:
        raise GenomeError(
            f"{what} has {len(letters)} letters, this program's have {(count + 1) // 2}",
            advice="Copy the whole genome.",
        )
    bits = "".join(f"{LETTERS.index(c):02b}" for c in letters)
    if bits[: len(bits) - count].strip("0"):
        raise GenomeError(f"the padding bit of {what} is 1", advice="Copy the genome unchanged.")
    return bits[len(bits) - count :]
