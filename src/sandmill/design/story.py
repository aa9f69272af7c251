"""Write the story of a design: title, overview, and the meaning of every column."""

from collections.abc import Sequence

from sandmill.design.targets import Target
from sandmill.design.vocabulary import Vocabulary
from sandmill.models.channels import TextVocabulary
from sandmill.models.columns import Column
from sandmill.models.domain import CategoricalWord, DateWord, NumericWord, UnitWord
from sandmill.models.spec import Story


def write_story(vocabulary: Vocabulary, columns: Sequence[Column], target: Target) -> Story:
    """Write the domain's story for the chosen columns and target."""
    domain = vocabulary.domain
    entries: list[NumericWord | CategoricalWord | DateWord | UnitWord] = [
        *vocabulary.numeric,
        *vocabulary.categorical,
        *vocabulary.high_cardinality,
        *(word for word in (vocabulary.date, vocabulary.unit) if word is not None),
    ]
    meanings = {word.name: word.meaning for word in entries}
    return Story(
        title=f"{domain.title}: predict {target.name}",
        overview=" ".join(domain.overview),
        row=domain.row,
        target=target.name,
        target_meaning=target.meaning,
        column_meanings={column.name: meanings[column.name] for column in columns} | target.column_meanings,
        units=vocabulary.unit.plural if vocabulary.unit else None,
    )


def write_text_story(vocabulary: TextVocabulary, target: Target) -> Story:
    """Tell the story of a task whose rows are texts: the latent columns are not named."""
    domain = vocabulary.domain
    return Story(
        title=f"{domain.title}: predict {target.name}",
        overview=" ".join(domain.overview),
        row=domain.row,
        target=target.name,
        target_meaning=target.meaning,
        column_meanings={vocabulary.column: vocabulary.meaning} | target.column_meanings,
    )
