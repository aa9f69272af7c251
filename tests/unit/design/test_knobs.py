"""What each knob turns when it is turned alone, and what it leaves as it is."""

from functools import cache

import numpy as np
import pytest

from sandmill.design import design_task
from sandmill.design.conditions import Conditions
from sandmill.design.difficulty_curves import difficulty_curve
from sandmill.design.known import AIM, HARDNESS
from sandmill.design.motifs import FINDABLE_KINDS, HIDDEN_KINDS
from sandmill.design.rule import choose_rule
from sandmill.design.vocabulary import choose_vocabulary
from sandmill.kinds.library import load_domains
from sandmill.models.base import Band
from sandmill.models.faults import Distractors
from sandmill.models.links import class_names
from sandmill.models.plan import Slot
from sandmill.models.spec import Knobs, TaskSpec
from sandmill.models.structure import ColumnMix, MetricName, PathologyKind, SplitKind, TargetKind
from sandmill.pipeline.band_search import first_hardness
from sandmill.rng import Streams
from tests.designs import SECRET, TASKS, make_seed

BINARY, NUMBER, MANY = TASKS[0], TASKS[8], TASKS[4]
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
    assert hidden_share(plain) < 0.3 < 0.8 < hidden_share(hidden)
    assert set(map(str, motifs(plain))) < set(map(str, motifs(hidden)))
    assert hidden.sizes == plain.sizes
    assert type(hidden.mechanism.link) is type(plain.mechanism.link)
    assert class_names(hidden.mechanism.link) == class_names(plain.mechanism.link)
    assert hidden.story.overview == plain.story.overview


@each_task
def test_distractors_add_columns_that_the_rule_does_not_read(task):
    few, many = turned(task, "distractors")
    assert motifs(many) == motifs(few)
    # Scales are fitted to a draw of all columns, so weights may differ by its chance.
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
