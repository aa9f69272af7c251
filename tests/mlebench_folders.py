"""The 82 competitions of MLE-bench as small folders, and a judge of what was understood of them.

Folders are made from the facts in tests/data/mlebench.yaml; descriptions, cells and leaderboards are made here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from sandmill.models.seed import SeedIntake, SeedTask
from sandmill.scoring.support import ANSWER_FORMS
from sandmill.seeds import survey
from sandmill.seeds.competition_data import FREE_TEXT, NO_DATA, NO_INPUTS, OTHER_FILES

FACTS = Path(__file__).parent / "data" / "mlebench.yaml"
TRAIN_ROWS, OTHER_ROWS = 120, 30

DESCRIPTION = """\
# A stand-in

![A screenshot of the tables](media/screenshot.png)

Find what the sample submission asks for, see [the plots](plots/overview.jpg).

## Data

There are 11 classes. One row of the paper's table 2 is shown in figure.png; hear greeting.wav for a welcome. No text,
image or sound named here says anything about the files of the task.
"""
"""Names pictures and sounds in every folder, and classes: a description decides nothing."""


@dataclass(frozen=True)
class Competition:
    """What is known of one competition package, and what is true of its task."""

    id: str
    grader: str
    inputs: tuple[str, ...]
    target: str
    metric: str | None
    tables: dict[str, str]
    files: tuple[str, ...]
    sample: str = "sample_submission.csv"
    lower: bool = False

    @property
    def can_be_made(self) -> bool:
        """Whether the task is one table with a target and a metric that tasks can be made for."""
        pairs = {(str(target), str(metric)) for target, metric in ANSWER_FORMS}
        return self.inputs == ("table",) and (self.target, self.metric) in pairs


@dataclass
class Tally:
    """Competitions by what became of them."""

    understood: list[str] = field(default_factory=list)
    set_aside: dict[str, tuple[str, ...]] = field(default_factory=dict)
    wrong: dict[str, str] = field(default_factory=dict)
    missed: list[str] = field(default_factory=list)
    """Could have been understood from the files that were there."""


def load_competitions() -> list[Competition]:
    """Read the facts."""
    entries: list[dict[str, Any]] = yaml.safe_load(FACTS.read_text(encoding="utf-8"))
    return [
        Competition(**entry | {"inputs": tuple(entry["inputs"]), "files": tuple(entry["files"])}) for entry in entries
    ]


def write_folder(competition: Competition, folder: Path, with_data: bool) -> None:
    """Write a competition as MLE-bench lays it out, with or without its prepared public files."""
    folder.mkdir(parents=True)
    side = "private" if competition.sample == "-" else "public"
    name = "sample_submission.csv" if competition.sample == "-" else competition.sample
    config = {
        "id": competition.id,
        "name": competition.id.replace("-", " "),
        "competition_type": "simple",
        "dataset": {"sample_submission": f"{competition.id}/prepared/{side}/{name}"},
        "grader": {"name": competition.grader, "grade_fn": f"mlebench.competitions.{competition.id}.grade:grade"},
    }
    (folder / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    (folder / "description.md").write_text(DESCRIPTION, encoding="utf-8")
    scores = sorted((0.1, 0.35, 0.9), reverse=not competition.lower)
    (folder / "leaderboard.csv").write_text("score\n" + "".join(f"{score}\n" for score in scores), encoding="utf-8")
    if with_data:
        _write_public(competition, folder / "prepared" / "public")


def survey_all(root: Path, with_data: bool) -> Tally:
    """Write all competitions into a folder of folders, take them in at once, and judge each."""
    competitions = load_competitions()
    for competition in competitions:
        write_folder(competition, root / competition.id, with_data)
    return judge(competitions, survey((str(root),)), with_data)


def judge(competitions: Sequence[Competition], intake: SeedIntake, with_data: bool) -> Tally:
    """Hold what was understood against what is true."""
    used = {seed.id: seed for seed in intake.supported}
    aside = {seed.id: seed.needs for seed in intake.unsupported}
    tally = Tally()
    for one in competitions:
        seed_id = one.id.lower()
        if seed_id in used:
            fault = _misread(one, used[seed_id], with_data)
        elif seed_id in aside:
            fault = ", ".join(need for need in aside[seed_id] if not _is_true(one, need, with_data))
            fault = fault or ("" if aside[seed_id] else "no reason")
        else:
            fault = "neither used nor set aside"
        if fault:
            tally.wrong[one.id] = fault
        elif seed_id in used:
            tally.understood.append(one.id)
        else:
            tally.set_aside[one.id] = aside[seed_id]
            tally.missed += [one.id] if with_data and one.can_be_made else []
    return tally


def _misread(one: Competition, seed: SeedTask, with_data: bool) -> str:
    seen = (str(seed.structure.modality), str(seed.structure.target), str(seed.structure.metric))
    true = ("tabular" if one.inputs == ("table",) else "+".join(one.inputs), one.target, one.metric)
    if not with_data:
        return "accepted without data"
    return "" if seen == true else f"taken for {seen}, is {true}"


def _is_true(one: Competition, need: str, with_data: bool) -> bool:
    """Whether a reason holds: judged from the facts of the competition, not from how it was found."""
    kind, _, said = need.partition(" ")
    if need == NO_DATA:
        return not with_data
    if need == FREE_TEXT:
        return "text" in one.inputs
    if kind == "metric":
        return said == (one.grader if one.metric is None else one.metric)
    if need == OTHER_FILES:
        return one.inputs != ("table",)
    if need == NO_INPUTS:
        return "table" not in one.inputs
    if need == "a training table in prepared/public":
        return "train.csv" not in one.tables
    if need == "a test table in prepared/public":
        return "test.csv" not in one.tables
    if need == "a sample submission in prepared/public":
        return one.sample not in one.tables
    return False


def _write_public(competition: Competition, public: Path) -> None:
    public.mkdir(parents=True)
    for name, columns in competition.tables.items():
        frame = _table(columns, TRAIN_ROWS if "train" in name or name == "labels.csv" else OTHER_ROWS)
        frame.write_parquet(public / name) if name.endswith(".parquet") else frame.write_csv(public / name)
    for pattern in competition.files:
        for number in range(3 if "*" in pattern else 1):
            path = public / pattern.replace("*", str(number))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"")


def _table(columns: str, rows: int) -> pl.DataFrame:
    named = [column.rpartition(":")[::2] for column in columns.split()]
    marked = [name for name, kind in named if kind == "h"]
    return pl.DataFrame(
        {
            name: [
                _cell(kind, row, place, marked.index(name) if name in marked else 0, len(marked)) for row in range(rows)
            ]
            for place, (name, kind) in enumerate(named)
        }
    )


def _cell(kind: str, row: int, place: int, mark: int, marks: int) -> Any:
    """One cell: a function of its row and column, so that folders are the same every time."""
    mixed = (row * 7919 + place * 104729 + row * row * 31) % 1009
    if "|" in kind:
        levels = kind.split("|")
        return levels[(row * 5 + row // 7) % len(levels)]
    match kind:
        case "k":
            return f"x{row * 7919 % 99991:05}"
        case "K":
            return 10_000 + row
        case "f":
            return f"{row:06}.jpg"
        case "w":
            return f"{row:06}.wav"
        case "n":
            return round(mixed / 7 + row / 3, 3)
        case "i":
            return mixed % 9
        case "b":
            return mixed % 2
        case "B":
            return mixed % 2 == 0
        case "q":
            return 0.5
        case "c":
            return f"kind {mixed % 4}"
        case "t":
            return f"On day {row} the {mixed} boats of harbour {place} came home early"
        case "p":
            return f"word{mixed} name{row}"
        case "d":
            return f"2015-{1 + row % 12:02}-{1 + mixed % 28:02}"
        case "h":
            return int((row * 3 + row // 5) % marks == mark)
        case "r":
            return f"{row} {mixed} {row + mixed} {place}"
        case _:
            return ("java", "java sql", "sql", "css java")[mixed % 4]
