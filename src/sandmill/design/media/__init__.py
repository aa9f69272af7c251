"""Designs of what stands between a mechanism and the items of a task."""
