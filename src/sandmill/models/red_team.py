"""What scripts of attackers earned on one task, so that a report can show it beside a release."""

from typing import Literal

from pydantic import Field

from sandmill.models.base import Frozen
from sandmill.models.names import LONGEST_NAME

MOST_ATTACKS = 10_000
_LONGEST_TITLE = 200

Pay = Literal["nothing", "luck", "prediction"]
"""What an attack may earn. `nothing`: at most what the sample submission earns; `luck`: what a guess closes of the gap
by luck; `prediction`: it makes a real prediction, whose score is paid."""


class EarnedReward(Frozen):
    """Reward of one attack under one preset."""

    preset: str = Field(max_length=LONGEST_NAME)
    reward: float | None = Field(allow_inf_nan=False)
    """None if the sandbox failed, which masks the run."""
    sample: float = Field(allow_inf_nan=False)
    """Reward of the valid sample submission of the same task."""


class AttackOutcome(Frozen):
    """How one attack ended."""

    family: str = Field(max_length=LONGEST_NAME)
    name: str = Field(max_length=_LONGEST_TITLE)
    outcome: str = Field(max_length=LONGEST_NAME)
    """Outcome of the last script, or of its submission."""
    pays: Pay
    rewards: tuple[EarnedReward, ...]


class RedTeamRecord(Frozen):
    """Content of a file that `python -m benchmarks.red_team` writes."""

    format: Literal[1] = 1
    release: str = Field(max_length=LONGEST_NAME)
    """Version of the release, such as 0001-ab12cd34."""
    task_id: str = Field(max_length=LONGEST_NAME)
    metric: str = Field(max_length=LONGEST_NAME)
    backend: str = Field(max_length=LONGEST_NAME)
    """Backend of the sandbox."""
    library: str = Field(max_length=LONGEST_NAME)
    """Digest of the library that ran the attacks."""
    attacks: tuple[AttackOutcome, ...] = Field(max_length=MOST_ATTACKS)
