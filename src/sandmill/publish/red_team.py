"""Read the record of a red team and compute its section of a report."""

import pyarrow as pa
from pydantic import ValidationError

from sandmill.errors import InputError, Problem
from sandmill.models.red_team import RedTeamRecord
from sandmill.report.html.page import Edition, Section
from sandmill.report.html.red_team import red_team_section
from sandmill.report.queries import View, open_queries
from sandmill.report.red_team_figures import ATTACK_VIEW, red_team_figures
from sandmill.store.files import Store
from sandmill.store.release import StoredRelease
from sandmill.store.versions import first_fault

_MOST_BYTES = 50_000_000
_SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("family", "attack", "outcome", "pays", "preset")),
        ("reward", pa.float64()),
        ("sample", pa.float64()),
    ]
)


def read_record(path: str) -> RedTeamRecord:
    """Read a file of `python -m benchmarks.red_team`, local or on S3.

    Raises:
        InputError: it holds something else.
    """
    parent, _, name = path.rpartition("/")
    content = Store(parent or ".").read(name, _MOST_BYTES)
    try:
        record = RedTeamRecord.model_validate_json(content)
    except ValidationError as error:
        raise _refused(path, first_fault(error), "a file of python -m benchmarks.red_team --to FILE") from None
    names = [(one.family, one.name) for one in record.attacks]
    if not names or len(set(names)) < len(names):
        raise _refused(path, "no attacks" if not names else "an attack twice", "each attack once")
    return record


def attacks_section(release: StoredRelease, edition: Edition, path: str) -> Section:
    """Return the section on what attacks earned.

    Raises:
        InputError: the file holds something else, or attacks on a task that this version does not have.
    """
    record, is_private = read_record(path), edition == "private"
    is_same = record.release == release.version
    if is_same and record.task_id not in release.task_ids:
        raise _refused(path, f"task {record.task_id!r}", "a task of this release")
    presets = tuple(dict.fromkeys(earned.preset for one in record.attacks for earned in one.rewards))
    with open_queries({ATTACK_VIEW: View(_table(record), _source(path))}) as queries:
        return red_team_section(record, red_team_figures(queries, presets, is_private), is_private, is_same)


def _table(record: RedTeamRecord) -> pa.Table:
    rows = [
        {
            "family": one.family,
            "attack": one.name,
            "outcome": one.outcome,
            "pays": one.pays,
            **earned.model_dump(),
        }
        for one in record.attacks
        for earned in one.rewards
    ]
    return pa.Table.from_pylist(rows, schema=_SCHEMA)


def _source(path: str) -> str:
    literal = path.replace("'", "''")
    return (
        f"(SELECT a.family, a.name AS attack, a.outcome, a.pays, r.preset, r.reward, r.sample FROM (SELECT a, "
        f"unnest(a.rewards) AS r FROM (SELECT unnest(attacks) AS a FROM read_json('{literal}', "
        f"maximum_object_size = {_MOST_BYTES}))))"
    )


def _refused(path: str, saw: str, expected: str) -> InputError:
    return InputError("sandmill report", [Problem("--red-team", f"{path}: {saw}", expected)])
