"""Read a table from its package, draw training and test rows, and write them as a task."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sandmill.models.layout import LIBRARIES
from sandmill.models.package import TaskFacts
from sandmill.models.structure import TargetKind
from sandmill.scoring import get_metric
from sandmill.scoring.forms import form_of
from sandmill.scoring.support import ANSWER_FORMS
from sandmill_learn.real.registry import RealTable, column_meanings, hash_number, read_source

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

TRAIN_ROWS = 150
TEST_ROWS = 2_000
"""Most test rows of a draw. It bounds the time of scripts."""
MOST_ROWS = 5_000
"""Rows of a table that draws choose from. Larger tables are sampled once, by the table's name."""
MOST_MISSING = 0.5
"""Columns with a larger share of empty cells are left out."""
MOST_LEVELS = 100
"""Text columns with more values are names and are left out."""
LEAST_CLASS = 0.05
"""Rows of multiclass tables whose class is rarer are left out: 150 rows would hold too few of them."""


@dataclass(frozen=True)
class RealFrame:
    """A table ready to be drawn from."""

    features: "pd.DataFrame"
    target: "pd.Series[int] | pd.Series[float] | pd.Series[str]"
    """Named as in the files: 0 and 1, class names, or numbers."""
    meanings: dict[str, str]
    """Of feature columns and the target, by their names in the files."""
    later: NDArray[np.bool_] | None
    """Which rows are in the second half by time; None where the table has no time."""

    @property
    def classes(self) -> tuple[str, ...]:
        """Class names in alphabetical order; for binary targets 0 and 1; for numbers none."""
        import pandas as pd

        if pd.api.types.is_float_dtype(self.target):
            return ()
        return tuple(sorted(str(value) for value in self.target.unique()))


@dataclass(frozen=True)
class Draw:
    """Row numbers of one draw."""

    train: NDArray[np.intp]
    test: NDArray[np.intp]


def plain_name(text: str) -> str:
    """Return a column or class name of letters, digits and underscores."""
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_") or "value"


def is_usable(column: "pd.Series[str]") -> bool:
    """Whether a column can be a feature: two values or more, not mostly empty, and no names."""
    import pandas as pd

    if column.isna().mean() > MOST_MISSING or column.nunique() < 2:
        return False
    return pd.api.types.is_numeric_dtype(column) or column.nunique() <= MOST_LEVELS


def real_frame(table: RealTable) -> RealFrame:
    """Read a table and apply everything that the registered list says about it.

    Raises:
        ValueError: a column that the list names is not there.
    """
    raw = read_source(table.origin)
    named = {table.target, *table.dropped, *table.where, *filter(None, (table.one_row_per, table.order))}
    if missing := named - set(raw.columns):
        raise ValueError(f"{table.source} has no column {', '.join(sorted(missing))}")
    raw = raw[raw[table.target].notna()]
    for name, value in table.where.items():
        raw = raw[raw[name] == value]
    if table.one_row_per:
        raw = raw.drop_duplicates(table.one_row_per)
    target = _target(raw, table)
    raw = raw.loc[target.index]
    rng = _generator(table.name, "rows")
    rows = np.sort(rng.permutation(len(raw))[:MOST_ROWS])
    raw, target = raw.iloc[rows], target.iloc[rows]
    features = raw.drop(columns=[table.target, *table.dropped])
    features = features[[name for name in features.columns if is_usable(features[name])]]
    told = column_meanings(table.origin)
    renamed = {name: plain_name(name) for name in [*features.columns, table.target]}
    meanings = {plain: told[name] for name, plain in renamed.items() if name in told}
    if table.meaning:
        meanings[renamed[table.target]] = table.meaning
    later = None
    if table.order:
        later = (raw[table.order].rank(method="first") > len(raw) / 2).to_numpy()
    return RealFrame(
        _readable(features).rename(columns=renamed).reset_index(drop=True),
        target.rename(renamed[table.target]).reset_index(drop=True),
        meanings,
        later,
    )


def _target(raw: "pd.DataFrame", table: RealTable) -> "pd.Series[Any]":
    """Return the target as files hold it; rows of rare classes are left out."""
    column = raw[table.target].astype(object)
    if table.kind is TargetKind.BINARY:
        if table.above is not None:
            return (column.astype(float) > table.above).astype(int)
        if table.positive is not None:
            return (column.map(_as_text) == table.positive).astype(int)
        return column.astype(int)
    if table.kind is not TargetKind.MULTICLASS:
        return column.astype(float)
    names = column.map(_as_text)
    names = (names.map(table.labels.format) if table.labels else names).map(plain_name)
    shares = names.value_counts(normalize=True)
    return names[names.map(shares) >= LEAST_CLASS]


def _as_text(value: object) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _readable(features: "pd.DataFrame") -> "pd.DataFrame":
    """Return features with plain cells: whole numbers without a point, and text for everything else."""
    import pandas as pd

    shown: dict[str, pd.Series[Any]] = {}
    for name in features.columns:
        column = features[name]
        if pd.api.types.is_bool_dtype(column):
            shown[name] = column.astype("Int64")
        elif pd.api.types.is_numeric_dtype(column):
            known = column.dropna()
            is_whole = bool((known == known.round()).all()) and bool((known.abs() < 2**53).all())
            shown[name] = column.astype("Int64") if is_whole else column.astype(float).round(6)
        else:
            shown[name] = column.astype(object).map(lambda cell: None if pd.isna(cell) else " ".join(str(cell).split()))
    return pd.DataFrame(shown, index=features.index)


def draw_rows(table: RealTable, frame: RealFrame, name: str) -> Draw:
    """Choose 150 training rows and up to 2,000 test rows.

    Training rows have the classes in the shares of the table. Draws of a small table overlap.

    Args:
        table: whose name seeds the draw.
        frame: the rows.
        name: of the draw.
    """
    rng = _generator(table.name, name)
    order = rng.permutation(len(frame.target))
    early = order if frame.later is None else order[~frame.later[order]]
    train = _stratified(frame, early) if frame.classes else early[:TRAIN_ROWS]
    rest = order[~np.isin(order, train)]
    test = rest if frame.later is None else rest[frame.later[rest]]
    return Draw(rng.permutation(train), test[:TEST_ROWS])


def _stratified(frame: RealFrame, order: NDArray[np.intp]) -> NDArray[np.intp]:
    """Take rows of each class in its share, by largest remainders."""
    values = frame.target.to_numpy()[order]
    classes, counts = np.unique(values, return_counts=True)
    exact = counts / counts.sum() * TRAIN_ROWS
    wanted = np.floor(exact).astype(int)
    for place in np.argsort(wanted - exact, kind="stable")[: TRAIN_ROWS - wanted.sum()]:
        wanted[place] += 1
    return np.concatenate([order[values == one][:number] for one, number in zip(classes, wanted, strict=True)])


def ids_of(table: RealTable, name: str, count: int) -> list[str]:
    """Return random ids, all different."""
    rng = _generator(table.name, f"{name}/ids")
    return [f"{number:010x}" for number in _distinct(rng, count)]


def _distinct(rng: np.random.Generator, count: int) -> Iterator[int]:
    seen: set[int] = set()
    while len(seen) < count:
        number = int(rng.integers(1 << 40))
        if number not in seen:
            seen.add(number)
            yield number


def _generator(table: str, name: str) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(key=hash_number(f"{table}/{name}") % (1 << 128)))


ID = "id"
"""Name of the id column. No registered table has a column of this name."""
_LEVELS_SHOWN = 12
_EXAMPLE_ROWS = 3


def task_id(table: RealTable, draw: int) -> str:
    """Return the id of the task of one draw."""
    return f"{table.name}.d{draw}"


def facts_of_table(table: RealTable, frame: RealFrame) -> TaskFacts:
    """Return what the description of a table's task states."""
    encoding = ANSWER_FORMS[table.kind, table.metric]
    columns = frame.classes if encoding == "class_probabilities" else (str(frame.target.name),)
    return TaskFacts(
        id_column=ID,
        target_column=str(frame.target.name),
        target=table.kind,
        metric=table.metric,
        encoding=encoding,
        classes=frame.classes,
        submission_columns=columns,
    )


def write_draw(table: RealTable, frame: RealFrame, draw: int, folder: Path) -> None:
    """Write the task of one draw into a new folder. Equal arguments give equal files."""
    name = f"d{draw}"
    rows, facts = draw_rows(table, frame, name), facts_of_table(table, frame)
    ids = ids_of(table, name, len(rows.train) + len(rows.test))
    train_ids, test_ids = ids[: len(rows.train)], ids[len(rows.train) :]
    public, private = folder / "public", folder / "private"
    for place in (public, private):
        place.mkdir(parents=True)
    files = {
        public / "train.csv": _with_ids(train_ids, frame.features, rows.train).assign(
            **{facts.target_column: _written(frame, rows.train)}
        ),
        public / "test.csv": _with_ids(test_ids, frame.features, rows.test),
        public / "sample_submission.csv": _sample(frame, facts, rows, test_ids),
        private / "answers.csv": _answers(frame, facts, rows, test_ids),
    }
    for path, table_of_file in files.items():
        table_of_file.to_csv(path, index=False, lineterminator="\n")
    sample = (public / "sample_submission.csv").read_text(encoding="utf-8")
    (public / "description.md").write_text(_description(table, frame, facts, rows, sample), encoding="utf-8")
    task = {"kind": str(table.kind), "metric": str(table.metric), "family": table.family}
    (folder / "task.json").write_text(json.dumps(task, indent=2) + "\n", encoding="utf-8")


def _with_ids(ids: list[str], features: "pd.DataFrame", rows: "NDArray[np.intp]") -> "pd.DataFrame":
    taken = features.iloc[rows].reset_index(drop=True)
    taken.insert(0, ID, ids)
    return taken


def _written(frame: RealFrame, rows: "NDArray[np.intp]") -> "pd.Series[Any]":
    """Return targets as cells: whole numbers without a point where all are whole."""
    column = frame.target.iloc[rows].reset_index(drop=True)
    is_whole = column.dtype.kind == "f" and bool((frame.target == frame.target.round()).all())
    return column.astype("int64") if is_whole else column


def _answers(frame: RealFrame, facts: TaskFacts, rows: Draw, ids: list[str]) -> "pd.DataFrame":
    import pandas as pd

    return pd.DataFrame({ID: ids, facts.target_column: _written(frame, rows.test)})


def _sample(frame: RealFrame, facts: TaskFacts, rows: Draw, ids: list[str]) -> "pd.DataFrame":
    import numpy as np
    import pandas as pd

    target = frame.target.iloc[rows.train].to_numpy()
    truth = [facts.classes.index(str(value)) for value in target] if facts.classes else target
    cells = form_of(facts).sample(facts, np.asarray(truth))
    columns = dict(zip(facts.submission_columns, cells, strict=True))
    return pd.DataFrame({ID: ids} | {name: [cell] * len(ids) for name, cell in columns.items()})


def _description(table: RealTable, frame: RealFrame, facts: TaskFacts, rows: Draw, sample: str) -> str:
    form, metric, target = form_of(facts), get_metric(facts.metric), facts.target_column
    time = "" if frame.later is None else "\nAll rows of `test.csv` are later than those of `train.csv`.\n"
    lines = sample.splitlines()[: 1 + _EXAMPLE_ROWS]
    direction = "Lower is better." if metric.is_lower_better else "Higher is better."
    classes = f" The classes are {', '.join(facts.classes)}." if facts.target is TargetKind.MULTICLASS else ""
    return f"""# {table.name.replace("-", " ").capitalize()}: predict {target}

## Overview

Each row is {table.row}. For every row of `test.csv`, predict {form.aim(facts)}.

## Files

| file | content |
|---|---|
| `train.csv` | {len(rows.train)} rows with the target `{target}` |
| `test.csv` | {len(rows.test)} rows to predict, without the target |
| `sample_submission.csv` | a submission of the right form, with constant values |
{time}
## Columns

| column | type | meaning |
|---|---|---|
{_columns(frame, facts)}

## Evaluation

Submissions are scored by {metric.title}: {metric.definition}. {direction}{classes}

## Environment

Code runs in Python, without a network, with {", ".join(LIBRARIES)} and the standard library.

## Submission

Write `submission.csv` with a header and {len(rows.test)} rows, one for each `{ID}` of `test.csv`, in any order. \
{form.cells(facts)}

```csv
{chr(10).join(lines)}
```
"""


def _columns(frame: RealFrame, facts: TaskFacts) -> str:
    lines = [f"| `{ID}` | text | Identifier of the row, without meaning |"]
    for name in frame.features.columns:
        column = frame.features[name]
        gaps = ". Some cells are empty" if column.isna().any() else ""
        lines.append(f"| `{name}` | {_type(column)} | {_meaning(frame, str(name), column)}{gaps} |")
    target = facts.target_column
    meaning = frame.meanings.get(target, "Target")
    lines.append(f"| `{target}` | {_target_type(facts)} | {_sentence(meaning)}. Only in `train.csv` |")
    return "\n".join(lines)


def _type(column: "pd.Series[str]") -> str:
    import pandas as pd

    if not pd.api.types.is_numeric_dtype(column):
        return "category"
    return "integer" if pd.api.types.is_integer_dtype(column) else "number"


def _target_type(facts: TaskFacts) -> str:
    return "0 or 1" if facts.is_binary else "category" if facts.classes else "number"


def _meaning(frame: RealFrame, name: str, column: "pd.Series[str]") -> str:
    meaning = _sentence(frame.meanings.get(name, name.replace("_", " ")))
    if _type(column) == "category" and column.nunique() <= _LEVELS_SHOWN:
        levels = ", ".join(sorted(str(level) for level in column.dropna().unique()))
        return f"{meaning}: {levels}".replace("|", "/")
    return meaning


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
