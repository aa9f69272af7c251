"""What models cost: LiteLLM's own table, or prices that the operator gives where it has none."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from sandmill.models.llm import Prompt, Usage

_CHARACTERS_A_TOKEN = 3
"""Cautious: English has about four, JSON a little more than three."""
_A_MESSAGE = 8
"""Tokens that a message costs beside its text."""


@dataclass(frozen=True)
class Prices:
    """Dollars for a token of the prompt and of the answer."""

    prompt: float = 0.0
    answer: float = 0.0
    is_known: bool = True

    def of(self, prompt_tokens: int, answer_tokens: int) -> float:
        """Dollars of one request."""
        return self.prompt * prompt_tokens + self.answer * answer_tokens


def prices_of(model: str, given: Mapping[str, float] | None = None) -> Prices:
    """Look up what a model costs.

    Args:
        model: name as LiteLLM writes it.
        given: dollars for a million tokens of `input` and `output`, which go before the table.
    """
    if given:
        return Prices(given.get("input", 0.0) / 1e6, given.get("output", 0.0) / 1e6)
    return _listed(model)


@cache
def _listed(model: str) -> Prices:
    from sandmill.llm.provider import load_litellm

    try:
        info = load_litellm().get_model_info(model)
    except Exception:  # noqa: BLE001  LiteLLM raises a bare Exception for models that it does not list
        return Prices(is_known=False)
    return Prices(info.get("input_cost_per_token") or 0.0, info.get("output_cost_per_token") or 0.0)


def count_tokens(text: str) -> int:
    """Estimate without a tokenizer, on the high side, where a server does not say."""
    return -(-len(text) // _CHARACTERS_A_TOKEN)


def most_it_can_cost(prompt: Prompt, prices: Prices, max_tokens: int) -> float:
    """Dollars that a request takes at the worst: its whole prompt, and an answer as long as it may be."""
    asked = sum(count_tokens(message.content) + _A_MESSAGE for message in prompt.messages)
    return prices.of(asked + count_tokens(str(prompt.answer)), max_tokens)


def usage_of(prompt_tokens: int, answer_tokens: int, prices: Prices) -> Usage:
    """What one answered request took."""
    usd = round(prices.of(prompt_tokens, answer_tokens), 9)
    return Usage(requests=1, prompt_tokens=prompt_tokens, answer_tokens=answer_tokens, usd=usd)
