"""Choose the motifs of a rule, their columns and their weights; a draft gives motifs and columns itself."""

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np

from sandmill.design.conditions import Conditions
from sandmill.design.motifs import (
    FINDABLE_KINDS,
    HIDDEN_KINDS,
    PLAIN_KINDS,
    NoFreeColumn,
    choose_motif,
    choose_subgroup,
)
from sandmill.design.vocabulary import Vocabulary
from sandmill.models.base import Band
from sandmill.models.columns import LogNormal
from sandmill.models.design_draft import MotifChoice
from sandmill.models.mechanism import Subgroup
from sandmill.models.motifs import (
    Aggregate,
    Bottleneck,
    CodeValue,
    Difference,
    Distance,
    Drift,
    Interaction,
    KnownUnit,
    LocalRule,
    Motif,
    Ratio,
    Term,
    UnitEffect,
    columns_of,
)
from sandmill.models.structure import PathologyKind
from sandmill.models.words import WORDS

FEWEST_PLAIN, MOST_PLAIN = 2, 4
_FEWEST_HIDDEN, HIDDEN_MOTIFS = 2, 3
_MIN_HIDDEN_SHARE, _MAX_HIDDEN_SHARE = 0.08, 0.96
"""Share of the rule's variance in hidden motifs at hardness 0 and 1, in designs without told motifs."""
_HARDNESS = (0.0, 0.25, 0.5, 0.75, 1.0)
TOLD_SHARES, FREE_SHARES = (0.15, 0.35, 0.5, 0.6, 0.7), (0.3, 0.4, 0.5, 0.6, 0.7)
_HIDDEN_SHARES = (0.03, 0.05, 0.07, 0.12, 0.22)
"""Shares of the rule's variance in told and in hidden motifs at each position of `_HARDNESS`, in designs with told
motifs. The rest is in plain motifs. Free sentences of tables state two forms at least, which weigh more."""
_SINGLE_SHARES = {Band.EASY: (0.17, 0.45), Band.MEDIUM: (0.33, 0.7)}
"""Share of the rule's variance in the only stated fact at hardness 0 and 1: so small that usual models do well on easy
tables, and so large that it pays on those of medium difficulty."""
_OF_ERRORS, _OF_EVENTS = 0.6, 0.5
"""Factors at hardness 0 for metrics in the units of the target, to which a small variance is a large error, and for
events in a file of their own, of which blind models see nothing."""
_GIVEN = (Aggregate, CodeValue, Distance, KnownUnit)
_OF_GIVEN, _OF_LEAD = 0.3, 2.0
"""Motifs that child tables, code tables and names of columns give away. Their shares are multiplied by the first
factor, that of the form with decoys by the second."""
_BACKGROUND_SHARE, _MAX_BACKGROUND_SD = 0.12, 0.6
"""Variance of a drift or unit effect relative to the rest of the rule, and its largest standard deviation. With more,
class shares of the test part would differ from those of the training part."""
_CHANCE_OF_UNIT_EFFECT = 0.8
_HIGH_CARDINALITY_FIRST = 0.7
"""Chance that a high-cardinality column is tried second for the rule, if the design has the fault."""
TRAIN_SHARE = 0.7
"""Share of a date column's span before the cut of a temporal split."""
_LEAST_HIDDEN = 0.01
"""Share of hidden motifs at hardness 0 in simple designs."""
_EASIEST_FOLLOWERS, _SIMPLE_FOLLOWERS = 0.2, 0.06
"""Factor at hardness 0 on the variance of all plain motifs but the first, and of all hidden motifs but the first; the
same in simple designs."""

_CARRIERS: dict[str, str] = WORDS["carriers"]
"""Columns that each motif takes, in words for the language model."""
_PAIRS = frozenset(
    {"ratio", "difference", "interaction", "bottleneck", "crossed_lookup", "varying_slope", "local_rule"}
)


@dataclass(frozen=True)
class Rule:
    """Motifs of a design, without weights. Columns of plain and hidden motifs are used once."""

    plain: tuple[Motif, ...]
    """Motifs that default models find."""
    hidden: tuple[Motif, ...]
    """Motifs that default models miss. In easy designs the first usually has the largest weight."""
    subgroup: Subgroup | None = None
    """Hidden subgroup that follows the local rule, if there is one."""
    background: tuple[Motif, ...] = ()
    """Drift and unit effect, which are independent of hardness."""
    told: tuple[Motif, ...] = ()
    """Motifs that the texts state."""
    told_columns: frozenset[str] = frozenset()
    """Columns of told motifs, also before their numbers are drawn. Their cells have no faults."""
    told_shares: tuple[float, ...] = TOLD_SHARES
    """Share of the rule's variance in told motifs at each position of `_HARDNESS`."""
    is_simple: bool = False
    """Whether all that texts do not state is simple at hardness 0, so that what they state can be read: in tables that
    state one fact, or facts in free sentences."""
    is_free: bool = False
    """Whether texts state facts in free sentences. Forms that the files give away then weigh less than others."""
    leads: bool = False
    """Whether texts offer decoys of the first told motif. It then weighs more, so that they cost enough."""
    named: frozenset[str] = frozenset()
    """Further columns that the texts speak of, so that the design needs them."""

    def at(self, hardness: float) -> "Rule":
        """Return the rule at a hardness: easier designs have fewer hidden motifs."""
        hidden = self.hidden[: _FEWEST_HIDDEN + round(hardness * (HIDDEN_MOTIFS - _FEWEST_HIDDEN))]
        has_local = any(isinstance(motif, LocalRule) for motif in hidden)
        return replace(self, hidden=hidden, subgroup=self.subgroup if has_local else None)

    @property
    def read(self) -> frozenset[str]:
        """Names of all columns that the rule reads."""
        read = {name for motif in (*self.plain, *self.hidden, *self.background) for name in columns_of(motif)}
        return frozenset(read | self.told_columns | ({self.subgroup.by} if self.subgroup else set()))

    @property
    def columns(self) -> frozenset[str]:
        """Names of all columns that the design needs."""
        return self.read | self.named


def choose_rule(
    vocabulary: Vocabulary,
    conditions: Conditions,
    rng: np.random.Generator,
    wanted: Sequence[Motif] = (),
    reserved: Collection[str] = (),
    not_leading: Collection[str] = (),
) -> Rule:
    """Draw hidden motifs, then plain motifs over the remaining columns, then the background.

    Args:
        vocabulary: columns to choose from.
        conditions: split and faults of the design.
        rng: generator of the draws.
        wanted: motifs over different columns that are taken before any other is drawn.
        reserved: columns that no plain or hidden motif may read.
        not_leading: columns that the first plain motif may not read. It has the largest weight in easy designs.
    """
    plain = [motif for motif in wanted if motif.motif in PLAIN_KINDS]
    leading = [motif for motif in plain if set(not_leading).isdisjoint(columns_of(motif))] if not_leading else plain
    if not_leading and not leading:
        # Drawn before all other motifs: these could use up the columns that the leading motif may read.
        leading = _choose(PLAIN_KINDS, 1, vocabulary, {*reserved, *not_leading}, rng)
        read = {name for motif in leading for name in columns_of(motif)}
        wanted = [motif for motif in wanted if read.isdisjoint(columns_of(motif))]
    plain = [*leading, *(motif for motif in wanted if motif.motif in PLAIN_KINDS and motif not in leading)][:MOST_PLAIN]
    taken = {*reserved, *(name for motif in (*plain, *wanted) for name in columns_of(motif))}
    given = [motif for motif in wanted if motif.motif not in PLAIN_KINDS][:HIDDEN_MOTIFS]
    order = _order_hidden(conditions, rng)
    hidden = [*given, *_choose(order, HIDDEN_MOTIFS - len(given), vocabulary, taken, rng)]
    if given:
        hidden.sort(key=lambda motif: motif.motif not in FINDABLE_KINDS)
    subgroup = None
    if any(isinstance(motif, LocalRule) for motif in hidden):
        try:
            subgroup = choose_subgroup(vocabulary, taken, rng)
            taken.add(subgroup.by)
        except NoFreeColumn:
            hidden = [motif for motif in hidden if not isinstance(motif, LocalRule)]
    # Kinds may repeat, so their counts vary between designs.
    order = [str(kind) for kind in rng.choice(PLAIN_KINDS, size=4 * MOST_PLAIN)]
    count = int(rng.integers(FEWEST_PLAIN, MOST_PLAIN + 1))
    plain += _choose(order, count - len(plain), vocabulary, taken, rng)
    if not plain and not hidden:
        plain = _choose(PLAIN_KINDS, 1, vocabulary, set(reserved), rng)
    return Rule(tuple(plain), tuple(hidden), subgroup, choose_background(vocabulary, conditions, rng))


def assign_weights(
    rule: Rule, hardness: float, outputs: int, signal: float, rng: np.random.Generator, easiest: float | None = None
) -> tuple[Term, ...]:
    """Assign weights to motifs. Hardness, 0 to 1, moves variance from plain motifs to stated and hidden ones.

    `signal` is the standard deviation of all motifs but the background; `outputs` is the number of latent scores.
    At hardness 0, `easiest` is a factor on all motifs but the first; None: the usual one.
    """
    share_told, share_hidden = _shares(rule, hardness)
    easiest = easiest or (_SIMPLE_FOLLOWERS if rule.is_simple else _EASIEST_FOLLOWERS)
    followers = easiest + (1 - easiest) * hardness
    parts = [
        *((motif, min(_BACKGROUND_SHARE, (_MAX_BACKGROUND_SD / signal) ** 2)) for motif in rule.background),
        *_split(rule.plain, 1 - share_hidden - share_told, followers, rng),
        *_split(rule.hidden, share_hidden, followers, rng),
        *(_split(rule.told, share_told, followers, rng, is_read=rule.is_free, leads=rule.leads) if rule.told else ()),
    ]
    terms = []
    for motif, variance in parts:
        if outputs == 1:
            direction = np.asarray(rng.choice([-1.0, 1.0], size=1), dtype=np.float64)
        else:
            direction = rng.normal(size=outputs)
            direction /= np.sqrt(np.mean(direction**2))
        weights = signal * np.sqrt(variance) * direction
        terms.append(Term(motif=motif, weights=tuple(round(float(weight), 5) for weight in weights)))
    return tuple(terms)


def single_shares(band: Band, *, is_error: bool, has_events: bool) -> tuple[float, ...]:
    """Return the shares of a single stated fact at each position of `_HARDNESS`.

    Args:
        band: that the design is made for.
        is_error: whether the metric is an error in the units of the target.
        has_events: whether the fact is about events in a file of their own.
    """
    low, high = _SINGLE_SHARES[band]
    low *= (_OF_ERRORS if is_error else 1.0) * (_OF_EVENTS if has_events else 1.0)
    return tuple(round(low + (high - low) * position, 4) for position in _HARDNESS)


def _shares(rule: Rule, hardness: float) -> tuple[float, float]:
    """Return the shares of the rule's variance in stated and in hidden motifs."""
    if not rule.told:
        return 0.0, _MIN_HIDDEN_SHARE + (_MAX_HIDDEN_SHARE - _MIN_HIDDEN_SHARE) * hardness
    hidden_shares = (_LEAST_HIDDEN, *_HIDDEN_SHARES[1:]) if rule.is_simple else _HIDDEN_SHARES
    told, hidden = (float(np.interp(hardness, _HARDNESS, shares)) for shares in (rule.told_shares, hidden_shares))
    return told, hidden


def variance_shares(terms: Sequence[Term]) -> dict[str, float]:
    """Return, for each column, the share of the rule's variance in terms that read it."""
    parts = [float(np.mean(np.square(term.weights))) for term in terms]
    shares: dict[str, float] = {}
    for term, part in zip(terms, parts, strict=True):
        for name in columns_of(term.motif):
            shares[name] = shares.get(name, 0.0) + part / sum(parts)
    return shares


def _order_hidden(conditions: Conditions, rng: np.random.Generator) -> list[str]:
    """Draw the order in which hidden motifs are tried: a findable kind, often a high-cardinality lookup, the others.

    In easy designs the first motif usually has the largest weight. If all strong solvers found it, or none, their
    scores would be the same.
    """
    order = [str(kind) for kind in rng.permutation(HIDDEN_KINDS)]
    first = [kind for kind in order if kind in FINDABLE_KINDS][:1]
    if PathologyKind.HIGH_CARDINALITY in conditions.faults and rng.random() < _HIGH_CARDINALITY_FIRST:
        first.append("high_cardinality_lookup")
    return [*first, *(kind for kind in order if kind not in first)]


def choose_background(vocabulary: Vocabulary, conditions: Conditions, rng: np.random.Generator) -> tuple[Motif, ...]:
    """Draw the drift and the unit effect. A date column of a drift may also have a periodic motif."""
    motifs: list[Motif] = []
    starts, levels, acts = rng.uniform([0.25, 0.6], [0.5, 0.85]), rng.normal(size=3), rng.random()
    if vocabulary.date is not None and PathologyKind.DRIFT in conditions.faults:
        span = round(vocabulary.date.days * TRAIN_SHARE)
        edges = tuple(float(np.floor(start * span)) + 0.5 for start in starts)
        motifs.append(
            Drift(column=vocabulary.date.name, starts=edges, levels=tuple(round(float(level), 4) for level in levels))
        )
    if vocabulary.unit is not None and acts < _CHANCE_OF_UNIT_EFFECT:
        motifs.append(UnitEffect(column=vocabulary.unit.name))
    return tuple(motifs)


def _choose(
    kinds: Sequence[str], count: int, vocabulary: Vocabulary, taken: set[str], rng: np.random.Generator
) -> list[Motif]:
    """Draw motifs that use only columns outside `taken`, and add the columns they use to `taken`."""
    chosen: list[Motif] = []
    for kind in kinds:
        if len(chosen) < count:
            with suppress(NoFreeColumn):
                chosen.append(choose_motif(kind, vocabulary, taken, rng))
                taken.update(columns_of(chosen[-1]))
    return chosen


def _split(
    motifs: tuple[Motif, ...],
    total: float,
    followers: float,
    rng: np.random.Generator,
    *,
    is_read: bool = False,
    leads: bool = False,
) -> list[tuple[Motif, float]]:
    """Split variance among motifs at random.

    `followers` scales all shares but the first. If motifs are read in free sentences, shares are even instead, but for
    those of forms that the files give away, and for the first if it leads.
    """
    shares = rng.dirichlet(np.full(len(motifs), 20.0 if is_read else 5.0))
    if is_read:
        shares = -np.sort(-shares) if leads else shares
        shares *= [_OF_GIVEN if isinstance(motif, _GIVEN) else 1.0 for motif in motifs]
        shares[0] *= _OF_LEAD if leads else 1.0
    else:
        shares[1:] *= followers
    return [(motif, total * float(share)) for motif, share in zip(motifs, shares / shares.sum(), strict=True)]


def rule_problems(choices: Sequence[MotifChoice], vocabulary: Vocabulary) -> list[str]:
    """List the motifs that a draft cannot have and what its rule lacks. The language model reads this list."""
    problems = []
    for choice in choices:
        named = f"motif {choice.kind} on {', '.join(choice.columns)}"
        if len(choice.columns) != (2 if choice.kind in _PAIRS else 1):
            problems.append(f"{named}: it takes {_CARRIERS[choice.kind]}")
            continue
        try:
            motif_of(choice, vocabulary, np.random.default_rng(0))
        except NoFreeColumn:
            problems.append(f"{named}: it takes {_CARRIERS[choice.kind]}, which these are not")
    return problems + kind_problems(choices)


def kind_problems(choices: Sequence[MotifChoice]) -> list[str]:
    """List what the kinds of a draft's motifs lack. The language model reads this list."""
    kinds, problems = [choice.kind for choice in choices], []
    plain, hidden = sum(kind in PLAIN_KINDS for kind in kinds), sum(kind in HIDDEN_KINDS for kind in kinds)
    if not FEWEST_PLAIN <= plain <= MOST_PLAIN:
        problems.append(f"{plain} motifs of {', '.join(PLAIN_KINDS)}; {FEWEST_PLAIN} to {MOST_PLAIN} are wanted")
    if hidden != HIDDEN_MOTIFS:
        problems.append(f"{hidden} motifs of the other kinds; {HIDDEN_MOTIFS} are wanted")
    if not set(kinds) & set(FINDABLE_KINDS):
        problems.append(f"no motif that a search finds; at least one must be of {', '.join(FINDABLE_KINDS)}")
    if kinds.count("local_rule") > 1:
        problems.append("two local rules; a design has one hidden subgroup at most")
    return problems


def rule_of(
    choices: Sequence[MotifChoice], vocabulary: Vocabulary, conditions: Conditions, rng: np.random.Generator
) -> Rule:
    """Draw the numbers of a draft's motifs. Motifs in `FINDABLE_KINDS` come first among the hidden ones.

    Raises:
        NoFreeColumn: if a motif does not fit its columns. `rule_problems` finds such motifs beforehand.
    """
    hidden = [choice for choice in choices if choice.kind in HIDDEN_KINDS]
    hidden.sort(key=lambda choice: choice.kind not in FINDABLE_KINDS)
    local = next((choice for choice in hidden if choice.kind == "local_rule"), None)
    return Rule(
        plain=tuple(motif_of(choice, vocabulary, rng) for choice in choices if choice.kind in PLAIN_KINDS),
        hidden=tuple(motif_of(choice, vocabulary, rng) for choice in hidden),
        subgroup=choose_subgroup(_only(vocabulary, local.columns[1:]), set(), rng) if local else None,
        background=choose_background(vocabulary, conditions, rng),
    )


def motif_of(choice: MotifChoice, vocabulary: Vocabulary, rng: np.random.Generator) -> Motif:
    """Draw a motif as the grammar does, from a vocabulary that holds only the columns of the draft."""
    first, second = choice.columns[0], choice.columns[-1]
    columns = choice.columns[:1] if choice.kind == "local_rule" else choice.columns
    motif = choose_motif(choice.kind, _only(vocabulary, columns), set(), rng)
    match motif:
        case Ratio():
            return Ratio(numerator=first, denominator=second)
        case Difference() | Interaction() | Bottleneck():
            return motif.model_copy(update={"left": first, "right": second})
        case _:
            return motif


def _only(vocabulary: Vocabulary, columns: Sequence[str]) -> Vocabulary:
    """Reduce a vocabulary to these columns and all pairs of them."""
    kept, domain = set(columns), vocabulary.domain
    numeric = {word.name: word for word in domain.numeric if word.name in kept}
    positive = {name for name, word in numeric.items() if isinstance(word.distribution, LogNormal)}
    pairs = tuple(permutations(dict.fromkeys(columns), 2))
    narrowed = domain.model_copy(
        update={
            "numeric": tuple(numeric.values()),
            "categorical": tuple(word for word in domain.categorical if word.name in kept),
            "ratios": tuple(pair for pair in pairs if positive.issuperset(pair)),
            "products": pairs if kept == numeric.keys() else (),
            "periods": tuple(cycle for cycle in domain.periods if cycle[0] in kept),
        }
    )
    high_cardinality = tuple(word for word in vocabulary.high_cardinality if word.name in kept)
    return replace(vocabulary, domain=narrowed, high_cardinality=high_cardinality, date=None)
