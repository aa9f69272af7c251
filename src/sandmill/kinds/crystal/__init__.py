"""Kinds of task whose items are crystals."""

from sandmill.kinds.library import load_kinds

KINDS = load_kinds("crystal")
