"""Scenes of pictures: what can be seen in each, in YAML files, and the functions that draw them."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Literal

from sandmill.kinds.image.canvas import Canvas
from sandmill.kinds.library import load_yaml
from sandmill.mechanism.columns import Floats
from sandmill.models.base import Frozen
from sandmill.models.channel import Cue


class Sight(Frozen):
    """One thing to be seen, which shows a number from 0 to 1 or a category."""

    levels: int = 0
    """Levels of the category that it shows; 0 for a number."""
    measure: str
    """Source of what is read in the pictures, from the functions of `sandmill.kinds.image.measures` and the names in
    `parts.yaml`."""
    ends: tuple[float, float] = (0.0, 1.0)
    """Typical readings where the number is 0 and where it is 1."""
    text: str
    """What a description says of it."""
    is_faint: bool = False
    """Whether general features hardly show it: see `Medium.not_leading`."""

    def cue(self, scene: str, name: str, column: str) -> Cue:
        """Return how a column shows that decides this sight of a scene."""
        text = self.text if self.levels else f"{self.text} (scaled, 0 to 1)"
        return Cue(column=column, measure=f"{scene}.{name}", text=text)


Scene = Literal["objects", "ground", "fundus", "glyphs", "tissue", "leaf", "chest", "outline", "mole"]
"""What pictures are of: a YAML file each with its sights by name, and a function that draws it."""
Shown = Mapping[str, Floats]
"""For each sight: how much of it each picture shows, from 0 to 1; for categories, a whole number."""
Draw = Callable[[Canvas, Shown], None]


@cache
def sights_of(scene: str) -> Mapping[str, Sight]:
    """Return everything that can be seen in a scene, by name."""
    return {name: Sight.model_validate(sight) for name, sight in load_yaml(f"image/scenes/{scene}.yaml").items()}


def draw_scene(scene: Scene, canvas: Canvas, shown: Shown) -> None:
    """Draw a scene."""
    from sandmill.kinds.image.scenes import general, medical

    draw: Draw = getattr(medical if hasattr(medical, f"draw_{scene}") else general, f"draw_{scene}")
    draw(canvas, shown)
