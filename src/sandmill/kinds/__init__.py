"""Kinds of task: a folder holds all of a modality, from its `Kind` to its rendering, readers and files.

A folder has `KINDS`, which most read from `kinds.yaml`, and as it needs them the modules `channel`, `design`, `render`,
`read`, `measures`, `panel` and `layout`, and its domains as YAML files. Adding a structure or removing one touches its
folder and one line here.
"""

FOLDERS = ("table", "text", "token", "image", "crystal", "page", "audio", "series", "graph")
"""Folders with kinds, in the order in which seeds look for one."""
