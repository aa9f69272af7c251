"""Prompts to language models, their replies and costs."""

from typing import Any, Literal

from pydantic import Field

from sandmill.models.base import Frozen


class Message(Frozen):
    """One message of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


class Prompt(Frozen):
    """One question: everything that its answer may depend on, and nothing about how it is sent."""

    role: str
    """Role that asks, such as `strategist`."""
    messages: tuple[Message, ...] = Field(min_length=1)
    answer: dict[str, Any]
    answer_version: int = Field(default=1, ge=1)
    """Raise it when the meaning of the answer changes while its schema does not."""
    draw: str = ""
    """Distinguishes equal questions, so that two slots do not share one answer."""


class ModelChoice(Frozen):
    """Models in the order in which they are tried, and their sampling parameters."""

    models: tuple[str, ...] = Field(min_length=1)
    """Names in LiteLLM's notation, such as `openai/gpt-4o-mini`."""
    temperature: float = Field(default=0.7, ge=0, le=2)
    max_tokens: int = Field(default=6000, ge=16)


class LlmSettings(Frozen):
    """How requests are sent. No setting changes the content of an answer."""

    concurrency: int = Field(default=8, ge=1, le=256)
    timeout_s: float = Field(default=120.0, gt=0)
    """Deadline for the whole answer to one request."""
    retries: int = Field(default=3, ge=0, le=20)
    api_base: str | None = None
    """Address of a server with OpenAI's interface, for models named `openai/...`; None means the provider's own."""
    is_replay: bool = False


class Usage(Frozen):
    """Tokens and cost of one or several requests."""

    requests: int = Field(default=0, ge=0)
    """Requests that were answered; recorded replies do not count."""
    prompt_tokens: int = Field(default=0, ge=0)
    answer_tokens: int = Field(default=0, ge=0)
    usd: float = Field(default=0.0, ge=0)

    def plus(self, other: "Usage") -> "Usage":
        """Return the sum of both."""
        return Usage(
            requests=self.requests + other.requests,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            answer_tokens=self.answer_tokens + other.answer_tokens,
            usd=round(self.usd + other.usd, 9),
        )


AnswerForm = Literal["json_schema", "json_object", "text"]
"""How a server is asked for JSON. Recordings of older versions may have `json_object`."""


class Reply(Frozen):
    """A complete answer. The role that asked checks its content."""

    text: str
    model: str
    """Model that answered; earlier models may have failed."""
    form: AnswerForm
    usage: Usage
    key: str
    source: str = "model"
    """Author: `model`, or a word such as `fixture` for recordings that were written by hand."""
    is_recorded: bool = False
    """Whether it came from the recordings, and cost nothing."""
    passed_over: tuple[str, ...] = ()
    """Models that failed before, each with its reason."""
    value: dict[str, Any] | None = None
    problem: str = ""
    """Why the text has no JSON object, in words that the model can act on."""

    @property
    def paid(self) -> Usage:
        """Cost of this reply in this run."""
        return Usage() if self.is_recorded else self.usage
