"""Drawing: shapes, letters and numbers that pictures are made of."""
