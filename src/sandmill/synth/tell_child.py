"""Describe the child table: its file, and its columns in a table of their own."""

from sandmill.models.children import ChildTable
from sandmill.models.spec import TaskSpec

Row = tuple[str, str, str]


def child_content(child: ChildTable, id_column: str) -> str:
    """Say what the file of a child table holds."""
    return f"events of all items: each row is {child.row}, linked by `{id_column}`"


def child_rows(child: ChildTable, id_column: str, item: str) -> list[Row]:
    """Return name, type and meaning of each column of the file."""
    return [
        (f"`{id_column}`", "text", f"Identifier of the {item}; several rows share it"),
        (f"`{child.kind}`", "category", f"{child.kind_meaning}: {', '.join(child.kinds)}"),
        (f"`{child.amount}`", "integer" if child.decimals == 0 else "number", child.amount_meaning),
        (f"`{child.age}`", "integer", f"{child.age_meaning}, less than {child.horizon}"),
    ]


def note_rows(spec: TaskSpec) -> list[Row]:
    """Return name, type and meaning of the text column, if the design has one."""
    return [(f"`{spec.notes.name}`", "text", spec.notes.meaning)] if spec.notes else []
