"""Kinds: the shapes of task that can be made. A new kind is one registration here."""

from sandmill.models.kinds import audio, fields, graphs, images, mixed, series, tables, texts, tokens
from sandmill.models.kinds.kind import DifficultyCurve, Kind
from sandmill.models.kinds.registry import kind_named, kind_of, kinds_of, register
from sandmill.models.kinds.tables import TABLE

__all__ = ["TABLE", "DifficultyCurve", "Kind", "kind_named", "kind_of", "kinds_of", "register"]

_MODULES = (tables, texts, tokens, images, mixed, fields, audio, series, graphs)
for _kind in (kind for module in _MODULES for kind in module.KINDS):
    register(_kind)
