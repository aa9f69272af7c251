"""What goes with a published version: its pages."""
