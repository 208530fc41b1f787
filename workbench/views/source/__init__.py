"""Source view: generated code, linked to the values and cell lines that it implements."""
