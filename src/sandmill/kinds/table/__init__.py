"""Tasks whose files are tables."""
