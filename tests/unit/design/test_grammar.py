from collections import Counter

import numpy as np
import pytest

from sandmill.calibrate.measure import band_of
from sandmill.design import design_task
from sandmill.design.lexicon import load_domains
from sandmill.design.motifs import HIDDEN_KINDS, PLAIN_KINDS
from sandmill.design.rule import choose_rule
from sandmill.design.steering import TYPICAL, first_hardness, steer
from sandmill.mechanism import draw_rows
from sandmill.mechanism.rule import evaluate_term, latent_score
from sandmill.metrics.support import ENCODINGS
from sandmill.models.base import Band
from sandmill.models.mechanism import Categorical, Distractors, MulticlassLink
from sandmill.models.plan import Slot
from sandmill.models.structure import MetricName, PathologyKind, TargetKind
from sandmill.rng import Streams
from tests.designs import SECRET, TASKS, make_rendered, make_seed, make_spec

SLOTS = range(25)


def test_every_domain_is_reached():
    assert {make_spec(slot=slot).domain for slot in range(120)} == {domain.name for domain in load_domains()}


def test_motifs_and_faults_are_all_reached():
    specs = [make_spec(*task, slot, hardness=0.8) for task in TASKS[:2] for slot in range(60)]
    motifs = Counter(name for spec in specs for name in spec.mechanism.motif_names)
    assert set(motifs) == {*PLAIN_KINDS, *HIDDEN_KINDS}
    assert len(motifs) == 14
    faults = {fault.kind for spec in specs for fault in spec.mechanism.pathologies}
    assert faults == {
        PathologyKind.MISSING,
        PathologyKind.UNIT_MIXUP,
        PathologyKind.OUTLIERS,
        PathologyKind.LABEL_NOISE,
        PathologyKind.DISTRACTORS,
    }


def test_faults_that_the_seed_has_are_carried_over():
    seed = make_seed(*TASKS[0], missing_share=0.0)
    for kind in (PathologyKind.UNIT_MIXUP, PathologyKind.OUTLIERS, PathologyKind.LABEL_NOISE, PathologyKind.MISSING):
        structure = seed.structure.model_copy(update={"pathologies": (kind,)})
        slot = Slot(number=0, seed=seed.model_copy(update={"structure": structure}), band=Band.HARD)
        found = [
            kind in {fault.kind for fault in design_task(slot, Streams(SECRET, str(n)), 0.6).mechanism.pathologies}
            for n in range(20)
        ]
        assert sum(found) >= 18


def test_no_column_serves_two_motifs():
    for domain in load_domains():
        for seed in range(50):
            rule = choose_rule(domain, np.random.default_rng(seed))
            read = [len(type(rule)((), (motif,)).columns) for motif in (*rule.plain, *rule.hidden)]
            assert len(rule.columns) == sum(read) + (rule.subgroup is not None)


@pytest.mark.parametrize("task", TASKS)
def test_terms_are_standardised_and_classes_have_their_shares(task):
    spec = make_spec(*task, 1)
    mechanism = spec.mechanism
    values = draw_rows(mechanism, Streams(SECRET, "check"), range(40_000), is_train=False)
    for term in mechanism.terms:
        cells = evaluate_term(term, mechanism.column_by_name, values.complete)
        assert abs(cells.mean()) < 0.03
        assert abs(cells.std() - 1) < 0.06
    if isinstance(mechanism.link, MulticlassLink):
        shares = np.bincount(values.target.astype(int)) / len(values.target)
        assert shares.min() > 0.05
    assert np.isfinite(latent_score(mechanism, values.complete)).all()


def test_classes_are_at_most_a_quarter_of_the_training_rows():
    for slot in SLOTS:
        spec = make_spec(TargetKind.MULTICLASS, MetricName.LOG_LOSS, slot, 1.0)
        assert isinstance(spec.mechanism.link, MulticlassLink)
        assert len(spec.mechanism.link.classes) <= spec.sizes.train / 4


def test_other_secrets_design_other_tasks():
    other = b"a secret that nobody else has...."
    assert make_spec(secret=other).mechanism != make_spec().mechanism


def test_distractors_are_columns_that_the_rule_does_not_read():
    spec = make_spec(hardness=0.9)
    (fault,) = [fault for fault in spec.mechanism.pathologies if isinstance(fault, Distractors)]
    text = spec.model_dump(mode="json")["mechanism"]["terms"]
    assert not [name for name in fault.columns if f"'{name}'" in str(text)]


def test_the_story_speaks_of_every_column_and_the_levels_in_the_files_are_declared():
    import polars as pl

    package = make_rendered().package
    frame = pl.read_csv(package.public["train.csv"])
    assert set(package.spec.story.column_meanings) == set(frame.columns) - {"id", package.brief.target_column}
    for column in package.spec.mechanism.columns:
        if isinstance(column.distribution, Categorical):
            assert set(frame[column.name].unique()) <= set(column.distribution.levels)


@pytest.mark.parametrize("task", TASKS)
def test_steering_moves_towards_the_band_and_stays_between_what_was_tried(task):
    structure = make_seed(*task).structure
    assert steer(structure, Band.MEDIUM, [(0.4, 0.1)]) > 0.4
    assert steer(structure, Band.MEDIUM, [(0.4, 0.9)]) < 0.4
    assert 0.2 < steer(structure, Band.MEDIUM, [(0.2, 0.1), (0.8, 0.9)]) < 0.8
    starts = [first_hardness(structure, band) for band in Band]
    assert starts == sorted(starts)
    for band in (Band.MEDIUM, Band.HARD):
        hardness, tried = first_hardness(structure, band), []
        while band_of(hardness**2) is not band:
            tried.append((hardness, hardness**2))
            hardness = steer(structure, band, tried)
            assert 0 <= hardness <= 1
            assert len(tried) < 8


def test_every_task_that_can_be_made_has_a_typical_curve():
    assert set(TYPICAL) == set(ENCODINGS)
    assert all(list(curve) == sorted(curve) for curve in TYPICAL.values())
