"""Gate on the text column: every note states every value once, so that a pattern can read it."""

from collections.abc import Iterator

from sandmill.check.note_values import note_values
from sandmill.check.package_tables import PackageTables
from sandmill.errors import count


def check_notes(tables: PackageTables) -> Iterator[str]:
    """Check that the stated pattern finds each value in each row, and that notes are single lines."""
    notes = tables.spec.notes
    if notes is None:
        return
    for path, frame in ((tables.layout.train, tables.train), (tables.layout.test, tables.test)):
        if broken := int(frame[notes.name].fill_null("").str.contains("\n").sum()):
            yield f"{path}: {count(broken, 'note')} of several lines"
        for cells in note_values(tables.spec, frame):
            if lost := cells.null_count():
                yield f"{path}: {count(lost, 'note')} from which the value of {cells.name} cannot be read"
    for name in (value.column for value in notes.values):
        if name in tables.features:
            yield f"column {name} is in the notes and in the table"
