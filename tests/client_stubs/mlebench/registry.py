"""Find competitions by id. Functions are looked up in this module when they are called."""

import importlib
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import yaml
from mlebench.grade_helpers import InvalidSubmissionError


def get_module_dir() -> Path:
    return Path(__file__).parent


def get_repo_dir() -> Path:
    return get_module_dir().parent


def load_yaml(path: Path) -> dict:
    assert path.suffix == ".yaml"
    return yaml.safe_load(path.read_text())


def import_fn(name: str):
    module, function = name.split(":")
    return getattr(importlib.import_module(module), function)


@dataclass
class Grader:
    name: str
    grade_fn: str

    def __call__(self, submission: pd.DataFrame, answers: pd.DataFrame) -> float | None:
        try:
            return round(import_fn(self.grade_fn)(submission, answers), 5)
        except InvalidSubmissionError:
            return None


@dataclass
class Competition:
    id: str
    name: str
    description: str
    competition_type: str
    grader: Grader
    prepare_fn: object
    answers: Path
    sample_submission: Path
    gold_submission: Path
    public_dir: Path
    private_dir: Path
    leaderboard: Path
    checksums: Path

    def __post_init__(self):
        assert all((self.id, self.name, self.description, self.competition_type, self.grader.name))


class Registry:
    def __init__(self, data_dir: Path = Path("nowhere")):
        self._data_dir = data_dir.resolve()

    def get_competition(self, competition_id: str) -> Competition:
        folder = get_module_dir() / "competitions" / competition_id
        config = load_yaml(folder / "config.yaml")
        files = {"gold_submission": config["dataset"]["answers"], **config["dataset"]}
        prepared = self._data_dir / competition_id / "prepared"
        return Competition(
            id=config["id"],
            name=config["name"],
            description=(get_repo_dir() / config["description"]).read_text(),
            competition_type=config["competition_type"],
            grader=Grader(**config["grader"]),
            prepare_fn=import_fn(config["preparer"]),
            public_dir=prepared / "public",
            private_dir=prepared / "private",
            leaderboard=folder / "leaderboard.csv",
            checksums=folder / "checksums.yaml",
            **{name: self._data_dir / path for name, path in files.items()},
        )

    def list_competition_ids(self) -> list[str]:
        return sorted(path.parent.stem for path in (get_module_dir() / "competitions").rglob("config.yaml"))

    def get_data_dir(self) -> Path:
        return self._data_dir

    def set_data_dir(self, new_data_dir: Path) -> "Registry":
        return Registry(new_data_dir)


registry = Registry()
