"""Drawing: shapes, letters and numbers of all pictures, as SVG and PNG."""
