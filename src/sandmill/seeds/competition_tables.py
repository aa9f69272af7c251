"""Find the training table, test table and sample submission of a competition, and the roles of their columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sandmill.models.structure import Modality
from sandmill.seeds.competition_files import PublicFiles, modality_of_names
from sandmill.seeds.table_files import TableFile, open_table

_TRAIN = ("train.csv", "train.parquet")
_TEST = ("test.csv", "test.parquet")
_SAMPLE = ("sample_submission.csv", "sampleSubmission.csv", "sample_submission.parquet")
_LOOKED_AT = 200
"""Rows whose cells are searched for file names."""


@dataclass(frozen=True)
class CompetitionTables:
    """The tables of a competition; None for each that is missing."""

    train: TableFile | None
    test: TableFile | None
    sample: TableFile | None
    extra: tuple[str, ...]
    """Names of further tables."""

    @property
    def absent(self) -> tuple[str, ...]:
        """The missing tables, as needs of the seed."""
        roles = ((self.train, "a training table"), (self.test, "a test table"), (self.sample, "a sample submission"))
        return tuple(f"{role} in prepared/public" for table, role in roles if table is None)


@dataclass(frozen=True)
class ColumnRoles:
    """The roles of the columns of the training table."""

    keys: tuple[str, ...]
    """Columns of the sample submission that identify test rows."""
    answers: tuple[str, ...]
    """Its other columns."""
    shared: tuple[str, ...]
    """Columns that both the training and the test table have."""
    lacking: tuple[str, ...]
    """Columns of the training table that the test table does not have."""


def open_tables(files: PublicFiles, file: str, sample_name: str) -> CompetitionTables:
    """Open the training table, the test table and the sample submission.

    The training table is `train.csv`, or else the only other table that has the answer columns and all columns of the
    test table. `file` is the name of the folder in messages, `sample_name` that of the sample submission if known.

    Raises:
        Unsound: if one of them is broken.
    """
    test = _open(files, _TEST, file)
    sample = _open(files, (sample_name, *_SAMPLE), file)
    rest = {name: path for name, path in files.tables.items() if path not in {t.path for t in (test, sample) if t}}
    train = _open(files, _TRAIN, file) or _by_columns(rest, test, sample, file)
    extra = tuple(name for name, path in rest.items() if train is None or path != train.path)
    return CompetitionTables(train, test, sample, extra)


def name_columns(train: TableFile, test: TableFile, sample: TableFile) -> ColumnRoles:
    """Split the columns into keys, inputs and answers, by which of them the test table has."""
    keys = tuple(name for name in sample.columns if name in test.columns) or sample.columns[:1]
    return ColumnRoles(
        keys=keys,
        answers=tuple(name for name in sample.columns if name not in keys),
        shared=tuple(name for name in train.columns if name in test.columns),
        lacking=tuple(name for name in train.columns if name not in test.columns and name not in keys),
    )


def modality_of_cells(tables: Sequence[TableFile | None]) -> Modality | None:
    """Return image or audio if a column of one of the tables holds names of such files."""
    import polars as pl

    for table in filter(None, tables):
        head = table.scan().head(_LOOKED_AT).collect(engine="streaming")
        for name, dtype in head.schema.items():
            if dtype == pl.String and (modality := modality_of_names(head[name].to_list())):
                return modality
    return None


def _open(files: PublicFiles, names: Sequence[str], file: str) -> TableFile | None:
    found = next((files.tables[name] for name in names if name in files.tables), None)
    return open_table(found, f"{file}/{found.name}") if found else None


def _by_columns(rest: dict[str, Path], test: TableFile | None, sample: TableFile | None, file: str) -> TableFile | None:
    if test is None or sample is None:
        return None
    wanted = {*test.columns, *sample.columns}
    opened = [open_table(path, f"{file}/{name}") for name, path in rest.items()]
    fitting = [table for table in opened if wanted <= set(table.columns)]
    return fitting[0] if len(fitting) == 1 else None
