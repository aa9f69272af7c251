"""A mole on skin, seen through a magnifying glass with a lamp."""

from collections.abc import Mapping

from sandmill.kinds.image.sights.sight import Box, Sight, number

SKIN: Box = (0.1, 0.1, 0.25, 0.8)
CENTRE: Box = (0.38, 0.38, 0.62, 0.62)
FIELD: Box = (0.1, 0.08, 0.92, 0.92)
RULER: tuple[Box, ...] = ((0.0, 0.3, 0.07, 0.7), (0.3, 0.93, 0.7, 1.0), (0.93, 0.3, 1.0, 0.7), (0.3, 0.0, 0.7, 0.07))
STICKER: Box = (0.9, 0.0, 1.0, 0.16)
RIM: Box = (0.0, 0.83, 0.17, 1.0)

SIGHTS: Mapping[str, Sight] = {
    "light": number("level", "grey", 0, (150.0, 190.0), "brightness of the skin around the mole", SKIN),
    "flush": number("level", "warm", 0, (31.4, 83.9), "how much more red than blue the skin is", SKIN),
    "size": number("area", "dark", 30, (0.136, 0.289), "size of the dark mole", FIELD),
    "stretch": number("aspect", "dark", 30, (-0.278, 0.0775), "width of the mole compared with its height", FIELD),
    "depth": number("middle", "grey", 0, (61.4, 110.0), "brightness of the middle of the mole", CENTRE),
    "place": number("across", "dark", 30, (0.412, 0.572), "place of the mole from left to right", FIELD),
    "notches": number("fullness", "dark", 30, (0.707, 0.473), "depth of the notches in the edge of the mole", FIELD),
    "veil": number("area", "blue", 14, (-0.00517, 0.0506), "size of the bluish patch below the mole", FIELD),
    "globules": number("pieces", "black", -32, (0.184, 5.32), "number of black globules", FIELD),
    "vessels": number("pieces", "red", 100, (0.138, 5.43), "number of red points", FIELD),
    "scar": number("area", "white", 205, (-0.00591, 0.0326), "size of the white scar", FIELD),
    "grain": number("rough", "grey", 0, (4.67, 10.2), "how much the skin changes from pixel to pixel", SKIN),
    "ruler": Sight(
        levels=4, measure="which_box", colour="green", boxes=RULER,
        text="edge with a green piece of the ruler (top, right, bottom, left)",
    ),
    "rim": Sight(
        levels=3, measure="steps", colour="black", cut=-60, boxes=(RIM,), cuts=(0.12, 0.6),
        text="dark rim of the glass in the upper right corner (none, narrow, wide)",
    ),
    "sticker": Sight(
        levels=3, measure="which_colour", boxes=(STICKER,), colours=("blue", "yellow", "magenta"),
        text="colour of the sticker in the lower left corner (blue, yellow, purple)",
    ),
}  # fmt: skip
