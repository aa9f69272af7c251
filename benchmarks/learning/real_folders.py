"""Write draws of real tables as tasks: public files, answers, and what kind of task it is."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.learning.real_frames import Draw, RealFrame, draw_rows, ids_of
from benchmarks.learning.real_registry import RealTable
from sandmill.models.libraries import LIBRARIES
from sandmill.models.package import TaskFacts
from sandmill.models.structure import TargetKind
from sandmill.score import get_metric
from sandmill.score.forms import form_of
from sandmill.score.support import ANSWER_FORMS

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

ID = "row_id"
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
