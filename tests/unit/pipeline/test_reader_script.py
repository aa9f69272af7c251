"""The reader's script of a table: written at its proof, run, recorded, published, and run again."""

import pytest

from sandmill.calibrate.stage import Calibrated
from sandmill.models.base import Band
from sandmill.models.calibration import Rung
from sandmill.models.plan import Attempt, Slot
from sandmill.pipeline.attempt import Ended, prove
from sandmill.verify.records import make_task
from sandmill.verify.rerun import rerun_task
from tests.designs import SECRET, TASKS, make_seed
from tests.factories import make_shard_plan
from tests.unit.pipeline.proved import calibrated, rendered, scripts

MADE = "reader.py"


def calibration_alone() -> Calibrated:
    return Calibrated(rendered().package, calibrated(), {one.score.file: one.source for one in scripts()}, 1.0)


@pytest.fixture(scope="module")
def ended() -> Ended:
    return prove(calibration_alone(), SECRET)


@pytest.fixture(scope="module")
def published(ended):
    attempt = Attempt(Slot(number=0, seed=make_seed(*TASKS[0]), band=Band.MEDIUM), 0, 1, 0, 0.4)
    made = calibration_alone().with_script(ended.reader)
    return make_task(made, attempt, ended.result, make_shard_plan("micro", range(1)), "0.1.0", SECRET)


def problems(published, package=None, **update):
    measured = published.record.calibration.model_copy(update=update)
    record = published.record.model_copy(update={"calibration": measured})
    return list(rerun_task(package or published.package, record).problems)


def test_a_proof_writes_a_short_script_and_records_what_it_scores(ended, published):
    assert ended.reader.source.count("\n") <= 60
    recorded = published.record.calibration.scripts[-1]
    assert (recorded.rung, recorded.file) == (Rung.READER, MADE)
    assert published.record.verification.script_scores[MADE] == recorded.final
    assert published.package.private[MADE].decode() == ended.reader.source
    assert len(calibrated().scripts) + 1 == len(published.record.calibration.scripts)


@pytest.mark.slow
def test_a_rerun_runs_it_again(published):
    recorded = published.record.calibration.scripts
    changed = recorded[-1].model_copy(update={"final": 0.9})
    assert problems(published, scripts=(*recorded[:-1], changed)) == [
        f"{MADE} scored {recorded[-1].final}; recorded is 0.9"
    ]
    private = {name: content for name, content in published.package.private.items() if name != MADE}
    without = published.package.model_copy(update={"private": private})
    assert f"private/ lacks {MADE}" in problems(published, without)
