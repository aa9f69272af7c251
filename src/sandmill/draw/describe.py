"""Write the task description: all that is needed to take part, as on a competition page, and nothing about the rule."""

from collections.abc import Callable

from sandmill.draw.describe_columns import columns_section, fault_notes, table_of
from sandmill.draw.tell import further_files, house_sections
from sandmill.draw.wording import Wording
from sandmill.kinds.files.base import Layout, layout_of
from sandmill.kinds.files.media import SHOWN_CELL
from sandmill.models.columns import Date
from sandmill.models.english import capitalized
from sandmill.models.layout import HEADINGS, LIBRARIES, PUBLIC, SUBMISSION, public_path
from sandmill.models.package import TaskFacts
from sandmill.models.spec import TaskSpec
from sandmill.models.structure import SplitKind, TargetKind
from sandmill.scoring import get_metric
from sandmill.scoring.forms import form_of
from sandmill.scoring.forms.base import listed

_EXAMPLE_ROWS, _TARGETS_NAMED = 3, 3


def describe(spec: TaskSpec, facts: TaskFacts, sample_csv: bytes) -> str:
    """Write description.md. Order, headings and wordings follow from the style of the story.

    Of the design, only story, sizes and the declarations of columns and faults are used. The first lines of the sample
    submission become the example.
    """
    words, layout = Wording(spec.story.style), layout_of(spec)
    sections: dict[str, Callable[[], str]] = {
        "overview": lambda: _overview(spec, facts, layout, words),
        "files": lambda: _files(spec, facts, layout, words),
        "columns": lambda: columns_section(spec, facts, layout, words),
        "evaluation": lambda: _evaluation(facts, words),
        "environment": lambda: words.say(
            "runs", public=PUBLIC, libraries=", ".join(words.shuffled("libraries", list(LIBRARIES)))
        ),
        "submission": lambda: _submission(spec, facts, sample_csv, words),
    }
    parts = [f"# {spec.story.title}"]
    told_after = words.pick("house", ("columns", "overview", "files"))
    for name in words.chosen("orders"):
        parts += [f"## {words.pick(f'heading {name}', HEADINGS[name])}", sections[name]()]
        parts += house_sections(spec) if name == told_after else []
    return "\n\n".join(parts) + "\n"


def _overview(spec: TaskSpec, facts: TaskFacts, layout: Layout, words: Wording) -> str:
    item = words.names_of(layout.item)
    row = words.say("row" if layout.item == "row" else "item_row", **item, row=spec.story.row)
    aim = words.say("aim", **item, test=_path(layout.test), aim=form_of(facts).aim(facts))
    story, task = spec.story.overview, f"{row} {aim}"
    return f"{task}\n\n{story}" if words.pick("task first", (False, True)) else f"{story}\n\n{task}"


def _path(name: str) -> str:
    return f"`{public_path(name)}`"


def _files(spec: TaskSpec, facts: TaskFacts, layout: Layout, words: Wording) -> str:
    item, names = words.names_of(layout.item), facts.target_columns
    word = "target" if len(names) == 1 else "targets"
    listing = f"{word} {listed(names)}" if len(names) <= _TARGETS_NAMED else f"{len(names)} {word}"
    targets = {"targets": f"the {listing}", "word": word}
    told = {}
    if words.style:
        named = {**item, **targets, "train_items": spec.sizes.train, "test_items": spec.test_items}
        told = {layout.train: words.say("file_train", **named), layout.test: words.say("file_test", **named)}
        naming = layout.naming(facts)
        told = {path: f"{text}, {naming[path]}" if path in naming else text for path, text in told.items()}
    rows = [(_path(name), told.get(name, content)) for name, content in layout.contents(facts, spec.file_sizes)]
    if spec.channel and spec.channel.shown:
        rows = [(path, content.replace(SHOWN_CELL, f"<{spec.channel.shown[0]}>")) for path, content in rows]
    rows += [(_path(name), content) for name, content in further_files(spec, words, layout.item)]
    rows.append((_path(layout.sample), words.say("file_sample", **targets, **item)))
    rows = words.shuffled("files", rows)
    shown = {
        "two_columns": lambda: table_of(("file", "content"), rows),
        "list": lambda: "\n".join(f"- {path}: {content}" for path, content in rows),
        "bold": lambda: "\n".join(f"- **{path}** {content}" for path, content in rows),
        "sentences": lambda: " ".join(f"{path}: {content}." for path, content in rows),
    }[words.chosen("files_table")]()
    notes = [*_split(spec, facts, layout, words), *fault_notes(spec, facts, layout, words)]
    return "\n\n".join([shown, " ".join(notes)] if notes else [shown])


def _split(spec: TaskSpec, facts: TaskFacts, layout: Layout, words: Wording) -> list[str]:
    """Describe the split, unless it is random."""
    paths = {"train": _path(layout.train), "test": _path(layout.test), **words.names_of(layout.item)}
    match spec.split:
        case SplitKind.GROUPED:
            return [words.say("grouped", **paths, unit=spec.mechanism.unit_column())]
        case SplitKind.TEMPORAL:
            dates = (column.name for column in spec.mechanism.columns if isinstance(column.distribution, Date))
            return [words.say("temporal", **paths, date=next(dates))]
        case SplitKind.STRATIFIED:
            return [words.say("stratified", **paths, target=facts.target_column)]
        case _:
            return []


def _evaluation(facts: TaskFacts, words: Wording) -> str:
    metric = get_metric(facts.metric)
    direction = words.say("lower" if metric.is_lower_better else "higher")
    is_named = facts.target in (TargetKind.MULTICLASS, TargetKind.ORDINAL)
    ranked = ", from lowest to highest" if facts.target is TargetKind.ORDINAL else ""
    classes = f" The classes are {', '.join(facts.classes)}{ranked}." if is_named else ""
    if facts.encoding == "ranked_list":
        classes += (
            f" Here k is {facts.list_length}. Each row has one true class: it scores 1 divided by the place at which "
            "the list names it, or 0."
        )
    if facts.encoding == "runs":
        classes += " Where the true mask is empty, an empty mask scores 1 and any other 0."
    target = listed(facts.target_columns) if len(facts.target_columns) <= _TARGETS_NAMED else "all targets"
    fields = {"definition": metric.definition, "direction": direction, "target": target}
    return words.say("scored", title=metric.noun, Title=capitalized(metric.noun), **fields) + classes


def _submission(spec: TaskSpec, facts: TaskFacts, sample_csv: bytes, words: Wording) -> str:
    layout = layout_of(spec)
    lines = sample_csv.decode().splitlines()[: 1 + _EXAMPLE_ROWS]
    example = "\n".join(["```csv", *lines, "```"])
    form = form_of(facts)
    rows = spec.test_items * form.rows_each(facts) if form.rows_each(facts) == form.most_rows_each(facts) else None
    said = words.say(
        "write" if rows == spec.test_items else "write_many",
        submission=SUBMISSION,
        count=sample_csv.count(b"\n") - 1 if rows is None else rows,
        **words.names_of(layout.item),
        id=facts.id_column,
        sample=_path(layout.sample),
        test=_path(layout.test),
        cells=form.cells(facts),
    )
    if spec.unscored_items:
        said = f"{said} {words.say('unscored', test=_path(layout.test))}"
    return f"{said}\n\n{example}"
