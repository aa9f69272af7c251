"""What a design declares to reward follows from it, and what each skill is worth is measured."""

from typing import get_args

import numpy as np
import pytest

from sandmill.calibrate.ablations import ModelInputs, ablation_of
from sandmill.calibrate.lifts import GradedRows, measure_lifts
from sandmill.draw.draws import fresh_training
from sandmill.models.calibration import Calibration
from sandmill.models.faults import Duplicates, Missing, MixedTypes, Outliers, Pathology
from sandmill.models.mechanism import Mechanism, Subgroup
from sandmill.models.motifs import TOLD_MOTIFS, Difference, Linear, LocalRule, Lookup, Motif, Term, UnitEffect
from sandmill.models.skills import Skill, SkillLift, rule_columns, skill_of_fault, skill_of_motif, skills_of
from sandmill.models.spec import TaskSpec
from sandmill.models.structure import MetricName, PathologyKind, SplitKind, TargetKind
from sandmill.rng import Streams
from tests.designs import SECRET, TASKS, make_spec
from tests.factories import CALIBRATION
from tests.unit.calibrate.tasks import FIRST, GROUP, SECOND, SKEWED, Made, made_task, plain_spec, with_rule
from tests.unit.calibrate.test_informed import MOTIFS, mechanism_of_all, wave

ALL_FAULTS = tuple(PathologyKind)


def lifts(made: Made, count: int = 4) -> dict[Skill, SkillLift]:
    """Lifts of a task by skill."""
    draws = fresh_training(made.spec, Streams(SECRET, made.spec.fingerprint), count)
    return {lift.skill: lift for lift in measure_lifts(made.spec, made.panel.table.facts, draws, graded(made))}


def graded(made: Made) -> GradedRows:
    trivial = made.panel.run(["prior"])[0].prediction
    return GradedRows.first(made.test, made.rendered.answers.truth, trivial, made.rendered.oracle, 600)


def with_few_rows(spec: TaskSpec) -> TaskSpec:
    """The design with as many test rows as lifts are measured on here."""
    return spec.model_copy(update={"sizes": spec.sizes.model_copy(update={"feedback": 200, "final": 600})})


def with_faults(spec: TaskSpec, *faults: Pathology) -> TaskSpec:
    """The design with faults."""
    changed = spec.mechanism.model_copy(update={"pathologies": faults})
    return spec.model_copy(update={"mechanism": Mechanism.model_validate(changed.model_dump())})


@pytest.mark.parametrize("kind", get_args(get_args(Motif)[0]), ids=lambda kind: kind.__name__)
def test_every_motif_is_mapped(kind: type):
    skill = skill_of_motif(MOTIFS[kind][0], mechanism_of_all())
    plain = (Linear, Difference, Lookup, UnitEffect)
    assert (skill is None) == (kind in (*plain, *TOLD_MOTIFS))


def test_motifs_that_share_no_skill_are_told_apart():
    skills = [skill_of_motif(motif, mechanism_of_all()) for motif, _ in MOTIFS.values()]
    assert len({skill for skill in skills if skill}) == len(MOTIFS) - 4 - len(TOLD_MOTIFS) - 2, (
        "two pairs share curves and steps"
    )


def test_linear_effects_reward_a_skill_where_a_column_is_skewed():
    for motif in (Linear(column="u"), Difference(left="u", right="w"), Difference(left="w", right="u")):
        assert skill_of_motif(motif, mechanism_of_all()) is Skill.LOG_SCALE
    assert skill_of_motif(Difference(left="m", right="w"), mechanism_of_all()) is None


@pytest.mark.parametrize("kind", get_args(get_args(Pathology)[0]), ids=lambda kind: kind.__name__)
def test_every_fault_is_mapped(kind: type):
    assert skill_of_fault(kind.model_construct()) in Skill


def test_a_plain_design_declares_nothing():
    assert skills_of(with_rule(plain_spec(), Linear(column=FIRST))) == ()


def test_a_fault_off_the_rule_rewards_nothing():
    plain = with_rule(plain_spec(), Linear(column=FIRST))
    for column, expected in ((FIRST, (Skill.OUTLIER_HANDLING,)), (SECOND, ())):
        assert skills_of(with_faults(plain, Outliers(column=column, rate=0.1, spread=5))) == expected


def test_a_rewarded_skill_lifts():
    with made_task(wave()) as made:
        found = lifts(made)
    assert set(found) == {Skill.PERIODIC_FEATURES}
    lift = found[Skill.PERIODIC_FEATURES]
    assert lift.lift > 0.8
    assert lift.lift > 5 * lift.error > 0
    assert lift.draws == 4


def test_repaired_cells_lift_where_the_rule_needs_them():
    plain = with_rule(plain_spec(), Linear(column=FIRST), Linear(column=SECOND))
    with made_task(with_faults(plain, Missing(column=FIRST, given=SECOND, rate=0.3))) as made:
        found = lifts(made)
    assert set(found) == {Skill.IMPUTATION}
    assert found[Skill.IMPUTATION].lift > 0.1


def test_numbers_with_their_unit_must_be_read():
    spec = with_faults(with_rule(plain_spec(), Linear(column=FIRST)), MixedTypes(column=FIRST, rate=0.3, suffix="cm"))
    with made_task(spec) as made:
        found = lifts(made)
    assert set(found) == {Skill.UNIT_PARSING}
    assert found[Skill.UNIT_PARSING].lift > 0.8


def test_the_error_is_that_of_the_mean_over_draws():
    with made_task(wave()) as made:
        one, other = fresh_training(made.spec, Streams(SECRET, "x"), 2)
        found = [
            measure_lifts(made.spec, made.panel.table.facts, draws, graded(made))[0]
            for draws in ((one, one), (other, other), (one, other))
        ]
    assert found[0].error == found[1].error == 0
    assert found[2].lift == pytest.approx((found[0].lift + found[1].lift) / 2, abs=2e-6)
    assert found[2].error == pytest.approx(abs(found[0].lift - found[1].lift) / 2, abs=2e-6)


@pytest.mark.parametrize(("target", "metric"), TASKS[1:])
def test_every_kind_of_target_is_served(target: TargetKind, metric: MetricName):
    spec = make_spec(target, metric, 2, split=SplitKind.TEMPORAL, pathologies=ALL_FAULTS)
    with made_task(with_few_rows(spec)) as made:
        found = lifts(made, 2)
        if metric in (MetricName.LOG_LOSS, MetricName.RMSE):
            assert found == lifts(made, 2)
    assert tuple(found) == skills_of(spec)
    assert Skill.DUPLICATE_REMOVAL in found
    assert all(np.isfinite([lift.lift, lift.error]).all() for lift in found.values())


@pytest.mark.parametrize(
    ("target", "metric", "slot", "skill"),
    [
        (TargetKind.BINARY, MetricName.F1, 4, Skill.THRESHOLD_TUNING),
        (TargetKind.MULTILABEL, MetricName.F1_MICRO, 2, Skill.THRESHOLD_TUNING),
        (TargetKind.ORDINAL, MetricName.QWK, 0, Skill.GRADE_CUTOFFS),
        (TargetKind.REGRESSION, MetricName.RMSLE, 0, Skill.TARGET_SCALE),
        (TargetKind.MULTI_TARGET, MetricName.RMSLE_COLUMNS, 0, Skill.TARGET_SCALE),
    ],
)
def test_decisions_that_the_metric_rewards_lift(target: TargetKind, metric: MetricName, slot: int, skill: Skill):
    with made_task(with_few_rows(make_spec(target, metric, slot))) as made:
        assert lifts(made)[skill].lift > 0.01


def with_local_rule(shares: tuple[float, ...]) -> TaskSpec:
    """A design whose rule is a local rule and nothing else.

    Args:
        shares: of the rows in the subgroup, by level of a category.
    """
    plain = with_rule(plain_spec(), Linear(column=FIRST))
    terms = (Term(motif=LocalRule(column=FIRST), weights=(1.5,)),)
    local = plain.mechanism.model_copy(update={"terms": terms, "subgroup": Subgroup(by=GROUP, shares=shares)})
    return plain.model_copy(update={"mechanism": Mechanism.model_validate(local.model_dump())})


def test_local_models_lift_more_where_levels_tell_who_is_in_the_subgroup():
    found = []
    for shares in ((0.05, 0.9, 0.5), (0.5, 0.5, 0.5)):
        with made_task(with_local_rule(shares)) as made:
            found.append(lifts(made)[Skill.LOCAL_MODELS])
    assert found[0].lift > 5 * found[0].error
    assert found[0].lift > found[1].lift + 0.1


def test_removed_copies_lift_at_the_rate_that_the_grammar_draws():
    spec = make_spec(TargetKind.REGRESSION, MetricName.RMSE, 1, pathologies=(PathologyKind.DUPLICATES,))
    rate = spec.mechanism.duplicates().rate
    weak = with_rule(plain_spec(), Linear(column=FIRST), weight=0.3)
    with made_task(with_faults(weak, Duplicates(rate=rate))) as made:
        lift = lifts(made, 24)[Skill.DUPLICATE_REMOVAL]
    assert lift.lift > 2 * lift.error > 0


def test_a_skewed_column_is_measured():
    with made_task(with_rule(plain_spec(), Linear(column=SKEWED))) as made:
        assert lifts(made)[Skill.LOG_SCALE].lift > 0.03


def test_faults_of_training_are_mended_as_they_were_made():
    spec = with_few_rows(make_spec(TargetKind.BINARY, MetricName.F1, 3, pathologies=ALL_FAULTS))
    with made_task(spec) as made:
        draw, clean = fresh_training(spec, Streams(SECRET, "x"), 1)[0]
        usual = ModelInputs.usual(spec.mechanism, draw, made.test)
        pairs = {skill: ablation_of(skill, usual, spec.mechanism, draw, clean, made.test) for skill in skills_of(spec)}
    assert all(usual in pair for pair in pairs.values())
    own = pairs[Skill.DUPLICATE_REMOVAL][0]
    rows = {cells.shape for cells in own.train.values()} | {own.target.shape}
    assert rows == {(len(set(draw.numbers.tolist())),)} != {draw.target.shape}
    assert pairs[Skill.NOISE_ROBUSTNESS][0].target is clean
    assert 0 < len(pairs[Skill.FEATURE_SELECTION][0].columns) < len(usual.columns)
    assert set(pairs[Skill.FEATURE_SELECTION][0].columns) <= rule_columns(spec.mechanism)
    assert [trial.goal for trial in pairs[Skill.THRESHOLD_TUNING]] == [None, "accuracy"]


def test_what_a_design_does_not_declare_cannot_be_tried():
    with made_task(wave()) as made:
        draw, clean = fresh_training(made.spec, Streams(SECRET, "x"), 1)[0]
        usual = ModelInputs.usual(made.spec.mechanism, draw, made.test)
        with pytest.raises(ValueError, match="does not declare"):
            ablation_of(Skill.CURVES, usual, made.spec.mechanism, draw, clean, made.test)


def test_lifts_of_former_skills_are_left_out_when_older_records_are_read():
    record = CALIBRATION.model_dump(mode="json")
    known = record["lifts"][0]
    record["lifts"] = [{**known, "skill": "target_encoding"}, known, {**known, "skill": "differences"}]
    assert Calibration.model_validate(record) == CALIBRATION
    with pytest.raises(ValueError, match="skill"):
        Calibration.model_validate({**record, "lifts": [{**known, "skill": "magic"}]})
