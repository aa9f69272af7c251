"""Describe the child table: its file, and its columns in a table of their own."""

from sandmill.draw.wording import Wording
from sandmill.models.columns import ChildTable
from sandmill.models.spec import TaskSpec

Row = tuple[str, str, str]


def child_rows(child: ChildTable, id_column: str, item: str, words: Wording) -> list[Row]:
    """Return name, type and meaning of each column of the file."""
    return [
        (f"`{id_column}`", "text", words.say("child_key", **words.names_of(item))),
        (f"`{child.kind}`", "category", f"{child.kind_meaning}: {', '.join(child.kinds)}"),
        (f"`{child.amount}`", "integer" if child.decimals == 0 else "number", child.amount_meaning),
        (f"`{child.age}`", "integer", f"{child.age_meaning}, less than {child.horizon}"),
    ]


def note_rows(spec: TaskSpec) -> list[Row]:
    """Return name, type and meaning of the text column, if the design has one."""
    return [(f"`{spec.notes.name}`", "text", spec.notes.meaning)] if spec.notes else []
