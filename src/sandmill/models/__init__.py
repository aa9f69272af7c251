"""Frozen data that crosses boundaries: what is asked for, what was made, what was measured. No IO, no behaviour."""
