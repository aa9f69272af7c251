"""Sources written out as a person would write them; every test starts in an empty folder."""

from pathlib import Path

import pytest

CARD = """\
id: parcel-delays
title: Late parcels
summary: Tell which parcels arrive late.
structure:
  modality: tabular
  target: binary
  metric: roc_auc
source: our own depot
licence: CC0
"""

TABLE_SEED = """\
id: {id}
title: A table
summary: Predict one column from the others.
source: scikit-learn
licence: BSD-3-Clause
target: {target}
"""

CONFIG = """\
id: {id}
name: Late Parcels
competition_type: simple
grader:
  name: {grader}
  grade_fn: mlebench.competitions.{id}.grade:grade
preparer: mlebench.competitions.{id}.prepare:prepare
"""

DESCRIPTION = """\
# Late Parcels

## Description

Tell which *parcels* arrive late, see [the rules](rules.html).

## Evaluation

Something else.
"""


def write(path: str | Path, content: str | bytes) -> Path:
    place = Path(path)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content.encode() if isinstance(content, str) else content)
    return place


def write_table_seed(folder: str, csv: str, target: str = "late", extra: str = "") -> str:
    write(f"{folder}/table.csv", csv)
    write(f"{folder}/seed.yaml", TABLE_SEED.format(id=Path(folder).name, target=target) + extra)
    return folder


def write_competition(folder: str, grader: str = "auc-roc", scores: tuple[float, ...] = (0.9, 0.8, 0.5)) -> str:
    write(f"{folder}/config.yaml", CONFIG.format(id=Path(folder).name, grader=grader))
    write(f"{folder}/description.md", DESCRIPTION)
    write(f"{folder}/leaderboard.csv", "teamId,score\n" + "".join(f"{n},{s}\n" for n, s in enumerate(scores)))
    return folder


@pytest.fixture(autouse=True)
def empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def real_scores():
    """Score tables as a build does, in tests of the scores."""


@pytest.fixture(autouse=True)
def cheap_scores(request, monkeypatch):
    """Say that models learn a third of every target, since fitting them takes most of the time of a profile."""
    if "real_scores" not in request.fixturenames:
        monkeypatch.setattr("sandmill.seeds.profile.scores_of", lambda *_: (0.3, 0.3))


@pytest.fixture
def written():
    """Writers of the four forms, as plain functions."""
    return Writers


class Writers:
    file = staticmethod(write)
    table = staticmethod(write_table_seed)
    competition = staticmethod(write_competition)
    card_text = CARD
