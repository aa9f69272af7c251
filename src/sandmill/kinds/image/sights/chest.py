"""A grey radiograph of a chest: lungs, ribs, a heart, tubes and leads."""

from collections.abc import Mapping

from sandmill.kinds.image.sights.sight import Box, Sight, number

UPPER: Box = (0.0, 0.22, 0.8, 0.78)
LOWEST: Box = (0.84, 0.1, 1.0, 0.9)
LUNGS: tuple[Box, Box] = ((0.3, 0.16, 0.62, 0.34), (0.3, 0.66, 0.62, 0.84))
HEART: Box = (0.5, 0.4, 0.8, 0.75)
MARKERS: tuple[Box, ...] = ((0.0, 0.0, 0.1, 0.1), (0.0, 0.9, 0.1, 1.0))
SIDE: Box = (0.3, 0.92, 0.7, 1.0)
CLIPS: tuple[Box, ...] = ((0.14, 0.1, 0.22, 0.2), (0.14, 0.8, 0.22, 0.9), (0.7, 0.1, 0.78, 0.2))

SIGHTS: Mapping[str, Sight] = {
    "light": number("middle", "grey", 0, (91.6, 140.0), "brightness of the picture"),
    "rough": number("rough", "grey", 0, (12.9, 16.6), "how much the picture changes from pixel to pixel"),
    "tip_down": number(
        "lower_end", "grey", 232, (0.312, 0.935), "how far down the white tube from above reaches", UPPER
    ),
    "tip_across": number(
        "tip_across", "grey", 232, (0.13, 0.871), "place of the tip of the white tube from left to right", UPPER
    ),
    "reach": number("right_end", "black", -16, (0.137, 0.742), "how far the black tube from the left edge reaches"),
    "reach_down": number("down", "black", -16, (0.26, 0.68), "how far down the black tube lies"),
    "left_lung": number(
        "middle", "grey", 0, (36.1, 96.5), "brightness of the lung on the left of the picture", LUNGS[0]
    ),
    "right_lung": number(
        "middle", "grey", 0, (42.7, 102.0), "brightness of the lung on the right of the picture", LUNGS[1]
    ),
    "heart": number("area", "grey", 158, (0.51, 1.02), "width of the heart in the lower middle", HEART),
    "ribs": number(
        "stripes",
        "grey",
        0,
        (-0.102, 17.9),
        "strength of the ribs, two rows bright, two dark",
        (0.28, 0.12, 0.64, 0.88),
    ),
    "leads": number("pieces", "grey", 175, (0.0178, 6.02), "number of white leads along the lower edge", LOWEST),
    "marker": Sight(
        levels=2,
        measure="which_box",
        colour="grey",
        boxes=MARKERS,
        text="upper corner with a white marker (left, right)",
    ),
    "clip": Sight(
        levels=3,
        measure="which_box",
        colour="white",
        boxes=CLIPS,
        text="place of the white clip (upper left, upper right, lower left)",
    ),
    "drape": Sight(
        levels=3,
        measure="steps",
        colour="grey",
        cut=175,
        boxes=(SIDE,),
        cuts=(0.2, 0.65),
        text="white drape along the right edge (none, thin, wide)",
    ),
}
