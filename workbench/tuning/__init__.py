"""Tuning: choices -> better choices; strategies propose, runners measure, logs remember."""
