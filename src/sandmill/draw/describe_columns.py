"""The section of a description that says what the columns mean, and what a host knows of their faults."""

from collections.abc import Iterable, Mapping, Sequence

from sandmill.draw.tell_child import child_rows, note_rows
from sandmill.draw.tell_cues import cues_text
from sandmill.draw.wording import Wording
from sandmill.kinds.files.base import Layout
from sandmill.models.columns import Categorical, Column, Date, Unit
from sandmill.models.english import capitalized
from sandmill.models.faults import Duplicates, LabelNoise, Outliers, UnitMixup
from sandmill.models.layout import public_path
from sandmill.models.package import TaskFacts
from sandmill.models.spec import TaskSpec
from sandmill.models.structure import TargetKind
from sandmill.scoring.forms import form_of
from sandmill.scoring.forms.base import listed

_LEVELS_SHOWN = 8
Entry = tuple[str, str, str]
"""Name, type and meaning of a column."""


def columns_section(spec: TaskSpec, facts: TaskFacts, layout: Layout, words: Wording) -> str:
    """List all columns of the files, in the style of the description."""
    item = words.names_of(layout.item)
    entries = [(f"`{facts.id_column}`", "text", _identifier(spec, layout, words))]
    entries += [(f"`{column.name}`", _type(column), _meaning(column, spec, words, item)) for column in _shown(spec)]
    meanings = spec.story.column_meanings
    paths = {"train": f"`{public_path(layout.train)}`", "test": f"`{public_path(layout.test)}`"}
    absent = words.say("only_train", **paths, **item)
    if channel := spec.channel:
        later = (spec.mechanism.column_by_name[name] for name in channel.only_in_training)
        entries += [(f"`{one.name}`", _type(one), f"{_meaning(one, spec, words, item)}. {absent}") for one in later]
        if facts.id_column != channel.column:
            entries.append((f"`{channel.column}`", layout.cell, channel.meaning))
    else:
        entries += note_rows(spec)
    for name in facts.target_columns:
        meaning = meanings.get(name, spec.story.target_meaning)
        entries.append((f"`{name}`", _target_type(facts), f"{meaning}. {absent}"))
    text = _lay_out(entries, words)
    if facts.target is TargetKind.MULTILABEL:
        several = f"{capitalized(item['an_item'])} has none, one or several of them."
        text += f"\n\n{spec.story.target_meaning}: {listed(facts.classes)}. {several}"
    if cues := cues_text(spec, layout, words):
        text += f"\n\n{cues}"
    if child := spec.mechanism.child:
        events = _lay_out(child_rows(child, facts.id_column, layout.item, words), words)
        text += f"\n\nColumns of `{public_path(child.path)}`:\n\n{events}"
    return text


def fault_notes(spec: TaskSpec, facts: TaskFacts, layout: Layout, words: Wording) -> list[str]:
    """Hint at faults that no cell shows, as a host would. Descriptions without a style say nothing of them."""
    if not words.style:
        return []
    faults = spec.mechanism.pathologies
    train = f"`{public_path(layout.train)}`"
    targets = listed(facts.target_columns) if len(facts.target_columns) < 3 else "the targets"
    notes = []
    if slips := [fault.column for fault in faults if isinstance(fault, Outliers)]:
        notes.append(words.say("slips", columns=listed(slips)))
    if mixups := [fault.column for fault in faults if isinstance(fault, UnitMixup)]:
        notes.append(words.say("mixups", columns=listed(mixups)))
    if any(isinstance(fault, Duplicates) for fault in faults):
        notes.append(words.say("copies", train=train, **words.names_of(layout.item)))
    if any(isinstance(fault, LabelNoise) for fault in faults):
        notes.append(words.say("wrong_labels", train=train, targets=targets))
    return notes


def _identifier(spec: TaskSpec, layout: Layout, words: Wording) -> str:
    item = words.names_of(layout.item)
    if spec.channel and spec.kind.ids == "item":
        return f"{spec.channel.meaning}. No two are alike: it identifies its {item['item']}"
    said = words.say("identifier", **item)
    return f"{said}, written as a time stamp" if spec.kind.ids == "timestamp" else said


def _shown(spec: TaskSpec) -> Iterable[Column]:
    """Return the columns that the files of both parts hold, the item of a channel left out."""
    if spec.channel:
        return (spec.mechanism.column_by_name[name] for name in spec.channel.shown)
    return (column for column in spec.mechanism.columns if not column.in_text)


def _lay_out(entries: Sequence[Entry], words: Wording) -> str:
    match words.chosen("columns_style"):
        case "table":
            return _table(("column", "type", "meaning"), entries)
        case "type_last":
            return _table(("name", "what it is", "type"), [(name, meaning, kind) for name, kind, meaning in entries])
        case "list":
            return "\n".join(f"- {name} ({kind}): {meaning}" for name, kind, meaning in entries)
        case "dashes":
            return "\n".join(f"* {meaning} - {name}, {kind}" for name, kind, meaning in entries)
        case "definitions":
            return "\n".join(f"**{name}** {meaning} [{kind}]" + "  " for name, kind, meaning in entries)
        case _:
            kinds = dict.fromkeys(kind for _, kind, _ in entries)
            groups = [
                "\n".join(
                    [f"{capitalized(kind)}:", *(f"- {name}: {meaning}" for name, of, meaning in entries if of == kind)]
                )
                for kind in kinds
            ]
            return "\n\n".join(groups)


def _table(header: Entry, rows: Sequence[Entry]) -> str:
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


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
    text = spec.story.column_meanings[column.name]
    match column.distribution:
        case Categorical(levels=levels):
            shown = ", ".join(levels[:_LEVELS_SHOWN]) + (", ..." if len(levels) > _LEVELS_SHOWN else "")
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


def _followed(text: str, sentence: str) -> str:
    return f"{text} {sentence}" if text.endswith(".") else f"{text}. {sentence}"
