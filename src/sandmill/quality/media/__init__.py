"""Gates on items that are no rows of a table."""
