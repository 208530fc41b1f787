"""Precision report: the rounding error of every value, where it arises, and which types meet a bound."""
