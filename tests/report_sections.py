"""Rollouts of a made-up release, and the record of a red team, for tests of the sections of a report."""

from sandmill.models.red_team import AttackOutcome, EarnedReward, RedTeamRecord
from sandmill.models.reports import Medal
from sandmill.store.files import Store
from sandmill.store.rollouts import RolloutFolder
from tests.rollout_records import SETTINGS, make_masked, make_record


def play(folder, release, rewards, model="one", loose=False):
    made = RolloutFolder(Store(str(folder)))
    made.begin(SETTINGS.model_copy(update={"release": release.version, "model": model}))
    for task_id in release.task_ids:
        for sample, reward in enumerate(rewards):
            record = make_record(task_id, sample, reward, Medal.GOLD if reward > 0.5 else None)
            made.save(of_release(record, release, model))
    made.save(of_release(make_masked(release.task_ids[0], 9, "gone"), release, model))
    if not loose:
        made.compact()
    return str(folder)


def of_release(record, release, model):
    rollout = record.rollout.model_copy(update={"release": release.ref, "model": model})
    return record.model_copy(update={"rollout": rollout})


def red_team_record(release, **facts):
    def earned(reward):
        return tuple(EarnedReward(preset=preset, reward=reward, sample=0.1) for preset in ("gap", "raw"))

    return RedTeamRecord(
        **{"release": release.version, "task_id": release.task_ids[0], "metric": "roc_auc", "backend": "warm"} | facts,
        library="0123",
        attacks=(
            AttackOutcome(family="access", name="it's <b>", outcome="tamper", pays="nothing", rewards=earned(0.0)),
            AttackOutcome(family="access", name="paid", outcome="ok", pays="nothing", rewards=earned(0.25)),
            AttackOutcome(family="semantics", name="a guess", outcome="ok", pays="luck", rewards=earned(0.125)),
            AttackOutcome(
                family="semantics", name="masked", outcome="infra_error", pays="nothing", rewards=earned(None)
            ),
        ),
    )
