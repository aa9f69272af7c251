"""A round field on dark ground: vessels, dark and pale spots, a bright disc and a film."""

from collections.abc import Mapping

from sandmill.kinds.image.sights.sight import Box, Sight, number

FIELD: Box = (0.2, 0.2, 0.8, 0.8)
ROUND: Box = (0.08, 0.08, 0.92, 0.92)
LABEL: Box = (0.88, 0.0, 1.0, 0.12)
NOTCHES: tuple[Box, ...] = (
    (0.0, 0.42, 0.1, 0.58),
    (0.42, 0.9, 0.58, 1.0),
    (0.9, 0.42, 1.0, 0.58),
    (0.42, 0.0, 0.58, 0.1),
)
SIDES: tuple[Box, ...] = ((0.2, 0.08, 0.8, 0.4), (0.2, 0.6, 0.8, 0.92))

SIGHTS: Mapping[str, Sight] = {
    "light": number("middle", "red_part", 0, (108.0, 183.0), "brightness of the round field", FIELD),
    "yellowness": number("hue", "rust", 0, (1.01, 0.634), "how little redder than green the round field is", FIELD),
    "haze": number("rough", "grey", 0, (6.9, 12.7), "how much the field changes from pixel to pixel", FIELD),
    "vessels": number("area", "violet", 14, (0.0774, 0.204), "thickness of the violet vessels", ROUND),
    "bleeds": number("pieces", "black", -48, (0.073, 6.75), "number of separate dark red spots", FIELD),
    "bleed_size": number("piece", "black", -48, (0.000622, 0.0166), "size of the dark red spots", FIELD),
    "deposits": number("pieces", "grey", 138, (1.34, 7.37), "number of small pale yellow deposits", ROUND),
    "disc_size": number("area", "grey", 190, (0.0035, 0.0393), "size of the bright white disc"),
    "disc_down": number("down", "grey", 190, (0.34, 0.66), "place of the bright white disc from top to bottom"),
    "film": number("area", "green", 24, (0.0198, 0.101), "size of the greenish film", ROUND),
    "film_across": number(
        "across", "green", 24, (0.326, 0.662), "place of the greenish film from left to right", ROUND
    ),
    "notch": Sight(
        levels=4,
        measure="which_box",
        colour="cyan",
        boxes=NOTCHES,
        text="side on which the rim has a bluish notch (top, right, bottom, left)",
    ),
    "half": Sight(
        levels=2,
        measure="which_box",
        colour="white",
        boxes=SIDES,
        text="half in which the bright white disc lies (left, right)",
    ),
    "label": Sight(
        levels=3,
        measure="which_colour",
        boxes=(LABEL,),
        colours=("blue", "yellow", "red"),
        text="colour of the block in the lower left corner (blue, yellow, red)",
    ),
}
