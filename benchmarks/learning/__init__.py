"""Measurements of what learning on a release does, on tasks that training never saw."""
