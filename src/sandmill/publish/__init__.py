"""What goes with a published version: its pages, and the events of its lineage."""
