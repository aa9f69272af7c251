"""What a task must look like before our own code reads its tables, since a release may come from a stranger."""

from collections.abc import Iterator

from sandmill.models.calibration import RUNG_FILES
from sandmill.models.package import TaskPackage
from sandmill.models.release import TaskRecord
from sandmill.pipeline.verify import PUBLIC_FILES

PRIVATE_FILES = frozenset({"answers.csv", *RUNG_FILES.values()})
"""Private files that a rerun reads."""

MAX_CSV_BYTES = 20 << 20
"""Of one table. The largest has 40,000 test rows; a usual one has 1 MB."""
MAX_COLUMNS = 500
MAX_SCRIPT_BYTES = 1 << 20
MAX_BOARD = 200
"""Entries of a leaderboard. The panel has 51."""


def task_faults(package: TaskPackage, record: TaskRecord) -> Iterator[str]:
    """Say why a task is no micro task, so that nothing of it is run or parsed; nothing if it may be one."""
    sizes = package.spec.sizes
    tested = sizes.feedback + sizes.final
    rows = {"train.csv": sizes.train, "test.csv": tested, "sample_submission.csv": tested, "answers.csv": tested}
    if set(package.public) != PUBLIC_FILES:
        yield f"public/ holds {', '.join(sorted(package.public)) or 'nothing'}, not {', '.join(sorted(PUBLIC_FILES))}"
    missing = PRIVATE_FILES - package.private.keys()
    if missing:
        yield f"private/ lacks {', '.join(sorted(missing))}"
    for path, content in sorted({**package.public, **package.private}.items()):
        if path in rows:
            yield from _table_faults(path, content, rows[path])
    for path in RUNG_FILES.values():
        if len(package.private.get(path, b"")) > MAX_SCRIPT_BYTES:
            yield f"{path} has more than {MAX_SCRIPT_BYTES} bytes"
    if not 0 < len(record.calibration.board) <= MAX_BOARD:
        yield f"the leaderboard has {len(record.calibration.board)} entries, not 1 to {MAX_BOARD}"
    columns = max(len(record.spec.mechanism.columns), len(record.facts.classes), len(record.facts.submission_columns))
    if columns > MAX_COLUMNS:
        yield f"the design has {columns} columns or classes; the most is {MAX_COLUMNS}"


def _table_faults(path: str, content: bytes, rows: int) -> Iterator[str]:
    """Compare a table with what its design says. A design has at most 200 training rows and 40,000 test rows."""
    if len(content) > MAX_CSV_BYTES:
        yield f"{path} has {len(content)} bytes; the most is {MAX_CSV_BYTES}"
        return
    if b"\r" in content:
        yield f"{path} holds carriage returns, which readers take for ends of lines; lines end in line feeds alone"
    columns = content.partition(b"\n")[0].count(b",") + 1
    if columns > MAX_COLUMNS:
        yield f"{path} has {columns} columns; the most is {MAX_COLUMNS}"
    if (found := content.count(b"\n") - 1) != rows:
        yield f"{path} has {found} rows; its design has {rows}"
