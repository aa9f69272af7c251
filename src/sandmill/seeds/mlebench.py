"""An MLE-bench competition folder: identity and metric from its files, structure from its data if they are there."""

import csv
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from sandmill.models.seed import SeedTask, UnsupportedSeed
from sandmill.models.structure import MetricName, Modality, Structure, TargetKind
from sandmill.seeds.competition_data import profile_public
from sandmill.seeds.competition_text import Description, modality_of_files, read_description
from sandmill.seeds.document import Document, read_document
from sandmill.seeds.explain import Refusal
from sandmill.seeds.findings import Finding, Unsound, gathered
from sandmill.seeds.graders import GRADERS, LOWER_IS_BETTER, metric_of
from sandmill.seeds.tabular import Profiled
from sandmill.seeds.wording import any_of, did_you_mean, shorten, show

COMPETITION_FILES = frozenset({"config.yaml", "description.md", "leaderboard.csv", "grade.py", "prepare.py"})
"""Two of these, config.yaml among them, make a folder a competition. The programmes are never read or run."""

_TARGET_WITHOUT_DATA = {MetricName.RMSE: TargetKind.REGRESSION, MetricName.ROC_AUC: TargetKind.BINARY}
_LFS_POINTER = "version https://git-lfs"
_MAX_BOARD_ROWS = 200_000


class _Loose(BaseModel):
    """Part of a file that is not ours: what we do not need may say what it likes."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Grader(_Loose):
    """How a competition is scored."""

    name: str = Field(min_length=1, max_length=200)


class CompetitionConfig(_Loose):
    """The fields of config.yaml that say which competition it is."""

    id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9-]*$", max_length=100)
    name: str = Field(min_length=1, max_length=200)
    grader: Grader


def read_competition(path: Path, file: str) -> SeedTask | UnsupportedSeed:
    """Read a competition; without data only a target that follows from the metric makes a seed.

    Raises:
        Unsound: with every problem of its files.
    """
    findings: list[Finding] = []
    config = metric = board = description = None
    document = Document(f"{file}/config.yaml")
    with gathered(findings):
        document = read_document(path / "config.yaml", document.file)
        config = document.parse(CompetitionConfig)
        metric = _metric(config, document)
    with gathered(findings):
        description = read_description(path / "description.md", f"{file}/description.md")
    with gathered(findings):
        board = _board(path / "leaderboard.csv", f"{file}/leaderboard.csv")
    if metric and board:
        findings += _wrong_direction(metric, board, f"{file}/leaderboard.csv")
    if findings or config is None or metric is None or description is None:
        raise Unsound(findings)
    return _seed(config, metric, description, path / "prepared" / "public", f"{file}/prepared/public")


def _seed(
    config: CompetitionConfig, metric: MetricName, description: Description, public: Path, file: str
) -> SeedTask | UnsupportedSeed:
    seed_id = config.id.lower()
    modality = modality_of_files(public)
    profiled = None if modality else profile_public(public, file, metric)
    if profiled is None:
        modality = modality or description.named_modality
        needs = f"modality {modality}" if modality else "" if metric in _TARGET_WITHOUT_DATA else "data to profile"
        if needs:
            return UnsupportedSeed(id=seed_id, needs=(needs,))
        bare = Structure(modality=Modality.TABULAR, target=_TARGET_WITHOUT_DATA[metric], metric=metric)
        profiled = Profiled(bare, ())
    return SeedTask(
        id=seed_id,
        title=config.name,
        summary=description.summary,
        structure=profiled.structure,
        source=f"MLE-bench competition {config.id}",
        licence="competition rules",
        origin="mlebench",
        profile=profiled.columns,
    )


def _metric(config: CompetitionConfig, document: Document) -> MetricName:
    metric = metric_of(config.grader.name)
    if metric is None:
        saw, expected = show(config.grader.name), f"a known metric: {any_of(sorted(GRADERS))}"
        refusal = Refusal(("grader", "name"), saw, expected, did_you_mean(config.grader.name, GRADERS))
        raise Unsound([document.finding(refusal)])
    return metric


def _board(path: Path, file: str) -> tuple[float, float]:
    """First and last score of the leaderboard, whose rows go from best to worst."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            if stream.read(len(_LFS_POINTER)) == _LFS_POINTER:
                hint = "Run git lfs pull in the clone of MLE-bench."
                raise Unsound([Finding(file, "a Git LFS pointer", "the leaderboard itself", 1, hint=hint)])
            stream.seek(0)
            rows = csv.DictReader(stream)
            if "score" not in (rows.fieldnames or ()):
                saw = (
                    f"columns {', '.join(shorten(name) for name in rows.fieldnames or ())}"
                    if rows.fieldnames
                    else "no header"
                )
                raise Unsound([Finding(file, saw, "a column score", 1)])
            scores = [(rows.line_num, row["score"]) for row, _ in zip(rows, range(_MAX_BOARD_ROWS), strict=False)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        saw = "nothing" if isinstance(error, FileNotFoundError) else shorten(str(error), 120)
        raise Unsound([Finding(file, saw, "a leaderboard in CSV")]) from None
    wrong = [
        Finding(file, show(score), "a number", line, field="score") for line, score in scores if not _is_number(score)
    ]
    if wrong or not scores:
        raise Unsound(wrong[:5] or [Finding(file, "no rows", "at least one score")])
    return float(scores[0][1]), float(scores[-1][1])


def _is_number(text: str | None) -> bool:
    try:
        return float(text or "") * 0 == 0
    except ValueError:
        return False


def _wrong_direction(metric: MetricName, board: tuple[float, float], file: str) -> list[Finding]:
    best, worst = board
    if best == worst or (best < worst) == (metric in LOWER_IS_BETTER):
        return []
    better = "lower" if metric in LOWER_IS_BETTER else "higher"
    saw = f"scores from {best:g} in the first row to {worst:g} in the last"
    return [Finding(file, saw, f"the best first, and for {metric} {better} is better", field="score")]
