"""Entries of the build cache, damaged."""


def damage_one_byte(entry):
    entry.path.write_bytes(b"l1brary")
