"""Scenes of pictures: what can be seen in each, in YAML files, and the functions that draw them."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Literal

from sandmill.kinds.image.canvas import Box, Canvas
from sandmill.kinds.library import load_yaml
from sandmill.mechanism.columns import Floats
from sandmill.models.base import Frozen
from sandmill.models.channel import Cue

WHOLE: Box = (0.0, 0.0, 1.0, 1.0)
TURNED = "the more of it, the smaller the value"
TURNED_LEVELS = "counted from the last to the first"
"""What a description adds where a column and what shows it run against each other."""


class Sight(Frozen):
    """One thing to be seen, which shows a number from 0 to 1 or a category."""

    levels: int = 0
    """Levels of the category that it shows; 0 for a number."""
    measure: str
    """What `sandmill.kinds.image.measures` computes: the name of a reading, or its source, such as `area(blade)`, from
    its functions and the names in `colours.yaml`."""
    colour: str = "grey"
    """Colour index that the measure reads, such as how green a pixel is."""
    cut: float = 0.0
    """Pixels with a larger index belong to the thing."""
    ends: tuple[float, float] = (0.0, 1.0)
    """Typical readings where the number is 0 and where it is 1."""
    boxes: tuple[Box, ...] = (WHOLE,)
    """Where to look; several where the place is the category."""
    cuts: tuple[float, ...] = ()
    """Readings between neighbouring levels, for categories by amount."""
    colours: tuple[str, ...] = ()
    """Colour indices of the levels, for categories by colour."""
    paints: tuple[tuple[float, float, float], ...] = ()
    """Colour in which the box of a category by place is drawn, or those of the levels of a category by colour."""
    text: str
    """What a description says of it."""

    def cue(self, scene: str, name: str, column: str, *, is_turned: bool) -> Cue:
        """Return how a column shows that decides this sight of a scene."""
        turned = TURNED_LEVELS if self.levels else TURNED
        return Cue(
            column=column,
            measure=f"{scene}.{name}",
            parameters=(turned,) if is_turned else (),
            text=f"{self.text}; {turned}" if is_turned else self.text,
        )

    def scale(self, *, is_turned: bool) -> tuple[float, float]:
        """Return the readings where the column is 0 and where it is 1."""
        if self.levels:
            # A category whose order is turned is read from its last level.
            return (self.levels - 1.0, self.levels - 2.0) if is_turned else (0.0, 1.0)
        return self.ends[::-1] if is_turned else self.ends


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
    """Draw a scene, then the boxes whose place or colour is a category."""
    from sandmill.kinds.image.scenes import general, medical

    {**general.DRAWINGS, **medical.DRAWINGS}[scene](canvas, shown)
    for name, sight in sights_of(scene).items():
        if sight.measure == "which_box" and sight.paints:
            canvas.in_one_box(shown[name], sight.boxes, sight.paints[0])
        elif sight.measure == "which_colour":
            canvas.of_one_colour(shown[name], sight.boxes[0], sight.paints)
