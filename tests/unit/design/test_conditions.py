"""What is settled before any word is chosen: split and faults; and that hardness moves none of it."""

from itertools import product

import numpy as np
import pytest

from sandmill.design import design_task
from sandmill.design.conditions import choose_conditions
from sandmill.design.shape import LEAST_CLASS_ROWS
from sandmill.mechanism import draw_rows
from sandmill.models.base import Band
from sandmill.models.columns import Date, Identity, Unit
from sandmill.models.links import class_names
from sandmill.models.plan import Slot
from sandmill.models.structure import ColumnMix, MetricName, PathologyKind, SplitKind, TargetKind
from sandmill.rng import Streams
from tests.designs import SECRET, TASKS, make_seed, make_spec

BINARY = (TargetKind.BINARY, MetricName.ROC_AUC)
CLASSES = {TargetKind.BINARY, TargetKind.MULTICLASS, TargetKind.ORDINAL}
ANY = range(40)


def frame_of(task=BINARY, number=0, columns=None, **changes):
    structure = make_seed(*task, **changes).structure
    if columns:
        structure = structure.model_copy(update={"columns": columns})
    return choose_conditions(structure, Streams(SECRET, f"frame {number}"))


@pytest.mark.parametrize("kind", PathologyKind)
def test_a_frame_has_every_fault_of_its_seed(kind):
    for split, number in product(SplitKind, range(5)):
        if not (kind is PathologyKind.GROUPS and split is SplitKind.TEMPORAL):
            assert kind in frame_of(number=number, split=split, pathologies=(kind,)).faults


@pytest.mark.parametrize("split", SplitKind)
@pytest.mark.parametrize("task", TASKS, ids=lambda task: "-".join(task))
def test_a_declared_split_is_kept_where_the_target_allows_it(task, split):
    found = {frame_of(task, number, split=split).split for number in ANY}
    has_strata = split is not SplitKind.STRATIFIED or task[0] in CLASSES
    assert found == {split if has_strata else SplitKind.RANDOM}


@pytest.mark.parametrize("task", TASKS, ids=lambda task: "-".join(task))
def test_a_split_that_is_not_declared_is_random_or_stratified_for_classes(task):
    found = {frame_of(task, number).split for number in ANY}
    assert found == ({SplitKind.RANDOM, SplitKind.STRATIFIED} if task[0] in CLASSES else {SplitKind.RANDOM})


def test_a_split_by_time_has_a_date_and_drifts():
    conditions = frame_of(split=SplitKind.TEMPORAL)
    assert conditions.has_date
    assert PathologyKind.DRIFT in conditions.faults
    assert {frame_of(number=number, columns=ColumnMix()).has_date for number in ANY} == {True, False}
    assert {frame_of(number=number).has_date for number in ANY} == {False}
    assert frame_of(columns=ColumnMix(numeric=3, date=1)).has_date
    assert frame_of(pathologies=(PathologyKind.DRIFT,)).has_date


def test_imbalance_makes_strata_unless_another_split_is_declared_and_gaps_follow_the_seeds_share():
    assert frame_of(pathologies=(PathologyKind.IMBALANCE,)).split is SplitKind.STRATIFIED
    declared = frame_of(split=SplitKind.RANDOM, pathologies=(PathologyKind.IMBALANCE,))
    assert declared.split is SplitKind.RANDOM
    assert PathologyKind.MISSING not in frame_of(missing_share=0.0).faults
    assert PathologyKind.MISSING in frame_of(missing_share=0.01).faults


@pytest.mark.parametrize(
    ("metric", "pathologies", "share", "expected"),
    [
        (MetricName.ROC_AUC, (PathologyKind.IMBALANCE,), 0.002, 0.0),
        (MetricName.ACCURACY, (PathologyKind.IMBALANCE,), 0.05, 0.2),
        (MetricName.ROC_AUC, (), 0.49, 0.42),
    ],
)
def test_imbalance_reaches_the_seeds_share_within_bounds(metric, pathologies, share, expected):
    seed = make_seed(TargetKind.BINARY, metric, pathologies=pathologies)
    structure = seed.structure.model_copy(update={"positive_share": share})
    slot = Slot(number=0, seed=seed.model_copy(update={"structure": structure}), band=Band.EASY)
    mechanism = design_task(slot, Streams(SECRET, "shares"), 1.0).mechanism
    draw = draw_rows(mechanism, Streams(SECRET, "large"), range(30_000), is_train=False)
    noise = mechanism.label_noise()
    rate = noise.rate if noise and noise.where == "both" else 0.0
    least = LEAST_CLASS_ROWS / 80
    designed = min(max(expected, least), 1 - least)
    wanted = designed * (1 - rate) + (1 - designed) * rate
    assert abs(np.mean(draw.target) - wanted) < 0.02


def kept(spec):
    """What hardness must not change."""
    mechanism = spec.mechanism
    date = [column for column in mechanism.columns if isinstance(column.distribution, Date)]
    unit = [column.distribution for column in mechanism.columns if isinstance(column.distribution, Unit)]
    noise = mechanism.label_noise()
    return (
        spec.domain,
        spec.story.overview,
        spec.story.units,
        spec.split,
        [column.distribution for column in date],
        unit,
        noise and noise.where,
        mechanism.duplicates(),
        spec.structure,
    )


@pytest.mark.parametrize(("task", "split"), list(zip(TASKS[::3], SplitKind, strict=True)))
def test_hardness_changes_neither_domain_nor_target_nor_split_nor_unit(task, split):
    faults = (PathologyKind.TIMESTAMPS, PathologyKind.LABEL_NOISE, PathologyKind.DUPLICATES)
    specs = [make_spec(*task, 7, hardness, split=split, pathologies=faults) for hardness in (0.0, 1.0)]
    assert kept(specs[0]) == kept(specs[1])
    assert len({spec.story.target for spec in specs}) == 1
    assert len({type(spec.mechanism.link) for spec in specs}) == 1
    if task[0] not in (TargetKind.ORDINAL, TargetKind.MULTILABEL):
        assert len({spec.story.target_meaning for spec in specs}) == 1
    assert len(class_names(specs[0].mechanism.link)) <= len(class_names(specs[-1].mechanism.link))
    by_name = [{column.name: column for column in spec.mechanism.columns} for spec in specs]
    for name in set(by_name[0]) & set(by_name[1]):
        assert unscaled(by_name[0][name]) == unscaled(by_name[1][name])


def unscaled(column):
    """What is drawn of a column. Centre and scale of a sum are measured with the columns that the design has."""
    measured = {"center", "scale"} if isinstance(column.distribution, Identity) else set()
    return column.distribution.model_dump(exclude=measured)
