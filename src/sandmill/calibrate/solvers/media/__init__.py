"""Readers of files whose items are no rows of a table."""
