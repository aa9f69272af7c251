"""Small grey pictures in which some regions are marked by a mask."""

from collections.abc import Mapping
from typing import ClassVar, Literal, Self

from sandmill.kinds.page.channel import GreyChannel, GreyMedium, Trait
from sandmill.models.domain import World

Scene = Literal["bodies", "layer", "grains"]
"""What is marked on pictures, see `sandmill.kinds.page.masks.regions`."""


class MasksChannel(GreyChannel):
    """Small grey pictures, each with a mask of the regions that count. Decoys look like them and are not marked."""

    kind: Literal["image_masks"] = "image_masks"
    scene: Scene
    is_bright: bool = False
    """Whether regions are brighter than what is around them. Pictures are then drawn dark and inverted."""

    @property
    def texts(self) -> Mapping[Trait, str]:
        """Sentences on regions, and on what is not marked."""
        return {**_TEXTS, **_OF_SCENES[self.scene]}

    @property
    def words(self) -> Mapping[str, str]:
        """Directions, and whether regions are dark or bright."""
        return {**super().words, **_SHADES[self.is_bright]}


class MasksMedium(GreyMedium):
    """What pictures of one domain show."""

    target_ending: ClassVar[str] = ", as runs"

    scenes: tuple[Scene, ...]
    """What may be marked."""
    is_bright: bool

    def dressed(self, world: World) -> Self:
        """Return the medium with the texts of a world. The name of the target says nothing of the old world."""
        return super().dressed(world).model_copy(update={"target": "mask_runs"})


_SHADES = {
    False: {"dark": "dark", "darker": "darker", "darkest": "darkest"},
    True: {"dark": "bright", "darker": "brighter", "darkest": "brightest"},
}
_TEXTS: dict[Trait, str] = {
    "wave": "How far the outline of a region leaves a smooth one, {least} to {most}, as a share.",
    "fade": "How much {darker} a region is than what is around it, {least} to {most} of the range of greys. All "
    "regions of a picture are equally {dark}, and evenly so.",
    "stain": "How much {darker} blots are, {least} to {most}. They are {darkest} at their rim and {dark} inside, lie "
    "anywhere, also on a region, and are not marked.",
    "stain_size": "Radius of the blots of a picture, {least} to {most} pixels, give or take a half.",
    "fold": "How much {darker} a straight scratch across the picture is, {least} to {most}. One side of it is {darker} "
    "as well. Neither is marked.",
    "fold_turn": "Direction of the scratch, any.",
    "shade": "How much {darker} one end of the picture is than the other, {least} to {most}.",
    "shade_turn": "Direction in which the light changes, any.",
    "rule": "How much {darker} thin lines at even steps are, {least} to {most}. They run {runs} and are not marked.",
    "rule_step": "Distance of the thin lines, {least} to {most} pixels, the same over a picture.",
    "weave": "How much {darker} the crests of a fine wave are, {least} to {most}.",
    "weave_turn": "Direction of the fine wave, any.",
    "blur": "Share of a pixel's shade that each of the four pixels beside it gets at the edges of regions, {least} to "
    "{most}.",
    "specks": "Single {dark} pixels, {least} to {most}, which are not marked.",
    "crumbs": "Crumbs of 1 to 2 pixels across that are as {dark} as the regions, {least} to {most} of them. They are "
    "too small to count and are not marked.",
    "grain": "Standard deviation of the noise that is added to each pixel, {least} to {most}.",
}
"""Sentences of the description for each trait. Greys are from 0, black, to 1, white."""
_OF_SCENES: Mapping[Scene, Mapping[Trait, str]] = {
    "bodies": {
        "amount": "Number of regions of a picture, {least} to {most}, rounded. Regions may touch and overlap.",
        "size": "Radius of the regions of a picture, {least} to {most} pixels, give or take a third.",
    },
    "layer": {
        "amount": "Number of layers of a picture, {least} to {most}, rounded. A layer runs from side to side along a "
        "winding line, and all of it is marked.",
        "size": "Thickness of the layers of a picture, {least} to {most} pixels.",
    },
    "grains": {
        "amount": "Number of regions of a picture, {least} to {most}, rounded. Regions may touch and overlap.",
        "size": "Radius of the regions of a picture, {least} to {most} pixels, give or take a third.",
    },
}
"""Sentences that depend on what is marked."""
