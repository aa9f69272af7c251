"""What each knob turns when it is turned alone, and what it leaves as it is."""

import re
from collections import Counter
from functools import cache
from typing import get_args

import numpy as np
import pytest

from sandmill.design import design_task
from sandmill.design.conditions import Conditions
from sandmill.design.difficulty_curves import DIFFICULTY_CURVES, difficulty_curve
from sandmill.design.known import AIM, HARDNESS
from sandmill.design.motifs import FINDABLE_KINDS, HIDDEN_KINDS, PLAIN_KINDS
from sandmill.design.rule import choose_rule
from sandmill.design.vocabulary import choose_vocabulary
from sandmill.kinds.library import load_domains
from sandmill.mechanism import draw_rows
from sandmill.mechanism.rule import evaluate_term, latent_score
from sandmill.models.base import Band
from sandmill.models.columns import Categorical, Cycle, LogNormal
from sandmill.models.faults import Distractors, Duplicates, LabelNoise, Missing, MixedTypes, Outliers, UnitMixup
from sandmill.models.links import (
    BinaryLink,
    CountLink,
    GaussianLink,
    MulticlassLink,
    MultilabelLink,
    NumbersLink,
    OrdinalLink,
    PositiveLink,
    class_names,
)
from sandmill.models.mechanism import Subgroup
from sandmill.models.motifs import Lookup, ToldMotif, UnitEffect, columns_of, cuts_of
from sandmill.models.plan import Slot
from sandmill.models.spec import Knobs, TaskSpec
from sandmill.models.structure import ColumnMix, MetricName, PathologyKind, SplitKind, TargetKind
from sandmill.pipeline.band_search import first_hardness
from sandmill.rng import Streams
from sandmill.scoring.support import ANSWER_FORMS
from tests.designs import SECRET, TASKS, make_rendered, make_seed, make_spec

MANY = range(110)
"""Slots enough to reach every motif and fault."""
DECLARED = {
    PathologyKind.MISSING: Missing,
    PathologyKind.UNIT_MIXUP: UnitMixup,
    PathologyKind.OUTLIERS: Outliers,
    PathologyKind.LABEL_NOISE: LabelNoise,
    PathologyKind.DUPLICATES: Duplicates,
    PathologyKind.MIXED_TYPES: MixedTypes,
}
"""Faults of a seed that become faults of a mechanism."""
LINKS = {
    TargetKind.BINARY: BinaryLink,
    TargetKind.MULTICLASS: MulticlassLink,
    TargetKind.ORDINAL: OrdinalLink,
    TargetKind.MULTILABEL: MultilabelLink,
    TargetKind.COUNT: CountLink,
    TargetKind.MULTI_TARGET: NumbersLink,
    TargetKind.REGRESSION: GaussianLink,
}


def many_specs(slots=MANY):
    return [make_spec(*TASKS[0], slot, hardness=0.8) for slot in slots]


def vocabulary(domain, conditions, seed=0):
    return choose_vocabulary(domain, conditions, Streams(SECRET, f"words {seed}"))


def frames():
    """Conditions without date and unit, one with a date, one with units."""
    return [
        Conditions(SplitKind.RANDOM, frozenset()),
        Conditions(SplitKind.TEMPORAL, frozenset({PathologyKind.DRIFT})),
        Conditions(SplitKind.GROUPED, frozenset({PathologyKind.HIGH_CARDINALITY, PathologyKind.TIMESTAMPS})),
    ]


@pytest.mark.slow
def test_motifs_and_faults_are_all_reached():
    specs = many_specs()
    with_many_levels = [
        make_spec(*TASKS[0], slot, 0.8, pathologies=(PathologyKind.HIGH_CARDINALITY,)) for slot in range(12)
    ]
    motifs = Counter(name for spec in specs for name in spec.mechanism.motif_names)
    told = {motif.model_fields["motif"].default for motif in get_args(ToldMotif)}
    assert set(motifs) == {*PLAIN_KINDS, *HIDDEN_KINDS, *told} - {"high_cardinality_lookup"}
    assert min(motifs.values()) >= 5
    assert any(len(effects) >= 20 for spec in with_many_levels for effects in lookups(spec))
    assert {len(effects) < 20 for spec in specs for effects in lookups(spec)} == {True, False}
    faults = {fault.kind for spec in specs for fault in spec.mechanism.pathologies}
    assert faults == {*DECLARED, PathologyKind.DISTRACTORS}


def lookups(spec):
    return [term.motif.effects for term in spec.mechanism.terms if isinstance(term.motif, Lookup)]


@pytest.mark.parametrize(
    "kind",
    [PathologyKind.MISSING, *(pytest.param(k, marks=pytest.mark.slow) for k in DECLARED if k != PathologyKind.MISSING)],
)
def test_faults_that_the_seed_has_are_carried_over(kind):
    seed = make_seed(*TASKS[0], missing_share=0.0, pathologies=(kind,))
    slot = Slot(number=0, seed=seed, band=Band.HARD)
    specs = [design_task(slot, Streams(SECRET, str(n)), 0.6) for n in range(5)]
    found = [any(isinstance(fault, DECLARED[kind]) for fault in spec.mechanism.pathologies) for spec in specs]
    assert sum(found) >= 4


def test_no_column_serves_two_motifs_and_only_a_date_serves_one_beside_its_periods():
    for domain in load_domains():
        for conditions in frames():
            words = vocabulary(domain, conditions)
            for seed in range(3):
                rule = choose_rule(words, conditions, np.random.default_rng(seed))
                motifs = (*rule.plain, *rule.hidden, *([rule.subgroup] if rule.subgroup else []))
                read = [{motif.by} if isinstance(motif, Subgroup) else set(columns_of(motif)) for motif in motifs]
                assert len(set().union(*read)) == sum(map(len, read))
                assert rule.columns == set().union(*read) | {n for m in rule.background for n in columns_of(m)}


def test_motifs_fall_on_every_column_that_can_carry_them():
    """Columns on a circle are no sign of waves, and positive ones none of ratios."""
    on_cycles, of_positive = set(), set()
    for domain in load_domains():
        words = vocabulary(domain, frames()[0])
        laws = {word.name: word.distribution for word in domain.numeric}
        for seed in range(30):
            rule = choose_rule(words, frames()[0], np.random.default_rng(seed))
            for motif in (*rule.plain, *rule.hidden):
                for name in columns_of(motif):
                    if isinstance(laws.get(name), Cycle):
                        on_cycles.add(motif.motif)
                    if isinstance(laws.get(name), LogNormal):
                        of_positive.add(motif.motif)
    assert on_cycles >= {"linear", "curve", "threshold", "band", "periodic", "saturation", "varying_slope"}
    assert of_positive >= {"linear", "curve", "threshold", "band", "ratio", "interaction", "difference"}


def test_cuts_lie_between_values_that_can_be_written_and_leave_rows_on_both_sides():
    for spec in many_specs(range(6)):
        mechanism, cells = spec.mechanism, None
        for term in mechanism.terms:
            for name, cut in ((of, cut) for of in columns_of(term.motif) for cut in cuts_of(term.motif, of)):
                column = mechanism.column_by_name[name]
                steps = cut * 10**column.decimals
                assert abs(steps - round(steps - 0.5) - 0.5) < 1e-6
                if cells is None:
                    cells = draw_rows(mechanism, Streams(SECRET, "cuts"), range(2000), is_train=False).complete
                assert 0.05 < (cells[name] > cut).mean() < 0.95, (name, cut)


@pytest.mark.parametrize(
    ("task", "splits"),
    [
        *zip(TASKS[::3], [[split] for split in SplitKind], strict=True),
        *(pytest.param(task, list(SplitKind), marks=pytest.mark.slow) for task in TASKS),
    ],
)
def test_terms_are_standardised_and_classes_have_their_shares(task, splits):
    for split in splits:
        mechanism = make_spec(*task, 1, split=split).mechanism
        early, late = (draw_rows(mechanism, Streams(SECRET, f"{t}"), range(20_000), is_train=t) for t in (True, False))
        values = {name: np.concatenate([cells, late.complete[name]]) for name, cells in early.complete.items()}
        for term in mechanism.terms:
            cells = evaluate_term(term, mechanism.column_by_name, values)
            of_unit = any(mechanism.column_by_name[name].unit for name in columns_of(term.motif))
            slack = 0.08 if of_unit or isinstance(term.motif, UnitEffect) else 0.03
            assert abs(cells.mean()) < slack
            assert abs(cells.std() - 1) < 2 * slack
        link, target = mechanism.link, np.concatenate([early.target, late.target])
        if isinstance(link, MulticlassLink | OrdinalLink):
            assert np.bincount(target.astype(int)).min() > 0.04 * len(target)
        if isinstance(link, MultilabelLink):
            assert 0.1 < target.mean(axis=0).min() <= target.mean(axis=0).max() < 0.55
        assert np.isfinite(latent_score(mechanism, values)).all()


@pytest.mark.parametrize("task", TASKS, ids=lambda task: "-".join(task))
def test_a_target_is_of_its_kind(task):
    spec = make_spec(*task, 0, 0.9)
    link, names = spec.mechanism.link, class_names(spec.mechanism.link)
    assert isinstance(link, PositiveLink if task[1] is MetricName.RMSLE else LINKS[task[0]])
    least, most = {TargetKind.MULTICLASS: (3, 7), TargetKind.ORDINAL: (4, 7), TargetKind.MULTILABEL: (3, 5)}.get(
        task[0], (0, 2)
    )
    assert least <= len(names) <= most
    if isinstance(link, OrdinalLink):
        assert names == tuple(str(grade) for grade in range(1, len(names) + 1))
        assert re.search(rf"from 1 \(.*to {len(names)} \(", spec.story.target_meaning)
    if isinstance(link, MultilabelLink | NumbersLink):
        assert set(names if isinstance(link, MultilabelLink) else link.names) <= set(spec.story.column_meanings)


def test_the_story_speaks_of_every_column_and_the_levels_in_the_files_are_declared():
    import polars as pl

    package = make_rendered().package
    conditions = pl.read_csv(package.public["train.csv"])
    told = {column.name for column in package.spec.mechanism.columns if column.in_text}
    notes = {package.spec.notes.name} if package.spec.notes else set()
    shown = set(conditions.columns) - {"id", package.facts.target_column} - notes
    assert set(package.spec.story.column_meanings) == shown | told
    for column in package.spec.mechanism.columns:
        if isinstance(column.distribution, Categorical) and not column.in_text:
            assert set(conditions[column.name].unique()) <= set(column.distribution.levels)


def test_a_task_without_a_curve_starts_from_a_straight_line():
    for task in ANSWER_FORMS:
        structure = make_seed(*task).structure
        starts = [first_hardness(structure, band) for band in Band]
        assert starts[1:] == sorted(starts[1:]), "designs for the easy band have a curve of their own"
        assert all(0 <= start <= 1 for start in starts)
        if task not in DIFFICULTY_CURVES:
            assert starts == [AIM[band] for band in Band]


BINARY, NUMBER, CLASSES = TASKS[0], TASKS[8], TASKS[4]
ENDS = (0.0, 1.0)
each_task = pytest.mark.parametrize("task", [BINARY, NUMBER], ids=lambda task: "-".join(task))


def undeclared(*task):
    """A seed that says nothing of its columns, so that knobs turn their number too."""
    seed = make_seed(*task)
    return seed.model_copy(update={"structure": seed.structure.model_copy(update={"columns": ColumnMix()})})


@cache
def design(task, knob, position) -> TaskSpec:
    """A design with one knob at a position and the others in the middle."""
    slot = Slot(number=0, seed=undeclared(*task), band=Band.MEDIUM, reading="prose")
    return design_task(slot, Streams(SECRET, "knobs"), 0.5, knobs=Knobs(**{knob: position}))


def turned(task, knob):
    return [design(task, knob, position) for position in ENDS]


def motifs(spec):
    return [term.motif for term in spec.mechanism.terms]


def weights(spec):
    return [term.weights for term in spec.mechanism.terms]


def hidden_terms(spec):
    """They stand behind the plain ones, the first is of a kind that no plain one is of."""
    terms = spec.mechanism.terms
    return terms[[term.motif.motif in FINDABLE_KINDS for term in terms].index(True) :]


def hidden_share(spec):
    """Share of the rule's variance in motifs that take a skill."""
    hidden, whole = (
        sum(np.square(term.weights).sum() for term in terms) for terms in (hidden_terms(spec), spec.mechanism.terms)
    )
    return hidden / whole


@each_task
def test_knobs_at_the_hardness_are_what_hardness_alone_gives(task):
    slot = Slot(number=0, seed=make_seed(*task), band=Band.MEDIUM)
    alone, together = (
        design_task(slot, Streams(SECRET, "knobs"), 0.3, knobs=knobs) for knobs in (None, Knobs.all_at(0.3))
    )
    assert alone == together
    assert alone.knobs == Knobs(rows=0.3, signal=0.3, skills=0.3, distractors=0.3, faults=0.3)


@each_task
def test_rows_take_training_rows_away_and_nothing_else(task):
    many, few = turned(task, "rows")
    assert (many.sizes.train, few.sizes.train) == (200, 80)
    same = {"sizes": many.sizes, "knobs": many.knobs}
    assert few.model_copy(update=same) == many


@each_task
def test_signal_changes_neither_motifs_nor_columns_nor_rows(task):
    strong, weak = turned(task, "signal")
    assert motifs(weak) == motifs(strong)
    assert weak.mechanism.columns == strong.mechanism.columns
    assert weak.sizes == strong.sizes
    assert weak.story.overview == strong.story.overview
    assert hidden_share(weak) == pytest.approx(hidden_share(strong), abs=1e-3)


@each_task
def test_skills_move_the_rule_into_hidden_motifs_and_change_neither_rows_nor_target(task):
    plain, hidden = turned(task, "skills")
    assert hidden_share(plain) < 0.35 < 0.8 < hidden_share(hidden)
    assert set(map(str, motifs(plain))) < set(map(str, motifs(hidden)))
    assert hidden.sizes == plain.sizes
    assert type(hidden.mechanism.link) is type(plain.mechanism.link)
    assert class_names(hidden.mechanism.link) == class_names(plain.mechanism.link)
    assert hidden.story.overview == plain.story.overview


@each_task
def test_distractors_add_columns_that_the_rule_does_not_read(task):
    few, many = turned(task, "distractors")
    assert motifs(many) == motifs(few)
    # Scales are estimated from drawn rows, so weights may differ by sampling error.
    np.testing.assert_allclose(weights(many), weights(few), rtol=3e-2)
    assert many.sizes == few.sizes
    names = [{column.name for column in spec.mechanism.columns} for spec in (few, many)]
    assert names[0] < names[1]
    idle = [fault for fault in many.mechanism.pathologies if isinstance(fault, Distractors)]
    assert names[1] - names[0] <= {name for fault in idle for name in fault.columns}


def test_the_first_hidden_motif_is_one_that_a_search_finds():
    """It has the largest weight at low hardness, also where the seed has high cardinality."""
    assert set(FINDABLE_KINDS) <= set(HIDDEN_KINDS)
    firsts = set()
    for faults in (frozenset(), frozenset({PathologyKind.HIGH_CARDINALITY})):
        conditions = Conditions(SplitKind.RANDOM, faults)
        for domain in load_domains()[::4]:
            words = choose_vocabulary(domain, conditions, Streams(SECRET, domain.name))
            for seed in range(6):
                firsts.add(choose_rule(words, conditions, np.random.default_rng(seed)).hidden[0].motif)
    assert len(firsts) > 4
    assert firsts <= set(FINDABLE_KINDS)


@pytest.mark.parametrize("band", Band)
def test_a_search_starts_where_typical_designs_reach_its_aim(band):
    task = (TargetKind.BINARY, MetricName.ROC_AUC)
    structure = make_seed(*task).structure
    curve = difficulty_curve(structure, band)
    assert np.interp(first_hardness(structure, band), HARDNESS, curve) == pytest.approx(
        min(max(AIM[band], curve[0]), curve[-1]), abs=0.01
    )


@pytest.mark.parametrize("level", ["spread", "contested"])
def test_only_the_heaviest_of_the_stated_forms_has_decoys(level):
    led = 0
    for number in range(20):
        slot = Slot(number=number, seed=make_seed(*TASKS[0]), band=Band.MEDIUM, reading=level)
        spec = design_task(slot, Streams(SECRET, f"led {level} {number}"), 0.0)
        offered = [hint.fact for hint in spec.hints if hint.matters and hint.decoys]
        assert len(offered) <= 1
        told = {term.motif: abs(term.weights[0]) for term in spec.mechanism.terms if isinstance(term.motif, ToldMotif)}
        if offered and len(told) > 1:
            led += 1
            assert told[offered[0].motif] == max(told.values())
    assert led > 3
