"""Designs of what stands between a mechanism and items that are no rows of a table."""
