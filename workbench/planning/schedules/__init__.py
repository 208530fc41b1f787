"""Schedules: a march of steps turned into launches."""
