"""A task with a child table and notes, from its design to its proof."""

from functools import cache
from io import StringIO
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

from sandmill.calibrate.solver_runs import SolverRuns
from sandmill.calibrate.stage import Calibrated, calibrate_design
from sandmill.draw import draw_pilot, render
from sandmill.errors import ItemRejected
from sandmill.export.base import FORMATS
from sandmill.export.export import export
from sandmill.kinds.files.base import layout_of
from sandmill.models.base import Band
from sandmill.models.plan import Attempt, Slot
from sandmill.models.reports import Outcome
from sandmill.play.release import load
from sandmill.sandbox.public_folder import check_public
from sandmill.store.files import Store
from sandmill.verify.records import make_task
from sandmill.verify.rerun import rerun_task
from sandmill.verify.verify import is_micro, trusting_backend, verify_task
from tests.designs import SECRET, make_seed
from tests.event_designs import CHILD, RECENT_REPAIRS, make_event_spec
from tests.factories import make_shard_plan
from tests.packages import put
from tests.publishing import fill_shard, publish_shards

FILES = {"description.md", "sample_submission.csv", "train.csv", "test.csv", "bookings.csv"}


@cache
def rendered():
    return render(make_event_spec(), SECRET)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("public")
    for name, content in rendered().package.public.items():
        (path / name).write_bytes(content)
    return path


def test_the_public_files_are_those_that_the_layout_names(folder):
    spec = make_event_spec()
    assert set(rendered().package.public) == layout_of(spec).files_of(spec) == FILES
    check_public(folder)
    assert is_micro(rendered().package, 1.0)
    content = rendered().package.public["bookings.csv"]
    assert not is_micro(put(rendered().package, "bookings.csv", content[: content.index(b"\n") + 1]), 1.0)


def test_a_solver_that_reads_the_texts_finds_the_summary_in_the_files(folder):
    events = pd.read_csv(folder / "bookings.csv", dtype={"id": str})
    test = pd.read_csv(folder / "test.csv", dtype={"id": str})
    kept = events[events["booking_kind"].isin(["repair", "refund"]) & (events["days_ago"] <= 75)]
    sums = np.log1p(test["id"].map(kept.groupby("id")["amount_eur"].sum()).fillna(0))
    np.testing.assert_allclose(sums, rendered().test_draw.observed[RECENT_REPAIRS.key])
    sizes = test["visit_note"].str.extract(r"(-?\d+(?:\.\d+)?) sqm", expand=False).astype(float)
    np.testing.assert_array_equal(sizes, rendered().test_draw.observed["balcony_m2"])
    described = (folder / "description.md").read_text()
    assert all(f"`{name}`" in described for name in (CHILD.kind, CHILD.amount, CHILD.age, "visit_note"))
    assert "`balcony_m2`" not in described
    assert pd.read_csv(StringIO((folder / "train.csv").read_text()))["visit_note"].notna().all()


SOLVER = """
import sys, pandas as pd, numpy as np
public, out = sys.argv[1:]
test = pd.read_csv(f"{public}/test.csv", dtype={"id": str})
events = pd.read_csv(f"{public}/bookings.csv", dtype={"id": str})
kept = events[events["booking_kind"].isin(["repair", "refund"]) & (events["days_ago"] <= 75)]
sums = np.log1p(test["id"].map(kept.groupby("id")["amount_eur"].sum()).fillna(0))
pd.DataFrame({"id": test["id"], "kitchen": 1 / (1 + np.exp(2 - sums))}).to_csv(out, index=False)
"""


def first_calibrated(*, is_number: bool) -> tuple[Attempt, Calibrated]:
    """Calibrate the design with more and more rows until the gates pass: which of them do is no matter of this test.

    The search for forms finds sums over the events without reading, so it is left out.
    """
    refused = []
    for train in range(160, 201, 10):
        spec = make_event_spec(is_number=is_number, has_copies=is_number, train=train)
        slot = Slot(number=0, seed=make_seed(spec.target, spec.metric), band=Band.MEDIUM)
        attempt = Attempt(slot, 0, 1, 0, 0.4, any_band=True)
        try:
            with patch.object(SolverRuns, "run_search", lambda _: None):
                return attempt, calibrate_design(attempt, draw_pilot(spec, SECRET), SECRET)
        except ItemRejected as rejected:
            refused.append(str(rejected))
    raise AssertionError(f"every design was refused: {refused}")


@pytest.mark.slow
@pytest.mark.parametrize("is_number", [False, True])
def test_the_task_is_calibrated_proved_published_played_and_exported(is_number, tmp_path):
    attempt, made = first_calibrated(is_number=is_number)
    assert made.calibration.informed is not None
    again = render(made.package.spec, SECRET).package
    proved, _ = verify_task(made.package, made.calibration, made.scripts, again, trusting_backend())
    assert proved.holds
    task = make_task(made, attempt, proved, make_shard_plan("micro", range(1)), "0.1.0", SECRET)
    assert rerun_task(task.package, task.record, SECRET, unconfined=True).problems == ()
    store = Store(str(tmp_path / "micro"))
    publish_shards(store, [fill_shard(store, range(1), [task])])
    release = load(tmp_path / "micro")
    (task_id,) = release.task_ids
    opened = release.task(task_id)
    assert {path.name for path in opened.public.iterdir()} == FILES
    run = opened.run(SOLVER)
    assert run.outcome is Outcome.OK, run.stderr
    report = opened.grade(run)
    assert report.outcome is Outcome.OK
    if not is_number:
        assert report.score > 0.55
    for name in FORMATS.keys() - {"sft"}:  # chats are of tables
        export(release, name, tmp_path / name)
    for name in ("mlebench", "harbor", "sandmle"):
        assert list((tmp_path / name).rglob("bookings.csv")), name
