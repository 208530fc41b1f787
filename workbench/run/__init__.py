"""Simulations: a compiled program, a state, and all that may be done with both."""
