"""A folder of a kind, as those in `sandmill.kinds`."""
