"""Schedules: several time steps as tiles in space and time (diamonds on CPUs, towers on devices)."""
