"""Kinds of task whose items are graphs."""

from sandmill.kinds.library import load_kinds

KINDS = load_kinds("graph")
