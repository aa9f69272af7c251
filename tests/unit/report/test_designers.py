"""What a release says of its designers follows from its tasks, and money that was lost is not forgotten."""

import pytest

from sandmill.models.design_draft import Authorship
from sandmill.models.llm import Usage
from sandmill.report.designers import DesignerCounts
from tests.factories import make_task

AUTHORSHIP = Authorship(
    models=("openai/first",),
    replies=("ab" * 32,),
    usage=Usage(requests=5, prompt_tokens=100, answer_tokens=50, usd=0.01),
)


def _record(number, designer="llm", replicate=0, text=None):
    record = make_task(number).record
    authorship = AUTHORSHIP if designer == "llm" else None
    lineage = record.lineage.model_copy(
        update={"designer": designer, "authorship": authorship, "spec_fingerprint": f"{number:064d}"}
    )
    story = record.spec.story.model_copy(update={"overview": text or record.spec.story.overview})
    spec = record.spec.model_copy(update={"story": story})
    return record.model_copy(update={"lineage": lineage, "spec": spec, "replicate": replicate})


def compare_designers(records, attempts=6, lost=0.0, seeds=None):
    names = sorted({record.lineage.designer for record in records})
    counts = {name: DesignerCounts(name, seeds or {}) for name in names}
    for record in records:
        counts[record.lineage.designer].add(record)
    return [counts[name].row(attempts, lost) for name in names]


def test_a_design_counts_once_and_refusals_cost():
    records = [_record(0), _record(0, replicate=1), _record(1)]
    (row,) = compare_designers(records, lost=0.02)
    assert (row.designs, row.attempts, row.yield_share) == (2, 6, pytest.approx(1 / 3, abs=1e-4))
    assert row.usd == pytest.approx(0.04)
    assert row.usd_a_design == pytest.approx(0.02)
    assert (row.models, row.sources) == (("openai/first",), ("model",))


def test_variety_and_distance_are_told_from_words():
    alike = compare_designers([_record(0), _record(1)])[0]
    unlike = compare_designers([_record(0), _record(1, text="Glaciers calve into fjords nightly.")])[0]
    assert alike.variety < unlike.variety
    seed_id = _record(0).lineage.seed_id
    near = compare_designers([_record(0)], seeds={seed_id: _record(0).spec.story.overview})[0]
    far = compare_designers([_record(0)], seeds={seed_id: "entirely other words"})[0]
    assert near.seed_distance < far.seed_distance <= 1
