"""Measurements of what policies learn from releases."""
