"""Read the tables that a report counts, within the limits for untrusted releases."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from sandmill.errors import IntegrityError
from sandmill.models.base import Frozen
from sandmill.report.html.page import Edition
from sandmill.report.queries import View
from sandmill.store.arrow_tables import PRIVATE_TASKS, PUBLIC_TASKS, REJECTIONS, SLOTS
from sandmill.store.files import AccessDenied, FileMissing
from sandmill.store.release import StoredRelease

DESIGNERS = "designers.json"
_DESIGNERS_BYTES = 1 << 20
_COSTS = pa.schema(
    [
        ("designer", pa.string()),
        *((name, pa.int64()) for name in ("attempts", "designs", "requests", "tokens")),
        ("usd", pa.float64()),
    ]
)


class DesignerCosts(Frozen):
    """The figures of a designer that a report shows; its file has more."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    designer: str
    attempts: int = Field(ge=0, lt=1 << 53)
    designs: int = Field(ge=0, lt=1 << 53)
    requests: int = Field(default=0, ge=0, lt=1 << 53)
    tokens: int = Field(default=0, ge=0, lt=1 << 53)
    usd: float = Field(default=0.0, ge=0, allow_inf_nan=False)


def read_views(release: StoredRelease, edition: Edition) -> dict[str, View]:
    """Read the tables that an edition may show. Prompts are read whole: 6 kB a task."""
    slots = [name for name in SLOTS.names if name != "path"]
    views = {
        "public_tasks": View(_read(release, "public/tasks", PUBLIC_TASKS.names, PUBLIC_TASKS), _glob("public/tasks")),
        "rejections": View(
            _read_report(release, "rejections", REJECTIONS.names, REJECTIONS), _glob("reports/rejections")
        ),
        "slots": View(_read_report(release, "slots", slots, SLOTS), _glob("reports/slots")),
        "designers": View(_read_designers(release), f"read_json('reports/{DESIGNERS}')"),
    }
    if edition == "private":
        private = [name for name in PRIVATE_TASKS.names if name != "record"]
        views["private_tasks"] = View(_read(release, "private/tasks", private, PRIVATE_TASKS), _glob("private/tasks"))
    return views


def _read_designers(release: StoredRelease) -> Any:
    """Read what designers cost; an empty table where the report is missing or not readable."""
    try:
        content = release.report(DESIGNERS, limit=_DESIGNERS_BYTES)
        rows = TypeAdapter(list[DesignerCosts]).validate_json(content or b"[]")
    except (AccessDenied, FileMissing):
        rows = []
    except ValidationError:
        raise IntegrityError(f"{release.ref}: reports/{DESIGNERS} does not hold figures of designers") from None
    return pa.Table.from_pylist([row.model_dump() for row in rows], schema=_COSTS)


def _glob(table: str) -> str:
    return f"read_parquet('{table}-*.parquet', union_by_name = true)"


def _read(release: StoredRelease, table: str, columns: Sequence[str], schema: Any) -> Any:
    """Read columns of a table within the limits for untrusted releases."""
    wanted = pa.schema([schema.field(name) for name in columns])
    groups = []
    for part in release.parts_with(table, columns):
        with release.open_part(part) as reader:
            groups += [group.select(list(columns)).cast(wanted) for group in reader.groups(columns)]
    return pa.concat_tables(groups) if groups else wanted.empty_table()


def _read_report(release: StoredRelease, name: str, columns: Sequence[str], schema: Any) -> Any:
    """Read a table of reports/; an empty one where reports/ is not readable, as with public credentials."""
    try:
        return _read(release, f"reports/{name}", columns, schema)
    except (AccessDenied, FileMissing):
        return pa.schema([schema.field(column) for column in columns]).empty_table()
