"""Infer the task of a competition from its prepared public data: files, columns and cells."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sandmill.models.structure import MetricName, Modality, TargetKind
from sandmill.scoring.support import ANSWER_FORMS
from sandmill.seeds.explain import show
from sandmill.seeds.source_problems import SourceProblem, Unsound
from sandmill.seeds.table_files import TABLE_SUFFIXES, TableFile, open_table
from sandmill.seeds.tabular import (
    ColumnFacts,
    Profiled,
    Wish,
    infer_kind,
    measure,
    profile_table,
    structure_of,
    with_profile,
)

_SUFFIXES = {
    Modality.IMAGE: ("jpg", "jpeg", "png", "tif", "tiff", "dcm", "dicom", "tfrec", "bmp", "gif", "webp"),
    Modality.AUDIO: ("wav", "aif", "aiff", "flac", "mp3", "ogg"),
}
_MODALITY_OF = {suffix: modality for modality, suffixes in _SUFFIXES.items() for suffix in suffixes}
_ARCHIVES = frozenset({".zip", ".7z", ".gz", ".tgz", ".tar", ".bz2", ".xz", ".rar"})
_DOCUMENTS = frozenset({".md", ".html", ".pdf"})
_TOP_LEVEL_DOCUMENTS = _DOCUMENTS | {".txt"}
"""At the top level a text file is documentation; in a subfolder it is data."""

_MOST_ENTRIES = 2000
"""Files that are classified at most."""
_MOST_FOLDERS = 20_000
_MOST_LEVELS = 50
_FEWER_FOLDERS = f"at most {_MOST_FOLDERS} folders, at most {_MOST_LEVELS} levels deep"

_TRAIN = ("train.csv", "train.parquet")
_TEST = ("test.csv", "test.parquet")
_SAMPLE = ("sample_submission.csv", "sampleSubmission.csv", "sample_submission.parquet")
_LOOKED_AT = 200
"""Rows whose cells are searched for file names."""
_SUM_TOLERANCE = 1e-6
_LEAST_CLASSES = 3
"""A submission for two classes has one column of probabilities, not two."""
NO_DATA = "data in prepared/public (without them the target cannot be known)"
OTHER_FILES = "inputs from more files than the training table"
NO_INPUTS = "input columns in the training table"
ARCHIVES = "unpacked archives"


@dataclass(frozen=True)
class PublicFiles:
    """The files of a public folder, by kind."""

    tables: dict[str, Path]
    """CSV and Parquet files directly in the folder, by name."""
    media: Modality | None
    """Image or audio, whichever has more files."""
    archives: tuple[str, ...]
    """Archives that are not also unpacked in the folder."""
    others: tuple[str, ...]
    """All other files that may hold data, including tables in subfolders."""


def list_public(folder: Path, file: str) -> PublicFiles:
    """List a public folder, `file` in messages, without hidden files. Links are not followed; a missing one is empty.

    Raises:
        Unsound: if it has more or deeper folders than any competition needs.
    """
    tables: dict[str, Path] = {}
    archives: list[str] = []
    others: list[str] = []
    suffixes: list[str] = []
    names = list(_walk(folder, file))
    for name in names:
        suffix, is_top = Path(name).suffix.lower(), "/" not in name
        if is_top and suffix in TABLE_SUFFIXES and not (folder / name).is_dir():
            tables[name] = folder / name
        elif suffix[1:] in _MODALITY_OF:
            suffixes.append(suffix[1:])
        elif suffix in _ARCHIVES:
            archives += [] if name.removesuffix(suffix) in names else [name]
        elif suffix not in (_TOP_LEVEL_DOCUMENTS if is_top else _DOCUMENTS):
            others.append(name)
    return PublicFiles(tables, _most_common(suffixes), tuple(archives), tuple(others))


def modality_of_names(names: Iterable[str | None]) -> Modality | None:
    """Return image or audio if at least half of the cells of a column are names of such files."""
    present = [name for name in names if name]
    found = [Path(name).suffix.lower()[1:] for name in present]
    known = [suffix for suffix in found if suffix in _MODALITY_OF]
    return _most_common(known) if present and 2 * len(known) >= len(present) else None


def _walk(folder: Path, file: str) -> Iterator[str]:
    """Yield relative paths in a fixed order: the files of a folder before its subfolders."""
    seen = folders_seen = 0
    for place, folders, names in os.walk(folder):
        inside = [name for name in folders if not name.startswith(".")]
        folders[:] = sorted(name for name in inside if not Path(place, name).is_symlink())
        level = Path(place).relative_to(folder).parts
        for name in sorted({*inside, *names} - {*folders}):
            if not name.startswith("."):
                yield "/".join((*level, name))
                seen += 1
                if seen >= _MOST_ENTRIES:
                    return
        folders_seen += len(folders)
        if folders and len(level) >= _MOST_LEVELS:
            raise Unsound([SourceProblem(file, f"folders more than {_MOST_LEVELS} levels deep", _FEWER_FOLDERS)])
        if folders_seen > _MOST_FOLDERS:
            raise Unsound([SourceProblem(file, f"more than {_MOST_FOLDERS} folders", _FEWER_FOLDERS)])


def _most_common(suffixes: list[str]) -> Modality | None:
    found = Counter(_MODALITY_OF[suffix] for suffix in suffixes)
    return found.most_common(1)[0][0] if found else None


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


class Unsettled(Exception):
    """The task of a competition cannot be inferred; the arguments are the needs of the seed."""


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


def settle_target(train: TableFile, columns: ColumnRoles, metric: MetricName) -> tuple[TargetKind, tuple[str, ...]]:
    """Infer the kind of the target and the columns of the training table that hold it.

    One answer column of the training table is the target. Several of them are one-hot classes, labels or numbers, by
    their cells and the metric. Answer columns that the training table lacks are the classes of its one column that the
    test table lacks, if they bear its values.

    Raises:
        Unsettled: if columns, cells and metric do not agree on one kind of target.
    """
    answers = columns.answers
    if not answers:
        raise Unsettled("an answer column in the sample submission")
    if set(answers) <= set(train.columns):
        kind = _one(train, answers[0], metric) if len(answers) == 1 else _several(train, answers, metric)
        return kind, answers
    if len(answers) >= _LEAST_CLASSES and len(columns.lacking) == 1:
        (column,) = columns.lacking
        if _takes_class_columns(metric) and _names_classes(train, column, answers):
            return TargetKind.MULTICLASS, (column,)
    raise Unsettled("a target: the answer columns are not in the training table")


def kind_under(metric: MetricName, target: ColumnFacts) -> TargetKind | None:
    """Return the kind of a target column that fits both its cells and the metric; None if there is none."""
    possible = {kind for kind, graded in ANSWER_FORMS if graded is metric}
    seen = infer_kind(target)
    if metric is MetricName.POISSON_DEVIANCE:
        return TargetKind.COUNT if target.is_whole else None
    if seen in possible:
        return seen
    if target.is_number and TargetKind.REGRESSION in possible:
        return TargetKind.REGRESSION
    is_ordinal = seen is TargetKind.MULTICLASS and target.is_whole and TargetKind.ORDINAL in possible
    return TargetKind.ORDINAL if is_ordinal else None


def _one(train: TableFile, column: str, metric: MetricName) -> TargetKind:
    facts = measure(train, (column,), labelled=column)[column]
    may_be_list = (TargetKind.MULTILABEL, metric) in ANSWER_FORMS and facts.spaces > 0
    kind = None if may_be_list else kind_under(metric, facts)
    if kind is None:
        misfit = f"its {facts.distinct} values do not fit the metric"
        why = "its cells may be lists of labels" if may_be_list else misfit
        raise Unsettled(f"the kind of the target {show(column)}: {why} {metric}")
    return kind


def _several(train: TableFile, answers: tuple[str, ...], metric: MetricName) -> TargetKind:
    import polars as pl

    numbers = [pl.col(name).cast(pl.String).cast(pl.Float64, strict=False) for name in answers]
    is_bit = pl.all_horizontal(number.is_in([0.0, 1.0]) for number in numbers)
    total = pl.sum_horizontal(numbers)
    row = (
        train.scan()
        .select(
            numbers=pl.all_horizontal(number.is_finite() for number in numbers).fill_null(False).all(),
            bits=is_bit.fill_null(False).all(),
            sums_to_one=((total - 1).abs() < _SUM_TOLERANCE).all(),
        )
        .collect(engine="streaming")
        .row(0, named=True)
    )
    possible = {kind for kind, graded in ANSWER_FORMS if graded is metric}
    may_be_classes = len(answers) >= _LEAST_CLASSES and _takes_class_columns(metric)
    found = (
        (TargetKind.MULTICLASS, row["bits"] and row["sums_to_one"] and may_be_classes),
        (TargetKind.MULTILABEL, row["bits"]),
        (TargetKind.MULTI_TARGET, row["numbers"]),
    )
    kind = next((kind for kind, holds in found if holds and kind in possible), None)
    if kind is None:
        why = "they do not fit the metric" if possible else "no task can be made for the metric"
        raise Unsettled(f"the kind of the {len(answers)} target columns: {why} {metric}")
    return kind


def _takes_class_columns(metric: MetricName) -> bool:
    """Whether a submission scored by the metric has one column for each class."""
    return ANSWER_FORMS.get((TargetKind.MULTICLASS, metric)) == "class_probabilities"


def _names_classes(train: TableFile, column: str, answers: tuple[str, ...]) -> bool:
    """Whether the answer columns are named after the values of a column, with or without its name as a prefix."""
    import polars as pl

    cells = pl.col(column).cast(pl.String)
    found = train.scan().select(cells.unique()).head(len(answers) + 2).collect(engine="streaming")
    values = {value for value in found.to_series().to_list() if value is not None}
    return set(answers) in (values, {f"{column}_{value}" for value in values})


def understand(public: Path, file: str, metric: MetricName | None, sample_name: str) -> Profiled:
    """Profile the training table, if it holds all inputs and its target can be inferred.

    Args:
        public: folder `prepared/public` of the competition.
        file: name of the folder, for messages.
        metric: None if the grader is unknown. The modality is inferred all the same.
        sample_name: name of the sample submission as the configuration has it; may be empty.

    Raises:
        Unsettled: with what is missing to know the task; without needs if that is the metric alone.
        Unsound: if a table is broken.
    """
    files = list_public(public, file)
    if not (files.tables or files.media or files.archives or files.others):
        raise Unsettled(NO_DATA)
    tables = open_tables(files, file, sample_name)
    train, test, sample = tables.train, tables.test, tables.sample
    if modality := files.media or modality_of_cells((train, test, sample)):
        raise Unsettled(f"modality {modality}")
    if train is None or test is None or sample is None:
        raise Unsettled(*tables.absent, *((ARCHIVES,) if files.archives else ()))
    columns = name_columns(train, test, sample)
    facts = measure(train, columns.shared) if columns.shared else {}
    if need := _not_one_table(files, tables, facts, columns):
        raise Unsettled(need)
    if metric is None:
        raise Unsettled
    kind, answers = settle_target(train, columns, metric)
    profiled = _profile(train, columns, kind, answers, metric)
    return replace(profiled, structure=profiled.structure.model_copy(update={"rows_test": test.count_rows()}))


def _not_one_table(
    files: PublicFiles, tables: CompetitionTables, facts: dict[str, ColumnFacts], columns: ColumnRoles
) -> str:
    """Return why the training table alone is not the task; empty if it is."""
    kinds = [column.kind for name, column in facts.items() if name not in columns.keys or column.kind == "text"]
    texts, inputs = kinds.count("text"), len(kinds) - kinds.count("identifier")
    has_numbers = bool({"numeric", "date"} & set(kinds))
    if files.others or tables.extra or files.archives:
        return OTHER_FILES
    if not inputs:
        return NO_INPUTS
    if texts * 2 > inputs or (texts * 3 >= inputs and not has_numbers):
        return f"modality {Modality.TEXT}"
    return f"modality {Modality.MIXED}" if texts * 4 > inputs else ""


def _profile(
    train: TableFile, columns: ColumnRoles, kind: TargetKind, answers: tuple[str, ...], metric: MetricName
) -> Profiled:
    left_out = (*columns.keys, *columns.lacking)
    if len(answers) == 1:
        (name,) = answers
        wish = Wish(name, kind, metric, tuple(column for column in left_out if column != name))
        return profile_table(train, wish, SourceProblem(train.file, "", "", line=1, field=name))
    facts = measure(train, tuple(name for name in columns.shared if name not in left_out))
    inputs = [column for column in facts.values() if column.kind != "identifier"]
    classes, targets = (len(answers), 1) if kind is TargetKind.MULTICLASS else (None, len(answers))
    structure = structure_of(inputs, kind, metric, train.count_rows(), n_classes=classes, n_targets=targets)
    return with_profile(Profiled(structure), train, [column.name for column in inputs], answers)
