"""A design in words: title, overview, and what every column means."""

from collections.abc import Sequence

from sandmill.design.targets import Target
from sandmill.design.vocabulary import Vocabulary
from sandmill.models.channels import TextVocabulary
from sandmill.models.domain import CategoricalWord, DateWord, NumericWord, UnitWord
from sandmill.models.mechanism import Column
from sandmill.models.spec import Story


def write_story(words: Vocabulary, columns: Sequence[Column], target: Target) -> Story:
    """Tell the domain's story for the columns and the target that were chosen."""
    domain = words.domain
    known: list[NumericWord | CategoricalWord | DateWord | UnitWord] = [
        *words.numeric,
        *words.categorical,
        *words.high_cardinality,
        *(word for word in (words.date, words.unit) if word is not None),
    ]
    meanings = {word.name: word.meaning for word in known}
    return Story(
        title=f"{domain.title}: predict {target.name}",
        overview=" ".join(domain.overview),
        row=domain.row,
        target=target.name,
        target_meaning=target.meaning,
        column_meanings={column.name: meanings[column.name] for column in columns} | target.column_meanings,
        units=words.unit.plural if words.unit else None,
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
