"""What a task must look like before our own code reads its tables, since a release may come from a stranger."""

from collections.abc import Iterator

from sandmill.layouts.base import SAMPLE, layout_of
from sandmill.layouts.tables import MAX_COLUMNS, table_excess
from sandmill.models.calibration import RUNG_FILES
from sandmill.models.package import TaskPackage
from sandmill.models.release import TaskRecord

PRIVATE_FILES = frozenset({"answers.csv", *RUNG_FILES.values()})
"""Private files that a rerun reads."""

MAX_SCRIPT_BYTES = 1 << 20
MAX_BOARD = 200
"""Entries of a leaderboard. The panel has 51."""


def task_faults(package: TaskPackage, record: TaskRecord) -> Iterator[str]:
    """Say why a task is no micro task, so that nothing of it is run or parsed; nothing if it may be one."""
    sizes = package.spec.sizes
    tested = sizes.feedback + sizes.final
    layout = layout_of(package.spec)
    items, rows = {layout.train: sizes.train, layout.test: tested}, {SAMPLE: tested, "answers.csv": tested}
    if set(package.public) != layout.files:
        yield f"public/ holds {', '.join(sorted(package.public)) or 'nothing'}, not {', '.join(sorted(layout.files))}"
    missing = PRIVATE_FILES - package.private.keys()
    if missing:
        yield f"private/ lacks {', '.join(sorted(missing))}"
    for path, content in sorted({**package.public, **package.private}.items()):
        if path in items:
            yield from layout.excess(path, content, items[path])
        elif path in rows:
            yield from table_excess(path, content, rows[path])
    for path in RUNG_FILES.values():
        if len(package.private.get(path, b"")) > MAX_SCRIPT_BYTES:
            yield f"{path} has more than {MAX_SCRIPT_BYTES} bytes"
    if not 0 < len(record.calibration.board) <= MAX_BOARD:
        yield f"the leaderboard has {len(record.calibration.board)} entries, not 1 to {MAX_BOARD}"
    columns = max(len(record.spec.mechanism.columns), len(record.facts.classes), len(record.facts.submission_columns))
    if columns > MAX_COLUMNS:
        yield f"the design has {columns} columns or classes; the most is {MAX_COLUMNS}"
