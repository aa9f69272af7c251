"""Read a folder with one table and a seed.yaml. What seed.yaml does not say is measured from the table."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from pydantic import Field

from sandmill.errors import name_some, shorten
from sandmill.fingerprint import digest
from sandmill.models.base import Frozen
from sandmill.models.seed import SeedTask
from sandmill.models.structure import MetricName, SplitKind, TargetKind
from sandmill.seeds.cards import TEXT_LIMITS, SeedReading, text_problems
from sandmill.seeds.document import Document, read_document
from sandmill.seeds.explain import RefusedValue, did_you_mean, show
from sandmill.seeds.source_files import SourceProblem, Unsound, gathered
from sandmill.seeds.table_files import TABLE_SUFFIXES, TableFile, open_table, readable
from sandmill.seeds.tabular import Profiled, Wish, profile_table

_NAMED = ("dictionary", "codebook")
"""Words in the name of a file that describes columns."""
_DOCUMENTS = frozenset({".md", ".txt"})
_MOST_LINES = 5000
"""Rows of a table that may describe columns."""


def read_beside(folder: Path, file: str, table: TableFile, id_column: str | None) -> dict[str, int | bool]:
    """Return the fields of `TableProfile` on the other files of a seed's folder.

    Args:
        folder: of the seed.
        file: its name in messages.
        table: the table with the target.
        id_column: of the table; a file with this column, in which values repeat, has several rows for a row.

    Raises:
        Unsound: if another table is broken.
    """
    others = sorted(path for path in folder.iterdir() if path.is_file() and path != table.path)
    tables = [open_table(path, f"{file}/{path.name}") for path in others if path.suffix in TABLE_SUFFIXES]
    documents = [path for path in others if path.suffix in _DOCUMENTS and _is_named(path)]
    with readable(file):
        dictionaries = [one for one in tables if _is_named(one.path) or _describes(one, table.columns)]
        has_child = any(id_column in one.columns and _repeats(one, id_column) for one in tables if id_column)
    return {
        "extra_files": len(tables) + len(documents),
        "has_dictionary": bool(dictionaries or documents),
        "has_child": has_child,
    }


def _is_named(path: Path) -> bool:
    return any(word in path.stem.lower() for word in _NAMED)


def _describes(table: TableFile, columns: Sequence[str]) -> bool:
    """Whether one column holds the names of at least half of these columns."""
    head = table.scan(table.columns).head(_MOST_LINES).collect(engine="streaming")
    return any(2 * len(set(head[name].to_list()) & set(columns)) >= len(columns) for name in head.columns)


def _repeats(table: TableFile, column: str) -> bool:
    import polars as pl

    cells = table.scan([column]).drop_nulls()
    return bool(cells.select(pl.col(column).is_duplicated().any()).collect(engine="streaming").item())


class TableSeed(Frozen):
    """The content of seed.yaml: facts that a table does not contain."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    title: str = Field(min_length=1)
    summary: str = Field(min_length=1)
    source: str = Field(min_length=1)
    licence: str = Field(min_length=1)
    target: str = Field(min_length=1)
    """Name of the column to predict."""
    target_kind: TargetKind | None = None
    """None: inferred from the column."""
    metric: MetricName | None = None
    """None: the usual one of the target kind."""
    id_column: str | None = None
    """Column that identifies rows."""
    ignore: tuple[str, ...] = ()
    """Columns that are not part of the task."""
    table: str | None = None
    """File name of the table with the target. None: the only table of the folder."""
    split: SplitKind | None = None
    """How the real task splits train and test. None: not declared, so designs choose."""


def read_folder(path: Path, file: str) -> SeedReading:
    """Read seed.yaml and profile the table in the same folder.

    Raises:
        Unsound: with every problem of both files.
    """
    problems: list[SourceProblem] = []
    document = Document(f"{file}/seed.yaml")
    seed = table = None
    with gathered(problems):
        document = read_document(path / "seed.yaml", document.file)
        problems += text_problems(document)
        seed = document.parse(TableSeed)
    with gathered(problems):
        table = _main_table(path, file, seed.table if seed else None)
    if seed is None or table is None:
        raise Unsound(problems)
    problems += _absent_columns(document, seed, table)
    if problems:
        raise Unsound(problems)
    left_out = (*seed.ignore, *([seed.id_column] if seed.id_column else []))
    wish = Wish(seed.target, seed.target_kind, seed.metric, left_out)
    try:
        with readable(table.file):
            profiled = profile_table(table, wish, SourceProblem(document.file, "", "", field="target"))
            beside = read_beside(path, file, table, seed.id_column)
    except Unsound as unsound:
        raise Unsound([_placed(problem, document) for problem in unsound.problems]) from None
    profile = profiled.structure.profile
    profile = profile and profile.model_copy(update=beside)
    structure = profiled.structure.model_copy(update={"split": seed.split, "profile": profile})
    texts = seed.model_dump(include=set(TEXT_LIMITS))
    return reading_of(replace(profiled, structure=structure), "folder", **texts)


def reading_of(profiled: Profiled, origin: Literal["folder", "mlebench"], **texts: str) -> SeedReading:
    """Make a seed of a table and the texts about it."""
    guard = profiled.guard
    seed = SeedTask(**texts, structure=profiled.structure, origin=origin, guard=digest(guard) if guard else None)
    return SeedReading(seed, profiled.notes, guard)


def read_single_table(path: Path, file: str, target: str) -> SeedReading:
    """Read a table without seed.yaml. Its name is all that is known of it besides what is measured.

    Raises:
        Unsound: if the table is broken, or the target is no column of it or cannot be learned.
    """
    table = open_table(path, file)
    at = SourceProblem(file, show(target), f"a column of {file}", field="--target")
    if target not in table.columns:
        raise Unsound([replace(at, hint=_columns_hint(target, table))])
    name = re.sub(r"[^a-z0-9]+", "-", path.stem.lower()).strip("-") or "table"
    with readable(file):
        profiled = profile_table(table, Wish(target), at)
    return reading_of(
        profiled,
        "folder",
        id=name[: TEXT_LIMITS["id"]],
        title=shorten(path.stem, TEXT_LIMITS["title"]),
        summary=f"Predict {shorten(target, 100)} from the other columns of {shorten(path.name, 200)}.",
        source=shorten(path.name, TEXT_LIMITS["source"]),
        licence="not stated",
    )


def _placed(problem: SourceProblem, document: Document) -> SourceProblem:
    """Add the line of a declaration to a problem with it."""
    if problem.file != document.file:
        return problem
    return document.problem(RefusedValue((problem.field,), problem.saw, problem.expected, problem.hint))


def _main_table(path: Path, file: str, name: str | None) -> TableFile:
    tables = sorted(entry for entry in path.iterdir() if entry.suffix in TABLE_SUFFIXES and not entry.is_dir())
    main = [one for one in tables if name is None or one.name == name]
    if len(main) == 1:
        return open_table(main[0], f"{file}/{main[0].name}")
    saw = f"{len(tables)} tables: {', '.join(t.name for t in tables[:5])}" if tables else "no table"
    expected = f"the table {show(name)}" if name else "one *.csv or *.parquet beside seed.yaml"
    hint = "Name the one with the target under table in seed.yaml." if len(tables) > 1 and not name else ""
    raise Unsound([SourceProblem(file, saw, expected, hint=hint)])


def _absent_columns(document: Document, seed: TableSeed, table: TableFile) -> list[SourceProblem]:
    named = [(("target",), seed.target), *((("ignore", n), name) for n, name in enumerate(seed.ignore))]
    named += [(("id_column",), seed.id_column)] if seed.id_column else []
    problems = []
    for loc, name in named:
        if name not in table.columns:
            expected = f"a column of {table.file}"
            problems.append(document.problem(RefusedValue(loc, show(name), expected, _columns_hint(name, table))))
        elif loc != ("target",) and name == seed.target:
            problems.append(document.problem(RefusedValue(loc, f"the target {show(name)}", "another column")))
    return problems


def _columns_hint(name: str, table: TableFile) -> str:
    return did_you_mean(name, table.columns) or f"It has {name_some(map(show, table.columns), 8)}."
