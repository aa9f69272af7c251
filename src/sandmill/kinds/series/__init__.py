"""Kinds of task whose items are recordings of several sensors."""

from sandmill.kinds.library import load_kinds

KINDS = load_kinds("series")
