"""Tuning: searches for faster choices. Strategies propose, workers measure, a database file keeps the results."""
