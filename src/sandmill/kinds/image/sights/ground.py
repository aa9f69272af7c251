"""Dry ground from above: columnar plants, shrubs, stones, a path, a red patch and marks."""

from collections.abc import Mapping

from sandmill.kinds.image.sights.sight import Sight, number

BELOW = (0.14, 0.0, 1.0, 1.0)
ABOVE = (0.0, 0.0, 0.88, 1.0)
FLAG = (0.02, 0.42, 0.12, 0.58)
EDGE = (0.88, 0.0, 1.0, 1.0)
CORNERS = ((0.0, 0.0, 0.1, 0.1), (0.0, 0.9, 0.1, 1.0), (0.9, 0.0, 1.0, 0.1), (0.9, 0.9, 1.0, 1.0))

SIGHTS: Mapping[str, Sight] = {
    "light": number("middle", "grey", 0, (102.0, 161.0), "brightness of the ground"),
    "redness": number("middle", "rust", 0, (-21.2, 23.1), "how much more red than green the ground is"),
    "rough": number("rough", "grey", 0, (8.4, 18.3), "how much the ground changes from pixel to pixel"),
    "slope": number("slope", "grey", 0, (-18.9, 18.4), "how much brighter the right half is than the left half"),
    "furrows": number(
        "stripes", "grey", 0, (-0.239, 26.1), "strength of the horizontal stripes, two rows bright, two dark"
    ),
    "path": number("area", "yellow", 54, (0.0261, 0.171), "width of the sandy path that runs from top to bottom"),
    "plants": number("pieces", "green", 48, (0.428, 6.94), "number of green columnar plants", ABOVE),
    "plant_length": number("piece", "green", 48, (0.00745, 0.0182), "length of the green columnar plants", ABOVE),
    "shrubs": number("pieces", "black", -58, (0.0986, 7.37), "number of round dark shrubs"),
    "stones": number("pieces", "blue", 16, (1.65, 9.83), "number of single bluish white stones"),
    "patch": number("area", "red", 60, (0.0321, 0.135), "size of the red patch of soil", BELOW),
    "patch_across": number("across", "red", 60, (0.295, 0.709), "place of the red patch from left to right", BELOW),
    "corner": Sight(
        levels=4,
        measure="which_box",
        colour="magenta",
        boxes=CORNERS,
        text="corner with a purple block (top left, top right, bottom left, bottom right)",
    ),
    "edge": Sight(
        levels=3,
        measure="steps",
        colour="cyan",
        boxes=(EDGE,),
        cut=60.0,
        cuts=(0.2, 0.65),
        text="turquoise line along the bottom edge (none, thin, wide)",
    ),
    "flag": Sight(
        levels=3,
        measure="which_colour",
        boxes=(FLAG,),
        colours=("blue", "yellow", "red"),
        text="colour of the block in the middle of the top edge (blue, yellow, red)",
    ),
}
