"""Design of tasks that mark regions of pictures: what counts, how strongly it shows, and what looks like it."""

import numpy as np

from sandmill.kinds.library import load_folder
from sandmill.kinds.page.channel import Ranged, Trait
from sandmill.kinds.page.design import choose_dirt, choose_medium, ranged, spec_of
from sandmill.kinds.page.masks.channel import MasksChannel, MasksMedium, Scene
from sandmill.models.kind import Kind, kind_named
from sandmill.models.plan import Slot
from sandmill.models.spec import Knobs, TaskSpec
from sandmill.rng import Streams

_SIZES = ((32, 32), (32, 36), (36, 32), (34, 34), (32, 40), (38, 32))
"""Rows and columns of pixels."""
_FEWEST_DIRT, _MOST_DIRT = 3, 6
"""Kinds of dirt at hardness 0 and 1, beside noise and crumbs."""
_STRENGTH = (0.65, 1.2)
"""Strength of all dirt at hardness 0 and 1, as a share of the ranges below."""
_RANGES: dict[Trait, tuple[float, float]] = {
    "stain": (0.1, 0.5), "fold": (0.1, 0.45), "shade": (0.05, 0.45), "rule": (0.08, 0.35), "weave": (0.05, 0.25),
    "specks": (0.0, 16.0),
}  # fmt: skip
"""Least and most of each dirt at strength 1."""
_FADE = ((0.44, 0.72), (0.2, 0.4))
"""Least and most darkness of regions at hardness 0 and 1."""
_GRAIN = (0.05, 0.13)
"""Most noise of a picture at hardness 0 and 1."""
_CRUMBS = (3.0, 9.0)
"""Most crumbs of a picture at hardness 0 and 1."""
_BLUR = 0.15
"""Most blur of a picture."""
_SCENES: dict[Scene, tuple[tuple[Trait, float, float], ...]] = {
    "bodies": (("amount", 0.3, 3.4), ("size", 4.0, 7.5), ("wave", 0.1, 0.45)),
    "layer": (("amount", 0.35, 2.2), ("size", 3.0, 7.0), ("wave", 0.2, 1.0)),
    "grains": (("amount", 0.3, 8.4), ("size", 1.9, 3.4), ("wave", 0.05, 0.3)),
}
"""Number, size and outline of regions by what is marked. About one picture in twenty has none."""


def design_masks(
    slot: Slot, streams: Streams, hardness: float, parent: str | None = None, knobs: Knobs | None = None
) -> TaskSpec:
    """Design one task. Hardness takes pictures away, makes regions fainter, and decoys and dirt more and stronger."""
    knobs = knobs or Knobs.all_at(hardness)
    medium = choose_medium(media_of(kind_named("image_masks")), slot, streams)
    return spec_of(slot, streams, medium, choose_channel(medium, knobs, streams), knobs, hardness, parent)


def media_of(kind: Kind) -> tuple[MasksMedium, ...]:
    """Return what pictures with a mask can show."""
    return load_folder("page/masks/domains", MasksMedium)


def choose_channel(medium: MasksMedium, knobs: Knobs, streams: Streams) -> MasksChannel:
    """Draw the size of pictures, what is marked, and the dirt. Knobs set how much dirt there is, not which is first."""
    rng = streams.generator("pictures")
    height, width = _SIZES[int(rng.integers(len(_SIZES)))]
    scene = medium.scenes[int(rng.integers(len(medium.scenes)))]
    fade = [float(np.interp(knobs.signal, (0, 1), ends)) for ends in zip(*_FADE, strict=True)]
    count = round(np.interp(knobs.skills, (0, 1), (_FEWEST_DIRT, _MOST_DIRT)))
    traits: list[Ranged] = [
        *(ranged(*trait) for trait in _SCENES[scene]),
        ranged("fade", *fade),
        ranged("blur", 0.0, _BLUR),
        ranged("grain", 0.01, float(np.interp(knobs.faults, (0, 1), _GRAIN))),
        ranged("crumbs", 0.0, float(np.interp(knobs.skills, (0, 1), _CRUMBS))),
        *choose_dirt(medium, count, float(np.interp(knobs.signal, (0, 1), _STRENGTH)), _RANGES, rng),
    ]
    return MasksChannel(
        column=medium.column,
        meaning=medium.meaning,
        scene=scene,
        is_bright=medium.is_bright,
        height=height,
        width=width,
        is_upright=bool(rng.random() < 0.5),
        traits=tuple(traits),
    )
