"""Prompts of micro policies that show an earlier script: the operators of `sandmill.play.operators` as words.

An improve prompt is the facts of the task, the word of the operator, the answer to the earlier submission in one word,
and the fragments of the earlier script. It shows what the agent saw itself, so nothing of the final part.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sandmill.learning.async_trainer import PolicyPrompt
from sandmill.models.episode import FeedbackAnswer, FeedbackStatus
from sandmill.models.reports import Medal
from sandmill.models.rollout_record import Operator

IMPROVE_WORD = f"operator={Operator.IMPROVE}"
"""Draft prompts have no word of an operator, so a policy without improve prompts reads them the same."""
_BELOW, _NO_MEDAL = "below-baseline", "no-medal"
FEEDBACK_WORDS = tuple(f"feedback={name}" for name in (_BELOW, _NO_MEDAL, *(str(medal) for medal in Medal)))
OPERATOR_WORDS = (IMPROVE_WORD, *FEEDBACK_WORDS)
"""Words that a policy needs beside the facts to read improve prompts."""

MOST_FRAGMENTS = 64
"""Fragments of an earlier script that a prompt shows; the last ones are left out."""
_POOL = 12
"""Earlier scripts that are kept of each task, the latest ones."""


@dataclass(frozen=True)
class Earlier:
    """A valid script with the feedback on it."""

    fragments: tuple[str, ...]
    """Texts of its fragments."""
    feedback: str
    """A word of `FEEDBACK_WORDS`."""


def feedback_word(answer: FeedbackAnswer | None) -> str | None:
    """Return the word of a feedback answer; None if there is none or the submission was not valid."""
    if answer is None or answer.status in (FeedbackStatus.NOT_SCORED, FeedbackStatus.EXHAUSTED):
        return None
    if answer.status is FeedbackStatus.BELOW_BASELINE:
        return f"feedback={_BELOW}"
    return f"feedback={answer.medal or _NO_MEDAL}"


def improve_words(facts: Sequence[str], earlier: Earlier) -> tuple[str, ...]:
    """Return the prompt that asks for a better script than an earlier one."""
    return (*facts, IMPROVE_WORD, earlier.feedback, *earlier.fragments[:MOST_FRAGMENTS])


@dataclass
class ParentPool:
    """Valid scripts of the training so far, by task. Equal scripts count once, with their last feedback."""

    scripts: dict[str, dict[tuple[str, ...], Earlier]] = field(default_factory=dict)

    def add(self, task_id: str, fragments: Sequence[str], answer: FeedbackAnswer | None) -> None:
        """Keep a script, if it is valid. Only the latest ones of a task are kept."""
        if (word := feedback_word(answer)) is None:
            return
        pool = self.scripts.setdefault(task_id, {})
        pool.pop(tuple(fragments), None)
        pool[tuple(fragments)] = Earlier(tuple(fragments), word)
        while len(pool) > _POOL:
            del pool[next(iter(pool))]

    def prompt(self, task_id: str, facts: Sequence[str], share: float, generator: np.random.Generator) -> PolicyPrompt:
        """Return an improve prompt with a probability, else a draft prompt.

        A task without an earlier valid script always gets a draft prompt.

        Args:
            task_id: the task.
            facts: its fact words.
            share: probability of an improve prompt.
            generator: decides, and chooses the earlier script.
        """
        is_improve, pool = generator.random() < share, list(self.scripts.get(task_id, {}).values())
        place = int(generator.integers(len(pool))) if pool else 0
        words = improve_words(facts, pool[place]) if is_improve and pool else tuple(facts)
        return PolicyPrompt(task_id, words)
