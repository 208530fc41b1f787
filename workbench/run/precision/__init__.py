"""Precision of a run: the error of every value, where it arises, and which types would do."""
