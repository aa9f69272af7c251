"""Gate on a whole release: names, words and column order must not reveal which column carries which motif.

Every column of every task is an example; its label is the motif that it serves in. Readers of the words are trained on
other tasks and compared with what anybody sees in the files who reads nothing but the facts that the task itself
states. Where a reader gains, an agent that trains on the release could learn roles by heart instead of finding them in
the data.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.special import xlogy
from scipy.stats import t as student

from sandmill.check.role_reading import (
    PAIR_GROUPS,
    TABLE_GROUPS,
    Examples,
    Floats,
    Guesses,
    Indices,
    Mask,
    guess_held_out,
    lay_out_columns,
)
from sandmill.models.base import Frozen
from sandmill.models.spec import TaskSpec

READER_MARGIN = 0.02
"""Share of the baseline's log-loss that reading may take away: 0.03 nats a column, a factor of 1.4 on the odds of a
whole task's roles. Sound designs of the grammar stay about half of it or less: 922 tables took .4 %."""
WORD_MARGIN = 0.01
"""Share of it that one word alone may take away; in sound designs no word that is no accident takes 0.002."""
CERTAINTY_MARGIN = 0.5
"""Share of the log-loss of the columns that have a word which that word alone may take away: beyond one half, it all
but says the role. Vocabularies that offer some columns for few motifs reach 0.4."""
ALPHA = 0.001
"""Chance of finding a leak in a release whose words say nothing: of readers, and of single words."""
MOST_TASKS = 2000
LEAST_FAMILIES = 10
"""Designs that do not stem from each other; with fewer there is nothing to compare."""
_WORDS_TRIED, _WORDS_SHOWN = 100, 10


class Guess(Frozen):
    """How well the roles of columns of unseen tasks are guessed."""

    log_loss: float
    """Nats a column."""
    accuracy: float


class Reader(Frozen):
    """A model that also reads, and what that gains it."""

    name: Literal["words", "names"]
    guess: Guess
    lift: float
    """Share of the baseline's log-loss that it takes away; negative where words only mislead."""
    p: float
    """Of no gain, from paired differences over families of designs; doubled, for there are two readers."""

    @property
    def leaks(self) -> bool:
        """Whether the gain is both worth something and no accident."""
        return self.lift > READER_MARGIN and self.p < ALPHA


class Telltale(Frozen):
    """A word whose columns carry a motif more or less often than files and stated facts would have it."""

    word: str
    """Where it stands and what it is, such as `name=mileage_km` or `place=last-0`."""
    motif: str
    found: int
    """Columns with the word that carry the motif."""
    expected: float
    columns: int
    """Columns with the word."""
    of_all: float
    """Share of the whole log-loss that knowing this takes away."""
    of_its_own: float
    """Share of the log-loss of the columns with the word."""
    p: float
    """Bound on the chance of as much where the word says nothing, for all words and motifs together."""

    @property
    def leaks(self) -> bool:
        """Whether it is no accident, and counts in the release or nearly settles the role of its columns."""
        return self.p < ALPHA and (self.of_all > WORD_MARGIN or self.of_its_own > CERTAINTY_MARGIN)


class MetaLeak(Frozen):
    """What can be learnt about roles from the words of a release."""

    tasks: int
    columns: int
    baseline: Guess | None
    """What anybody guesses who knows how often motifs occur and reads stated facts alone; None: too few tasks."""
    readers: tuple[Reader, ...]
    words: tuple[Telltale, ...]
    """Those that leak, then those that say most."""
    verdict: Literal["clean", "leaks", "too_small"]

    @property
    def detail(self) -> str:
        """The outcome in a sentence, fit for an error message or a card."""
        if not self.readers:
            return f"{self.tasks} tasks are too few to tell whether words give roles away"
        best = max(self.readers, key=lambda reader: reader.lift)
        shown = [
            f"{word.word} -> {word.motif} ({word.found} of {word.columns} columns, {word.expected:.1f} expected)"
            for word in self.words[:3]
        ]
        return (
            f"over {self.tasks} tasks, reading {best.name} takes {best.lift:.1%} off the log-loss of guessing which "
            f"column serves in what (p = {best.p:.1e}; at most {READER_MARGIN:.0%} may go); "
            f"what says most: {', '.join(shown) or 'nothing'}"
        )


def check_meta_leak(specs: Iterable[TaskSpec]) -> MetaLeak:
    """Say whether the roles of columns can be learnt from the words of other tasks.

    The order of the designs does not matter. Of more than `MOST_TASKS`, a fixed sample is used.
    """
    unique: dict[str, TaskSpec] = {}
    for spec in specs:
        if spec.channel is None:
            unique[spec.fingerprint] = spec
        if len(unique) > 2 * MOST_TASKS:
            unique = {key: unique[key] for key in sorted(unique)[:MOST_TASKS]}
    sample = [unique[key] for key in sorted(unique)[:MOST_TASKS]]
    families = _families(sample)
    tasks, columns = len(sample), sum(len(spec.mechanism.columns) for spec in sample)
    if len(np.unique(families)) < LEAST_FAMILIES:
        return MetaLeak(tasks=tasks, columns=columns, baseline=None, readers=(), words=(), verdict="too_small")
    examples = lay_out_columns(sample, families)
    guesses = guess_held_out(examples)
    readers = (_compare(examples, guesses, "words"), _compare(examples, guesses, "names"))
    words = _telltales(examples, guesses)
    leaks = any(reader.leaks for reader in readers) or any(word.leaks for word in words)
    return MetaLeak(
        tasks=tasks,
        columns=columns,
        baseline=_score(examples, guesses.seen),
        readers=readers,
        words=words,
        verdict="leaks" if leaks else "clean",
    )


def _families(specs: Sequence[TaskSpec]) -> Indices:
    """Number the designs so that those which share an ancestor share a number."""
    keys = [spec.fingerprint for spec in specs]
    parents = [spec.parent or key for spec, key in zip(specs, keys, strict=True)]
    place = {key: number for number, key in enumerate(dict.fromkeys([*keys, *parents]))}
    links = ([place[key] for key in keys], [place[parent] for parent in parents])
    _, families = connected_components(csr_array((np.ones(len(keys)), links), shape=(len(place),) * 2), directed=False)
    return np.asarray(families[: len(keys)], dtype=np.intp)


def _losses(examples: Examples, guess: Floats) -> Floats:
    return np.asarray(-guess[np.arange(len(guess)), examples.role])


def _score(examples: Examples, guess: Floats) -> Guess:
    accuracy = float((guess.argmax(axis=1) == examples.role).mean())
    return Guess(log_loss=round(float(_losses(examples, guess).mean()), 5), accuracy=round(accuracy, 5))


def _compare(examples: Examples, guesses: Guesses, name: Literal["words", "names"]) -> Reader:
    guess: Floats = getattr(guesses, name)
    lost, loss = _losses(examples, guesses.seen), _losses(examples, guess)
    gain = np.bincount(examples.family, lost - loss) / np.bincount(examples.family)
    error = max(float(gain.std(ddof=1)), 1e-12) / np.sqrt(len(gain))
    p = 2 * float(student.sf(gain.mean() / error, len(gain) - 1))
    lift = 1 - float(loss.mean() / lost.mean())
    return Reader(name=name, guess=_score(examples, guess), lift=round(lift, 5), p=min(1.0, p))


def _telltales(examples: Examples, guesses: Guesses) -> tuple[Telltale, ...]:
    """The words that say most about a motif, each by itself: those that leak first."""
    seen, chance = guesses.seen, (np.exp(guesses.seen) + np.exp(guesses.shares)) / 2
    names, is_shared, has = _single_words(examples)
    truth, lost = np.eye(seen.shape[1])[examples.role], _losses(examples, seen)
    columns, found, expected = has @ np.ones(len(lost)), has @ truth, has @ chance
    nats = _nats(found, expected, columns)
    tasks, nats_of_tasks = _nats_of_tasks(examples, has, truth)
    strength = np.where(is_shared[:, None], nats_of_tasks, nats * (tasks / columns)[:, None])
    p = np.minimum(1.0, 2 * nats.size * np.exp(-strength))
    of_all, of_its_own = nats / lost.sum(), nats / (has @ lost)[:, None]
    order = np.argsort(-nats, axis=None, kind="stable")
    worth_a_look = [int(place) for rank, place in enumerate(order) if rank < _WORDS_TRIED or p.flat[place] < ALPHA]
    told: dict[tuple[int, float, float], Telltale] = {}
    for place in worth_a_look:
        at = word, role = divmod(place, seen.shape[1])
        told.setdefault(
            (role, found[at], round(expected[at], 6)),
            Telltale(
                word=names[word],
                motif=examples.roles[role],
                found=int(found[at]),
                expected=round(float(expected[at]), 2),
                columns=int(columns[word]),
                of_all=round(float(of_all[at]), 5),
                of_its_own=round(float(of_its_own[at]), 5),
                p=float(p[at]),
            ),
        )
    return tuple(sorted(told.values(), key=lambda telltale: not telltale.leaks)[:_WORDS_SHOWN])


def _single_words(examples: Examples) -> tuple[list[str], Mask, csr_array]:
    """Words that are not pairs of names, whether all columns of a task share them, and which columns have them."""
    groups = [word.partition("=")[0] for word in examples.vocabulary]
    single = [number for number, group in enumerate(groups) if group not in PAIR_GROUPS]
    cells = examples.words[:, single].T.tocsr()
    cells.data[:] = 1.0
    names = [examples.vocabulary[number] for number in single]
    return names, np.array([groups[number] in TABLE_GROUPS for number in single], dtype=bool), cells


def _nats_of_tasks(examples: Examples, has: csr_array, truth: Floats) -> tuple[Floats, Floats]:
    """In how many tasks each word stands, and what it says of whether a motif occurs there at all."""
    of_task = csr_array((np.ones(len(truth)), (np.arange(len(truth)), examples.family)))
    stands = np.minimum((has @ of_task).toarray(), 1.0)
    occurs = np.minimum(np.asarray(of_task.T @ truth), 1.0)
    tasks = stands.sum(axis=1)
    return tasks, _nats(stands @ occurs, np.outer(tasks, occurs.mean(axis=0)), tasks)


def _nats(found: Floats, expected: Floats, cases: Floats) -> Floats:
    """What is gained over all cases by knowing how many were found instead of how many were expected.

    It bounds the chance of so many, by Chernoff: exp(-nats) for independent cases. Columns of one task are not
    independent, so `_telltales` counts nats once a task, and words that all columns of a task share by tasks.
    """
    total = cases[:, None]
    expected = np.clip(expected, 1e-9, total - 1e-9)
    left, missed = total - found, total - expected
    return np.asarray(xlogy(found, found / expected) + xlogy(left, left / missed))
