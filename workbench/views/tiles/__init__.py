"""Tiles view: which thread computes which cell at which step, and the cells that it depends on."""
