"""Simulations: advance a state with a compiled program; read, record, save, resume and replan it."""
