"""Read an MLE-bench competition folder: identity and metric from its files, structure from its data."""

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from sandmill.errors import shorten
from sandmill.models.seed import SeedTask, UnsupportedSeed
from sandmill.models.structure import MetricName
from sandmill.scoring.catalogue import METRICS
from sandmill.seeds.cards import SeedReading, bundled_cards
from sandmill.seeds.competition_data import understand
from sandmill.seeds.competition_tables import Unsettled
from sandmill.seeds.competition_text import read_leaderboard, read_summary
from sandmill.seeds.document import Document, read_document
from sandmill.seeds.graders import meant, metric_of
from sandmill.seeds.regular import require_folder
from sandmill.seeds.source_problems import SourceProblem, Unsound, gathered
from sandmill.seeds.support import missing_metric
from sandmill.seeds.table_files import readable

COMPETITION_FILES = frozenset({"config.yaml", "description.md", "leaderboard.csv", "grade.py", "prepare.py"})
"""A folder with config.yaml and another of these is a competition. The Python files are neither read nor run."""


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
    seed = SeedTask(
        id=seed_id,
        title=config.name,
        summary=summary,
        structure=profiled.structure,
        source=f"MLE-bench competition {config.id}",
        licence="competition rules",
        origin="mlebench",
    )
    return SeedReading(seed, profiled.notes)


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
