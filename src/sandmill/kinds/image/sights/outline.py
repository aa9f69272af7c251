"""A leaf laid on white paper: its outline, margin and veins."""

from collections.abc import Mapping

from sandmill.kinds.image.sights.sight import Box, Sight, number

CENTRE: Box = (0.36, 0.4, 0.62, 0.6)
BELOW: Box = (0.91, 0.12, 1.0, 0.88)
PAPER: tuple[Box, ...] = ((0.16, 0.0, 0.84, 0.12), (0.16, 0.88, 0.84, 1.0))
STALK: Box = (0.0, 0.42, 0.13, 0.58)
TICKS: tuple[Box, ...] = ((0.0, 0.0, 0.1, 0.1), (0.0, 0.9, 0.1, 1.0), (0.9, 0.0, 1.0, 0.1), (0.9, 0.9, 1.0, 1.0))
LEAF: Box = (0.13, 0.1, 0.95, 0.9)

SIGHTS: Mapping[str, Sight] = {
    "paper": number("level", "grey", 0, (185.0, 244.0), "brightness of the paper beside the leaf", *PAPER),
    "shade": number("middle", "grey", 0, (66.9, 126.0), "brightness of the leaf", CENTRE),
    "length": number("lower_end", "black", -150, (0.802, 0.931), "how far down the leaf reaches", LEAF),
    "width": number("extent_across", "black", -150, (0.449, 0.845), "width of the leaf at its widest place", LEAF),
    "widest": number("down", "black", -150, (0.403, 0.545), "how far down the leaf has most of its surface", LEAF),
    "tip": number("tip_across", "black", -150, (0.287, 0.707), "place of the lowest point from left to right", LEAF),
    "lobes": number("fullness", "black", -150, (0.78, 0.596), "depth of the bays between the lobes", LEAF),
    "teeth": number("jag", "black", -150, (0.202, 0.637), "teeth of the margin, two rows long, two short", LEAF),
    "veins": number("stripes", "grey", 0, (-0.167, 19.9), "strength of the horizontal veins, two rows bright", CENTRE),
    "slope": number("slope", "grey", 0, (-10.5, 10.7), "how much brighter the paper is on the right side", BELOW),
    "specks": number("pieces", "black", -27, (-0.0803, 6.44), "black specks on the leaf and beside it", LEAF),
    "tick": Sight(
        levels=4, measure="which_box", colour="black", boxes=TICKS,
        text="corner with a black tick (top left, top right, bottom left, bottom right)",
    ),
    "midrib": Sight(
        levels=3, measure="columns_of", colour="grey", cut=14, boxes=(CENTRE,), cuts=(0.5, 2.5),
        text="bright midrib from top to bottom (none, thin, wide)",
    ),
    "stalk": Sight(
        levels=3, measure="steps", colour="black", cut=-150, boxes=(STALK,), cuts=(0.1, 0.45),
        text="dark stalk above the leaf (none, thin, thick)",
    ),
}  # fmt: skip
