"""Check a table in the small layout, and derive what a pulled task states: facts and answers."""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from pydantic import Field, ValidationError

from sandmill.errors import InvalidSubmission, Problem, name_some, shorten
from sandmill.models.base import Frozen, Part
from sandmill.models.package import TaskFacts
from sandmill.models.structure import MetricName, TargetKind
from sandmill.scoring import get_metric
from sandmill.scoring.forms import form_of
from sandmill.scoring.submission import decode_text
from sandmill.scoring.support import ANSWER_FORMS, SUPPORTED_TASKS

TASK, ANSWERS, TRAIN, TEST, SAMPLE = (
    "task.json",
    "private/answers.csv",
    "public/train.csv",
    "public/test.csv",
    "public/sample_submission.csv",
)
FILES = (TASK, ANSWERS, TRAIN, TEST, SAMPLE)
"""Files of the small layout that every task has."""
PART_COLUMN = "part"
_MOST_BYTES = 64 << 20
_FEWEST_ROWS = 10
"""Fewest training rows, and fewest rows of each part of the test."""
_FEEDBACK_SHARE = 1 / 3
"""Share of the test rows for feedback where answers name no parts, as in generated tasks."""
_SHOWN = 3

TextColumns = dict[str, list[str]]
"""Cells as text by the name of their column."""


class TableTask(Frozen):
    """What is predicted for a table of one's own, and how it is scored.

    The task lies in a folder of its own: `public/train.csv`, `public/test.csv`, `public/sample_submission.csv`,
    optionally `public/description.md`, `private/answers.csv` and `task.json`. The first column of the sample submission
    is the id. Target columns are those of train.csv that test.csv lacks. answers.csv has the id, the target columns and
    optionally `part`, which is `feedback` or `final`; without it, a third of the rows is for feedback, by a hash of
    their ids.
    """

    kind: TargetKind
    """Kind of target: binary (0 and 1), multiclass, ordinal, multilabel, regression, count or multi_target."""
    metric: MetricName
    """Metric that submissions are scored by. The kind and the metric say what a submission holds."""
    family: str | None = Field(default=None, min_length=1)
    """Unit of the statistics, such as the table that several tasks are drawn from. None: the name of the folder,
    without an ending such as `.d3`, the number of a draw."""
    classes: tuple[str, ...] = ()
    """Class names in their order, as an ordinal target needs them. Empty: those of train.csv, numbers by size and other
    names by the alphabet. Labels of a multilabel target that train.csv lists in one column must be named."""


@dataclass(frozen=True)
class ReadTable:
    """A table that can be measured."""

    asked: TableTask
    facts: TaskFacts
    answers: bytes
    """Content of answers.csv in the order of test.csv, with a column of parts."""


class Faults(Exception):
    """What is wrong with the files of a task."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = tuple(problems)


def read_table_task(folder: Path) -> ReadTable:
    """Read and check the files of a task in the small layout.

    Raises:
        Faults: with all problems that can be seen at once.
    """
    problems: list[Problem] = []
    asked = _read_asked(folder / TASK, problems)
    tables = {name: _read_table(folder / name, name, problems) for name in (TRAIN, TEST, SAMPLE, ANSWERS)}
    if asked is None or not all(tables.values()):
        raise Faults(problems)
    found = {name: table for name, table in tables.items() if table}
    facts = _derive(asked, found, problems)
    if facts is None or problems:
        raise Faults(problems)
    problems += [*_id_problems(facts, found), *_target_problems(facts, found)]
    if problems:
        raise Faults(problems)
    answers = _write_answers(facts, found)
    problems += _part_problems(answers)
    if problems:
        raise Faults(problems)
    return ReadTable(asked, facts, answers)


def _read_asked(path: Path, problems: list[Problem]) -> TableTask | None:
    try:
        data = json.loads(path.read_bytes())
        asked = TableTask.model_validate(data)
    except OSError as error:
        problems.append(Problem(TASK, (error.strerror or "an error").lower(), "a file that names kind and metric"))
        return None
    except ValidationError as error:
        for item in error.errors():
            field = ".".join(map(str, item["loc"])) or "document"
            saw = "nothing" if item["type"] == "missing" else shorten(repr(item["input"]))
            problems.append(Problem(f"{TASK}, {field}", saw, _wanted(item)))
        return None
    except ValueError as error:
        problems.append(Problem(TASK, f"text that is not JSON ({error})", '{"kind": "binary", "metric": "roc_auc"}'))
        return None
    if (asked.kind, asked.metric) not in ANSWER_FORMS:
        known = SUPPORTED_TASKS.get(asked.kind)
        if known is None:
            problems.append(Problem(f"{TASK}, kind", asked.kind, f"one of {', '.join(SUPPORTED_TASKS)}"))
        else:
            wanted = f"one of {', '.join(known)}, as the kind is {asked.kind}"
            problems.append(Problem(f"{TASK}, metric", asked.metric, wanted))
    return asked


def _wanted(item: Mapping[str, object]) -> str:
    if item["type"] == "extra_forbidden":
        return f"one of the fields {', '.join(TableTask.model_fields)}"
    context = item.get("ctx")
    if isinstance(context, dict) and "expected" in context:
        return f"one of {context['expected']}"
    return "a value" if item["type"] == "missing" else str(item["msg"])


def _read_table(path: Path, name: str, problems: list[Problem]) -> TextColumns | None:
    """Read a CSV file with a header; None with a problem if it is none."""
    expected = "a CSV file in UTF-8 with a header and rows"
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise ValueError(f"more than {_MOST_BYTES} bytes")
        rows = list(filter(None, csv.reader(io.StringIO(decode_text(path.read_bytes()), newline=""), strict=True)))
    except InvalidSubmission as error:
        problems += [Problem(name, problem.saw, expected) for problem in error.problems]
        return None
    except OSError as error:
        problems.append(Problem(name, (error.strerror or "an error").lower(), expected))
        return None
    except (ValueError, csv.Error) as error:
        problems.append(Problem(name, str(error), expected))
        return None
    header, body = (rows[0] if rows else []), rows[1:]
    doubled = [column for column, number in Counter(header).items() if number > 1]
    ragged = [line for line, row in enumerate(body, start=2) if len(row) != len(header)]
    if not body:
        problems.append(Problem(name, "no rows", expected))
    elif doubled:
        problems.append(Problem(f"{name}, header", f"{name_some(doubled)} twice", "column names that differ"))
    elif ragged:
        saw = f"{len(ragged)} rows with another number of cells"
        problems.append(Problem(f"{name}, line {ragged[0]}", saw, f"{len(header)} cells as in the header"))
    else:
        return dict(zip(header, map(list, zip(*body, strict=True)), strict=True))
    return None


def _derive(asked: TableTask, tables: Mapping[str, TextColumns], problems: list[Problem]) -> TaskFacts | None:
    """Derive the facts of a task; None with problems if the columns do not fit together."""
    train, test, sample = tables[TRAIN], tables[TEST], tables[SAMPLE]
    id_column, *submitted = sample
    targets = [name for name in train if name not in test and name != id_column]
    form = ANSWER_FORMS.get((asked.kind, asked.metric))
    if form is None:
        return None
    is_wide = form == "label_probabilities" or asked.kind is TargetKind.MULTI_TARGET
    if not targets or (len(targets) > 1 and not is_wide):
        saw = f"the columns {name_some(targets, 5)}" if targets else "no column"
        wanted = "the target columns" if is_wide else f"one target column for a {asked.kind} target"
        problems.append(Problem(f"{TRAIN}, columns that {TEST} lacks", saw, wanted))
        return None
    classes = _classes(asked, form, train, targets)
    facts = TaskFacts(
        id_column=id_column,
        target_column=targets[0],
        target=asked.kind,
        metric=asked.metric,
        encoding=form,
        classes=classes,
        submission_columns=tuple(targets),
    )
    facts = facts.model_copy(update={"submission_columns": form_of(facts).submission_columns(facts)})
    if sorted(submitted) != sorted(facts.submission_columns):
        saw, wanted = f"{id_column} and {name_some(submitted, 8)}", name_some(facts.submission_columns, 8)
        problems.append(Problem(f"{SAMPLE}, header", saw, f"the id and {wanted}"))
    for name, columns in ((TEST, [id_column]), (ANSWERS, [id_column, *facts.target_columns])):
        if missing := [column for column in columns if column not in tables[name]]:
            problems.append(Problem(f"{name}, header", f"no {name_some(missing)}", name_some(columns, 8)))
    known = {id_column, *facts.target_columns, PART_COLUMN}
    if further := [column for column in tables[ANSWERS] if column not in known]:
        problems.append(Problem(f"{ANSWERS}, header", name_some(further), f"only {name_some(sorted(known), 8)}"))
    return facts.model_copy(update={"submission_columns": tuple(submitted)})


def _classes(asked: TableTask, form: str, train: TextColumns, targets: Sequence[str]) -> tuple[str, ...]:
    if asked.kind in (TargetKind.REGRESSION, TargetKind.COUNT, TargetKind.MULTI_TARGET):
        return ()
    if asked.kind is TargetKind.BINARY:
        return ("0", "1")
    if asked.classes:
        return asked.classes
    if form == "label_probabilities":
        return tuple(targets)
    cells = {*train[targets[0]]}
    names = {name for cell in cells for name in cell.split()} if form == "label_list" else cells
    return tuple(sorted(names, key=_in_order))


def _in_order(name: str) -> tuple[int, float, str]:
    try:
        return 0, float(name), name
    except ValueError:
        return 1, 0.0, name


def _id_problems(facts: TaskFacts, tables: Mapping[str, TextColumns]) -> Iterator[Problem]:
    ids = tables[TEST][facts.id_column]
    if len(tables[TRAIN][facts.target_columns[0]]) < _FEWEST_ROWS:
        saw = f"{len(tables[TRAIN][facts.target_columns[0]])} rows"
        yield Problem(TRAIN, saw, f"at least {_FEWEST_ROWS} rows")
    doubled = [name for name, number in Counter(ids).items() if number > 1]
    if doubled:
        yield Problem(f"{TEST}, {facts.id_column}", f"{_some(doubled)} twice", "ids that differ")
    for name in (SAMPLE, ANSWERS):
        found = tables[name][facts.id_column]
        if sorted(found) != sorted(ids) and not doubled:
            odd = [one for one in found if one not in {*ids}] or [one for one in ids if one not in {*found}]
            saw = f"{len(found)} ids, such as {_some(odd or found)}"
            yield Problem(f"{name}, {facts.id_column}", saw, f"the {len(ids)} ids of {TEST}, each once")


def _some(names: Sequence[str]) -> str:
    return name_some([shorten(name, 30) for name in names[:_SHOWN]])


def _target_problems(facts: TaskFacts, tables: Mapping[str, TextColumns]) -> Iterator[Problem]:
    for name in (TRAIN, ANSWERS):
        for column in facts.target_columns:
            bad = [cell for cell in tables[name][column] if not _is_target(cell, facts)]
            if bad:
                saw = f"{len(bad)} cells such as {_some([repr(cell) for cell in dict.fromkeys(bad)])}"
                yield Problem(f"{name}, {column}", saw, _expected(facts))
    one = facts.target_columns[0]
    if len(facts.classes) < 2 and facts.classes:
        yield Problem(f"{TRAIN}, {one}", f"the class {facts.classes[0]} alone", "at least two classes")
    if facts.target is TargetKind.BINARY and len({*tables[TRAIN][one]}) < 2:
        yield Problem(f"{TRAIN}, {one}", f"{tables[TRAIN][one][0]} in every row", "both 0 and 1")


def _is_target(cell: str, facts: TaskFacts) -> bool:
    if facts.is_wide and facts.classes and facts.encoding != "label_list":
        return cell in ("0", "1")
    if facts.encoding == "label_list":
        return {*cell.split()} <= {*facts.classes}
    if facts.classes:
        return cell in facts.classes
    least = 0.0 if get_metric(facts.metric).is_nonnegative or facts.target is TargetKind.COUNT else -float("inf")
    return bool(re.fullmatch(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?", cell)) and least <= float(cell) < float("inf")


def _expected(facts: TaskFacts) -> str:
    if facts.is_wide and facts.classes and facts.encoding != "label_list":
        return "0 or 1"
    if facts.classes:
        return f"one of the classes of {TRAIN}: {name_some(facts.classes, 8)}"
    return "numbers, 0 or more" if get_metric(facts.metric).is_nonnegative else "numbers"


def _write_answers(facts: TaskFacts, tables: Mapping[str, TextColumns]) -> bytes:
    """Write the answers in the order of test.csv, with a part for each row."""
    answers, ids = tables[ANSWERS], tables[TEST][facts.id_column]
    place = {row_id: row for row, row_id in enumerate(answers[facts.id_column])}
    parts = answers.get(PART_COLUMN) or [_part_of(row_id) for row_id in answers[facts.id_column]]
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([facts.id_column, *facts.target_columns, PART_COLUMN])
    for row_id in ids:
        row = place[row_id]
        writer.writerow([row_id, *(answers[column][row] for column in facts.target_columns), parts[row]])
    return text.getvalue().encode()


def _part_of(row_id: str) -> str:
    """Choose the part of a test row by a hash of its id."""
    drawn = int.from_bytes(sha256(f"part {row_id}".encode()).digest()[:8], "big") / 2**64
    return Part.FEEDBACK if drawn < _FEEDBACK_SHARE else Part.FINAL


def _part_problems(answers: bytes) -> Iterator[Problem]:
    counts = Counter(row[-1] for row in list(csv.reader(io.StringIO(answers.decode(), newline="")))[1:])
    where = f"{ANSWERS}, {PART_COLUMN}"
    if odd := sorted({*counts} - {*Part}):
        yield Problem(where, _some(odd), f"{Part.FEEDBACK} or {Part.FINAL}")
    for part in Part:
        if counts[part] < _FEWEST_ROWS:
            yield Problem(where, f"{counts[part]} rows of the {part} part", f"at least {_FEWEST_ROWS}")


def write_description(title: str, facts: TaskFacts, columns: Sequence[str], rows: tuple[int, int]) -> str:
    """Write the description of a table that has none: files, columns, metric and form of a submission."""
    metric, form = get_metric(facts.metric), form_of(facts)
    better = "Lower" if metric.is_lower_better else "Higher"
    listed = "\n".join(f"- `{name}`" for name in columns)
    return (
        f"# {title}\n\nFor every row of `test.csv`, predict {form.aim(facts)}.\n\n## Files\n\n"
        f"`train.csv` has {rows[0]} rows with the target; `test.csv` has {rows[1]} rows without it; "
        f"`sample_submission.csv` is a submission of the right form.\n\n## Columns\n\n{listed}\n\n## Evaluation\n\n"
        f"Submissions are scored by {metric.title}: {metric.definition}. {better} is better.\n\n## Submission\n\n"
        f"Write `submission.csv` with the columns `{'`, `'.join([facts.id_column, *facts.submission_columns])}` and "
        f"{rows[1]} rows, one for each `{facts.id_column}` of `test.csv`. {form.cells(facts)}\n"
    )
