"""Write the task description: all that is needed to take part, as on a competition page, and nothing about the rule."""

from collections.abc import Sequence

from sandmill.layouts.base import SAMPLE, Layout, layout_of
from sandmill.metrics import get_metric
from sandmill.metrics.forms import form_of
from sandmill.metrics.forms.base import listed
from sandmill.models.columns import Categorical, Column, Date, Unit
from sandmill.models.layout import PUBLIC, SUBMISSION, public_path
from sandmill.models.libraries import LIBRARIES
from sandmill.models.package import TaskFacts
from sandmill.models.spec import TaskSpec
from sandmill.models.structure import SplitKind, TargetKind
from sandmill.synth.tell import dictionary_entry, house_sections
from sandmill.synth.tell_child import child_content, child_rows, note_rows

_EXAMPLE_ROWS = 3
_LEVELS_SHOWN = 8


def describe(spec: TaskSpec, facts: TaskFacts, sample_csv: bytes) -> str:
    """Write description.md.

    Args:
        spec: the design; only its story, sizes and column declarations are used.
        facts: target, metric and answer form.
        sample_csv: the sample submission. Its first lines become the example.
    """
    test_rows = spec.sizes.feedback + spec.sizes.final
    layout = layout_of(spec)
    sections = [
        f"# {spec.story.title}",
        "## Overview",
        f"{spec.story.overview}\n\nEach {layout.item} is {spec.story.row}. {_aim(facts, layout)}",
        "## Files",
        _files(spec, facts, layout),
        "## Columns",
        _columns(spec, facts, layout),
        *house_sections(spec),
        "## Evaluation",
        _evaluation(facts),
        "## Environment",
        f"Code runs in Python, without a network, in a working directory that holds the read-only folder `{PUBLIC}`. "
        f"It can import {', '.join(LIBRARIES)} and the standard library.",
        "## Submission",
        _submission(facts, sample_csv, test_rows, layout),
    ]
    return "\n\n".join(sections) + "\n"


def _aim(facts: TaskFacts, layout: Layout) -> str:
    return f"For every {layout.item} of {_path(layout.test)}, predict {form_of(facts).aim(facts)}."


def _path(name: str) -> str:
    return f"`{public_path(name)}`"


def _files(spec: TaskSpec, facts: TaskFacts, layout: Layout) -> str:
    rows = [(_path(name), content) for name, content in layout.contents(facts, spec.sizes)]
    if child := spec.mechanism.child:
        rows.append((_path(child.path), child_content(child, facts.id_column)))
    rows += [(_path(name), content) for name, content in dictionary_entry(spec)]
    rows.append((_path(SAMPLE), "a submission of the right form, with constant values"))
    return _table(("file", "content"), rows) + _split(spec, _path(layout.train), _path(layout.test))


def _split(spec: TaskSpec, train: str, test: str) -> str:
    """Describe the split, unless it is random."""
    match spec.split:
        case SplitKind.GROUPED:
            return f"\n\nNo `{spec.mechanism.unit_column()}` of {train} occurs in {test}."
        case SplitKind.TEMPORAL:
            dates = (column.name for column in spec.mechanism.columns if isinstance(column.distribution, Date))
            return f"\n\nBy `{next(dates)}`, all rows of {test} are later than those of {train}."
        case SplitKind.STRATIFIED:
            return f"\n\nThe classes occur about as often in {train} as in {test}."
        case _:
            return ""


def _columns(spec: TaskSpec, facts: TaskFacts, layout: Layout) -> str:
    rows = [(f"`{facts.id_column}`", "text", f"Identifier of the {layout.item}, without meaning")]
    if spec.channel:
        rows.append((f"`{spec.channel.column}`", layout.cell, spec.channel.meaning))
    else:
        shown = [column for column in spec.mechanism.columns if not column.in_text]
        rows += [(f"`{column.name}`", _type(column), _meaning(column, spec)) for column in shown] + note_rows(spec)
    meanings = spec.story.column_meanings
    for name in facts.target_columns:
        meaning = meanings.get(name, spec.story.target_meaning)
        rows.append((f"`{name}`", _target_type(facts), f"{meaning}. Only in {_path(layout.train)}"))
    table = _table(("column", "type", "meaning"), rows)
    if facts.target is TargetKind.MULTILABEL:
        table += f"\n\n{spec.story.target_meaning}: {listed(facts.classes)}. A row has none, one or several of them."
    if child := spec.mechanism.child:
        events = _table(("column", "type", "meaning"), child_rows(child, facts.id_column, layout.item))
        table += f"\n\nColumns of {_path(child.path)}:\n\n{events}"
    return table


def _type(column: Column) -> str:
    match column.distribution:
        case Categorical():
            return "category"
        case Date():
            return "date"
        case Unit():
            return "text"
        case _:
            return "integer" if column.decimals == 0 else "number"


def _target_type(facts: TaskFacts) -> str:
    if (held := form_of(facts).target_type(facts)) is not None:
        return held
    match facts.target:
        case TargetKind.BINARY | TargetKind.MULTILABEL:
            return "0 or 1"
        case TargetKind.MULTICLASS:
            return "category"
        case TargetKind.ORDINAL:
            return f"grade from {facts.classes[0]} to {facts.classes[-1]}"
        case TargetKind.COUNT:
            return "integer"
        case _:
            return "number"


def _meaning(column: Column, spec: TaskSpec) -> str:
    """Describe a column: its meaning, its levels or format, and the visible faults of its cells."""
    text = spec.story.column_meanings[column.name]
    match column.distribution:
        case Categorical(levels=levels):
            shown = ", ".join(levels[:_LEVELS_SHOWN]) + (", ..." if len(levels) > _LEVELS_SHOWN else "")
            text = f"{text}: {shown}"
        case Date():
            text = f"{text}, as year-month-day"
        case Unit():
            text = f"{text}. Several rows share one"
    if column.name in {gap.column for gap in spec.mechanism.missing() if gap.sentinel is None}:
        text = f"{text}. Some cells are empty"
    if mixed := [fault.suffix for fault in spec.mechanism.mixed_types() if fault.column == column.name]:
        text = f'{text}. Some cells have the unit behind the number, as in "12.5 {mixed[0]}"'
    return text


def _evaluation(facts: TaskFacts) -> str:
    metric = get_metric(facts.metric)
    direction = "Lower is better." if metric.is_lower_better else "Higher is better."
    is_named = facts.target in (TargetKind.MULTICLASS, TargetKind.ORDINAL)
    ranked = ", from lowest to highest" if facts.target is TargetKind.ORDINAL else ""
    classes = f" The classes are {', '.join(facts.classes)}{ranked}." if is_named else ""
    if facts.encoding == "ranked_list":
        classes += (
            f" Here k is {facts.list_length}. Each row has one true class: it scores 1 divided by the place at which "
            "the list names it, or 0."
        )
    return f"Submissions are scored by {metric.title}: {metric.definition}. {direction}{classes}"


def _submission(facts: TaskFacts, sample_csv: bytes, test_rows: int, layout: Layout) -> str:
    lines = sample_csv.decode().splitlines()[: 1 + _EXAMPLE_ROWS]
    example = "\n".join(["```csv", *lines, "```"])
    return (
        f"Write `{SUBMISSION}` into the working directory, with a header and {test_rows} rows, one for each "
        f"`{facts.id_column}` of {_path(layout.test)}, in any order. {form_of(facts).cells(facts)}\n\n{example}"
    )


def _table(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])
