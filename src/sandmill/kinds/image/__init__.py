"""Tasks whose items are pictures, alone or beside a table."""
