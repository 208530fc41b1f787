"""Cell text or function to a graph."""
