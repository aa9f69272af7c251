"""No row and no rare value of a seed's table enters a task."""

from collections.abc import Iterator
from io import BytesIO

import polars as pl

from sandmill.check.gates import Finding
from sandmill.models.package import TaskPackage
from sandmill.seeds.guard import find_leaks

GATE = "seed_rows"


def check_seed_rows(package: TaskPackage, guard: bytes) -> list[Finding]:
    """Say what a package holds of the table of its seed.

    Args:
        package: any; only its CSV files are read.
        guard: salted hashes of the seed's rows and rare values.
    """
    return [Finding(GATE, f"{path}: {leak}") for path, table in _tables(package) for leak in find_leaks(guard, table)]


def _tables(package: TaskPackage) -> Iterator[tuple[str, pl.DataFrame]]:
    facts = package.facts
    left_out = {facts.id_column, *facts.target_columns, *facts.submission_columns}
    for path, content in sorted(package.public.items()):
        if path.endswith(".csv"):
            table = pl.read_csv(BytesIO(content), infer_schema=False)
            yield path, table.select(name for name in table.columns if name not in left_out)
