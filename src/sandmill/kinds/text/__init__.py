"""Tasks whose items are texts."""
