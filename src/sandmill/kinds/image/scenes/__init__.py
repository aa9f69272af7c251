"""Scenes of pictures: a module each, with what can be seen in it and the function that draws it."""

from collections.abc import Mapping
from importlib import import_module

from sandmill.kinds.image.canvas import Canvas
from sandmill.kinds.image.sight import Scene
from sandmill.mechanism.columns import Floats

Shown = Mapping[str, Floats]
"""For each sight: how much of it each picture shows, from 0 to 1; for categories, a whole number."""


def draw_scene(scene: Scene, canvas: Canvas, shown: Shown) -> None:
    """Draw a scene."""
    import_module(f"sandmill.kinds.image.scenes.{scene}").draw(canvas, shown)
