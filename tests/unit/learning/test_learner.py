"""Policy-gradient steps on a micro policy."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from sandmill.learning.async_trainer import AsyncSettings, PolicyPrompt, ScriptReward, train_async
from sandmill.learning.collection import CollectionSettings

pytestmark = pytest.mark.slow

FACTS = ("side=left", "side=right")


@pytest.fixture
def learner() -> Any:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from sandmill.learning.language import CLOSE, OPEN, Fragment, Language
    from sandmill.learning.learner import MicroLearner
    from sandmill.learning.policy import MicroPolicy
    from sandmill.learning.policy_settings import PolicySize

    texts = {"open": OPEN, "left": "left = 1\n", "right": "right = 1\n", "slow": "slow = 1\n", "close": CLOSE}
    fragments = tuple(Fragment(name=name, text=text, group="all") for name, text in texts.items())
    size = PolicySize(hidden=16, layers=1, heads=2, inner=32)
    return MicroLearner(MicroPolicy.create(Language(fragments=fragments), 1, facts=FACTS, size=size))


def _draw(number: int, generator: np.random.Generator) -> list[PolicyPrompt]:
    return [PolicyPrompt(fact, (fact,)) for fact in FACTS]


def _score(pairs: Sequence[tuple[str, str]]) -> list[ScriptReward]:
    """Pay for the word that the fact asks for, in the first line."""
    return [ScriptReward(float(text.startswith(f"{task.removeprefix('side=')} =")), 1.0) for task, text in pairs]


def test_a_policy_learns_to_read_its_facts(learner: Any) -> None:
    settings = AsyncSettings(updates=60, samples=32, learning_rate=2e-2)
    updates = train_async(learner, _draw, _score, settings)
    assert updates[0].reward < 0.4
    assert updates[-1].reward > 0.8


def test_late_scripts_of_continuous_collection_can_be_learned_from(learner: Any) -> None:
    collection = CollectionSettings(sampling="continuous", workers=4)
    settings = AsyncSettings(updates=60, samples=32, learning_rate=2e-2, collection=collection)
    assert train_async(learner, _draw, _score, settings)[-1].reward > 0.7


def test_a_rewritten_answer_keeps_its_start(learner: Any) -> None:
    drafts = [group[0] for group in learner.sample([(fact,) for fact in FACTS], n=1, temperature=1.0, seed=3)]
    again = learner.rewrite([(fact,) for fact in FACTS], drafts, keep=0.5, temperature=1.0, seed=4)
    for draft, text in zip(drafts, again, strict=True):
        kept = learner._tokens[draft][: len(learner._tokens[draft]) // 2]
        assert learner._tokens[text][: len(kept)] == kept
        assert not any("```" in fragment for fragment in learner.fragments_of(text))


def test_an_answer_of_another_learner_is_refused(learner: Any) -> None:
    with pytest.raises(KeyError):
        learner.reinforce([(FACTS[0],)], ["never sampled"], np.ones(1), 1e-3)
