"""Tasks whose items are crystals: a row of a table with a list of atoms."""
