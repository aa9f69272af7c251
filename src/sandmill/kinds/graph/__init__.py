"""Tasks whose items are graphs beside a table."""
