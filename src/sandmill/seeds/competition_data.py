"""Infer the task of a competition from its prepared public data: files, columns and cells."""

from dataclasses import replace
from pathlib import Path

from sandmill.models.structure import MetricName, Modality, TargetKind
from sandmill.seeds.competition_files import PublicFiles, list_public
from sandmill.seeds.competition_tables import (
    ColumnRoles,
    CompetitionTables,
    Unsettled,
    modality_of_cells,
    name_columns,
    open_tables,
    settle_target,
)
from sandmill.seeds.profile import ColumnFacts, measure
from sandmill.seeds.source_problems import SourceProblem
from sandmill.seeds.table_files import TableFile
from sandmill.seeds.tabular import Profiled, Wish, profile_table, structure_of

NO_DATA = "data in prepared/public (without them the target cannot be known)"
OTHER_FILES = "inputs from more files than the training table"
NO_INPUTS = "input columns in the training table"
ARCHIVES = "unpacked archives"


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
    return Profiled(structure_of(inputs, kind, metric, train.count_rows(), n_classes=classes, n_targets=targets))
