"""A painted sign on stone: a stem, bars, a ring and dots in four colours."""

from collections.abc import Mapping

from sandmill.kinds.image.sights.sight import Box, Sight, number

CORNERS: tuple[Box, ...] = ((0.0, 0.0, 0.1, 0.1), (0.0, 0.9, 0.1, 1.0), (0.9, 0.0, 1.0, 0.1), (0.9, 0.9, 1.0, 1.0))
EDGE: Box = (0.9, 0.15, 1.0, 0.85)
CAP: Box = (0.0, 0.42, 0.1, 0.58)
FIELD: Box = (0.1, 0.1, 0.9, 0.9)

SIGHTS: Mapping[str, Sight] = {
    "light": number("middle", "grey", 0, (130.0, 193.0), "brightness of the stone"),
    "redness": number("middle", "rust", 0, (-20.9, 20.6), "how much more red than green the stone is"),
    "rough": number("rough", "grey", 0, (5.1, 14.3), "how much the stone changes from pixel to pixel"),
    "slope": number("slope", "grey", 0, (-19.4, 21.3), "how much brighter the right half is than the left half"),
    "stem": number("extent_down", "grassy", 50, (0.24, 0.855), "length of the green stem", FIELD),
    "stem_across": number("across", "grassy", 50, (0.132, 0.376), "place of the green stem from left to right", FIELD),
    "bars": number("pieces", "blue", 40, (-0.0808, 6.13), "number of separate blue bars", FIELD),
    "bar_width": number("extent_across", "blue", 40, (0.0748, 0.216), "length of the blue bars", FIELD),
    "ring": number("extent_across", "rust", 90, (0.0959, 0.273), "width of the red ring", FIELD),
    "ring_down": number("down", "rust", 90, (0.253, 0.746), "place of the red ring from top to bottom", FIELD),
    "weight": number("fullness", "rust", 90, (0.388, 1.05), "thickness of the line of the red ring", FIELD),
    "dots": number("pieces", "yellow", 96, (0.295, 7.26), "number of yellow dots", FIELD),
    "corner": Sight(
        levels=4,
        measure="which_box",
        colour="magenta",
        boxes=CORNERS,
        text="corner with a purple block (top left, top right, bottom left, bottom right)",
    ),
    "base": Sight(
        levels=3,
        measure="steps",
        colour="black",
        cut=-62,
        boxes=(EDGE,),
        cuts=(0.2, 0.65),
        text="dark line along the bottom edge (none, thin, wide)",
    ),
    "cap": Sight(
        levels=3,
        measure="which_colour",
        boxes=(CAP,),
        colours=("green", "blue", "red"),
        text="colour of the block in the middle of the top edge (green, blue, red)",
    ),
}
