"""Compose a design from secret-keyed draws, and from a design draft if a language model wrote one.

Draws depend only on the slot's streams; hardness scales what they chose. Two designs of one slot differ in weights,
rows, and the number of told motifs, hidden motifs and distractors that they take from the same list, never in domain or
target. Therefore one knob can steer the difficulty of a slot.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from sandmill.design.columns import Outline, choose_columns, exact_shares, limits_of
from sandmill.design.conditions import Conditions, choose_conditions, media_conditions
from sandmill.design.difficulty_curves import aim_of
from sandmill.design.faults import Severity, choose_faults
from sandmill.design.hints import (
    CHANCE_OF_MEDIA_HINTS,
    HintPlan,
    OwnColumns,
    Summary,
    add_spare,
    choose_hints,
    draw_asides,
    draw_own_columns,
    fewer_rows,
    has_hints,
)
from sandmill.design.known import linear_score, rule_spread, score_like
from sandmill.design.prior_graph import Priors, draw_priors, orient_terms, prior_of, spread_for, with_noise
from sandmill.design.rule import (
    FREE_SHARES,
    TOLD_SHARES,
    assign_weights,
    choose_rule,
    rule_of,
    single_shares,
    variance_shares,
)
from sandmill.design.shape import LEAST_CLASS_ROWS, Shape, check_draft, check_shape, class_count, shape_of
from sandmill.design.shaping import shape_vocabulary
from sandmill.design.standardize import standardize
from sandmill.design.target_shape import with_shape
from sandmill.design.targets import Target, choose_target, write_media_story, write_story
from sandmill.design.telling import Telling, tell
from sandmill.design.told import with_told_forms
from sandmill.design.vocabulary import Vocabulary, choose_vocabulary
from sandmill.kinds.library import at, load_domains
from sandmill.kinds.table import TABLE
from sandmill.models.base import Band
from sandmill.models.channel import Channel, Medium
from sandmill.models.columns import Column
from sandmill.models.design_draft import DesignDraft
from sandmill.models.domain import Domain
from sandmill.models.hints import Hint
from sandmill.models.kind import Kind, kind_of
from sandmill.models.knowledge import Knowledge, TargetPrior
from sandmill.models.links import BinaryLink, CountLink, Link, MultilabelLink, NumbersLink, class_names, output_count
from sandmill.models.mechanism import Mechanism, columns_of_limit
from sandmill.models.plan import Slot
from sandmill.models.spec import Knobs, Sizes, Story, TaskSpec
from sandmill.models.structure import MetricName, PathologyKind, Structure, TargetKind
from sandmill.rng import Streams
from sandmill.scoring import encoding_for, get_metric

ROWS_EASIEST, ROWS_HARDEST = 200, 80
"""Training rows at hardness 0 and 1."""
_LEAST_MAJORITY, _MOST_MAJORITY, _MOST_IMBALANCE = 0.58, 0.8, 0.88
"""Bounds of the larger class's share, the last for imbalanced designs. Closer to 0.5, a small training set
often shows the wrong class as the larger one."""
_IMBALANCE_INSENSITIVE = frozenset({MetricName.ACCURACY, MetricName.TOP1_ERROR})
"""Metrics that barely reward finding a rare class. Imbalance would leave no gap between trivial solver and oracle."""
_ROWS_OF_A_CLASS, _LEAST_BY_ACCURACY, _LEAST_OF_TWO = 14, 5, 16
"""Training rows for each class of a table, at least; of the rarest class by these metrics, and of the rarer of two by
others, on average. Of 40 first tries with 8 rows of the rarer class 5 became tasks, of 30 with 20 rows 12."""
_MOST_OF_AN_EVEN_SHARE = 0.9
"""Least share of a class, relative to an even one: something is left for the others to differ."""
_LOG_ODDS = {TargetKind.MULTICLASS: (10.0, 1.8)}
_NUMBERS = (TargetKind.REGRESSION, TargetKind.COUNT, TargetKind.MULTI_TARGET)
_USUAL_LOG_ODDS = (6.0, 1.1)
"""Standard deviation of the rule in log-odds at hardness 0 and 1, for class targets."""
_LOG_COUNTS = (0.9, 0.55)
"""Standard deviation of the rule in log counts at hardness 0 and 1. Number targets have 1, and more noise instead."""


def medium_of(slot: Slot, place: float | None = None) -> Medium | None:
    """Return the medium of a slot, with the texts and targets of its draft if it has one; None for tables.

    Args:
        slot: seed and draft.
        place: where the medium stands in the list of all of its kind, from 0 to 1; by default the slot's own.
    """
    kind = kind_of(slot.structure)
    if kind is None or kind.design is None:
        return None
    draft = slot.draft
    if draft is None or draft.place is None:
        chosen: Medium = kind.load("design").choose_medium(place if place is not None else slot.place or 0.0)
        return chosen
    medium: Medium = kind.load("design").choose_medium(draft.place)
    return medium.model_copy(update={"domain": draft.domain, "meaning": draft.item or medium.meaning})


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
    knobs, kind = knobs or Knobs.all_at(hardness), kind_of(slot.structure) or TABLE
    if kind.designer:
        spec: TaskSpec = kind.load("designer")(slot, streams, hardness, parent, knobs)
        return spec
    setting = _choose_setting(slot, streams, kind, knobs)
    ruled = _choose_rule(setting)
    mechanism, hints = _mechanism(_as_known_as_seed(setting, ruled), ruled)
    channel = _choose_channel(setting, ruled.columns, hardness)
    sizes = Sizes(train=_train_rows(setting), feedback=kind.most_feedback, final=kind.most_final)
    return TaskSpec(
        seed_id=slot.seed.id,
        structure=slot.structure,
        domain=setting.domain.name,
        story=_story(setting, ruled.columns, channel),
        target=slot.structure.target,
        metric=slot.structure.metric,
        split=setting.conditions.split,
        mechanism=mechanism,
        sizes=fewer_rows(sizes, ruled.plan.child),
        wanted=slot.band,
        hardness=hardness,
        knobs=knobs,
        parent=parent,
        hints=hints,
        notes=ruled.telling.notes,
        channel=channel,
    )


@dataclass(frozen=True)
class _Setting:
    """What a slot asks for, and what is drawn before its rule."""

    slot: Slot
    streams: Streams
    kind: Kind
    knobs: Knobs
    medium: Medium | None
    """What items are made of; None if they are rows of a table."""
    domain: Domain
    conditions: Conditions
    vocabulary: Vocabulary
    target: Target
    knows: Knowledge
    """What the domain knows, as far as the design uses it."""
    prior: TargetPrior | None
    may_tell: bool
    """Whether texts may state facts."""
    own: OwnColumns
    """Fact that brings columns of its own."""
    shape: Shape | None = None
    """What the seed asks of the columns; None if it declares nothing."""
    is_single: bool = False
    """Whether the texts state one plain fact and nothing else: in easy tables, and in medium ones of plain reading."""
    score: float | None = None
    """Best possible score that follows from the seed's table; None if that is not known."""

    @property
    def outline(self) -> Outline:
        """Return the parts of the setting from which columns, faults and texts are drawn."""
        return Outline(self.slot.structure, self.conditions, self.vocabulary, self.streams, self.shape)

    @property
    def hidden(self) -> float:
        """Position of the knob for hidden motifs."""
        return self.knobs.skills * self.kind.hidden


@dataclass(frozen=True)
class _Ruled:
    """The rule of a design, and what its texts state about it."""

    plan: HintPlan
    priors: Priors
    telling: Telling

    @property
    def columns(self) -> tuple[Column, ...]:
        """Columns of the design."""
        return self.telling.columns


def _choose_setting(slot: Slot, streams: Streams, kind: Kind, knobs: Knobs) -> _Setting:
    """Choose medium or domain, conditions, vocabulary and target."""
    draft, structure = slot.draft, slot.structure
    place = float(streams.generator("design").random()) if slot.place is None else slot.place
    medium = medium_of(slot, place)
    domain = with_told_forms(medium) if medium else draft.domain if draft else at(load_domains(), place)
    conditions = (
        media_conditions(structure, medium.may_miss)
        if medium
        else choose_conditions(structure, streams, draft.faults if draft else None)
    )
    # What only texts state is out of reach of the models that decide difficulty, so easy media state nothing. By log
    # loss those of medium difficulty do not either: models that miss a part of the rule are sure and wrong.
    may_tell = bool(domain.knows.targets or medium) and not draft
    is_single = not medium and (slot.band is Band.EASY or (slot.band, slot.reading) == (Band.MEDIUM, "plain"))
    if medium:
        is_plain = slot.band is Band.EASY or (slot.band, structure.metric) == (Band.MEDIUM, MetricName.LOG_LOSS)
        may_tell = may_tell and not is_plain and has_hints(streams, CHANCE_OF_MEDIA_HINTS)
    else:
        may_tell = may_tell and (is_single or has_hints(streams))
    shape = shape_of(structure, kind, conditions.split)
    check_draft(structure, shape, draft)
    own = draw_own_columns(domain, conditions.split, streams) if may_tell and not is_single else OwnColumns()
    own = OwnColumns() if shape and not own.fits(len(shape.numbers), len(shape.categories)) else own
    domain = own.added_to(domain)
    vocabulary = choose_vocabulary(domain, conditions, streams)
    if shape:
        must = {*own.columns, *(column for motif in (draft.motifs if draft else ()) for column in motif.columns)}
        shape = shape.with_room(domain, must)
        has_many = PathologyKind.HIGH_CARDINALITY in conditions.faults
        vocabulary = shape_vocabulary(vocabulary, shape, must, streams, has_many=has_many)
        domain = vocabulary.domain
    draws, exact = streams.generator("target"), class_count(structure) if shape else None
    target = choose_target(structure, domain.targets, kind, knobs.signal, draws, exact)
    knows = Knowledge() if draft and not medium else domain.knows
    aim = aim_of(structure, slot.band) if shape else None
    prior = prior_of(knows.targets, target.link, target.name)
    return _Setting(
        slot,
        streams,
        kind,
        knobs,
        medium,
        domain,
        conditions,
        vocabulary,
        target,
        knows,
        prior,
        may_tell,
        own,
        shape,
        is_single,
        aim.score_at(knobs.signal) if aim else None,
    )


def _choose_rule(setting: _Setting) -> _Ruled:
    """Choose the facts that texts state, the motifs of the rule, and its columns."""
    slot, streams, medium, vocabulary = setting.slot, setting.streams, setting.medium, setting.vocabulary
    unread = frozenset(medium.unread) if medium else frozenset()
    profile = slot.structure.profile if setting.shape else None
    plan = HintPlan()
    if setting.may_tell:
        is_free = slot.reading != "plain"
        plan = choose_hints(
            vocabulary, streams, setting.own, profile, is_single=setting.is_single, is_free=is_free, unread=unread
        )
    priors, reserved = Priors(), plan.told_columns | unread
    if setting.prior:
        priors = draw_priors(setting.prior, vocabulary, reserved, streams.generator("priors"))
    needed, not_leading = (frozenset(medium.needed), medium.not_leading) if medium else (frozenset(), ())
    draws = streams.generator("rule")
    drawn = (
        rule_of(slot.draft.motifs, vocabulary, setting.conditions, draws)
        if slot.draft
        else choose_rule(vocabulary, setting.conditions, draws, priors.motifs, reserved, not_leading)
    )
    plan = add_spare(plan, drawn.read, vocabulary, streams).at(setting.hidden)
    rule = replace(
        drawn.at(setting.hidden),
        told_columns=plan.told_columns,
        named=plan.columns | needed,
        told_shares=_told_shares(setting, plan),
        is_simple=plan.is_single or (plan.is_free and not medium),
        is_free=plan.is_free,
    )
    of_unit = medium.of_unit if medium else None
    columns = choose_columns(setting.outline, rule, setting.knobs.distractors, of_unit)
    telling = tell(setting.outline, plan, rule, columns, slot.reading, has_records=not medium)
    return _Ruled(plan, priors, telling)


def _told_shares(setting: _Setting, plan: HintPlan) -> tuple[float, ...]:
    """Return the shares of the rule's variance in told motifs, by hardness."""
    if not plan.is_single:
        return FREE_SHARES if plan.is_free and not setting.medium else TOLD_SHARES
    target, metric = setting.slot.structure.target, get_metric(setting.slot.structure.metric)
    is_error = target in _NUMBERS and metric.is_lower_better and metric.name is not MetricName.POISSON_DEVIANCE
    return single_shares(
        setting.slot.band, is_error=is_error, has_events=any(isinstance(one, Summary) for one in plan.told)
    )


def _mechanism(setting: _Setting, ruled: _Ruled, *, has_shape: bool = True) -> tuple[Mechanism, tuple[Hint, ...]]:
    """Draw weights and faults, and standardise the rule. Returns the hints with those on faults.

    Without `has_shape`, targets of numbers keep the distribution that their domain gives.
    """
    structure, streams, knobs, draft = setting.slot.structure, setting.streams, setting.knobs, setting.slot.draft
    rule, target, prior = ruled.telling.rule, setting.target, setting.prior
    link = with_noise(target.link, setting.knows.targets, target.name, knobs.signal, setting.score)
    rows = _train_rows(setting) if setting.shape else None
    drawing = streams.generator("shares")
    shares = _class_shares(structure, setting.conditions, link, prior, drawing, setting.kind, rows)
    log_odds = setting.kind.log_odds or _LOG_ODDS.get(structure.target, _USUAL_LOG_ODDS)
    usual = _signal(link, log_odds, knobs.signal, prior, shares)
    signal = usual if setting.score is None else rule_spread(link, setting.score, shares)
    easiest = 1.0 if setting.score is not None and output_count(link) > 1 else setting.kind.followers
    terms = assign_weights(rule, setting.hidden, output_count(link), signal, streams.generator("weights"), easiest)
    severity = Severity(knobs.faults, variance_shares(terms))
    may_miss = setting.medium.may_miss if setting.medium else None
    limits = limits_of(ruled.columns, setting.domain.knows)
    limited = {name for limit in limits for name in columns_of_limit(limit)}
    drawn = choose_faults(setting.outline, link, ruled.columns, rule, severity, may_miss, limited)
    faults, hints = ruled.telling.mark(drawn, streams)
    signs = _signs(draft, link) if draft else ruled.priors.signs
    unscaled = Mechanism(
        columns=ruled.columns,
        terms=orient_terms(terms, signs),
        link=link,
        pathologies=faults,
        subgroup=rule.subgroup,
        child=ruled.plan.child,
        limits=limits,
    )
    check_shape(structure, setting.shape, link, ruled.columns)
    mechanism = standardize(unscaled, shares, streams.child("standardize"))
    like = structure.profile if has_shape else None
    return with_shape(mechanism, like, streams.child("shape"), may_turn=not signs), hints


def _as_known_as_seed(setting: _Setting, ruled: _Ruled) -> _Setting:
    """Return the setting with the best score at which a linear model scores on the drawn rule as on the seed."""
    structure, streams = setting.slot.structure, setting.streams.child("known")

    def scored(score: float) -> float:
        mechanism, _ = _mechanism(replace(setting, score=score), ruled, has_shape=False)
        return linear_score(mechanism, structure.target, _train_rows(setting), streams)

    wanted = structure.profile.linear_score if structure.profile else None
    if setting.score is None or wanted is None:
        return setting
    return replace(setting, score=score_like(setting.score, wanted, scored))


def _signs(draft: DesignDraft, link: Link) -> dict[str, bool]:
    """Return the signs that a draft gives to motifs, by their first columns. Several outputs keep those drawn."""
    if output_count(link) > 1:
        return {}
    return {choice.columns[0]: choice.rises for choice in draft.motifs if choice.rises is not None}


def _train_rows(setting: _Setting) -> int:
    """Return the number of training rows. Tables of many classes, or rare ones, have enough for each of them."""
    rows, structure = round(_between(setting.kind.train, setting.knobs.rows)), setting.slot.structure
    if not setting.shape:
        return rows
    classes, share = len(class_names(setting.target.link)), structure.positive_share
    known = structure.profile.class_shares if structure.profile else () if share is None else (share, 1 - share)
    rarest = max(min(known, default=1.0), 1e-3) if classes else 1.0
    return max(rows, classes * _ROWS_OF_A_CLASS, min(ROWS_EASIEST, ceil(least_class_rows(structure) / rarest)))


def least_class_rows(structure: Structure) -> int:
    """Return how many training rows the rarest class has on average, at least: fewer if the metric ignores it."""
    if structure.metric in _IMBALANCE_INSENSITIVE:
        return _LEAST_BY_ACCURACY
    return _LEAST_OF_TWO if structure.target is TargetKind.BINARY else LEAST_CLASS_ROWS


def _choose_channel(setting: _Setting, columns: Sequence[Column], hardness: float) -> Channel | None:
    """Choose how items show the columns; None if they are rows of a table."""
    kind, medium = setting.kind, setting.medium
    if medium is None:
        return None
    channel: Channel = kind.load("design").choose_channel(medium, columns, setting.streams)
    if kind.disturb:
        channel = kind.load("disturb")(channel, hardness)
    return channel


def _story(setting: _Setting, columns: Sequence[Column], channel: Channel | None) -> Story:
    """Write the story, with sentences of no use for tables."""
    streams, target = setting.streams, setting.target
    if setting.medium and channel:
        return write_media_story(setting.medium, channel, target, _asked(setting), streams)
    story = write_story(setting.vocabulary, columns, target, _asked(setting), streams)
    return story.model_copy(update={"asides": draw_asides(setting.knows, streams)})


def _asked(setting: _Setting) -> tuple[str, ...]:
    """Return the target columns of the files: one, or one for each number or label."""
    link, structure = setting.target.link, setting.slot.structure
    if isinstance(link, NumbersLink):
        return link.names
    form = setting.kind.form or encoding_for(structure.target, structure.metric)
    if isinstance(link, MultilabelLink) and form == "label_probabilities":
        return link.labels
    return (setting.target.name,)


def _between(ends: tuple[float, float], position: float) -> float:
    """Interpolate between the two ends of a knob."""
    return round(ends[0] + (ends[1] - ends[0]) * position, 4)


def _signal(
    link: Link, log_odds: tuple[float, float], hardness: float, prior: TargetPrior | None, shares: tuple[float, ...]
) -> float:
    """Return the standard deviation of the rule. For classes it sets the noise, which other links declare."""
    plausible = spread_for(prior, shares[1], hardness) if prior and isinstance(link, BinaryLink) else None
    if plausible is not None:
        return plausible
    if class_names(link):
        return _between(log_odds, hardness)
    return _between(_LOG_COUNTS, hardness) if isinstance(link, CountLink) else 1.0


def shares_of_two(
    structure: Structure,
    has_imbalance: bool,
    usual: float | None = None,
    largest: float = _MOST_MAJORITY,
    rows: int | None = None,
) -> tuple[float, float]:
    """Return the class shares in designs of a binary structure: the seed's, clipped away from 0.5 and the extremes.

    Args:
        structure: of the seed.
        has_imbalance: whether imbalance is a fault of the design.
        usual: the target's share in its domain, for seeds that state none.
        largest: share of the larger class, at most, without imbalance.
        rows: training rows, if the share is the seed's own as far as they allow.
    """
    share = structure.positive_share if structure.positive_share is not None else usual or 0.4
    is_rare = has_imbalance and structure.metric not in _IMBALANCE_INSENSITIVE
    if rows and structure.positive_share is not None and structure.metric not in _IMBALANCE_INSENSITIVE:
        is_rare, largest = False, 1 - least_class_rows(structure) / rows
    major = min(max(share, 1 - share, _LEAST_MAJORITY), max(_MOST_IMBALANCE, largest) if is_rare else largest)
    return (major, round(1 - major, 4)) if share < 0.5 else (round(1 - major, 4), major)


def _class_shares(
    structure: Structure,
    conditions: Conditions,
    link: Link,
    prior: TargetPrior | None,
    rng: np.random.Generator,
    kind: Kind = TABLE,
    rows: int | None = None,
) -> tuple[float, ...]:
    """Return the wanted share of each class or label: those of the seed as far as `rows` allow, else random ones."""
    names = class_names(link)
    given = structure.profile.class_shares if structure.profile and rows else ()
    if given and rows and len(names) > 2 and len(given) >= len(names):
        return shares_like(structure, given[: len(names)], rows, rng)
    if isinstance(link, MultilabelLink):
        return tuple(round(float(share), 4) for share in rng.uniform(0.15, 0.5, len(names)))
    if len(names) == 2:
        usual = prior.share if prior else None
        has_imbalance = PathologyKind.IMBALANCE in conditions.faults
        return shares_of_two(structure, has_imbalance, usual, kind.largest_class, rows)
    if not names:
        return ()
    evenness = (0.4, 2.0) if PathologyKind.IMBALANCE in conditions.faults else (0.7, 1.4)
    raw = rng.uniform(*evenness, len(names))
    return exact_shares(raw / raw.sum())


def shares_like(structure: Structure, given: Sequence[float], rows: int, rng: np.random.Generator) -> tuple[float, ...]:
    """Return shares of classes, or rates of labels, like those of the seed.

    Every class keeps `least_class_rows` on average. Grades have their largest shares in the middle.
    """
    least = min(least_class_rows(structure) / rows, _MOST_OF_AN_EVEN_SHARE / len(given))
    if structure.target is TargetKind.MULTILABEL:
        rates = np.clip(given, least, 1 - least)
        return tuple(round(float(rate), 4) for rate in rng.permutation(rates))
    most = _MOST_MAJORITY if structure.metric in _IMBALANCE_INSENSITIVE else 1.0
    shares = np.maximum(np.asarray(given, dtype=np.float64) / sum(given), least)
    shares[0] = min(shares[0], most)
    spare = shares > least
    shares[spare] *= (1 - shares[~spare].sum()) / shares[spare].sum()
    if structure.target is TargetKind.ORDINAL:
        places = np.argsort(np.abs(np.arange(len(shares)) - rng.uniform(0, len(shares) - 1)), kind="stable")
    else:
        places = rng.permutation(len(shares))
    return exact_shares(shares[np.argsort(places)], least=round(least * 0.9, 4))
