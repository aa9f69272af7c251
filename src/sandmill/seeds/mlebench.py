"""Read an MLE-bench competition folder: identity and metric from its files, structure from its data."""

import re
import unicodedata
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from sandmill.errors import shorten
from sandmill.models.seed import UnsupportedSeed
from sandmill.seeds.cards import SeedReading
from sandmill.seeds.competition_data import Unsettled, understand
from sandmill.seeds.document import Document, read_document
from sandmill.seeds.folder import reading_of
from sandmill.seeds.graders import metric_of, missing_metric
from sandmill.seeds.regular import read_text, require_folder
from sandmill.seeds.source_problems import SourceProblem, Unsound, gathered
from sandmill.seeds.table_files import readable

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
