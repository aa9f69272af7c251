"""The file of a child table holds what was drawn, and nothing else."""

from collections import Counter
from io import StringIO

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sandmill.check.gates import check_package
from sandmill.draw import render
from sandmill.kinds.files.tables import child_excess, read_child
from sandmill.kinds.table import TABLE
from sandmill.mechanism.child import Events, aggregate
from sandmill.mechanism.rule import evaluate_motif
from sandmill.models import kind as registry
from sandmill.models.base import Part
from sandmill.models.kind import register
from sandmill.models.spec import Sizes
from sandmill.scoring import get_metric
from sandmill.scoring.forms import form_of
from sandmill.scoring.grading.private_half import answers_problem
from sandmill.scoring.submission import parse_submission, read_answers
from tests.designs import SECRET, make_spec
from tests.event_designs import CHILD, RECENT_REPAIRS, TREND, make_event_spec

SPEC = make_event_spec(has_copies=True)


def events_in(content: bytes, ids: list[str]) -> Events:
    """Read the file as a solver would, with the items in the order of `ids`."""
    frame = pd.read_csv(StringIO(content.decode()), dtype={"id": str})
    assert list(frame.columns) == ["id", "booking_kind", "amount_eur", "days_ago"]
    frame = frame[frame["id"].isin(set(ids))]
    places = pd.Series(range(len(ids)), index=ids)[frame["id"]].to_numpy()
    kinds = frame["booking_kind"].map(CHILD.kinds.index).to_numpy(dtype=float)
    cells = (frame[name].to_numpy(dtype=float) for name in ("amount_eur", "days_ago"))
    return Events.from_list(places, kinds, *cells, rows=len(ids), horizon=CHILD.horizon)


def test_summaries_of_the_file_are_those_of_the_rule():
    rendered = render(SPEC, SECRET)
    public, columns = rendered.package.public, SPEC.mechanism.column_by_name
    for name, draw in (("train.csv", rendered.train_draw), ("test.csv", rendered.test_draw)):
        ids = pd.read_csv(StringIO(public[name].decode()), dtype=str)["id"].tolist()
        events = events_in(public["bookings.csv"], ids)
        for motif in (RECENT_REPAIRS, TREND):
            np.testing.assert_allclose(
                aggregate(motif, events), evaluate_motif(motif, columns, draw.complete), atol=1e-9
            )


def test_the_file_holds_all_items_in_the_order_of_their_ids():
    public = render(SPEC, SECRET).package.public
    faults: list[str] = []
    frame = read_child(public, CHILD, "id", faults)
    assert frame is not None
    assert not faults
    items = {
        line.split(",")[0] for name in ("train.csv", "test.csv") for line in public[name].decode().splitlines()[1:]
    }
    assert set(frame["id"]) == items
    assert frame.equals(frame.sort("id", maintain_order=True))
    falls = frame.with_columns((pl.col("days_ago").diff() > 0).alias("rises"), (pl.col("id") == pl.col("id").shift()))
    assert not falls.filter(pl.col("id"))["rises"].any()
    assert not list(child_excess(CHILD, public[CHILD.path], len(items)))
    assert list(child_excess(CHILD, public[CHILD.path], 10 * len(items)))
    assert len(public[CHILD.path]) < 5 << 20


def test_a_broken_file_is_a_fault():
    for content in (
        b"id,booking_kind,amount_eur\na,rent,2\n",
        b"id,booking_kind,amount_eur,days_ago\na,rent,much,3\n",
        b"id,booking_kind,amount_eur,days_ago\na,,2.5,3\n",
        b"id,booking_kind,amount_eur,days_ago\na,rent,inf,3\n",
    ):
        faults: list[str] = []
        assert read_child({"bookings.csv": content}, CHILD, "id", faults) is None
        assert len(faults) == 1
        assert "bookings.csv" in faults[0]
    faults = []
    assert read_child({}, CHILD, "id", faults) is None
    assert faults


SIZES = Sizes(train=100, feedback=400, final=600)


@pytest.fixture(scope="module")
def rendered():
    known = dict(registry._KINDS)
    spec = make_spec().model_copy(update={"sizes": SIZES})
    plain = render(spec, SECRET)
    register(TABLE.model_copy(update={"unscored": 0.3}))
    yield plain, render(spec, SECRET)
    registry._KINDS.clear()
    registry._KINDS.update(known)


def test_files_hold_more_items_and_answers_say_which_do_not_count(rendered):
    package = rendered[1].package
    answers = read_answers(package.private["answers.csv"], package.facts)
    parts = [line.rpartition(b",")[2].decode() for line in package.private["answers.csv"].splitlines()[1:]]
    assert Counter(parts) == {"feedback": 400, "final": 600, "unscored": 300}
    assert package.public["test.csv"].count(b"\n") == package.public["sample_submission.csv"].count(b"\n") == 1301
    assert [int(answers.part(part).sum()) for part in Part] == [400, 600]
    assert (answers.is_scored == rendered[1].answers.is_scored).all()
    assert answers_problem(package.private["answers.csv"], package.facts) is None
    assert "1300" in package.public["description.md"].decode()
    assert check_package(package) == []


def test_scored_items_are_those_of_the_task_without_others(rendered):
    for part in Part:
        cells = []
        for made in rendered:
            columns, rows = [*made.test_draw.complete.values(), made.answers.truth], made.answers.part(part)
            cells.append(sorted(zip(*(column[rows].tolist() for column in columns), strict=True)))
        assert cells[0] == cells[1]


def test_no_answer_to_an_item_that_is_not_scored_changes_a_score(rendered):
    package, answers = rendered[1].package, rendered[1].answers
    metric = get_metric(package.facts.metric)
    sample = parse_submission(package.public["sample_submission.csv"], package.facts, answers.ids)
    other = np.where(answers.is_scored, rendered[1].oracle, sample)
    for part in Part:
        rows = answers.part(part)
        assert metric.score(answers.truth[rows], other[rows]) == metric.score(
            answers.truth[rows], rendered[1].oracle[rows]
        )
    assert form_of(package.facts).lengths(answers.truth) is None
