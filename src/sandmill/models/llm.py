"""What is asked of language models, what they answered, and what it cost."""

from typing import Any, Literal

from pydantic import Field

from sandmill.models.base import Frozen


class Message(Frozen):
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


class Prompt(Frozen):
    """One question: everything that its answer may depend on, and nothing of how it is sent."""

    role: str
    """Who asks, such as `strategist`; for reports."""
    messages: tuple[Message, ...] = Field(min_length=1)
    answer: dict[str, Any]
    """JSON Schema of the answer."""
    answer_version: int = Field(default=1, ge=1)
    """Raised when what is asked for changes while its schema does not."""
    draw: str = ""
    """Which of several equal questions this is: two slots must not be given one answer."""


class ModelChoice(Frozen):
    """What answers: models in the order in which they are tried, and how they are asked to write."""

    models: tuple[str, ...] = Field(min_length=1)
    """Names as LiteLLM writes them, such as `openai/gpt-4o-mini`."""
    temperature: float = Field(default=0.7, ge=0, le=2)
    max_tokens: int = Field(default=6000, ge=16)
    """Of one answer."""


class LlmSettings(Frozen):
    """How questions are sent. Nothing here changes what an answer is."""

    concurrency: int = Field(default=8, ge=1, le=256)
    timeout_s: float = Field(default=120.0, gt=0)
    """Of one request, whether bytes trickle or not."""
    retries: int = Field(default=3, ge=0, le=20)
    """Further tries after an error that may pass by itself."""
    api_base: str | None = None
    """Server with OpenAI's interface, for models named `openai/...`; none: the provider's own."""
    is_replay: bool = False
    """Answer from recorded replies alone."""


class Usage(Frozen):
    """What one or several requests took."""

    requests: int = Field(default=0, ge=0)
    """Sent and paid for; recorded replies count as none."""
    prompt_tokens: int = Field(default=0, ge=0)
    answer_tokens: int = Field(default=0, ge=0)
    usd: float = Field(default=0.0, ge=0)

    def plus(self, other: "Usage") -> "Usage":
        """Add up."""
        return Usage(
            requests=self.requests + other.requests,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            answer_tokens=self.answer_tokens + other.answer_tokens,
            usd=round(self.usd + other.usd, 9),
        )


AnswerForm = Literal["json_schema", "json_object", "text"]
"""How a server is made to answer in JSON, the strictest first."""


class Reply(Frozen):
    """A complete answer. Whether it is a right one is for the role to judge that asked."""

    text: str
    model: str
    """That answered, which need not be the first that was asked."""
    form: AnswerForm
    usage: Usage
    """What the answer cost when it was given."""
    key: str
    """Of the recorded request, 64 hexadecimal digits."""
    source: str = "model"
    """Who wrote it: `model`, or for recordings written by hand a word such as `fixture`."""
    is_recorded: bool = False
    """It came from the recordings and cost nothing now."""
    passed_over: tuple[str, ...] = ()
    """Models that were tried before and why they did not answer."""
    value: dict[str, Any] | None = None
    """The JSON object of the text; None if there is none."""
    problem: str = ""
    """Why there is none, in words that its writer can act on."""

    @property
    def paid(self) -> Usage:
        """What this reply cost in this run."""
        return Usage() if self.is_recorded else self.usage
