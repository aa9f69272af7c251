"""Read the values in the notes of a task, as its texts say."""

import polars as pl

from sandmill.models.columns import Categorical
from sandmill.models.spec import TaskSpec


def note_values(spec: TaskSpec, frame: pl.DataFrame) -> pl.DataFrame:
    """Return the columns that the notes hold: numbers as floats, levels as text.

    A cell is null if the pattern finds nothing, more than one value, or something that is no such value.
    """
    if spec.notes is None or spec.notes.name not in frame.columns:
        return pl.DataFrame()
    texts = frame[spec.notes.name].fill_null("").to_list()
    columns = []
    for value in spec.notes.values:
        found = [value.find(text) for text in texts]
        single = pl.Series(value.column, [some[0] if len(some) == 1 else None for some in found], dtype=pl.String)
        spread = spec.mechanism.column_by_name[value.column].distribution
        if isinstance(spread, Categorical):
            level_of = {level.replace("_", " "): level for level in spread.levels}
            columns.append(single.replace_strict(level_of, default=None, return_dtype=pl.String))
        else:
            numbers = single.cast(pl.Float64, strict=False)
            columns.append(numbers.set(~numbers.is_finite().fill_null(value=False), None))
    return pl.DataFrame(columns)
