"""One object on a background, with marks around it."""

from collections.abc import Mapping

from sandmill.models.channels.sights.sight import WHOLE, Box, Sight, number

INNER: Box = (0.1, 0.15, 0.8, 0.85)
BORDERS: tuple[Box, ...] = ((0.1, 0.05, 0.75, 0.15), (0.1, 0.85, 0.75, 0.95))
EDGES: tuple[Box, ...] = ((0.0, 0.1, 0.05, 0.9), (0.1, 0.95, 0.9, 1.0))
CORNERS: tuple[Box, ...] = ((0.0, 0.0, 0.1, 0.1), (0.0, 0.9, 0.1, 1.0), (0.9, 0.0, 1.0, 0.1), (0.9, 0.9, 1.0, 1.0))
LOWEST: Box = (0.8, 0.1, 1.0, 0.9)
_CUT = 75.0
"""Sum of differences from the background, over three colours, above which a pixel belongs to the object."""


SIGHTS: Mapping[str, Sight] = {
    "light": number("level", "grey", 0, (0, 1), "brightness of the background", *BORDERS),
    "warmth": number("level", "warm", 0, (0, 1), "how much more red than blue the background is", *BORDERS),
    "slope": number("slope", "grey", 0, (0, 1), "how much brighter the background is on the right than on the left"),
    "stripes": number("stripes", "grey", 0, (0, 1), "strength of the horizontal stripes, two rows bright, two dark", BORDERS[0]),
    "size": number("area", "object", _CUT, (0, 1), "size of the object", INNER),
    "height": number("down", "object", _CUT, (0, 1), "how high the object stands in the picture", INNER),
    "across": number("across", "object", _CUT, (0, 1), "place of the object from left to right", INNER),
    "width": number("aspect", "object", _CUT, (0, 1), "width of the object divided by its height", INNER),
    "glow": number("inside", "green_part", _CUT, (0, 1), "brightness of the object", INNER),
    "colour": number("tint_inside", "object", _CUT, (0, 1), "colour of the object, from blue to red", INNER),
    "specks": number("amount", "grey", 215, (0, 1), "number of single bright pixels along the upper and the right edge", *EDGES),
    "spots": number("amount", "black", -35, (0, 1), "number of single dark pixels along the upper and the right edge", *EDGES),
    "shape": Sight(
        levels=4, measure="form", colour="object", cut=_CUT, boxes=(INNER,),
        text="shape of the object (disc, block, wedge that is wide below, ring)",
    ),
    "corner": Sight(
        levels=4, measure="which_box", colour="green", boxes=CORNERS,
        text="corner with a green mark (top left, top right, bottom left, bottom right)",
    ),
    "floor": Sight(
        levels=3, measure="steps", colour="black", cut=-56, boxes=(LOWEST,), cuts=(0.25, 0.75),
        text="dark band that closes the picture below (none, thin, wide)",
    ),
}  # fmt: skip
