"""Read an MLE-bench competition folder: identity and metric from its files, structure from its data."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from sandmill.errors import shorten
from sandmill.models.seed import UnsupportedSeed
from sandmill.models.structure import MetricName, TargetKind
from sandmill.scoring.support import ANSWER_FORMS
from sandmill.seeds.cards import SeedReading
from sandmill.seeds.document import Document, read_document
from sandmill.seeds.explain import show
from sandmill.seeds.folder import reading_of
from sandmill.seeds.graders import metric_of, missing_metric
from sandmill.seeds.source_files import SourceProblem, Unsound, gathered, read_text, require_folder
from sandmill.seeds.table_files import TableFile, open_table, readable
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

_DOCUMENTS = frozenset({".md", ".html", ".pdf", ".txt"})
_MOST_ENTRIES = 5000
"""Files and folders that are looked at."""
_TABLES = {
    "a training table": ("train.csv", "train.parquet", "labels.csv"),
    "a test table": ("test.csv", "test.parquet"),
    "a sample submission": ("sample_submission.csv", "sampleSubmission.csv", "sample_submission.parquet"),
}
NO_DATA = "data in prepared/public (without them the target cannot be known)"
OTHER_FILES = "inputs from more files than the training table"
NO_INPUTS = "input columns in the training table"
FREE_TEXT = "inputs of which at most a quarter is text"


class Unsettled(Exception):
    """The task of a competition cannot be inferred; the arguments are the needs of the seed."""


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


def understand(public: Path, file: str, metric: MetricName | None, sample_name: str) -> Profiled:
    """Profile the training table, if it holds all inputs and its target can be inferred.

    Args:
        public: folder `prepared/public` of the competition.
        file: name of the folder, for messages.
        metric: None if the grader is unknown.
        sample_name: name of the sample submission as the configuration has it; may be empty.

    Raises:
        Unsettled: with what is missing to know the task; without needs if that is the metric alone.
        Unsound: if a table is broken.
    """
    names = sorted(islice(_walk(public), _MOST_ENTRIES))
    if not names:
        raise Unsettled(NO_DATA)
    asked = {**_TABLES, "a sample submission": (sample_name, *_TABLES["a sample submission"])}
    found = {what: next((name for name in some if name in names), None) for what, some in asked.items()}
    if absent := [f"{what} in prepared/public" for what, name in found.items() if name is None]:
        raise Unsettled(*absent)
    known = {name for name in found.values() if name}
    if any(name not in known and name.removesuffix(".zip") not in known and not _explains(name) for name in names):
        raise Unsettled(OTHER_FILES)
    train, test, sample = (open_table(public / name, f"{file}/{name}") for name in found.values() if name)
    columns = name_columns(train, test, sample)
    if need := _not_a_table(measure(train, columns.shared) if columns.shared else {}, columns):
        raise Unsettled(need)
    if metric is None:
        raise Unsettled
    profiled = _profile(train, columns, settle_target(train, columns, metric), metric)
    return replace(profiled, structure=profiled.structure.model_copy(update={"rows_test": test.count_rows()}))


def _walk(folder: Path) -> Iterator[str]:
    """Yield the files below a folder. Hidden ones are left out, and links are not followed."""
    waiting = [folder] if folder.is_dir() else []
    while waiting:
        for entry in sorted(waiting.pop().iterdir()):
            if entry.name.startswith("."):
                continue
            if entry.is_dir() and not entry.is_symlink():
                waiting.append(entry)
            else:
                yield str(entry.relative_to(folder))


def _explains(name: str) -> bool:
    """Whether a file is documentation. In a subfolder, a text is data."""
    suffix = Path(name).suffix.lower()
    return suffix in _DOCUMENTS and (suffix != ".txt" or "/" not in name)


def name_columns(train: TableFile, test: TableFile, sample: TableFile) -> ColumnRoles:
    """Split the columns into keys, inputs and answers, by which of them the test table has."""
    keys = tuple(name for name in sample.columns if name in test.columns) or sample.columns[:1]
    return ColumnRoles(
        keys=keys,
        answers=tuple(name for name in sample.columns if name not in keys),
        shared=tuple(name for name in train.columns if name in test.columns),
        lacking=tuple(name for name in train.columns if name not in test.columns and name not in keys),
    )


def _not_a_table(facts: dict[str, ColumnFacts], columns: ColumnRoles) -> str:
    """Return why the inputs cannot be read as columns of a table; an empty text if they can."""
    kinds = [column.kind for name, column in facts.items() if name not in columns.keys or column.kind == "text"]
    inputs = len(kinds) - kinds.count("identifier")
    if not inputs:
        return NO_INPUTS
    return FREE_TEXT if kinds.count("text") * 4 > inputs else ""


def settle_target(train: TableFile, columns: ColumnRoles, metric: MetricName) -> TargetKind:
    """Infer the kind of target from the answer columns, their cells and the metric.

    Raises:
        Unsettled: if columns, cells and metric do not agree on one kind of target.
    """
    answers = columns.answers
    if not answers:
        raise Unsettled("an answer column in the sample submission")
    if not set(answers) <= set(train.columns):
        raise Unsettled("a target: the answer columns are not in the training table")
    return _one(train, answers[0], metric) if len(answers) == 1 else _several(train, answers, metric)


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
        raise Unsettled(f"the kind of the target {show(column)}: its {facts.distinct} values do not fit {metric}")
    return kind


def _several(train: TableFile, answers: tuple[str, ...], metric: MetricName) -> TargetKind:
    import polars as pl

    numbers = [pl.col(name).cast(pl.Float64, strict=False) for name in answers]
    asked = train.scan(answers).select(
        numbers=pl.all_horizontal(number.is_finite() for number in numbers).fill_null(False).all(),
        bits=pl.all_horizontal(number.is_in([0.0, 1.0]) for number in numbers).fill_null(False).all(),
    )
    row = asked.collect(engine="streaming").row(0, named=True)
    found = ((TargetKind.MULTILABEL, row["bits"]), (TargetKind.MULTI_TARGET, row["numbers"]))
    kind = next((kind for kind, holds in found if holds and (kind, metric) in ANSWER_FORMS), None)
    if kind is None:
        raise Unsettled(f"the kind of the {len(answers)} target columns: they do not fit {metric}")
    return kind


def _profile(train: TableFile, columns: ColumnRoles, kind: TargetKind, metric: MetricName) -> Profiled:
    left_out, answers = (*columns.keys, *columns.lacking), columns.answers
    if len(answers) == 1:
        (name,) = answers
        wish = Wish(name, kind, metric, tuple(column for column in left_out if column != name))
        return profile_table(train, wish, SourceProblem(train.file, "", "", line=1, field=name))
    facts = measure(train, tuple(name for name in columns.shared if name not in left_out))
    inputs = [column for column in facts.values() if column.kind != "identifier"]
    structure = structure_of(inputs, kind, metric, train.count_rows(), n_targets=len(answers))
    return with_profile(Profiled(structure), train, [column.name for column in inputs], answers)


MAX_SUMMARY = 600
"""Characters of the first paragraph that are kept."""

_MAX_LINE = 5000
"""Characters of a line that are read. The patterns below take time that grows with its square."""
_MARKUP = re.compile(r"!\[[^\]]*\]\([^)]*\)|<[^>]*>|[*_`#>]")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")

COMPETITION_FILES = frozenset({"config.yaml", "description.md", "leaderboard.csv", "grade.py", "prepare.py"})
"""A folder with config.yaml and another of these is a competition. Only the first two are read."""


def read_summary(path: Path, file: str) -> str:
    """Return the first paragraph under the first heading as short plain text.

    Raises:
        Unsound: if the file is absent, a link, too large, not text or has no paragraph.
    """
    paragraph: list[str] = []
    for line in read_text(path, file).splitlines():
        text = _plain_text(line) if not line.lstrip().startswith("#") else ""
        if text:
            paragraph.append(text)
        elif paragraph:
            break
    if not paragraph:
        raise Unsound([SourceProblem(file, "no paragraph", "a heading and a paragraph of text")])
    return shorten(" ".join(paragraph), MAX_SUMMARY)


def _plain_text(line: str) -> str:
    """Remove markup, links and control characters."""
    text = _LINK.sub(r"\1", _MARKUP.sub("", line[:_MAX_LINE]))
    return " ".join("".join(c if unicodedata.category(c)[0] != "C" else " " for c in text).split())


class _Loose(BaseModel):
    """Part of a foreign file. Unknown fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Grader(_Loose):
    """How a competition is scored."""

    name: str = Field(min_length=1, max_length=200)


class CompetitionConfig(_Loose):
    """The fields of config.yaml that say which competition it is."""

    id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9-]*$", max_length=100)
    name: str = Field(min_length=1, max_length=200)
    grader: Grader
    dataset: Any = None
    """Paths of the data. Only the name of the sample submission is used."""

    @property
    def sample_name(self) -> str:
        """File name of the sample submission; empty if it is not given."""
        path = self.dataset.get("sample_submission") if isinstance(self.dataset, dict) else None
        return path.rpartition("/")[2] if isinstance(path, str) else ""


def read_competition(path: Path, file: str) -> SeedReading:
    """Read a competition. It is set aside, with reasons, if its data and its grader do not determine a task.

    Raises:
        Unsound: with every problem of its files.
    """
    problems: list[SourceProblem] = []
    config = metric = summary = None
    document = Document(f"{file}/config.yaml")
    with gathered(problems):
        document = read_document(path / "config.yaml", document.file)
        config = document.parse(CompetitionConfig)
        metric = metric_of(config.grader.name)
    with gathered(problems):
        summary = read_summary(path / "description.md", f"{file}/description.md")
    if problems or config is None or summary is None:
        raise Unsound(problems)
    seed_id = config.id.lower()
    for inner in ("prepared", "prepared/public"):
        require_folder(path / inner, f"{file}/{inner}")
    try:
        with readable(f"{file}/prepared/public"):
            profiled = understand(path / "prepared/public", f"{file}/prepared/public", metric, config.sample_name)
    except Unsettled as unsettled:
        metric_needs = missing_metric(metric) if metric else (f"metric {shorten(config.grader.name, 100)}",)
        needs = (*unsettled.args, *metric_needs)
        return SeedReading(UnsupportedSeed(id=seed_id, needs=needs))
    source = f"MLE-bench competition {config.id}"
    licence = "competition rules"
    texts = {"id": seed_id, "title": config.name, "summary": summary, "source": source, "licence": licence}
    return reading_of(profiled, "mlebench", **texts)
