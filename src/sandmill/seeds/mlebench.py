"""Read an MLE-bench competition folder: identity and metric from its files, structure from its data."""

import csv
import io
import re
import unicodedata
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from sandmill.errors import shorten
from sandmill.models.seed import UnsupportedSeed
from sandmill.models.structure import MetricName
from sandmill.scoring.catalogue import METRICS
from sandmill.seeds.cards import SeedReading, bundled_cards
from sandmill.seeds.competition_data import Unsettled, understand
from sandmill.seeds.document import Document, read_document
from sandmill.seeds.explain import show
from sandmill.seeds.folder import reading_of
from sandmill.seeds.graders import meant, metric_of, missing_metric
from sandmill.seeds.regular import read_text, require_folder
from sandmill.seeds.source_problems import SourceProblem, Unsound, gathered
from sandmill.seeds.table_files import readable

MAX_SUMMARY = 600
"""Characters of the first paragraph that are kept."""

_MAX_LINE = 5000
"""Characters of a line that are read. The patterns below take time that grows with its square."""
_MARKUP = re.compile(r"!\[[^\]]*\]\([^)]*\)|<[^>]*>|[*_`#>]")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")

_LFS_POINTER = "version https://git-lfs"
_MAX_ROWS = 200_000
_MAX_COLUMNS = 1000
_MAX_BYTES = 1 << 26
"""Real leaderboards have less than a hundredth of this."""

COMPETITION_FILES = frozenset({"config.yaml", "description.md", "leaderboard.csv", "grade.py", "prepare.py"})
"""A folder with config.yaml and another of these is a competition. The Python files are neither read nor run."""


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


def read_leaderboard(path: Path, file: str) -> tuple[float, float]:
    """Read the first and the last score of a leaderboard, whose rows go from best to worst.

    Raises:
        Unsound: if it is no leaderboard: absent, a link, too large, no CSV, or with scores that are no numbers.
    """
    text = read_text(path, file, _MAX_BYTES)
    if text.startswith(_LFS_POINTER):
        hint = "Run git lfs pull in the clone of MLE-bench."
        raise Unsound([SourceProblem(file, "a Git LFS pointer", "the leaderboard itself", 1, hint=hint)])
    try:
        scores = _scores(text, file)
    except csv.Error as error:
        raise Unsound([SourceProblem(file, shorten(str(error), 120), "a leaderboard in CSV")]) from None
    wrong = ((line, score) for line, score in scores if not _is_number(score))
    if found := [SourceProblem(file, show(score), "a number", line, field="score") for line, score in islice(wrong, 5)]:
        raise Unsound(found)
    if not scores:
        raise Unsound([SourceProblem(file, "no rows", "at least one score")])
    return float(scores[0][1]), float(scores[-1][1])


def _scores(text: str, file: str) -> list[tuple[int, str]]:
    """Return line and score of each row."""
    rows = csv.reader(io.StringIO(text, newline=""))
    header = next(rows, [])
    if len(header) > _MAX_COLUMNS:
        raise Unsound([SourceProblem(file, f"{len(header)} columns", f"at most {_MAX_COLUMNS}", 1)])
    if "score" not in header:
        saw = f"columns {', '.join(shorten(name) for name in header[:10])}" if header else "no header"
        raise Unsound([SourceProblem(file, saw, "a column score", 1)])
    place = header.index("score")
    filled = ((rows.line_num, row[place] if place < len(row) else "") for row in rows if row)
    return list(islice(filled, _MAX_ROWS))


def _is_number(text: str) -> bool:
    try:
        return float(text) * 0 == 0
    except ValueError:
        return False


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
    config = metric = board = summary = None
    document = Document(f"{file}/config.yaml")
    with gathered(problems):
        document = read_document(path / "config.yaml", document.file)
        config = document.parse(CompetitionConfig)
        metric = metric_of(config.grader.name)
    with gathered(problems):
        summary = read_summary(path / "description.md", f"{file}/description.md")
    with gathered(problems):
        board = read_leaderboard(path / "leaderboard.csv", f"{file}/leaderboard.csv")
    if metric and board:
        problems += _wrong_direction(metric, board, f"{file}/leaderboard.csv")
    if problems or config is None or summary is None:
        raise Unsound(problems)
    seed_id = config.id.lower()
    for inner in ("prepared", "prepared/public"):
        require_folder(path / inner, f"{file}/{inner}")
    try:
        with readable(f"{file}/prepared/public"):
            profiled = understand(path / "prepared/public", f"{file}/prepared/public", metric, config.sample_name)
    except Unsettled as unsettled:
        metric_needs = missing_metric(metric) if metric else (_unknown_metric(config.grader.name),)
        needs = (*unsettled.args, *metric_needs)
        return SeedReading(UnsupportedSeed(id=seed_id, needs=needs, hint=_bundled_twin(seed_id)))
    source = f"MLE-bench competition {config.id}"
    licence = "competition rules"
    texts = {"id": seed_id, "title": config.name, "summary": summary, "source": source, "licence": licence}
    return reading_of(profiled, "mlebench", **texts)


def _unknown_metric(grader: str) -> str:
    near = meant(grader)
    return f"metric {shorten(grader, 100)}" + (f" (perhaps {near}?)" if near else "")


def _bundled_twin(seed_id: str) -> str:
    is_bundled = any(path.stem == seed_id for path, _ in bundled_cards())
    return f"The bundled card sandmill/seeds/cards/{seed_id}.yaml describes it." if is_bundled else ""


def _wrong_direction(metric: MetricName, board: tuple[float, float], file: str) -> list[SourceProblem]:
    """Compare a leaderboard's order with the metric's; nothing to compare for a metric that Sandmill does not have."""
    best, worst = board
    ours = METRICS.get(metric)
    if ours is None or best == worst or (best < worst) == ours.is_lower_better:
        return []
    better = "lower" if ours.is_lower_better else "higher"
    saw = f"scores from {best:g} in the first row to {worst:g} in the last"
    return [SourceProblem(file, saw, f"the best first, and for {metric} {better} is better", field="score")]
