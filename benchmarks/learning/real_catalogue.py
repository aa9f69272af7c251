"""Apply the mechanical conditions of the selection rule to every table of the packages, and check the registered list.

Run from the repository root: python -m benchmarks.learning.real_catalogue --to catalogue.csv
Every table that fulfils the mechanical conditions is registered, in the reserve, or left out for a reason.
"""

import argparse
import csv
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.learning.real_registry import registry
from benchmarks.learning.real_sources import (
    RESERVED_PARTS,
    Source,
    content_digests,
    list_sources,
    quiet,
    read_source,
    require_packages,
)

if TYPE_CHECKING:
    import pandas as pd

LEAST_ROWS = 300
LEAST_COLUMNS = 5
MOST_LEVELS = 30
_MOST_MISSING = 0.5
_SHARED_COLUMNS = 2
_FEW_NUMBERS = 3
"""Two columns with equal content make a table a copy of a reserved one; where at most three columns can be compared,
one suffices."""
PASSED = "passed"


@dataclass(frozen=True)
class Candidate:
    """What the conditions say about one table."""

    source: Source
    verdict: str
    rows: int = 0
    columns: int = 0


def walk(known: Mapping[str, Collection[str]]) -> Iterator[Candidate]:
    """Yield the verdict about every table.

    Args:
        known: digests of the columns of reserved tables, by table; see `reserved_digests`.
    """
    for source in list_sources():
        if source.part in RESERVED_PARTS:
            yield Candidate(source, "reserved part")
        else:
            yield _judge(source, known)


def reserved_digests() -> dict[str, frozenset[str]]:
    """Return the digests of the numeric columns of all reserved tables, by table."""
    found = {}
    for source in list_sources():
        if source.part in RESERVED_PARTS:
            table = _read(source)
            if table is not None and len(table) >= LEAST_ROWS:
                found[str(source)] = content_digests(table)
    return found


def _read(source: Source) -> "pd.DataFrame | None":
    import pandas as pd

    try:
        table = read_source(source)
    except Exception:  # noqa: BLE001
        # Some old pickles need packages that are not installed.
        return None
    return table if isinstance(table, pd.DataFrame) else None


def _judge(source: Source, known: Mapping[str, Collection[str]]) -> Candidate:
    import pandas as pd

    table = _read(source)
    if table is None:
        return Candidate(source, "no table")
    if len(table) < LEAST_ROWS:
        return Candidate(source, f"fewer than {LEAST_ROWS} rows", len(table), table.shape[1])
    usable = 0
    for name in table.columns:
        column = table[name]
        levels = column.astype(str).nunique()
        is_number = pd.api.types.is_numeric_dtype(column)
        is_index = levels == len(table) and name.lower().endswith("id")
        if column.isna().mean() <= _MOST_MISSING and levels > 1 and not is_index:
            usable += is_number or levels <= MOST_LEVELS
    if usable < LEAST_COLUMNS:
        return Candidate(source, f"fewer than {LEAST_COLUMNS} usable columns", len(table), usable)
    mine = content_digests(table)
    least = _SHARED_COLUMNS if len(mine) > _FEW_NUMBERS else 1
    copies = [name for name, digests in known.items() if len(mine & frozenset(digests)) >= least]
    if copies:
        return Candidate(source, "copy of a reserved table", len(table), usable)
    return Candidate(source, PASSED, len(table), usable)


def standing(source: str) -> str:
    """Return what became of a table that passed: registered, reserve, the reason why it is left out, or unknown."""
    listed = registry()
    if any(table.source == source for table in listed.tables):
        return "registered"
    if any(source in names for names in listed.reserve.values()):
        return "reserve"
    reasons = [reason for reason, names in listed.left_out.items() if source in names]
    return reasons[0] if reasons else "unknown"


def main(arguments: Sequence[str] | None = None) -> int:
    """Walk, write the log and print counts; 1 if a table that passed is not accounted for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=Path, help="write one line for each table as CSV")
    given = parser.parse_args(arguments)
    require_packages()
    quiet()
    found = list(walk(reserved_digests()))
    rows = [(c, standing(str(c.source)) if c.verdict == PASSED else "") for c in found]
    if given.to:
        with given.to.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["source", "rows", "usable_columns", "verdict", "standing"])
            writer.writerows([c.source, c.rows or "", c.columns or "", c.verdict, state] for c, state in rows)
    print(f"{len(found)} tables")
    for verdict, number in Counter(c.verdict for c in found).most_common():
        print(f"{number:6}  {verdict}")
    print("Of those that passed:")
    for state, number in Counter(state for c, state in rows if state).most_common():
        print(f"{number:6}  {state}")
    unknown = [str(c.source) for c, state in rows if state == "unknown"]
    if unknown:
        print(f"Not accounted for: {', '.join(unknown)}")
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())
