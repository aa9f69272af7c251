"""Write the story of a design: title, overview, and the meaning of every column."""

from collections.abc import Sequence

from sandmill.design.targets import Target
from sandmill.design.vocabulary import Vocabulary
from sandmill.models.channels import Medium
from sandmill.models.domain import CategoricalWord, DateWord, Domain, NumericWord, UnitWord
from sandmill.models.mechanism import Column
from sandmill.models.spec import Story


def write_story(vocabulary: Vocabulary, columns: Sequence[Column], target: Target) -> Story:
    """Write the domain's story for the chosen columns and target."""
    entries: list[NumericWord | CategoricalWord | DateWord | UnitWord] = [
        *vocabulary.numeric,
        *vocabulary.categorical,
        *vocabulary.high_cardinality,
        *(word for word in (vocabulary.date, vocabulary.unit) if word is not None),
    ]
    meanings = {word.name: word.meaning for word in entries}
    named = {column.name: meanings[column.name] for column in columns} | target.column_meanings
    return _story(vocabulary.domain, target, named, vocabulary.unit.plural if vocabulary.unit else None)


def write_media_story(medium: Medium, target: Target) -> Story:
    """Tell the story of a task whose items show latent columns: these are not named."""
    meanings = {medium.column: medium.meaning} | target.column_meanings
    return _story(medium.domain, target, meanings)


def _story(domain: Domain, target: Target, meanings: dict[str, str], units: str | None = None) -> Story:
    return Story(
        title=f"{domain.title}: predict {target.name}",
        overview=" ".join(domain.overview),
        row=domain.row,
        target=target.name,
        target_meaning=target.meaning,
        column_meanings=meanings,
        units=units,
    )
