"""Measured figures: each module is a command that prints a table, run from the root: python -m benchmarks.throughput."""
