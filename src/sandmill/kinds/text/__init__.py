"""Kinds of task whose items are texts."""

from sandmill.kinds.library import load_kinds

KINDS = load_kinds("text")
