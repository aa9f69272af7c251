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


def write_story(vocabulary: Vocabulary, columns: Sequence[Column], target: Target, streams: Streams) -> Story:
    """Write the domain's story for the chosen columns and target, with one of the domain's overviews."""
    words = (*vocabulary.words, *vocabulary.domain.knows.identities)
    meanings = {word.name: word.meaning for word in words}
    units = vocabulary.unit.plural if vocabulary.unit else None
    return _story(vocabulary.domain, {column.name: meanings[column.name] for column in columns}, target, streams, units)


def write_media_story(medium: Medium, channel: Channel, target: Target, streams: Streams) -> Story:
    """Write the story of a task whose items show latent columns. Only columns that the files hold are named."""
    domain, held = medium.domain, {*channel.shown, *channel.only_in_training}
    words = (*domain.numeric, *domain.categorical, *domain.high_cardinality, *domain.dates, *domain.units)
    meanings = {word.name: word.meaning for word in words if word.name in held}
    units = next((unit.plural for unit in domain.units if unit.name in held), None)
    return _story(domain, {medium.column: medium.meaning, **meanings}, target, streams, units)


def _story(
    domain: Domain, meanings: Mapping[str, str], target: Target, streams: Streams, units: str | None = None
) -> Story:
    draws = streams.generator("story")
    overviews = (domain.overview, *domain.knows.overviews)
    overview = overviews[int(draws.integers(len(overviews)))]
    return Story(
        title=f"{domain.title}: predict {target.name}",
        overview=" ".join(overview),
        row=domain.row,
        target=target.name,
        target_meaning=target.meaning,
        column_meanings={**meanings, **target.column_meanings},
        units=units,
        style=int(draws.integers(1, _STYLES)),
    )
