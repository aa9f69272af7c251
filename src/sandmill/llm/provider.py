"""The only module that calls LiteLLM: one request in, a completion or a classified failure out."""

import asyncio
import json
import logging
import math
import os
import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from sandmill.llm.redact import redact
from sandmill.models.llm import AnswerForm, LlmSettings, ModelChoice, Prompt

_FENCE = re.compile(r"```(?:json)?[^\S\n]*\n(.*?)```", re.DOTALL)
_INSTRUCTION = (
    "Answer with one JSON object and nothing else: no comment before or after it, no code fence. "
    "It must be valid under this JSON Schema:\n"
)

_LOGGERS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "openai", "httpx", "httpcore", "aiohttp")
"""Loggers that may write whole requests, headers included."""
_LONGEST_MESSAGE = 300
"""Characters of a server's error message that are kept."""
_NO_KEY = "none"
"""API key for a local server if no key is set: OpenAI's client refuses to start without one."""
_MOST_TOKENS = 100_000_000
"""A server that counts more tokens for one request, or fewer than none, is not believed."""
_TOO_LONG = re.compile(
    r"context.?(?:length|window|size)|too (?:long|large)|(?:max|input).{0,20}length|max_(?:model_len|\w*tokens)",
    re.IGNORECASE,
)
"""Errors of servers that LiteLLM does not class as a full context. Those of rate limits speak of tokens too."""


def wire_messages(prompt: Prompt, form: AnswerForm) -> list[dict[str, str]]:
    """Return the messages to send. In the form `text`, the first message ends with the schema."""
    messages = [message.model_dump() for message in prompt.messages]
    if form == "text":
        schema = json.dumps(prompt.answer, sort_keys=True, ensure_ascii=False)
        messages[0]["content"] += f"\n\n{_INSTRUCTION}{schema}"
    return messages


def read_json(text: str) -> dict[str, Any] | str:
    """Find the JSON object of an answer: the whole text, a fenced block, or the first object in the text.

    A string describes the problem, so that the model can act on it.
    """
    problem = ""
    for piece in (text, *_FENCE.findall(text), text[max(text.find("{"), 0) :]):
        try:
            found, _ = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite).raw_decode(piece.strip())
            # Encoding fails on half a surrogate pair, which JSON can escape and no file can hold.
            json.dumps(found, ensure_ascii=False).encode()
        except (ValueError, RecursionError) as error:
            problem = problem or str(error)
            continue
        if isinstance(found, dict):
            return found
        problem = problem or f"the answer is a {type(found).__name__}, not an object"
    return f"not a JSON object: {problem}"


def _finite(digits: str) -> float:
    value = float(digits)
    return value if math.isfinite(value) else _refuse(digits)


def _refuse(name: str) -> float:
    raise ValueError(f"{name} is not a number of JSON")


@dataclass(eq=False)
class RequestFailed(Exception):
    """A request without a usable answer."""

    message: str
    """One line without keys."""
    is_transient: bool = False
    """The same request may succeed later."""
    may_be_form: bool = False
    """A plainer answer form may succeed."""
    retry_after_s: float | None = None
    """Wait that the server asks for."""
    is_too_long: bool = False
    """The request has more tokens or bytes than the server takes."""
    is_busy: bool = False
    """The server refuses for now: too many requests, or it says when to come again."""
    is_lasting: bool = False
    """No other request can succeed either, for example because the key is wrong or the model is unknown."""


@dataclass(frozen=True)
class Completion:
    """An answer that the server charges for."""

    text: str
    prompt_tokens: int | None = None
    """None if the server does not count them."""
    answer_tokens: int | None = None
    problem: str = ""
    """Why the answer is useless: refused, cut off or empty."""
    is_cut_off: bool = False
    """Whether the answer is longer than the limit."""
    reasoning: str = ""
    """Text that the server or LiteLLM took out of the answer, such as that between `<think>` and `</think>`."""


@cache
def load_litellm() -> Any:
    """Import LiteLLM without its download of a price table, its terminal output and its logs of requests."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm

    litellm.suppress_debug_info = True
    litellm.drop_params = True
    for name in _LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return litellm


async def complete(
    model: str, choice: ModelChoice, settings: LlmSettings, prompt: Prompt, form: AnswerForm
) -> Completion:
    """Send one request, once, as `send` does."""
    options: dict[str, Any] = {}
    if form != "text":
        schema = {"name": prompt.role, "schema": prompt.answer, "strict": False}
        asked = {"type": "json_schema", "json_schema": schema}
        if model.startswith("openai/"):
            # LiteLLM's list of models does not know what a server of one's own accepts; the server itself refuses.
            options = {"extra_body": {"response_format": asked}}
        elif "response_format" in (load_litellm().get_supported_openai_params(model) or ()):
            options = {"response_format": asked}
        else:
            # LiteLLM would drop the form, and the schema with it, without an error.
            raise RequestFailed(f"{model} has no response_format", may_be_form=True)
    return await send(model, choice, settings, wire_messages(prompt, form), options)


async def send(
    model: str, choice: ModelChoice, settings: LlmSettings, messages: list[dict[str, str]], options: dict[str, Any]
) -> Completion:
    """Send messages, once. The options are further parameters of the request.

    Raises:
        RequestFailed: after an error, or if the whole answer has not come within the time-out.
    """
    litellm = load_litellm()
    if settings.api_base:
        options = options | {"api_base": settings.api_base}
        if not os.environ.get("OPENAI_API_KEY"):
            options |= {"api_key": _NO_KEY}
    try:
        # LiteLLM's own time-out starts anew with every byte that comes.
        async with asyncio.timeout(settings.timeout_s):
            response = await litellm.acompletion(
                model=model,
                messages=messages,
                temperature=choice.temperature,
                max_tokens=choice.max_tokens,
                timeout=settings.timeout_s,
                max_retries=0,
                **options,
            )
    except TimeoutError as error:
        raise RequestFailed(f"no whole answer within {settings.timeout_s:g} s", is_transient=True) from error
    except litellm.ContentPolicyViolationError as error:
        return Completion("", None, 0, f"refused: {_describe(error)}")
    except Exception as error:  # noqa: BLE001  LiteLLM raises errors of many libraries
        # The chain of causes may hold headers with keys.
        raise _failure(error) from None
    return _read(response)


def _read(response: Any) -> Completion:
    try:
        choice, usage = response.choices[0], getattr(response, "usage", None)
        message, finish = choice.message, choice.finish_reason
    except (AttributeError, IndexError, TypeError) as error:
        raise RequestFailed(f"an answer without a choice: {type(error).__name__}", is_transient=True) from error
    text = _clean(message.content)
    special = getattr(message, "provider_specific_fields", None) or {}
    refusal = getattr(message, "refusal", None) or special.get("refusal")
    problem = ""
    if refusal or finish == "content_filter":
        problem = f"refused: {_one_line(refusal or 'content filter')}"
    elif finish == "length":
        problem = "cut off: the answer is longer than --max-tokens allows"
    elif not text.strip():
        problem = "an empty answer"
    return Completion(
        text,
        _tokens(getattr(usage, "prompt_tokens", None)),
        _tokens(getattr(usage, "completion_tokens", None)),
        problem,
        is_cut_off=finish == "length",
        reasoning=_clean(getattr(message, "reasoning_content", None)),
    )


def _tokens(count: object) -> int | None:
    """Return a server's count of tokens; None if it gives none, or one that cannot be."""
    return count if isinstance(count, int) and 0 < count <= _MOST_TOKENS else None


def _clean(text: object) -> str:
    """Return a text without keys. The encoding replaces half of a surrogate pair, which no file can hold."""
    return redact(text.encode(errors="replace").decode()) if isinstance(text, str) else ""


def _failure(error: Exception) -> RequestFailed:
    """Classify an error of LiteLLM by its HTTP status."""
    status, name = getattr(error, "status_code", None), type(error).__name__
    is_internal = name == "InternalServerError" and "Connection error" not in str(error)
    wait, is_full = _retry_after(error), name == "ContextWindowExceededError"
    too_long = re.compile("request too large", re.IGNORECASE) if status == 429 else _TOO_LONG
    is_too_long = is_full or status == 413 or too_long.search(str(error)) is not None
    return RequestFailed(
        _describe(error),
        is_transient=not is_too_long
        and (not isinstance(status, int) or status in (408, 409, 425, 429) or status >= 500),
        # Some servers answer an unknown form with an internal error.
        may_be_form=(status in (400, 422) and not is_full) or is_internal,
        retry_after_s=wait,
        is_too_long=is_too_long,
        is_busy=not is_too_long and (status == 429 or wait is not None),
        is_lasting=status in (401, 403, 404),
    )


def _retry_after(error: Exception) -> float | None:
    """Read the seconds of the Retry-After header."""
    response: Any = getattr(error, "response", None)
    headers = getattr(error, "litellm_response_headers", None) or getattr(response, "headers", None) or {}
    try:
        return max(0.0, float(headers.get("retry-after") or ""))
    except ValueError:
        return None


def _describe(error: Exception) -> str:
    status = getattr(error, "status_code", None)
    return f"{type(error).__name__}{f' {status}' if status else ''}: {_one_line(str(error))}"


def _one_line(text: str) -> str:
    line = " ".join(redact(text).split())
    return line if len(line) <= _LONGEST_MESSAGE else f"{line[:_LONGEST_MESSAGE]} ..."


def missing_keys(model: str) -> list[str]:
    """Return the environment variables that a model's provider needs and that are not set."""
    try:
        found = load_litellm().validate_environment(model)
    except Exception:  # noqa: BLE001  an unknown provider: the first request reports it
        return []
    return [] if found.get("keys_in_environment") else [str(name) for name in found.get("missing_keys") or ()]
