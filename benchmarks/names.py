"""What names and texts of designs say without data: which columns matter, and how much of the prose is shared."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from sandmill.check.meta_leak import NO_ROLE, guess_held_out, lay_out_columns
from sandmill.kinds.library import load_domains
from sandmill.models.knowledge import TargetPrior
from sandmill.models.links import NumbersLink
from sandmill.models.motifs import columns_of
from sandmill.models.spec import TaskSpec

FEW_TASKS = 80
"""Texts that are compared at a time, as many as a small release has."""
LEAST_USES = 10
"""Columns of a name from which on its roles are counted."""

Floats = NDArray[np.float64]


def names_table(specs: Sequence[TaskSpec], texts: Sequence[frozenset[str]]) -> Iterator[str]:
    """Say how well one guesses without data, with what is wanted.

    Args:
        specs: designs of tables.
        texts: word 5-grams of each description.
    """
    examples = lay_out_columns(specs, np.arange(len(specs)))
    none, matters = examples.roles.index(NO_ROLE), np.array([name != NO_ROLE for name in examples.roles])[examples.role]
    guesses = guess_held_out(examples)
    known, is_known = plausible(specs)
    yield f"| without data, {len(specs)} designs of tables | measured | wanted |"
    yield "|---|---:|---:|"
    for what, wanted, guess in (
        ("who reads nothing and knows the other tasks", "", guesses.seen),
        ("who learns words from the other tasks", "<= .70", guesses.words),
    ):
        yield f"| AUC of which columns matter, for a reader {what} | {auc(matters, -guess[:, none]):.2f} | {wanted} |"
    found = auc(matters[is_known], known[is_known])
    yield f"| the same, who knows what is plausible in the domain | {found:.2f} | .60-.70 |"
    name, role, share, uses = most_certain(specs)
    yield f"| largest share of one role among the columns of a name ({name}: {role}, {uses}) | {share:.0%} | <= 70 % |"
    yield f"| word 5-grams of a description that stand in another of {FEW_TASKS} | {shared(texts):.0%} | <= 30 % |"


def plausible(specs: Sequence[TaskSpec]) -> tuple[Floats, NDArray[np.bool_]]:
    """For each column of each design: whether the domain finds it plausible that it matters, and whether it says."""
    domains = {domain.name: domain.knows.targets for domain in load_domains()}
    marks, is_known = [], []
    for spec in specs:
        link = spec.mechanism.link
        target = link.names[0] if isinstance(link, NumbersLink) else spec.story.target
        prior: TargetPrior | None = domains.get(spec.domain, {}).get(target)
        acting = {column for act in prior.acts for column in act.columns} if prior else set()
        marks += [float(column.name in acting) for column in spec.mechanism.columns]
        is_known += [prior is not None] * len(spec.mechanism.columns)
    return np.array(marks), np.array(is_known)


def auc(truth: NDArray[np.bool_], scores: Floats) -> float:
    """Area under the ROC curve, ties counted half."""
    positives = int(truth.sum())
    above = rankdata(scores)[truth].sum() - positives * (positives + 1) / 2
    return float(above / (positives * (len(truth) - positives)))


def most_certain(specs: Sequence[TaskSpec]) -> tuple[str, str, float, int]:
    """Return the name whose columns most often have the same role: name, role, share and number of columns."""
    roles: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for spec in specs:
        acting = {column: term.motif.motif for term in spec.mechanism.terms for column in columns_of(term.motif)}
        for column in spec.mechanism.columns:
            roles[column.name][acting.get(column.name, NO_ROLE)] += 1
    best = ("none is used often", NO_ROLE, 0.0, 0)
    for name, counts in roles.items():
        (role, times), total = counts.most_common(1)[0], counts.total()
        if total >= LEAST_USES and role != NO_ROLE and times / total > best[2]:
            best = (name, role, times / total, total)
    return best


def shared(texts: Sequence[frozenset[str]]) -> float:
    """Return the share of a text's 5-grams that also occur in another of the 80 texts compared with it, as a mean."""
    shares = []
    for start in range(0, len(texts) - FEW_TASKS // 2, FEW_TASKS):
        block = texts[start : start + FEW_TASKS]
        counts = Counter(gram for grams in block for gram in grams)
        shares += [float(np.mean([counts[gram] > 1 for gram in grams])) for grams in block]
    return float(np.mean(shares or [0.0]))
