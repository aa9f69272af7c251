"""Prices of models, from LiteLLM's table or from the operator, and what requests cost."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from sandmill.llm.provider import Completion, load_litellm
from sandmill.llm.structured import wire_messages
from sandmill.models.llm import AnswerForm, Prompt, Usage

_CHARACTERS_PER_TOKEN = 3
"""Low on purpose, so that estimates are too high: English has about 4, JSON a little more than 3."""
_TOKENS_PER_MESSAGE = 8
"""Tokens that each message costs in addition to its text."""


@dataclass(frozen=True)
class Prices:
    """Dollars per token of the prompt and of the answer."""

    prompt: float = 0.0
    answer: float = 0.0
    is_known: bool = True

    def highest(self, prompt: Prompt, max_tokens: int) -> float:
        """Return the highest cost of a request: its whole prompt and the longest answer."""
        texts = sum(count_tokens(message.content) + _TOKENS_PER_MESSAGE for message in prompt.messages)
        return self.prompt * (texts + count_tokens(str(prompt.answer))) + self.answer * max_tokens

    def usage(self, prompt: Prompt, form: AnswerForm, completion: Completion) -> Usage:
        """Return the usage of one request: the server's token counts, or estimates if it gives none."""
        asked, answered = completion.prompt_tokens, completion.answer_tokens
        if asked is None:
            asked = sum(count_tokens(message["content"]) for message in wire_messages(prompt, form))
        if answered is None:
            answered = count_tokens(completion.text)
        usd = round(self.prompt * asked + self.answer * answered, 9)
        return Usage(requests=1, prompt_tokens=asked, answer_tokens=answered, usd=usd)


def prices_of(model: str, given: Mapping[str, float] | None = None) -> Prices:
    """Return a model's prices: the given ones, in dollars per million tokens of `input` and `output`, or LiteLLM's."""
    if given:
        return Prices(given.get("input", 0.0) / 1e6, given.get("output", 0.0) / 1e6)
    return _listed(model)


@cache
def _listed(model: str) -> Prices:
    try:
        info = load_litellm().get_model_info(model)
    except Exception:  # noqa: BLE001  LiteLLM raises a bare Exception for models that it does not list
        return Prices(is_known=False)
    return Prices(info.get("input_cost_per_token") or 0.0, info.get("output_cost_per_token") or 0.0)


def count_tokens(text: str) -> int:
    """Estimate the tokens of a text without a tokenizer. The estimate is too high rather than too low."""
    return -(-len(text) // _CHARACTERS_PER_TOKEN)
