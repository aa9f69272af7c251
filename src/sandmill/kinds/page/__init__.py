"""Kinds of task that turn a picture into a picture: a clean page, or the mask of some regions."""

from sandmill.kinds.library import load_kinds

KINDS = load_kinds("page")
