"""Scenes of pictures: a module each, with what can be seen in it and the function that draws it."""

from collections.abc import Mapping
from importlib import import_module
from typing import Literal

from sandmill.kinds.image.canvas import Box, Canvas
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
    """What `sandmill.kinds.image.measures` computes."""
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


def number(measure: str, colour: str, cut: float, ends: tuple[float, float], text: str, *boxes: Box) -> Sight:
    """Make a sight that shows a number; the whole picture is looked at if there are no boxes."""
    return Sight(measure=measure, colour=colour, cut=cut, ends=ends, boxes=boxes or (WHOLE,), text=text)


def which_box(colour: str, text: str, *boxes: Box) -> Sight:
    """Make a sight that shows a category by the box that has most of a colour."""
    return Sight(levels=len(boxes), measure="which_box", colour=colour, boxes=boxes, text=text)


def which_colour(text: str, box: Box, *colours: str) -> Sight:
    """Make a sight that shows a category by the colour of a box."""
    return Sight(levels=len(colours), measure="which_colour", boxes=(box,), colours=colours, text=text)


def steps(measure: str, colour: str, cut: float, cuts: tuple[float, ...], text: str, box: Box) -> Sight:
    """Make a sight that shows a category by an amount, with the readings between neighbouring levels."""
    levels = len(cuts) + 1
    return Sight(levels=levels, measure=measure, colour=colour, cut=cut, boxes=(box,), cuts=cuts, text=text)


Scene = Literal["objects", "ground", "fundus", "glyphs", "tissue", "leaf", "chest", "outline", "mole"]
"""What pictures are of: a module of `sandmill.kinds.image.scenes` each, with `SIGHTS` and the function `draw`."""


def sights_of(scene: str) -> Mapping[str, Sight]:
    """Return everything that can be seen in a scene, by name."""
    sights: Mapping[str, Sight] = import_module(f"sandmill.kinds.image.scenes.{scene}").SIGHTS
    return sights


Shown = Mapping[str, Floats]
"""For each sight: how much of it each picture shows, from 0 to 1; for categories, a whole number."""


def draw_scene(scene: Scene, canvas: Canvas, shown: Shown) -> None:
    """Draw a scene."""
    import_module(f"sandmill.kinds.image.scenes.{scene}").draw(canvas, shown)
