"""Graph and choices to a plan: which values are stored, how far outside they are needed, what runs when."""
