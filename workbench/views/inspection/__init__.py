"""Inspection: the model shared by all views of one machine; contains no display code."""
