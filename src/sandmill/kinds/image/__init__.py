"""Kinds of task whose items are pictures, alone or beside a table."""

from sandmill.kinds.library import load_kinds

KINDS = load_kinds("image")
