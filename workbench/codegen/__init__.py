"""Plan to source text: expressions by printers, shape by templates."""
