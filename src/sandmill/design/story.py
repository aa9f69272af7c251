"""Write the story of a design: title, overview, and the meaning of every column."""

from collections.abc import Mapping, Sequence

from sandmill.design.targets import Target
from sandmill.design.vocabulary import Vocabulary
from sandmill.models.channels import Medium
from sandmill.models.columns import Column
from sandmill.models.domain import Domain
from sandmill.models.spec import Story


def write_story(vocabulary: Vocabulary, columns: Sequence[Column], target: Target) -> Story:
    """Write the domain's story for the chosen columns and target."""
    words = (*vocabulary.words, *vocabulary.domain.knows.identities)
    meanings = {word.name: word.meaning for word in words}
    units = vocabulary.unit.plural if vocabulary.unit else None
    return _story(vocabulary.domain, {column.name: meanings[column.name] for column in columns}, target, units)


def write_media_story(medium: Medium, target: Target) -> Story:
    """Tell the story of a task whose items show latent columns: these are not named."""
    return _story(medium.domain, {medium.column: medium.meaning}, target)


def _story(domain: Domain, meanings: Mapping[str, str], target: Target, units: str | None = None) -> Story:
    return Story(
        title=f"{domain.title}: predict {target.name}",
        overview=" ".join(domain.overview),
        row=domain.row,
        target=target.name,
        target_meaning=target.meaning,
        column_meanings={**meanings, **target.column_meanings},
        units=units,
    )
