"""Tasks whose items are recordings."""
