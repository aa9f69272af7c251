"""Design of what stands between a mechanism and its pictures: which thing to be seen follows which latent column."""

from collections.abc import Sequence

from sandmill.design.lexicon import draw_medium
from sandmill.models.channels.images import ImageChannel, ImageMedium
from sandmill.models.columns import Column
from sandmill.rng import Streams

SIDE = 20
GRAIN = 6.0


def choose_medium(place: float) -> ImageMedium:
    """Return the domain of a design by its place among all."""
    return draw_medium("images", ImageMedium, place)


def choose_channel(medium: ImageMedium, columns: Sequence[Column], streams: Streams) -> ImageChannel:
    """Draw whether a large value shows much or little of a thing. A thing whose column the design lacks is chance."""
    latent, rng = {column.name for column in columns}, streams.generator("image channel")
    turned = rng.random(len(medium.seen)) < 0.5
    return ImageChannel(
        column=medium.column,
        meaning=medium.meaning,
        side=SIDE,
        grain=GRAIN,
        seen=tuple(
            one.model_copy(update={"column": one.column if one.column in latent else None, "is_turned": bool(turn)})
            for one, turn in zip(medium.seen, turned, strict=True)
        ),
    )
