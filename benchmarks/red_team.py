"""Reward of every attack script on one task, under every preset, beside the reward of the valid sample submission.

The attacks are those of tests/redteam. The table has a row for each family of attacks; `--to` writes
all attacks into a file, `--beside` into `attacks/VERSION.json` beside the versions of the release.

Run from the repository root: python -m benchmarks.red_team releases/micro --beside
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from sandmill.models.base import Frozen
from sandmill.models.reports import Outcome
from sandmill.models.run import Isolation, RunResult
from sandmill.play.score import score
from sandmill.provenance import library_digest
from sandmill.rewards import PRESETS
from sandmill.sandbox import Sandbox
from sandmill.store.release import StoredRelease, load
from tests.redteam.attacks import FAMILIES as OF_SCRIPTS
from tests.redteam.attacks import Attack
from tests.redteam.siege import Siege, Target, lay_trap, open_target
from tests.redteam.test_episodes import ATTACKS as EPISODES

FAMILIES = {**OF_SCRIPTS, "episodes": EPISODES}
_ABOVE = 1e-9
"""A reward that is higher by less equals that of the sample."""


Pay = Literal["nothing", "luck", "prediction"]
"""What an attack may earn. `nothing`: at most what the sample submission earns; `luck`: what a guess closes of the gap
by luck; `prediction`: it makes a real prediction, whose score is paid."""


class EarnedReward(Frozen):
    """Reward of one attack under one preset."""

    preset: str
    reward: float | None
    """None if the sandbox failed, which masks the run."""
    sample: float
    """Reward of the valid sample submission of the same task."""


class AttackOutcome(Frozen):
    """How one attack ended."""

    family: str
    name: str
    outcome: str
    """Outcome of the last script, or of its submission."""
    pays: Pay
    rewards: tuple[EarnedReward, ...]


class RedTeamRecord(Frozen):
    """Content of the file that `--to` writes."""

    release: str
    """Version of the release, such as 0001-ab12cd34."""
    task_id: str
    metric: str
    backend: str
    """Backend of the sandbox."""
    library: str
    """Digest of the library that ran the attacks."""
    attacks: tuple[AttackOutcome, ...]


def attack_task(release: StoredRelease, task_id: str, families: Sequence[str]) -> RedTeamRecord:
    """Run the attacks on one task of a release, one after another.

    Raises:
        AssertionError: an attack reached what it must not reach, or the sandbox failed.
    """
    with TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        (pulled,) = release.pull(folder / "pulled", [task_id])
        (folder / "trap").mkdir()
        target = open_target(pulled)
        with lay_trap(folder / "trap", [target]) as trap, Sandbox() as box:
            siege, sample = Siege(box, [target], trap), _rewards(target, _sample(target))
            outcomes = [
                _run(siege, target, family, name, attack, sample)
                for family in families
                for name, attack in FAMILIES[family].items()
            ]
            used = box.backend
        return RedTeamRecord(
            release=release.version,
            task_id=task_id,
            metric=target.task.facts.metric.value,
            backend=used,
            library=library_digest()[:16],
            attacks=tuple(outcomes),
        )


def _run(
    siege: Siege, target: Target, family: str, name: str, attack: Attack, sample: Mapping[str, float | None]
) -> AttackOutcome:
    result = siege.run(attack, target)[-1]
    rewards = _rewards(target, result)
    return AttackOutcome(
        family=family,
        name=name,
        outcome=score(target.folder, result).outcome.value,
        pays=attack.pays,
        rewards=tuple(
            EarnedReward(preset=preset, reward=rewards[preset], sample=sample[preset] or 0.0) for preset in PRESETS
        ),
    )


def _sample(target: Target) -> RunResult:
    return RunResult(outcome=Outcome.OK, isolation=Isolation.NONE, submission=target.sample)


def _rewards(target: Target, result: RunResult) -> dict[str, float | None]:
    scores = {preset: score(target.folder, result, preset) for preset in PRESETS}
    return {preset: None if one.mask else round(one.reward, 9) for preset, one in scores.items()}


def main(arguments: Sequence[str] | None = None) -> None:
    """Attack a task and print a row a family: the highest reward, and in brackets the attacks above the sample."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("release", help="folder or S3 prefix of a dataset, with @version if not the latest")
    parser.add_argument("--task", help="id of the task; default: the first of the release")
    parser.add_argument("--family", action="append", choices=FAMILIES, help="only this family; may be repeated")
    parser.add_argument("--to", type=Path, help="file for the record of all attacks")
    parser.add_argument("--beside", action="store_true", help="write the record beside the versions of the release")
    given = parser.parse_args(arguments)
    release = load(given.release)
    record = attack_task(release, given.task or release.task_ids[0], given.family or tuple(FAMILIES))
    written = record.model_dump_json(indent=1) + "\n"
    if given.to:
        given.to.write_text(written)
    if given.beside:
        release.store.write(f"attacks/{release.version}.json", written.encode(), owner_only=True)
    sys.stdout.write(to_table(record))


def to_table(record: RedTeamRecord) -> str:
    """Write the highest reward of each family and preset as a Markdown table."""
    families = {one.family: [other for other in record.attacks if other.family == one.family] for one in record.attacks}
    lines = [f"| family | attacks | {' | '.join(PRESETS)} |", f"|---|---:|{'---:|' * len(PRESETS)}"]
    samples = {earned.preset: earned.sample for one in record.attacks[:1] for earned in one.rewards}
    lines.append(f"| sample submission | - | {' | '.join(f'{samples[preset]:.3f}' for preset in PRESETS)} |")
    for family, attacks in families.items():
        cells = [_cell([earned for one in attacks for earned in one.rewards if earned.preset == p]) for p in PRESETS]
        lines.append(f"| {family} | {len(attacks)} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _cell(earned: Sequence[EarnedReward]) -> str:
    rewards = [one.reward for one in earned if one.reward is not None]
    above = sum(one.reward is not None and one.reward > one.sample + _ABOVE for one in earned)
    return f"{max(rewards):.3f} ({above})" if rewards else "-"


if __name__ == "__main__":
    main()
