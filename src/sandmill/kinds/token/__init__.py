"""Kinds of task whose items are sentences of tokens to be read aloud."""

from sandmill.kinds.library import load_kinds

KINDS = load_kinds("token")
