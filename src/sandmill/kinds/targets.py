"""Targets that are rendered together with the items, such as the words of a sentence or the pixels of a picture."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sandmill.models.channel import Channel
from sandmill.models.domain import WorldMedium
from sandmill.models.kind import kind_named
from sandmill.models.links import RenderedLink
from sandmill.models.mechanism import Mechanism
from sandmill.models.plan import Slot
from sandmill.models.spec import Sizes, Story, TaskSpec
from sandmill.rng import Streams
from sandmill.scoring.base import Array

Knows = Literal["items", "latents"]
"""What an oracle knows: the items alone, or the latent columns as well."""


@dataclass(frozen=True, repr=False)
class RenderedTargets:
    """Truth and oracle of some items, both of shape (items, places).

    Numbers are float64. Texts are an object array of `str`, with None where an item has fewer places than others. All
    parts of a task have the same number of places.
    """

    truth: Array
    oracle: Array
    """The best possible prediction from what the oracle knows."""
    knows: Knows = "items"
    """With `items`, no solver can be expected to beat the oracle, and its score is the best possible one."""

    def take(self, rows: slice | NDArray[np.intp]) -> "RenderedTargets":
        """Return the selected items, in the order of the selection."""
        return RenderedTargets(self.truth[rows], self.oracle[rows], self.knows)

    def followed_by(self, other: "RenderedTargets") -> "RenderedTargets":
        """Return the items of both, those of `other` last."""
        truth, oracle = np.concatenate([self.truth, other.truth]), np.concatenate([self.oracle, other.oracle])
        return RenderedTargets(truth, oracle, self.knows)

    def trimmed(self) -> "RenderedTargets":
        """Leave out the places after the last one that any item has, as readers of files do."""
        if self.truth.dtype != object:
            return self
        used = np.flatnonzero((self.truth != None).any(axis=0))  # noqa: E711
        width = int(used[-1]) + 1 if len(used) else 0
        return RenderedTargets(self.truth[:, :width], self.oracle[:, :width], self.knows)


def rendered_task(
    slot: Slot, streams: Streams, medium: WorldMedium, target: str, channel: Channel, train: int, **others: Any
) -> TaskSpec:
    """Make a design without a link, since targets are drawn with the items. Others: columns, knobs and asides."""
    kind, columns, asides = kind_named(channel.kind), others.pop("columns"), others.pop("asides", ())
    return TaskSpec(
        seed_id=slot.seed.id,
        structure=slot.structure,
        domain=medium.name,
        story=Story(
            title=medium.title,
            overview=" ".join(medium.overview),
            row=medium.row,
            target=target,
            target_meaning=medium.target_meaning,
            column_meanings={channel.column: channel.meaning},
            asides=asides,
            style=int(streams.generator("story").integers(1, 2**31)),
        ),
        target=slot.structure.target,
        metric=slot.structure.metric,
        mechanism=Mechanism(columns=columns, terms=(), link=RenderedLink()),
        sizes=Sizes(train=train, feedback=kind.most_feedback, final=kind.most_final),
        wanted=slot.band,
        channel=channel,
        **others,
    )
