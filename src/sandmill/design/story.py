"""Write the story of a design: title, overview, and the meaning of every column."""

from collections.abc import Mapping, Sequence

from sandmill.design.targets import Target
from sandmill.design.vocabulary import Vocabulary
from sandmill.models.channel import Channel, Medium
from sandmill.models.columns import Column
from sandmill.models.domain import Domain
from sandmill.models.spec import Story
from sandmill.rng import Streams

_STYLES = 2**31
_NAMED = 3
"""Most target columns that a title names in full."""


def write_story(
    vocabulary: Vocabulary, columns: Sequence[Column], target: Target, asked: Sequence[str], streams: Streams
) -> Story:
    """Write the domain's story for the chosen columns and target, with one of the domain's overviews.

    Args:
        vocabulary: of the domain.
        columns: of the design.
        target: of the design.
        asked: target columns of the files, which the title names.
        streams: of the slot.
    """
    words = (*vocabulary.words, *vocabulary.domain.knows.identities)
    meanings = {word.name: word.meaning for word in words}
    units = vocabulary.unit.plural if vocabulary.unit else None
    held = {column.name: meanings[column.name] for column in columns}
    return _story(vocabulary.domain, held, target, asked, streams, units)


def write_media_story(
    medium: Medium, channel: Channel, target: Target, asked: Sequence[str], streams: Streams
) -> Story:
    """Write the story of a task whose items show latent columns. Only columns that the files hold are named."""
    domain, held = medium.domain, {*channel.shown, *channel.only_in_training}
    words = (*domain.numeric, *domain.categorical, *domain.high_cardinality, *domain.dates, *domain.units)
    meanings = {word.name: word.meaning for word in words if word.name in held}
    units = next((unit.plural for unit in domain.units if unit.name in held), None)
    return _story(domain, {medium.column: medium.meaning, **meanings}, target, asked, streams, units)


def _story(
    domain: Domain,
    meanings: Mapping[str, str],
    target: Target,
    asked: Sequence[str],
    streams: Streams,
    units: str | None = None,
) -> Story:
    draws = streams.generator("story")
    overviews = (domain.overview, *domain.knows.overviews)
    overview = overviews[int(draws.integers(len(overviews)))]
    return Story(
        title=f"{domain.title}: predict {_listed(asked)}",
        overview=" ".join(overview),
        row=domain.row,
        target=target.name,
        target_meaning=target.meaning,
        column_meanings={**meanings, **target.column_meanings},
        units=units,
        style=int(draws.integers(1, _STYLES)),
    )


def _listed(names: Sequence[str]) -> str:
    """List names, or the first two and the number of the others if they are many."""
    shown = names if len(names) <= _NAMED else (*names[:2], f"{len(names) - 2} other labels")
    *most, last = shown
    return f"{', '.join(most)} and {last}" if most else last
