"""Compose a design from secret-keyed draws, and from a design draft if a language model wrote one.

Draws depend only on the slot's streams; hardness scales what they chose. Two designs of one slot differ in weights,
rows, and the number of told motifs, hidden motifs and distractors that they take from the same list, never in domain or
target. Therefore one knob can steer the difficulty of a slot.
"""

from dataclasses import replace

import numpy as np

from sandmill.design.child_hints import fewer_rows
from sandmill.design.columns import choose_columns, exact_shares
from sandmill.design.conditions import Conditions, choose_conditions, media_conditions
from sandmill.design.dependence import limits_of
from sandmill.design.draft_rule import orient, rule_of
from sandmill.design.faults import Severity, choose_faults
from sandmill.design.hints import HintPlan, add_spare, choose_hints, draw_asides
from sandmill.design.lexicon import load_domains
from sandmill.design.media.choice import medium_of
from sandmill.design.media.told import with_told_forms
from sandmill.design.prior_graph import Priors, draw_priors, orient_terms, prior_of, spread_for, with_noise
from sandmill.design.rule import assign_weights, choose_rule, variance_shares
from sandmill.design.standardize import standardize
from sandmill.design.story import write_media_story, write_story
from sandmill.design.targets import choose_target
from sandmill.design.telling import tell
from sandmill.design.vocabulary import choose_vocabulary
from sandmill.models.base import Band
from sandmill.models.domain import Domain
from sandmill.models.kinds import TABLE, Kind, kind_of
from sandmill.models.knowledge import Knowledge, TargetPrior
from sandmill.models.links import BinaryLink, CountLink, Link, MultilabelLink, class_names, output_count
from sandmill.models.mechanism import Mechanism
from sandmill.models.plan import Slot
from sandmill.models.spec import Knobs, Sizes, TaskSpec
from sandmill.models.structure import MetricName, PathologyKind, Structure, TargetKind
from sandmill.rng import Streams

ROWS_EASIEST, ROWS_HARDEST = 200, 80
"""Training rows at hardness 0 and 1."""
_LEAST_MAJORITY, _MOST_MAJORITY, _MOST_IMBALANCE = 0.58, 0.8, 0.88
"""Bounds of the larger class's share, the last for imbalanced designs. Closer to 0.5, a small training set
often shows the wrong class as the larger one."""
_IMBALANCE_INSENSITIVE = frozenset({MetricName.ACCURACY, MetricName.TOP1_ERROR})
"""Metrics that barely reward finding a rare class. Imbalance would leave no gap between trivial solver and oracle."""
_LOG_ODDS = {TargetKind.MULTICLASS: (10.0, 1.8)}
_USUAL_LOG_ODDS = (6.0, 1.1)
"""Standard deviation of the rule in log-odds at hardness 0 and 1, for class targets."""
_LOG_COUNTS = (0.9, 0.55)
"""Standard deviation of the rule in log counts at hardness 0 and 1. Number targets have 1, and more noise instead."""


def design_task(
    slot: Slot, streams: Streams, hardness: float, parent: str | None = None, knobs: Knobs | None = None
) -> TaskSpec:
    """Design one task from a slot's seed, and from its design draft if it has one.

    Args:
        slot: seed, wanted band and design draft.
        streams: streams of the slot, keyed by the release secret.
        hardness: 0 to 1. It moves weight from plain to hidden motifs, removes training rows and adds distractors.
        parent: fingerprint of the design that this one was steered from.
        knobs: positions of the single knobs; all at `hardness` if None.
    """
    knobs = knobs or Knobs.all_at(hardness)
    draft, structure = slot.draft, slot.structure
    kind = kind_of(structure) or TABLE
    if kind.designer:
        spec: TaskSpec = kind.load("designer")(slot, streams, hardness, parent, knobs)
        return spec
    place = _place(slot, streams)
    medium = medium_of(slot, place)
    domain = with_told_forms(medium) if medium else draft.domain if draft else _domain_at(place)
    conditions = (
        media_conditions(structure, medium.may_miss)
        if medium
        else choose_conditions(structure, streams, draft.faults if draft else None)
    )
    needed, unseen = (frozenset(medium.needed), frozenset(medium.unseen)) if medium else (frozenset(), frozenset())
    vocabulary = choose_vocabulary(domain, conditions, streams)
    draws = streams.generator("target")
    target = choose_target(structure, domain.targets, knobs.signal, draws, kind.classes, kind.labels, kind.grades)
    knows = Knowledge() if draft and not medium else domain.knows
    prior = prior_of(knows.targets, target.link, target.name)
    # What only texts state is out of reach of the models that decide difficulty, so easy tasks state nothing.
    may_tell = not draft and (knows.targets or (medium and kind.medals == "milestones"))
    plan = choose_hints(vocabulary, streams) if may_tell and slot.band is not Band.EASY else HintPlan()
    priors = Priors()
    if prior:
        priors = draw_priors(prior, vocabulary, plan.told_columns, streams.generator("priors"))
    draws = streams.generator("rule")
    drawn = (
        rule_of(draft.motifs, vocabulary, conditions, draws)
        if draft
        else choose_rule(vocabulary, conditions, draws, priors.motifs, plan.told_columns | unseen)
    )
    hidden = knobs.skills * kind.hidden
    plan = add_spare(plan, drawn.read, vocabulary, streams).at(hidden)
    rule = replace(drawn.at(hidden), told_columns=plan.told_columns, named=plan.columns | needed)
    columns = choose_columns(structure, vocabulary, conditions, rule, knobs.distractors, streams)
    telling = tell(plan, rule, columns, domain, streams)
    columns, rule = telling.columns, telling.rule
    link = with_noise(target.link, knows.targets, target.name, knobs.signal)
    shares = _class_shares(structure, conditions, link, prior, streams.generator("shares"), kind)
    signal = _signal(link, structure.target, knobs.signal, prior, shares)
    terms = assign_weights(rule, hidden, output_count(link), signal, streams.generator("weights"))
    severity = Severity(knobs.faults, variance_shares(terms))
    drawn_faults = choose_faults(
        structure, conditions, link, columns, rule, severity, streams, medium.may_miss if medium else None
    )
    faults, hints = telling.mark(drawn_faults, streams)
    unscaled = Mechanism(
        columns=columns,
        terms=orient(terms, draft.motifs) if draft else orient_terms(terms, priors.signs),
        link=link,
        pathologies=faults,
        subgroup=rule.subgroup,
        child=plan.child,
        limits=limits_of(columns, domain.knows),
    )
    channel = kind.load("design").choose_channel(medium, columns, streams) if medium else None
    if channel and kind.disturb:
        channel = kind.load("disturb")(channel, hardness)
    return TaskSpec(
        seed_id=slot.seed.id,
        structure=structure,
        domain=domain.name,
        story=write_media_story(medium, channel, target, streams)
        if medium and channel
        else write_story(vocabulary, columns, target, streams).model_copy(
            update={"asides": draw_asides(knows, streams)}
        ),
        target=structure.target,
        metric=structure.metric,
        split=conditions.split,
        mechanism=standardize(unscaled, shares, streams.child("standardize")),
        sizes=fewer_rows(
            Sizes(
                train=round(_between(kind.train, knobs.rows)),
                feedback=kind.most_feedback,
                final=kind.most_final,
            ),
            plan.child,
        ),
        wanted=slot.band,
        hardness=hardness,
        knobs=knobs,
        parent=parent,
        hints=hints,
        notes=telling.notes,
        channel=channel,
    )


def _place(slot: Slot, streams: Streams) -> float:
    """Return where the domain of a design stands among all: as the slot says, else drawn."""
    return float(streams.generator("design").random()) if slot.place is None else slot.place


def _domain_at(place: float) -> Domain:
    domains = load_domains()
    return domains[int(place * len(domains))]


def _between(ends: tuple[float, float], position: float) -> float:
    """Interpolate between the two ends of a knob."""
    return round(ends[0] + (ends[1] - ends[0]) * position, 4)


def _signal(
    link: Link, target: TargetKind, hardness: float, prior: TargetPrior | None, shares: tuple[float, ...]
) -> float:
    """Return the standard deviation of the rule. For classes it sets the noise, which other links declare."""
    plausible = spread_for(prior, shares[1], hardness) if prior and isinstance(link, BinaryLink) else None
    if plausible is not None:
        return plausible
    if class_names(link):
        return _between(_LOG_ODDS.get(target, _USUAL_LOG_ODDS), hardness)
    return _between(_LOG_COUNTS, hardness) if isinstance(link, CountLink) else 1.0


def shares_of_two(
    structure: Structure, has_imbalance: bool, usual: float | None = None, largest: float = _MOST_MAJORITY
) -> tuple[float, float]:
    """Return the class shares in designs of a binary structure: the seed's, clipped away from 0.5 and the extremes.

    Args:
        structure: of the seed.
        has_imbalance: whether imbalance is a fault of the design.
        usual: the target's share in its domain, for seeds that state none.
        largest: share of the larger class, at most, without imbalance.
    """
    share = structure.positive_share if structure.positive_share is not None else usual or 0.4
    is_rare = has_imbalance and structure.metric not in _IMBALANCE_INSENSITIVE
    major = min(max(share, 1 - share, _LEAST_MAJORITY), max(_MOST_IMBALANCE, largest) if is_rare else largest)
    return (major, round(1 - major, 4)) if share < 0.5 else (round(1 - major, 4), major)


def _class_shares(
    structure: Structure,
    conditions: Conditions,
    link: Link,
    prior: TargetPrior | None,
    rng: np.random.Generator,
    kind: Kind = TABLE,
) -> tuple[float, ...]:
    """Return the wanted share of each class or label: clipped shares of the seed for two classes, else random ones."""
    names = class_names(link)
    if isinstance(link, MultilabelLink):
        return tuple(round(float(share), 4) for share in rng.uniform(0.15, 0.5, len(names)))
    if len(names) == 2:
        usual = prior.share if prior else None
        return shares_of_two(structure, PathologyKind.IMBALANCE in conditions.faults, usual, kind.largest_class)
    if not names:
        return ()
    evenness = (0.4, 2.0) if PathologyKind.IMBALANCE in conditions.faults else (0.7, 1.4)
    raw = rng.uniform(*evenness, len(names))
    return exact_shares(raw / raw.sum())
