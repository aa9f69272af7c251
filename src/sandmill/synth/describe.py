"""The task in words, as a competition page: everything needed to take part, nothing of the rule."""

from collections.abc import Mapping, Sequence

from sandmill.metrics import get_metric
from sandmill.models.mechanism import Categorical, Column
from sandmill.models.package import Brief
from sandmill.models.spec import TaskSpec
from sandmill.models.structure import TargetKind

_EXAMPLE_ROWS = 3
_LEVELS_SHOWN = 8


def describe(spec: TaskSpec, brief: Brief, sample_csv: bytes) -> str:
    """Write description.md.

    Args:
        spec: the design; only its story, sizes and column declarations are used.
        brief: target, metric and form of a submission.
        sample_csv: the sample submission, whose first lines become the example.
    """
    test_rows = spec.sizes.feedback + spec.sizes.final
    sections = [
        f"# {spec.story.title}",
        "## Overview",
        f"{spec.story.overview}\n\nEach row is {spec.story.row}. {_aim(brief)}",
        "## Files",
        _files(spec.sizes.train, test_rows, brief),
        "## Columns",
        _columns(spec, brief),
        "## Evaluation",
        _evaluation(brief),
        "## Submission",
        _submission(brief, sample_csv, test_rows),
    ]
    return "\n\n".join(sections) + "\n"


def _aim(brief: Brief) -> str:
    match brief.encoding:
        case "probability":
            return f"For every row of `test.csv`, predict the probability that `{brief.target_column}` is 1."
        case "label":
            return f"For every row of `test.csv`, predict `{brief.target_column}`."
        case "class_probabilities":
            return f"For every row of `test.csv`, predict the probability of each value of `{brief.target_column}`."
        case _:
            return f"For every row of `test.csv`, predict the number `{brief.target_column}`."


def _files(train_rows: int, test_rows: int, brief: Brief) -> str:
    rows = [
        ("train.csv", f"{train_rows} rows with the target `{brief.target_column}`"),
        ("test.csv", f"{test_rows} rows to predict, without the target"),
        ("sample_submission.csv", "a submission of the right form, with constant values"),
    ]
    return _table(("file", "content"), rows)


def _columns(spec: TaskSpec, brief: Brief) -> str:
    gaps = {gap.column for gap in spec.mechanism.missing()}
    rows = [(f"`{brief.id_column}`", "text", "Identifier of the row, without meaning")]
    rows += [
        (f"`{column.name}`", _type(column), _meaning(column, spec.story.column_meanings, gaps))
        for column in spec.mechanism.columns
    ]
    rows.append((f"`{brief.target_column}`", _target_type(brief), f"{spec.story.target_meaning}. Only in `train.csv`"))
    return _table(("column", "type", "meaning"), rows)


def _type(column: Column) -> str:
    if isinstance(column.distribution, Categorical):
        return "category"
    return "integer" if column.decimals == 0 else "number"


def _target_type(brief: Brief) -> str:
    if brief.target is TargetKind.BINARY:
        return "0 or 1"
    return "number" if brief.target is TargetKind.REGRESSION else "category"


def _meaning(column: Column, meanings: Mapping[str, str], gaps: set[str]) -> str:
    text = meanings[column.name]
    if isinstance(column.distribution, Categorical):
        levels = column.distribution.levels
        shown = ", ".join(levels[:_LEVELS_SHOWN]) + (", ..." if len(levels) > _LEVELS_SHOWN else "")
        text = f"{text}: {shown}"
    return f"{text}. Some cells are empty" if column.name in gaps else text


def _evaluation(brief: Brief) -> str:
    metric = get_metric(brief.metric)
    direction = "Lower is better." if metric.is_lower_better else "Higher is better."
    classes = f" The classes are {', '.join(brief.classes)}." if brief.target is TargetKind.MULTICLASS else ""
    return f"Submissions are scored by {metric.title}: {metric.definition}. {direction}{classes}"


def _submission(brief: Brief, sample_csv: bytes, test_rows: int) -> str:
    lines = sample_csv.decode().splitlines()[: 1 + _EXAMPLE_ROWS]
    example = "\n".join(["```csv", *lines, "```"])
    return (
        f"Write `submission.csv` with a header and {test_rows} rows, one for each `{brief.id_column}` of `test.csv`, "
        f"in any order. {_cells(brief)}\n\n{example}"
    )


def _cells(brief: Brief) -> str:
    match brief.encoding:
        case "probability":
            return f"`{brief.target_column}` holds a probability from 0 to 1."
        case "label":
            return f"`{brief.target_column}` holds one of {', '.join(brief.classes)}."
        case "class_probabilities":
            return "There is a column for each class; each row holds probabilities that sum to 1."
        case _:
            return f"`{brief.target_column}` holds a finite number."


def _table(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])
