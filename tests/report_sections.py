"""Rollouts of a made-up release, for tests of the section on rollouts of a report."""

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
