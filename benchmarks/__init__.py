"""Measured figures: each module is a command that prints a table, run from the root as python -m benchmarks.NAME."""
