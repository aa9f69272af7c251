"""The sample submission: right in form, and knowing nothing."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from sandmill.metrics import get_metric
from sandmill.models.package import TaskFacts


def sample_frame(facts: TaskFacts, ids: Sequence[str], train_target: pl.DataFrame) -> pl.DataFrame:
    """One constant for every row that is no better than a guess: the rarest class, even chances, or nought.

    Args:
        facts: form of a submission.
        ids: of the test rows.
        train_target: targets of the training rows, which say what is rare.
    """
    rows, width = len(ids), len(facts.submission_columns)
    match facts.encoding:
        case "probability" | "label_probabilities":
            cells: list[object] = [0.5] * width
        case "class_probabilities":
            rarest = _by_frequency(facts, train_target)[0]
            cells = [0.5 if name == rarest else 0.5 / (width - 1) for name in facts.submission_columns]
        case "label":
            cells = [_by_frequency(facts, train_target)[0]]
        case "ranked_list":
            cells = [" ".join(_by_frequency(facts, train_target)[: facts.list_length])]
        case "label_list":
            cells = [_rarest_label(facts, train_target)]
        case _:
            cells = [1.0 if get_metric(facts.metric).is_nonnegative else 0.0] * width
    filled = {name: pl.Series([cell] * rows) for name, cell in zip(facts.submission_columns, cells, strict=True)}
    return pl.DataFrame({facts.id_column: pl.Series(ids)} | filled)


def _by_frequency(facts: TaskFacts, train_target: pl.DataFrame) -> list[str]:
    """Classes from the rarest to the commonest, in the training rows."""
    seen = train_target[facts.target_column].cast(pl.String)
    counts = {name: int((seen == name).sum()) for name in facts.classes}
    return sorted(facts.classes, key=lambda name: (counts[name], name))


def _rarest_label(facts: TaskFacts, train_target: pl.DataFrame) -> str:
    sets = [set((cell or "").split()) for cell in train_target[facts.target_column]]
    counts = np.array([sum(label in named for named in sets) for label in facts.classes])
    return facts.classes[int(counts.argmin())]
