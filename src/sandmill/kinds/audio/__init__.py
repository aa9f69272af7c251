"""Kinds of task whose items are recordings."""

from sandmill.kinds.library import load_kinds

KINDS = load_kinds("audio")
