"""Inspection: the model that all views of one machine share, without any display."""
