"""Strategies: each proposes points of a space and is told their scores; none compiles, times or stores anything."""
