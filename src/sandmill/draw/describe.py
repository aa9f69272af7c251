"""Write the task description: all that is needed to take part, as on a competition page, and nothing about the rule."""

from collections.abc import Callable, Mapping, Sequence

from sandmill.draw.tell import house_sections
from sandmill.draw.wording import Wording
from sandmill.kinds.files.base import Layout, layout_of
from sandmill.kinds.files.media import SHOWN_CELL
from sandmill.models.columns import Categorical, Column, Date, Unit
from sandmill.models.english import capitalized
from sandmill.models.faults import Duplicates, LabelNoise, Outliers, UnitMixup
from sandmill.models.layout import HEADINGS, LIBRARIES, PUBLIC, SUBMISSION, public_path
from sandmill.models.package import TaskFacts
from sandmill.models.spec import TaskSpec
from sandmill.models.spoken import unit_behind
from sandmill.models.structure import SplitKind, TargetKind
from sandmill.scoring import get_metric
from sandmill.scoring.forms import form_of
from sandmill.scoring.forms.base import listed

_EXAMPLE_ROWS, _TARGETS_NAMED = 3, 3
_LEVELS_SHOWN = 8
Entry = tuple[str, str, str]
"""Name, type and meaning of a column."""


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
    said = {**item, "An_item": capitalized(item["an_item"]), "row": spec.story.row}
    row = words.say("row" if layout.item == "row" else "item_row", **said)
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
    named = {**item, **targets, "train_items": spec.sizes.train, "test_items": spec.test_items}
    said = {layout.train: words.say("file_train", **named), layout.test: words.say("file_test", **named)}
    rows = [
        (_path(path), ", ".join(filter(None, (said.get(path), more))))
        for path, more in layout.told(facts, spec.file_sizes).items()
    ]
    if spec.channel and spec.channel.shown:
        rows = [(path, content.replace(SHOWN_CELL, f"<{spec.channel.shown[0]}>")) for path, content in rows]
    if child := spec.mechanism.child:
        rows.append((_path(child.path), words.say("file_child", row=child.row, **item)))
    rows.append((_path(layout.sample), words.say("file_sample", **targets, **item)))
    rows = words.shuffled("files", rows)
    style = words.chosen("files_table")
    lines = [style["line"].format(path=path, content=text, Content=capitalized(text)) for path, text in rows]
    shown = style["head"] + style["joint"].join(lines)
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
        cells=words.filled("cells", form.cells(facts)),
    )
    if spec.unscored_items:
        said = f"{said} {words.say('unscored', test=_path(layout.test))}"
    return f"{said}\n\n{example}"


def columns_section(spec: TaskSpec, facts: TaskFacts, layout: Layout, words: Wording) -> str:
    """List all columns of the files, in the style of the description, and how items show latent columns."""
    item, columns, channel = words.names_of(layout.item), spec.mechanism.columns, spec.channel
    if channel and spec.kind.ids == "item":
        identifier = f"{channel.meaning}. No two are alike: it identifies its {item['item']}"
    else:
        identifier = words.say("identifier", **item)
        identifier += ", written as a time stamp" if spec.kind.ids == "timestamp" else ""
    entries = [(f"`{facts.id_column}`", "text", identifier)]
    by_name = spec.mechanism.column_by_name
    in_both = [by_name[name] for name in channel.shown] if channel else [one for one in columns if not one.in_text]
    entries += [(f"`{column.name}`", _type(column), _meaning(column, spec, words, item)) for column in in_both]
    test = f"what is given of the test {item['items']}" if layout.test in layout.folders else _path(layout.test)
    absent = words.say("only_train", train=_path(layout.train), test=test, **item)
    if channel:
        later = (by_name[name] for name in channel.only_in_training)
        noted = f"Only in {_path(layout.train_only_table)}" if layout.train_only_table else absent
        entries += [(f"`{one.name}`", _type(one), f"{_meaning(one, spec, words, item)}. {noted}") for one in later]
        if facts.id_column != channel.column:
            entries.append((f"`{channel.column}`", layout.cell, channel.meaning))
    elif spec.notes:
        entries.append((f"`{spec.notes.name}`", "text", spec.notes.meaning))
    for name in facts.target_columns:
        meaning = words.reworded(spec.story.column_meanings.get(name, spec.story.target_meaning))
        entries.append((f"`{name}`", _target_type(facts), f"{meaning}. {absent}"))
    text = _lay_out(entries, words)
    if facts.target is TargetKind.MULTILABEL:
        several = f"{capitalized(item['an_item'])} has none, one or several of them."
        text += f"\n\n{spec.story.target_meaning}: {listed(facts.classes)}. {several}"
    if cues := [cue for cue in (channel.cues if channel else ()) if cue.place == "list"]:
        # Columns that matter and those that do not, in the order of the style
        shown = [f"- `{cue.column}`: {cue.text}" for cue in words.shuffled("cues", cues)]
        by = "heard" if spec.kind.modality == "audio" else "seen" if layout.item == "picture" else "found"
        text += "\n\n" + "\n".join([words.say("cues", by=by, **item), "", *shown])
    if child := spec.mechanism.child:
        kinds = ", ".join(words.shuffled("kinds", child.kinds))
        amount, age = (_measured(meaning, words) for meaning in (child.amount_meaning, child.age_meaning))
        events = [
            (f"`{facts.id_column}`", "text", words.say("child_key", **item)),
            (f"`{child.kind}`", "category", words.say("levels", meaning=child.kind_meaning, levels=kinds)),
            (f"`{child.amount}`", "integer" if child.decimals == 0 else "number", amount),
            (f"`{child.age}`", "integer", words.say("horizon", meaning=age, most=child.horizon)),
        ]
        text += f"\n\nColumns of `{public_path(child.path)}`:\n\n{_lay_out(events, words)}"
    return text


def fault_notes(spec: TaskSpec, facts: TaskFacts, layout: Layout, words: Wording) -> list[str]:
    """Hint at faults that no cell shows, as a host would."""
    faults = spec.mechanism.pathologies
    train = f"`{public_path(layout.train)}`"
    targets = listed(facts.target_columns) if len(facts.target_columns) < 3 else "the targets"
    notes = []
    for kind, name in ((Outliers, "slips"), (UnitMixup, "mixups")):
        if columns := [fault.column for fault in faults if isinstance(fault, kind)]:
            notes.append(words.say(name, columns=listed(columns)))
    if any(isinstance(fault, Duplicates) for fault in faults):
        notes.append(words.say("copies", train=train, **words.names_of(layout.item)))
    if any(isinstance(fault, LabelNoise) for fault in faults):
        notes.append(words.say("wrong_labels", train=train, targets=targets))
    return notes


def _lay_out(entries: Sequence[Entry], words: Wording) -> str:
    """Write entries in the lines of a style. A head that names the type begins a group for each type."""
    style, types, groups = words.chosen("columns_style"), words.chosen("types"), dict[str, list[str]]()
    for name, kind, meaning in entries:
        shown = types.get(kind, kind)
        lines = groups.setdefault(style["head"].format(kind=capitalized(shown)), [])
        lines.append(style["line"].format(name=name, kind=shown, meaning=meaning))
    return "\n\n".join("\n".join(filter(None, (head, *lines))) for head, lines in groups.items())


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


def _meaning(column: Column, spec: TaskSpec, words: Wording, item: Mapping[str, str]) -> str:
    """Describe a column: its meaning, its levels or format, and the visible faults of its cells."""
    text = _measured(spec.story.column_meanings[column.name], words)
    match column.distribution:
        case Categorical(levels=levels):
            some = words.shuffled(f"levels {column.name}", levels)[:_LEVELS_SHOWN]
            shown = ", ".join(some) + (", ..." if len(levels) > _LEVELS_SHOWN else "")
            text = words.say("levels", meaning=text, levels=shown)
        case Date():
            text = words.say("date_format", meaning=text)
        case Unit():
            text = words.say("shared_unit", meaning=text, **item)
    if column.conversion:
        text = words.say("converted", meaning=text, by=column.conversion.by)
    if any(gap.column == column.name and gap.sentinel is None for gap in spec.mechanism.missing()):
        text = _followed(text, words.say("gaps"))
    if mixed := [fault.suffix for fault in spec.mechanism.mixed_types() if fault.column == column.name]:
        example = "12" if column.decimals == 0 else f"{12.5:.{column.decimals}f}"
        text = _followed(text, words.say("written_units", example=f"{example} {mixed[0]}"))
    return text


def _measured(meaning: str, words: Wording) -> str:
    """Write a meaning, and the unit behind it, in the words of the style."""
    text, unit = unit_behind(words.reworded(meaning))
    return text + (words.say("unit", unit=unit) if unit else "")


def _followed(text: str, sentence: str) -> str:
    return f"{text} {sentence}" if text.endswith(".") else f"{text}. {sentence}"
