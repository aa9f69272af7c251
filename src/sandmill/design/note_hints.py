"""Choose which values of a design stand in a text column instead of columns of their own."""

from collections.abc import Sequence

from sandmill.models.columns import Categorical, Column, Date, Identity, Unit
from sandmill.models.domain import Domain
from sandmill.models.hints import Hint, InText, Notes, NoteValue
from sandmill.rng import Streams

MOST_VALUES = 2
_TEXTS = (
    "Only `{notes}` holds this: {meaning} (`{column}`).",
    "Left out of the columns and written into `{notes}`: {meaning}, called `{column}` elsewhere.",
    "One sentence of every `{notes}` gives what no column has, namely `{column}`: {meaning}.",
    "Staff put `{column}` into `{notes}` and nowhere else ({meaning}).",
    "To be found among the sentences of `{notes}`: `{column}`, that is, {meaning}.",
    "`{notes}` stands in for a column `{column}`: {meaning}.",
)
"""Sentences that say what notes hold."""


def draw_notes(
    domain: Domain, columns: Sequence[Column], streams: Streams
) -> tuple[Notes, tuple[str, ...], tuple[Hint, ...]] | None:
    """Draw the text column of a design and the columns whose values it holds.

    Args:
        domain: knows phrases and patterns.
        columns: columns of the design. Only those without a unit, a date, an identity or a conversion can be in the
            text. The caller leaves out columns that have faults or that other columns depend on.
        streams: streams of the design.

    Returns:
        The notes, names of the columns that are in the text, and a hint for each, all marked as useful; None if no
        column can be in the text.
    """
    word = domain.knows.notes
    if word is None:
        return None
    by_name = {column.name: column for column in columns if _can_be_written(column)}
    known = [value for value in word.values if value.column in by_name]
    if not known:
        return None
    rng = streams.generator("notes")
    count = int(rng.integers(1, min(MOST_VALUES, len(known)) + 1))
    chosen = [known[place] for place in rng.permutation(len(known))[:count]]
    values = tuple(NoteValue(column=one.column, phrases=one.phrases, pattern=one.pattern) for one in chosen)
    notes = Notes(name=word.name, meaning=word.meaning, values=values, fillers=word.fillers)
    meanings = {item.name: item.meaning for item in (*domain.numeric, *domain.categorical)}
    texts = [str(text) for text in rng.permutation(_TEXTS)]
    hints = tuple(
        Hint(
            fact=_fact(value, notes, by_name[value.column]),
            text=_told(text, value.column, meanings[value.column], notes),
        )
        for value, text in zip(values, texts, strict=False)
    )
    return notes, tuple(value.column for value in values), hints


def _can_be_written(column: Column) -> bool:
    is_plain = column.unit is None and column.conversion is None and not isinstance(column.distribution, Date)
    return is_plain and not isinstance(column.distribution, Unit | Identity)


def _fact(value: NoteValue, notes: Notes, column: Column) -> InText:
    spread = column.distribution
    levels = tuple(level.replace("_", " ") for level in spread.levels) if isinstance(spread, Categorical) else ()
    return InText(column=value.column, notes=notes.name, pattern=value.pattern, levels=levels)


def _told(text: str, column: str, meaning: str, notes: Notes) -> str:
    """Put the meaning of a column into a sentence, with a small letter unless it starts with an abbreviation."""
    starts_small = len(meaning) > 1 and not meaning[1].isupper()
    words = meaning[0].lower() + meaning[1:] if starts_small else meaning
    return text.format(column=column, meaning=words, notes=notes.name)
