"""Design of tasks that clean pages or mark regions: what is drawn, its size, and what makes it dirty."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np

from sandmill.kinds.library import dressed_medium, load_folder
from sandmill.kinds.page.channel import (
    FieldsChannel,
    FieldsMedium,
    GreyMedium,
    MasksChannel,
    MasksMedium,
    Ranged,
    Scene,
    Trait,
)
from sandmill.models.columns import Column, Uniform
from sandmill.models.kind import Kind, kind_of
from sandmill.models.links import RenderedLink
from sandmill.models.mechanism import Mechanism
from sandmill.models.plan import Slot
from sandmill.models.spec import Knobs, Sizes, Story, TaskSpec
from sandmill.rng import Streams

_SIZES = ((24, 24), (20, 30), (24, 28), (22, 32), (28, 24), (20, 34))
"""Rows and columns of pixels. 400 test pages of the largest give 282,000 answer rows."""
_FEWEST_DIRT, _MOST_DIRT = 2, 6
"""Kinds of dirt at hardness 0 and 1, beside faded ink and noise."""
_STRENGTH = (0.42, 1.02)
"""Strength of all dirt at hardness 0 and 1, as a share of the ranges below."""
_RANGES: dict[Trait, tuple[float, float]] = {
    "stain": (0.1, 0.62), "fold": (0.1, 0.65), "shade": (0.05, 0.5), "rule": (0.1, 0.5), "weave": (0.05, 0.3),
    "ghost": (0.1, 0.5), "blur": (0.0, 0.15), "specks": (0.0, 16.0),
}  # fmt: skip
"""Least and most of each dirt at strength 1."""
_GRAIN = (0.02, 0.11)
"""Most noise of a page at hardness 0 and 1."""
_FADED = (0.1, 0.58)
"""Share of the ink that is lost at strength 1, least and most."""
_BESIDE: dict[Trait, tuple[Trait, float, float]] = {
    "stain": ("stain_size", 2.5, 8.0), "fold": ("fold_turn", 0.0, 1.0), "shade": ("shade_turn", 0.0, 1.0),
    "rule": ("rule_step", 3.5, 7.0), "weave": ("weave_turn", 0.0, 1.0),
}  # fmt: skip
"""What else differs between pages that have a dirt, and its range."""
_SERIES = (14, 17)
"""Fewest and most lines of a series of slips."""
_SLIPPED = (0.08, 0.22)
"""Share of the lines of a series that have slipped, at hardness 0 and 1."""
_LEAST_SLIP, _MOST_SLIP = 2, 6
"""Pixels by which a line may have slipped. After fewer, filters clean it nearly as well as others."""
_MASK_SIZES = ((32, 32), (32, 36), (36, 32), (34, 34), (32, 40), (38, 32))
"""Rows and columns of pixels."""
_MASK_FEWEST_DIRT, _MASK_MOST_DIRT = 3, 6
"""Kinds of dirt at hardness 0 and 1, beside noise and crumbs."""
_MASK_STRENGTH = (0.65, 1.2)
"""Strength of all dirt at hardness 0 and 1, as a share of the ranges below."""
_MASK_RANGES: dict[Trait, tuple[float, float]] = {
    "stain": (0.1, 0.5), "fold": (0.1, 0.45), "shade": (0.05, 0.45), "rule": (0.08, 0.35), "weave": (0.05, 0.25),
    "specks": (0.0, 16.0),
}  # fmt: skip
"""Least and most of each dirt at strength 1."""
_FADE = ((0.44, 0.72), (0.2, 0.4))
"""Least and most darkness of regions at hardness 0 and 1."""
_MASK_GRAIN = (0.05, 0.13)
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
_STYLES = 2**31
AnyMedium = TypeVar("AnyMedium", bound=GreyMedium)


def design_pages(
    slot: Slot, streams: Streams, hardness: float, parent: str | None = None, knobs: Knobs | None = None
) -> TaskSpec:
    """Design one task: a latent column for each trait of its channel, and no link, since targets are drawn.

    Hardness takes training pictures away, makes regions fainter, and dirt and decoys more and stronger.
    """
    knobs, kind = knobs or Knobs.all_at(hardness), kind_of(slot.structure)
    assert kind is not None
    medium = choose_medium(media_of(kind), slot, streams)
    channel = (
        choose_mask_channel(medium, knobs, streams)
        if isinstance(medium, MasksMedium)
        else choose_channel(medium, knobs, streams)
    )
    columns = tuple(
        Column(name=one.column, distribution=Uniform(low=0.0, high=1.0), decimals=4)
        for one in channel.traits
        if one.column
    )
    return TaskSpec(
        seed_id=slot.seed.id,
        structure=slot.structure,
        domain=medium.name,
        story=_story(medium, streams),
        target=slot.structure.target,
        metric=slot.structure.metric,
        mechanism=Mechanism(columns=columns, terms=(), link=RenderedLink()),
        sizes=Sizes(
            train=round(np.interp(knobs.rows, (0, 1), kind.train)), feedback=kind.most_feedback, final=kind.most_final
        ),
        wanted=slot.band,
        hardness=hardness,
        knobs=knobs,
        parent=parent,
        channel=channel,
    )


def media_of(kind: Kind) -> tuple[FieldsMedium | MasksMedium, ...]:
    """Return what pictures of a kind can show."""
    if kind.name == "image_masks":
        return load_folder("page/domains/masks", MasksMedium)
    return load_folder("page/domains/pages", FieldsMedium)


def choose_medium(media: Sequence[AnyMedium], slot: Slot, streams: Streams) -> AnyMedium:
    """Draw one of the media. If a language model wrote texts for the slot, return its medium with these texts."""
    if slot.world:
        return dressed_medium(media, slot, slot.world)
    return media[int(streams.generator("design").integers(len(media)))]


def choose_dirt(
    medium: GreyMedium,
    count: int,
    strength: float,
    ranges: Mapping[Trait, tuple[float, float]],
    rng: np.random.Generator,
) -> list[Ranged]:
    """Draw kinds of dirt, each with what else differs between pictures that have it. The count changes no order."""
    order = [medium.dirt[place] for place in rng.permutation(len(medium.dirt))]
    shares = dict(zip(order, rng.uniform(0.85, 1.15, len(order)), strict=True))
    traits = []
    for dirt in order[:count]:
        least, most = (edge * strength * shares[dirt] for edge in ranges[dirt])
        traits.append(ranged(dirt, least, most))
        if dirt in _BESIDE:
            traits.append(ranged(*_BESIDE[dirt]))
    return traits


def choose_channel(medium: FieldsMedium, knobs: Knobs, streams: Streams) -> FieldsChannel:
    """Draw the size of pages, the pen, and the dirt. Knobs set how much dirt there is, not which comes first."""
    rng = streams.generator("pages")
    height, width = _SIZES[int(rng.integers(len(_SIZES)))]
    font, pen = int(rng.integers(2**31)), float(rng.uniform(0.9, 1.2))
    strength = _at(knobs.signal, _STRENGTH)
    count = round(np.interp(knobs.skills, (0, 1), (_FEWEST_DIRT, _MOST_DIRT)))
    traits = [
        ranged("density", *medium.density),
        ranged("weight", pen, 1.6 * pen),
        ranged("slant", 0.0, 0.25),
        ranged("ink", 0.8, 1.0),
        ranged("fade", 1 - _FADED[1] * strength, 1 - _FADED[0] * strength),
        ranged("grain", 0.01, _at(knobs.faults, _GRAIN)),
        ranged("slip", 0.0, 1.0),
        *choose_dirt(medium, count, strength, _RANGES, rng),
    ]
    return FieldsChannel(
        column=medium.column,
        meaning=medium.meaning,
        style=medium.style,
        height=height,
        width=width,
        font=font,
        is_upright=bool(rng.random() < 0.5),
        traits=tuple(traits),
        slips=choose_slips(_at(knobs.skills, _SLIPPED), streams.generator("slips")),
    )


def choose_slips(share: float, rng: np.random.Generator) -> tuple[int, ...]:
    """Draw a series of slips, in which a share of the lines has slipped, at least one, and at least one has not."""
    length = int(rng.integers(_SERIES[0], _SERIES[1] + 1))
    order, amounts = rng.permutation(length), rng.integers(_LEAST_SLIP, _MOST_SLIP + 1, length)
    moved = order[: min(max(round(share * length), 1), length - 1)]
    return tuple(int(amounts[place]) if place in moved else 0 for place in range(length))


def ranged(trait: Trait, least: float, most: float) -> Ranged:
    """Return a trait whose latent column has its name."""
    return Ranged(trait=trait, column=trait, least=round(least, 2), most=round(most, 2))


def _story(medium: GreyMedium, streams: Streams) -> Story:
    return Story(
        title=medium.title,
        overview=" ".join(medium.overview),
        row=medium.row,
        target=medium.target,
        target_meaning=medium.target_meaning,
        column_meanings={medium.column: medium.meaning},
        style=int(streams.generator("story").integers(1, _STYLES)),
    )


def choose_mask_channel(medium: MasksMedium, knobs: Knobs, streams: Streams) -> MasksChannel:
    """Draw the size of pictures, what is marked, and the dirt. Knobs set how much dirt there is, not which is first."""
    rng = streams.generator("pictures")
    height, width = _MASK_SIZES[int(rng.integers(len(_MASK_SIZES)))]
    scene = medium.scenes[int(rng.integers(len(medium.scenes)))]
    fade = [_at(knobs.signal, ends) for ends in zip(*_FADE, strict=True)]
    count = round(np.interp(knobs.skills, (0, 1), (_MASK_FEWEST_DIRT, _MASK_MOST_DIRT)))
    traits: list[Ranged] = [
        *(ranged(*trait) for trait in _SCENES[scene]),
        ranged("fade", *fade),
        ranged("blur", 0.0, _BLUR),
        ranged("grain", 0.01, _at(knobs.faults, _MASK_GRAIN)),
        ranged("crumbs", 0.0, _at(knobs.skills, _CRUMBS)),
        *choose_dirt(medium, count, _at(knobs.signal, _MASK_STRENGTH), _MASK_RANGES, rng),
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


def _at(position: float, ends: tuple[float, float]) -> float:
    """Return the value at a position between those at 0 and at 1."""
    return float(np.interp(position, (0, 1), ends))
