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
        answers = self.policy.sample_ids(ids, temperature=temperature, seed=seed)
        texts = [self.policy.text_of(answer) for answer in answers]
        for text, answer in zip(texts, answers, strict=True):
            self._tokens[text] = answer
        for text in list(self._tokens)[: max(0, len(self._tokens) - self._keep)]:
            del self._tokens[text]
        return [texts[start : start + n] for start in range(0, len(texts), n)]

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
