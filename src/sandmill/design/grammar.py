"""The grammar designer: vocabulary, motifs and faults composed by secret-keyed draws; no model, no key, no cost.

Draws depend on the slot's streams alone, and hardness only turns what they chose: two designs of one slot differ in
weights, rows, and how many hidden motifs and distractors they take from the same list, never in domain or target. That
is what makes steering by one knob possible.
"""

from collections.abc import Sequence

import numpy as np

from sandmill.design.faults import choose_faults, choose_shifts
from sandmill.design.lexicon import CategoricalWord, Domain, NumericWord, load_domains
from sandmill.design.rule import Rule, choose_rule, weigh
from sandmill.design.standardize import fit_link, standardize_terms
from sandmill.models.mechanism import BinaryLink, Categorical, Column, GaussianLink, Link, Mechanism, MulticlassLink
from sandmill.models.plan import Slot
from sandmill.models.spec import Sizes, Story, TaskSpec
from sandmill.models.structure import Structure, TargetKind
from sandmill.rng import Streams

LEAST_CLASSES, MOST_CLASSES = 3, 7
_EVEN, _UNEVEN = 6.0, 1.0
"""Dirichlet concentrations of a categorical column's levels: about alike, or some of them rare."""
_CHANCE_OF_RARE_LEVELS = 0.25
FEEDBACK_ROWS = 2000
FINAL_ROWS = 4000
_ROWS_EASIEST, _ROWS_HARDEST = 200, 80
_MOST_DISTRACTORS = 5
_LEAST_MAJORITY, _MOST_MAJORITY = 0.58, 0.8
"""Share of the larger of two classes: nearer to one half, a few training rows may take the smaller for it."""
_LOG_ODDS = {TargetKind.BINARY: (6.0, 1.1), TargetKind.MULTICLASS: (10.0, 1.8)}
"""Standard deviation of the rule on the log-odds scale at hardness 0 and 1, for class targets."""
_NOISE_EASIEST, _NOISE_HARDEST = 0.1, 1.0
"""Noise of number targets, in standard deviations of the rule."""


def design_task(slot: Slot, streams: Streams, hardness: float, parent: str | None = None) -> TaskSpec:
    """Design one task from a slot's seed.

    Args:
        slot: seed and wanted band.
        streams: the slot's streams, keyed by the release secret.
        hardness: 0 to 1; moves weight from plain to hidden motifs, takes rows away and adds distractors.
        parent: fingerprint of the design that this one was steered from.
    """
    rng = streams.generator("design")
    domains = load_domains()
    domain = domains[rng.integers(len(domains))]
    structure = slot.seed.structure
    link, target, meaning = _choose_target(structure, domain, hardness, rng)
    rule = choose_rule(domain, rng).at(hardness)
    columns = _choose_columns(domain, rule, structure.columns.categorical, hardness, streams)
    columns = choose_shifts(columns, rule, streams)
    outputs = len(link.classes) if isinstance(link, MulticlassLink) else 1
    terms = weigh(rule, hardness, outputs, _signal(structure.target, hardness), streams.generator("weights"))
    faults = choose_faults(structure, columns, rule, streams)
    draft = Mechanism(columns=columns, terms=terms, link=link, pathologies=faults, subgroup=rule.subgroup)
    standardized = standardize_terms(draft, streams.child("standardize"))
    shares = _class_shares(outputs, structure.positive_share, streams.generator("shares"))
    mechanism = fit_link(standardized, shares, streams.child("standardize"))
    return TaskSpec(
        seed_id=slot.seed.id,
        structure=structure,
        domain=domain.name,
        story=_story(domain, columns, target, meaning),
        target=structure.target,
        metric=structure.metric,
        mechanism=mechanism,
        sizes=Sizes(
            train=round(_between(_ROWS_EASIEST, _ROWS_HARDEST, hardness)),
            feedback=FEEDBACK_ROWS,
            final=FINAL_ROWS,
        ),
        wanted=slot.band,
        hardness=hardness,
        parent=parent,
    )


def _between(easiest: float, hardest: float, hardness: float) -> float:
    """Move a knob along hardness."""
    return round(easiest + (hardest - easiest) * hardness, 4)


def _signal(target: TargetKind, hardness: float) -> float:
    """Standard deviation of the rule: 1 for numbers, whose noise is turned instead."""
    return 1.0 if target is TargetKind.REGRESSION else _between(*_LOG_ODDS[target], hardness)


def _choose_target(
    structure: Structure, domain: Domain, hardness: float, rng: np.random.Generator
) -> tuple[Link, str, str]:
    """A link with blank intercepts, the target's name and meaning."""
    match structure.target:
        case TargetKind.BINARY:
            binary = domain.targets.binary[rng.integers(len(domain.targets.binary))]
            return BinaryLink(intercept=0.0), binary.name, binary.meaning
        case TargetKind.MULTICLASS:
            many = domain.targets.multiclass[rng.integers(len(domain.targets.multiclass))]
            most = int(rng.integers(LEAST_CLASSES + 1, MOST_CLASSES + 1))
            count = min(structure.n_classes or most, round(_between(LEAST_CLASSES, most, min(1.0, 2 * hardness))))
            picked = sorted(rng.permutation(len(many.classes))[:count])
            classes = tuple(many.classes[i] for i in picked)
            return MulticlassLink(classes=classes, intercepts=(0.0,) * count), many.name, many.meaning
        case TargetKind.REGRESSION:
            number = domain.targets.regression[rng.integers(len(domain.targets.regression))]
            link = GaussianLink(
                location=number.location,
                scale=number.scale,
                noise=_between(_NOISE_EASIEST, _NOISE_HARDEST, hardness),
                decimals=number.decimals,
            )
            return link, number.name, number.meaning
        case _:
            raise ValueError(f"the grammar has no words for a {structure.target} target")


def _choose_columns(
    domain: Domain, rule: Rule, categorical: int, hardness: float, streams: Streams
) -> tuple[Column, ...]:
    """The rule's columns and distractors, in an order that says nothing of their role."""
    rng = streams.generator("columns")
    words: list[NumericWord | CategoricalWord] = [*domain.numeric, *domain.categorical]
    ranked = [words[i] for i in rng.permutation(len(words))]
    spare = [word for word in ranked if word.name not in rule.columns]
    plain = [word for word in spare if isinstance(word, NumericWord)]
    named = [word for word in spare if isinstance(word, CategoricalWord)]
    used = [word for word in domain.categorical if word.name in rule.columns]
    extra_levels = max(0, min(categorical, len(domain.categorical)) - len(used))
    chosen = {*rule.columns, *(w.name for w in plain[: round(hardness * _MOST_DISTRACTORS)])}
    chosen |= {word.name for word in named[: min(extra_levels, round(2 * hardness))]}
    return tuple(_column(word, streams) for word in ranked if word.name in chosen)


def _column(word: NumericWord | CategoricalWord, streams: Streams) -> Column:
    if isinstance(word, NumericWord):
        return Column(name=word.name, distribution=word.distribution, decimals=word.decimals)
    rng = streams.generator(f"levels {word.name}")
    evenness = _EVEN if rng.random() > _CHANCE_OF_RARE_LEVELS else _UNEVEN
    shares = rng.dirichlet(np.full(len(word.levels), evenness))
    return Column(
        name=word.name, distribution=Categorical(levels=word.levels, shares=_exact_shares(shares)), decimals=0
    )


def _exact_shares(shares: Sequence[float] | np.ndarray) -> tuple[float, ...]:
    """Round to 4 decimals with the rest in the largest, so that the sum is 1 on any machine."""
    rounded = [max(round(float(share), 4), 0.01) for share in shares]
    largest = rounded.index(max(rounded))
    rounded[largest] = round(rounded[largest] + 1 - sum(rounded), 4)
    return tuple(rounded)


def _class_shares(outputs: int, positive: float | None, rng: np.random.Generator) -> tuple[float, ...]:
    """Wanted share of each class: the seed's own for two classes, kept away from the extremes."""
    if outputs == 1:
        share = positive if positive is not None else 0.4
        major = min(max(share, 1 - share, _LEAST_MAJORITY), _MOST_MAJORITY)
        return (major, round(1 - major, 4)) if share < 0.5 else (round(1 - major, 4), major)
    raw = rng.uniform(0.7, 1.4, outputs)
    return _exact_shares(raw / raw.sum())


def _story(domain: Domain, columns: Sequence[Column], target: str, meaning: str) -> Story:
    words: list[NumericWord | CategoricalWord] = [*domain.numeric, *domain.categorical]
    meanings = {word.name: word.meaning for word in words}
    return Story(
        title=f"{domain.title}: predict {target}",
        overview=" ".join(domain.overview),
        row=domain.row,
        target=target,
        target_meaning=meaning,
        column_meanings={column.name: meanings[column.name] for column in columns},
    )
