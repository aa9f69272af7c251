"""A leaf on plain cloth: brown and orange spots, holes, mildew, veins."""

from collections.abc import Mapping

from sandmill.kinds.image.sights.sight import Box, Sight, number

CENTRE: Box = (0.3, 0.35, 0.7, 0.65)
BLADE: Box = (0.26, 0.26, 0.74, 0.74)
HALF: Box = (0.28, 0.26, 0.72, 0.46)
RIB: Box = (0.25, 0.36, 0.75, 0.64)
CLOTH: tuple[Box, ...] = ((0.0, 0.1, 0.2, 0.2), (0.0, 0.8, 0.2, 0.9), (0.8, 0.8, 1.0, 0.9))
TAG: Box = (0.9, 0.02, 1.0, 0.14)
CLIPS: tuple[Box, ...] = (
    (0.0, 0.44, 0.08, 0.56),
    (0.44, 0.92, 0.56, 1.0),
    (0.92, 0.44, 1.0, 0.56),
    (0.44, 0.0, 0.56, 0.08),
)

SIGHTS: Mapping[str, Sight] = {
    "light": number("level", "grey", 0, (153.0, 213.0), "brightness of the cloth behind the leaf", *CLOTH),
    "yellowing": number("middle", "rust", 0, (-52.8, -2.53), "how yellow the green of the leaf has become", CENTRE),
    "length": number("extent_down", "leafy", 30, (0.71, 0.911), "length of the leaf from top to bottom"),
    "width": number("extent_across", "leafy", 30, (0.655, 0.878), "width of the leaf from left to right"),
    "veins": number(
        "stripes", "grey", 0, (0.97, 17.3), "strength of the horizontal veins, two rows bright, two dark", CENTRE
    ),
    "rough": number("rough", "grey", 0, (15.1, 29.6), "how much the leaf changes from pixel to pixel", HALF),
    "scab": number("pieces", "black", -46, (-0.0236, 5.68), "number of separate black scabs", BLADE),
    "scab_size": number("piece", "black", -46, (0.00157, 0.0202), "size of the black scabs", BLADE),
    "rust": number("pieces", "rust", 62, (-0.0407, 6.05), "number of orange spots of rust", BLADE),
    "holes": number("pieces", "blue", 8, (-0.00823, 6.06), "number of holes that show the bluish cloth", BLADE),
    "mildew": number("area", "white", 165, (0.0165, 0.156), "size of the white patch of mildew", BLADE),
    "mildew_down": number("down", "white", 165, (0.217, 0.787), "place of the white mildew from top to bottom", BLADE),
    "clip": Sight(
        levels=4,
        measure="which_box",
        colour="magenta",
        boxes=CLIPS,
        text="edge at which a purple clip holds the cloth (top, right, bottom, left)",
    ),
    "midrib": Sight(
        levels=3,
        measure="columns_of",
        colour="grey",
        cut=16,
        boxes=(RIB,),
        cuts=(0.5, 2.5),
        text="pale yellow midrib from top to bottom (none, thin, wide)",
    ),
    "tag": Sight(
        levels=3,
        measure="which_colour",
        boxes=(TAG,),
        colours=("blue", "yellow", "red"),
        text="colour of the tag in the lower left corner (blue, yellow, red)",
    ),
}
