"""Rendering of items that are no rows of a table."""
