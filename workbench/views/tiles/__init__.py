"""Tiles in space and time: which thread does which cell of which step, and what a cell depends on."""
