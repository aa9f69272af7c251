"""Every structure of MLE-bench-lite: its design renders files of its own shape, which pass all gates."""

import pytest

from sandmill.calibrate.stage import Calibrated
from sandmill.check import check_package
from sandmill.design import design_task
from sandmill.draw import render
from sandmill.kinds.files.base import layout_of
from sandmill.models.base import Band, Part
from sandmill.models.plan import Attempt, Slot
from sandmill.models.reports import Verification
from sandmill.models.spec import TaskSpec
from sandmill.pipeline.attempt import AttemptJob, prove, run_attempt
from sandmill.rng import Streams
from sandmill.scoring import get_metric
from sandmill.scoring.submission import parse_submission, read_answers
from sandmill.seeds.cards import LITE
from tests.designs import SECRET, bundled_seeds, with_small_test

SEEDS = {seed.id: seed for seed in bundled_seeds().supported if seed.id in LITE}
FAST = ("aerial-cactus-identification", "detecting-insults-in-social-commentary", "tabular-playground-series-may-2022")
"""Structures of a picture, a text and a table; the slow tests render the others."""


def slot_of(seed_id: str, band: Band = Band.HARD) -> Slot:
    return Slot(number=3, seed=SEEDS[seed_id], band=band, place=0.4)


def test_every_structure_has_a_kind():
    assert set(SEEDS) == LITE
    kinds = {seed.structure.kind or seed.structure.modality for seed in SEEDS.values()}
    assert len(kinds) >= 20


@pytest.mark.parametrize(
    "seed_id", [pytest.param(name, marks=[] if name in FAST else [pytest.mark.slow]) for name in sorted(LITE)]
)
def test_a_structure_renders_what_all_gates_accept_and_what_can_be_graded(seed_id):
    spec = with_small_test(design_task(slot_of(seed_id), Streams(SECRET, seed_id), 0.5), 150, 250)
    made = render(spec, SECRET)
    assert check_package(made.package) == []
    assert TaskSpec.model_validate_json(spec.model_dump_json()) == spec
    facts, public = made.package.facts, made.package.public
    answers = read_answers(made.package.private["answers.csv"], facts)
    sample = parse_submission(layout_of(spec).sample_csv(public), facts, answers.ids, answers.lengths)
    metric, final = get_metric(facts.metric), answers.part(Part.FINAL)
    best, guess = (metric.score(answers.truth[final], said[final]) for said in (made.oracle, sample))
    assert best < guess if metric.is_lower_better else best > guess
    assert render(spec, SECRET).package.public == public
    assert sum(map(len, public.values())) < 20e6


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed_id", sorted(LITE))
def test_a_structure_is_calibrated_and_proved(seed_id):
    for number in range(6):
        slot = slot_of(seed_id).model_copy(update={"number": number})
        made = run_attempt(AttemptJob(Attempt(slot, 0, 0, 0, 0.4, any_band=True), "structures", SECRET)).result
        if isinstance(made, Calibrated) and isinstance(made := prove(made, SECRET).result, Verification):
            assert made.holds
            return
    raise AssertionError(made)
