"""Scenes of pictures: for each, what can be seen in it. `sandmill.kinds.image.scenes` draws them."""

from collections.abc import Mapping
from importlib import import_module
from typing import Literal

from sandmill.kinds.image.sights.sight import Sight

__all__ = ["Scene", "Sight", "sights_of"]

Scene = Literal["objects", "ground", "fundus", "glyphs", "tissue", "leaf", "chest", "outline", "mole"]
"""What pictures are of: one module here, and one of the same name that draws it."""


def sights_of(scene: str) -> Mapping[str, Sight]:
    """Return everything that can be seen in a scene, by name."""
    sights: Mapping[str, Sight] = import_module(f"sandmill.kinds.image.sights.{scene}").SIGHTS
    return sights
