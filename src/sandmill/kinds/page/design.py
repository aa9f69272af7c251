"""Design of tasks that clean pages or mark regions: what is drawn, its size, and what makes it dirty."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sandmill.kinds.library import load_folder, load_table, load_texts, medium_at
from sandmill.kinds.page.channel import (
    FieldsChannel,
    FieldsMedium,
    GreyMedium,
    MasksChannel,
    MasksMedium,
    Ranged,
    Trait,
)
from sandmill.kinds.targets import rendered_task
from sandmill.models.base import Frozen
from sandmill.models.columns import Column, Uniform
from sandmill.models.kind import Kind, kind_of
from sandmill.models.plan import Slot
from sandmill.models.spec import Knobs, TaskSpec
from sandmill.rng import Streams

Ends = tuple[float, float]
"""Values at hardness 0 and 1, or the least and the most at strength 1."""


class Dirt(Frozen):
    """How much dirt pictures of a kind have. Pairs are values at hardness 0 and 1."""

    sizes: tuple[tuple[int, int], ...]
    """Rows and columns of pixels."""
    kinds: Ends
    """Kinds of dirt, beside noise and what is faint."""
    strength: Ends
    """Strength of all dirt, as a share of the ranges."""
    ranges: dict[Trait, Ends]
    """Least and most of each dirt at strength 1."""
    grain: Ends
    """Most noise of a picture."""
    slipped: Ends
    """Share of the lines of a series that have slipped."""
    amounts: tuple[int, int]
    """Fewest and most pixels by which a line slips. After fewer, filters do nearly as well as readers."""


_DIRT, _TRAITS = load_table("page/dirt.yaml", Dirt), load_texts("page/traits.yaml")
_SERIES = (14, 17)
"""Fewest and most lines of a series of slips."""


def design_pages(
    slot: Slot, streams: Streams, hardness: float, parent: str | None = None, knobs: Knobs | None = None
) -> TaskSpec:
    """Design one task: a latent column for each trait of its channel, and no link, since targets are drawn.

    Hardness takes training pictures away, makes regions fainter, and dirt and decoys more and stronger.
    """
    knobs, kind = knobs or Knobs.all_at(hardness), kind_of(slot.structure)
    assert kind is not None
    media = media_of(kind)
    # If a language model wrote texts for the slot, its medium has these texts.
    drawn = media[int(streams.generator("design").integers(len(media)))]
    medium = medium_at(media, slot).dressed(slot.world) if slot.world else drawn
    channel = choose_channel(medium, knobs, streams)
    columns = tuple(
        Column(name=one.column, distribution=Uniform(low=0.0, high=1.0), decimals=4)
        for one in channel.traits
        if one.column
    )
    train = round(np.interp(knobs.rows, (0, 1), kind.train))
    given = {"columns": columns, "hardness": hardness, "knobs": knobs, "parent": parent}
    return rendered_task(slot, streams, medium, medium.target, channel, train, **given)


def media_of(kind: Kind) -> tuple[FieldsMedium | MasksMedium, ...]:
    """Return what pictures of a kind can show."""
    if kind.name == "image_masks":
        return load_folder("page/domains/masks", MasksMedium)
    return load_folder("page/domains/pages", FieldsMedium)


def choose_channel(medium: FieldsMedium | MasksMedium, knobs: Knobs, streams: Streams) -> FieldsChannel | MasksChannel:
    """Draw the size of pictures, what is on them, and the dirt. Knobs set how much dirt there is, not which comes."""
    has_masks = isinstance(medium, MasksMedium)
    dirt, rng = _DIRT["masks" if has_masks else "pages"], streams.generator("pictures" if has_masks else "pages")
    height, width = dirt.sizes[int(rng.integers(len(dirt.sizes)))]
    strength, count = _at(knobs.signal, dirt.strength), round(_at(knobs.skills, dirt.kinds))
    grain = ranged("grain", 0.01, _at(knobs.faults, dirt.grain))
    if isinstance(medium, MasksMedium):
        scene = medium.scenes[int(rng.integers(len(medium.scenes)))]
        fade = [_at(knobs.signal, ends) for ends in zip(*_TRAITS["fade"], strict=True)]
        crumbs = ranged("crumbs", 0.0, _at(knobs.skills, _TRAITS["crumbs"]))
        own = [
            *(ranged(*trait) for trait in _TRAITS["scenes"][scene]),
            ranged("fade", *fade),
            ranged("blur", 0.0, _TRAITS["blur"]),
        ]
        traits = [*own, grain, crumbs]
    else:
        font, pen = int(rng.integers(2**31)), float(rng.uniform(0.9, 1.2))
        own = [ranged("density", *medium.density), ranged("weight", pen, 1.6 * pen), ranged("slant", 0.0, 0.25)]
        fade = [1 - share * strength for share in _TRAITS["faded"][::-1]]
        traits = [*own, ranged("ink", 0.8, 1.0), ranged("fade", *fade), grain]
    traits += [ranged("slip", 0.0, 1.0), *choose_dirt(medium, count, strength, dirt.ranges, rng)]
    shared: dict[str, Any] = {
        "column": medium.column,
        "meaning": medium.meaning,
        "height": height,
        "width": width,
        "is_upright": bool(rng.random() < 0.5),
        "traits": tuple(traits),
        "slips": choose_slips(_at(knobs.skills, dirt.slipped), dirt.amounts, streams.generator("slips")),
    }
    if isinstance(medium, MasksMedium):
        return MasksChannel(scene=scene, is_bright=medium.is_bright, **shared)
    return FieldsChannel(style=medium.style, font=font, **shared)


def choose_dirt(
    medium: GreyMedium, count: int, strength: float, ranges: Mapping[Trait, Ends], rng: np.random.Generator
) -> list[Ranged]:
    """Draw kinds of dirt, each with what else differs between pictures that have it. The count changes no order."""
    order = [medium.dirt[place] for place in rng.permutation(len(medium.dirt))]
    shares = dict(zip(order, rng.uniform(0.85, 1.15, len(order)), strict=True))
    traits = []
    for dirt in order[:count]:
        least, most = (edge * strength * shares[dirt] for edge in ranges[dirt])
        traits.append(ranged(dirt, least, most))
        if beside := _TRAITS["beside"].get(dirt):
            traits.append(ranged(*beside))
    return traits


def choose_slips(share: float, ends: tuple[int, int], rng: np.random.Generator) -> tuple[int, ...]:
    """Draw a series of slips, in which a share of the lines has slipped, at least one, and at least one has not."""
    length = int(rng.integers(_SERIES[0], _SERIES[1] + 1))
    order, amounts = rng.permutation(length), rng.integers(ends[0], ends[1] + 1, length)
    moved = order[: min(max(round(share * length), 1), length - 1)]
    return tuple(int(amounts[place]) if place in moved else 0 for place in range(length))


def ranged(trait: Trait, least: float, most: float) -> Ranged:
    """Return a trait whose latent column has its name."""
    return Ranged(trait=trait, column=trait, least=round(least, 2), most=round(most, 2))


def _at(position: float, ends: Ends) -> float:
    """Return the value at a position between those at 0 and at 1."""
    return float(np.interp(position, (0, 1), ends))
