"""README.md and docs/ state the same layout, limits and fields as the code, and their example runs."""

import inspect
import re

import pytest

import sandmill
from sandmill.models import layout
from sandmill.models.rollout import FeedbackAnswer, FeedbackStatus, Score
from sandmill.models.run import RunLimits
from sandmill.play.feedback import MOST_ANSWERS, Feedback
from sandmill.sandbox import Sandbox
from tests.releases import REPOSITORY

README, SANDBOX, EPISODES = (
    (REPOSITORY / name).read_text() for name in ("README.md", "docs/sandbox.md", "docs/episodes.md")
)


def limits_table() -> list[tuple[str, str]]:
    section = SANDBOX.split("## Limits (`RunLimits`)")[1].split("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| `")]
    return [(row[0], row[1]) for row in rows]


def test_documented_defaults_of_limits_are_those_of_the_model():
    """Several names in one row have their defaults in the same order; a row without a number repeats the one before."""
    documented: dict[str, list[int]] = {}
    for names, value in limits_table():
        numbers = [int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*\d|\d", value)]
        for place, name in enumerate(re.findall(r"`(\w+)`", names)):
            documented.setdefault(name, numbers[place : place + 1])
    wall = inspect.signature(Sandbox.run).parameters["timeout"].default
    model = {name: [field.default] if field.default else [] for name, field in RunLimits.model_fields.items()}
    assert documented == model | {"timeout": [wall]}


def test_the_documented_layout_is_the_one_that_the_prompt_and_descriptions_state(task):
    for name in ("train.csv", "test.csv", "sample_submission.csv"):
        path = f"`{layout.public_path(name)}`"
        assert path in SANDBOX
        assert path in (task / "public" / "description.md").read_text()
    assert f"`{layout.COMMAND}`" in SANDBOX
    assert f"`{layout.COMMAND}`" in sandmill.prompt(task)


@pytest.mark.parametrize("model", [Score, FeedbackAnswer])
def test_every_field_that_a_trainer_gets_is_explained(model):
    assert [name for name in [*model.model_fields, *FeedbackStatus] if f"`{name}`" not in EPISODES] == []


def test_the_documented_numbers_of_the_meter_are_its_defaults():
    defaults = inspect.signature(Feedback).parameters
    assert re.search(rf"`max_submissions`[^|]*\({defaults['max_submissions'].default}\)", EPISODES)
    assert f"at most {MOST_ANSWERS} " in EPISODES
    assert f"{8 * defaults['max_submissions'].default} with the default" in EPISODES


def test_no_document_shows_how_to_grade_a_file_of_the_scratch_folder():
    for text in (README, SANDBOX, EPISODES):
        assert not re.search(r"grade_folder|scratch\S* ?/ ?.submission", text)
        assert "sandmill.score(task, result)" in text or "MLEnv(task" in text
