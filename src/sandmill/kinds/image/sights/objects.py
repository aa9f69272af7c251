"""One object on a background, with marks around it."""

from collections.abc import Mapping

from sandmill.kinds.image.sights.sight import Box, Sight, number

INNER: Box = (0.1, 0.15, 0.8, 0.85)
BORDERS: tuple[Box, ...] = ((0.1, 0.05, 0.75, 0.15), (0.1, 0.85, 0.75, 0.95))
EDGES: tuple[Box, ...] = ((0.0, 0.1, 0.05, 0.9), (0.1, 0.95, 0.9, 1.0))
CORNERS: tuple[Box, ...] = ((0.0, 0.0, 0.1, 0.1), (0.0, 0.9, 0.1, 1.0), (0.9, 0.0, 1.0, 0.1), (0.9, 0.9, 1.0, 1.0))
LOWEST: Box = (0.8, 0.1, 1.0, 0.9)


SIGHTS: Mapping[str, Sight] = {
    "light": number("level", "grey", 0, (68.6, 158.0), "brightness of the background", *BORDERS),
    "warmth": number("level", "warm", 0, (-99.6, 99.4), "how much more red than blue the background is", *BORDERS),
    "slope": number(
        "slope", "grey", 0, (-23.5, 23.1), "how much brighter the background is on the right than on the left"
    ),
    "stripes": number(
        "stripes",
        "grey",
        0,
        (-0.174, 43.8),
        "strength of the horizontal stripes, two rows bright, two dark",
        BORDERS[0],
    ),
    "size": number("area", "object", 75.0, (0.0818, 0.339), "size of the object", INNER),
    "height": number("down", "object", 75.0, (0.748, 0.379), "how high the object stands in the picture", INNER),
    "across": number("across", "object", 75.0, (0.313, 0.683), "place of the object from left to right", INNER),
    "width": number("aspect", "object", 75.0, (-0.6, 0.57), "width of the object divided by its height", INNER),
    "glow": number("inside", "green_part", 75.0, (31.2, 80.5), "brightness of the object", INNER),
    "colour": number("tint_inside", "object", 75.0, (-1.86, 1.86), "colour of the object, from blue to red", INNER),
    "specks": number(
        "amount",
        "grey",
        215,
        (0.265, 8.93),
        "number of single bright pixels along the upper and the right edge",
        *EDGES,
    ),
    "spots": number(
        "amount", "black", -35, (0.396, 10.7), "number of single dark pixels along the upper and the right edge", *EDGES
    ),
    "shape": Sight(
        levels=4,
        measure="form",
        colour="object",
        cut=75.0,
        boxes=(INNER,),
        text="shape of the object (disc, block, wedge that is wide below, ring)",
    ),
    "corner": Sight(
        levels=4,
        measure="which_box",
        colour="green",
        boxes=CORNERS,
        text="corner with a green mark (top left, top right, bottom left, bottom right)",
    ),
    "floor": Sight(
        levels=3,
        measure="steps",
        colour="black",
        cut=-56,
        boxes=(LOWEST,),
        cuts=(0.25, 0.75),
        text="dark band that closes the picture below (none, thin, wide)",
    ),
}
