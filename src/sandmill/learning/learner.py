"""A micro policy that `train_async` can change: samples, and one policy-gradient step on what was collected."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sandmill.learning.collection import Floats

if TYPE_CHECKING:
    from sandmill.learning.policy import MicroPolicy

_IGNORED = -100
"""Label of tokens that have no part in the loss."""
_LARGEST_NORM = 1.0
"""Longer gradients are shortened to this length."""


class MicroLearner:
    """Samples a micro policy and changes it in place with Adam.

    The tokens of sampled answers are remembered, since a text can be split into fragments in more than one way.
    """

    def __init__(self, policy: "MicroPolicy", *, entropy: float = 0.01, keep: int = 20_000) -> None:
        """Wrap a policy.

        Args:
            policy: is changed in place.
            entropy: weight of the entropy of the next token, which works against collapse.
            keep: sampled answers whose tokens are remembered; the oldest are forgotten first.
        """
        import torch

        self.policy = policy
        self._entropy, self._keep = entropy, keep
        self._tokens: dict[str, list[int]] = {}
        self._optimiser = torch.optim.Adam(policy.model.parameters(), lr=1.0, betas=(0.9, 0.99))

    def sample(self, prompts: Sequence[Sequence[str]], *, n: int, temperature: float, seed: int) -> list[list[str]]:
        """Return n answers for each prompt."""
        ids = [self.policy.prompt_ids(words) for words in prompts for _ in range(n)]
        texts = self._remember(self.policy.sample_ids(ids, temperature=temperature, seed=seed))
        return [texts[start : start + n] for start in range(0, len(texts), n)]

    def rewrite(
        self, prompts: Sequence[Sequence[str]], answers: Sequence[str], *, keep: float, temperature: float, seed: int
    ) -> list[str]:
        """Return sampled answers with their ends written anew.

        Args:
            prompts: one for each answer.
            answers: sampled by this learner.
            keep: share of the fragments of an answer that are kept, from its start.
            temperature: of the new fragments.
            seed: of the new fragments.

        Raises:
            KeyError: if an answer was not sampled by this learner.
        """
        starts = [self._tokens[text][: int(keep * len(self._tokens[text]))] for text in answers]
        ids = [[*self.policy.prompt_ids(words), *start] for words, start in zip(prompts, starts, strict=True)]
        ends = self.policy.sample_ids(ids, temperature=temperature, seed=seed)
        return self._remember([[*start, *end] for start, end in zip(starts, ends, strict=True)])

    def fragments_of(self, answer: str) -> list[str]:
        """Return the texts of the fragments of a sampled answer, without the fence.

        Raises:
            KeyError: if the answer was not sampled by this learner.
        """
        texts = [self.policy.text_of([token]) for token in self._tokens[answer]]
        return [text for text in texts if text and not text.startswith("```")]

    def _remember(self, answers: Sequence[Sequence[int]]) -> list[str]:
        """Keep the tokens of answers, and return their texts."""
        texts = [self.policy.text_of(answer) for answer in answers]
        for text, answer in zip(texts, answers, strict=True):
            self._tokens.pop(text, None)
            self._tokens[text] = list(answer)
        for text in list(self._tokens)[: max(0, len(self._tokens) - self._keep)]:
            del self._tokens[text]
        return texts

    def reinforce(
        self, prompts: Sequence[Sequence[str]], answers: Sequence[str], weights: Floats, learning_rate: float
    ) -> None:
        """Do one step on the weighted log-probability of sampled answers, averaged over tokens.

        Raises:
            KeyError: if an answer was not sampled by this learner.
        """
        import torch

        model = self.policy.model
        ids, labels = self._batch(prompts, answers)
        model.train()
        logits = model(input_ids=ids, attention_mask=(ids != self.policy.tokenizer.pad_token_id).long()).logits[:, :-1]
        targets = labels[:, 1:]
        is_answer = targets != _IGNORED
        logs = torch.log_softmax(logits, dim=-1)
        chosen = logs.gather(-1, targets.clamp(min=0)[..., None])[..., 0]
        entropy = -(logs.exp() * logs).sum(dim=-1)
        gains = torch.as_tensor(weights, dtype=chosen.dtype)[:, None] * chosen + self._entropy * entropy
        loss = -(gains * is_answer).sum() / is_answer.sum()
        self._optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), _LARGEST_NORM)
        for group in self._optimiser.param_groups:
            group["lr"] = learning_rate
        self._optimiser.step()
        model.eval()

    def _batch(self, prompts: Sequence[Sequence[str]], answers: Sequence[str]) -> tuple[Any, Any]:
        """Return token numbers and labels, padded on the right; prompts have no label."""
        import torch

        pad = self.policy.tokenizer.pad_token_id
        pairs = [
            (self.policy.prompt_ids(words), self._tokens[text]) for words, text in zip(prompts, answers, strict=True)
        ]
        longest = max(len(prompt) + len(answer) for prompt, answer in pairs)
        ids = torch.full((len(pairs), longest), pad)
        labels = torch.full((len(pairs), longest), _IGNORED)
        for row, (prompt, answer) in enumerate(pairs):
            stop = len(prompt) + len(answer)
            ids[row, :stop] = torch.tensor([*prompt, *answer])
            labels[row, len(prompt) : stop] = torch.tensor(answer)
        return ids, labels
