"""The one place that touches LiteLLM: a request in, an answer or a fault that says what to do next out."""

import asyncio
import gc
import logging
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any
from uuid import uuid4

from sandmill.llm.redact import redact
from sandmill.llm.structured import wire_format, wire_messages
from sandmill.models.llm import AnswerForm, LlmSettings, ModelChoice, Prompt

_LOGGERS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "openai", "httpx", "httpcore", "aiohttp")
"""They may write whole requests, headers included."""
_MAY_PASS = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
_NO_FORM = frozenset({400, 422})
_LONGEST_WORDS = 300
_NO_KEY = "none"
"""Sent to a server of our own when no key is set: the client library insists on one."""


class Fault(Exception):
    """A request that brought no answer."""


class Passing(Fault):
    """It may go well in a moment."""

    def __init__(self, message: str, after_s: float | None = None) -> None:
        self.after_s = after_s
        super().__init__(message)


class NoSuchForm(Fault):
    """The server does not take the request as it is written; a plainer form of answer may do."""


class Lasting(Fault):
    """Trying again would bring the same."""


class Wasted(Lasting):
    """The answer was refused or cut off: it was paid for, and is of no use."""

    def __init__(self, message: str, prompt_tokens: int | None, answer_tokens: int | None) -> None:
        self.prompt_tokens, self.answer_tokens = prompt_tokens, answer_tokens
        super().__init__(message)


@dataclass(frozen=True)
class Answered:
    """A complete answer, with tokens where the server counts them."""

    text: str
    prompt_tokens: int | None
    answer_tokens: int | None


@cache
def load_litellm() -> Any:
    """Import LiteLLM without its look-up of a price map, its advice on the terminal and its logs of requests."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    # The way on which LiteLLM sends to all other providers, without OpenAI's client: a third less work a request.
    os.environ.setdefault("EXPERIMENTAL_OPENAI_BASE_LLM_HTTP_HANDLER", "True")
    import litellm

    litellm.suppress_debug_info = True
    litellm.telemetry = False
    litellm.drop_params = True
    for name in _LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    # Half a million objects that stay for good: every full collection would look at them, and nobody is answered in the
    # third of a second that this takes.
    gc.collect()
    gc.freeze()
    return litellm


async def complete(
    model: str, choice: ModelChoice, settings: LlmSettings, prompt: Prompt, form: AnswerForm
) -> Answered:
    """Send one request, once.

    Raises:
        Passing: after errors that may pass, and after the time-out.
        NoSuchForm: if the server refuses the request as written.
        Wasted: if the answer was refused by the model or cut off.
        Lasting: after any other error.
    """
    litellm = load_litellm()
    # In this task alone. LiteLLM then keeps no log of the request, neither of its success nor of its failure.
    litellm.utils.is_internal_call.set(True)
    how = _how(model, prompt, form)
    if settings.api_base:
        how |= {"api_base": settings.api_base}
        if not os.environ.get("OPENAI_API_KEY"):
            how |= {"api_key": _NO_KEY}
    try:
        async with asyncio.timeout(settings.timeout_s):
            response = await litellm.acompletion(
                model=model,
                messages=wire_messages(prompt, form),
                temperature=choice.temperature,
                max_tokens=choice.max_tokens,
                timeout=settings.timeout_s,
                max_retries=0,
                num_retries=0,
                litellm_logging_obj=_unpriced(model),
                **how,
            )
    except TimeoutError as error:
        raise Passing(f"no whole answer within {settings.timeout_s:g} s") from error
    except Exception as error:  # noqa: BLE001  LiteLLM raises errors of many libraries
        # Their text and chain may hold headers: only a redacted line goes on.
        raise _fault_of(error, form) from None
    return _read(response)


def _unpriced(model: str) -> Any:
    """What LiteLLM writes down about a request while it is under way, save its price.

    It would look that up twice for every answer, a quarter of its work. Here money is counted before and after.
    """
    started, name = datetime.now(), str(uuid4())  # noqa: DTZ005  LiteLLM compares it with its own naive times
    log = _unpriced_log()(model, [], False, "acompletion", started, name, "")
    log.update_environment_variables(model=model, user="", optional_params={}, litellm_params={"api_base": ""})
    return log


@cache
def _unpriced_log() -> Any:
    from litellm.litellm_core_utils.litellm_logging import Logging

    return type("Unpriced", (Logging,), {"response_cost_calculator": lambda *_, **__: None})


def _how(model: str, prompt: Prompt, form: AnswerForm) -> dict[str, Any]:
    """The form of the answer.

    LiteLLM leaves out without a word what it thinks that a model does not know: nobody would tell the schema then. A
    server with OpenAI's interface is sent it all the same and refuses by itself; of others LiteLLM is asked.
    """
    asked = wire_format(prompt, form)
    if asked is None:
        return {}
    if model.startswith("openai/"):
        return {"extra_body": {"response_format": asked}}
    if not _takes_forms(model):
        raise NoSuchForm(f"{model} takes no form of answer")
    return {"response_format": asked}


@cache
def _takes_forms(model: str) -> bool:
    try:
        return "response_format" in (load_litellm().get_supported_openai_params(model) or ())
    except Exception:  # noqa: BLE001  an unknown provider is told when it is asked
        return True


def _read(response: Any) -> Answered:
    try:
        choice, usage = response.choices[0], getattr(response, "usage", None)
        message, finish = choice.message, choice.finish_reason
    except (AttributeError, IndexError, TypeError) as error:
        raise Passing(f"an answer without a choice: {type(error).__name__}") from error
    prompt_tokens = getattr(usage, "prompt_tokens", None) or None
    answer_tokens = getattr(usage, "completion_tokens", None) or None
    special = getattr(message, "provider_specific_fields", None) or {}
    refusal, text = getattr(message, "refusal", None) or special.get("refusal"), message.content or ""
    if refusal or finish == "content_filter":
        raise Wasted(f"refused: {_short(refusal or 'content filter')}", prompt_tokens, answer_tokens)
    if finish == "length":
        raise Wasted("cut off: the answer is longer than it may be", prompt_tokens, answer_tokens)
    if not text.strip():
        raise Wasted("an empty answer", prompt_tokens, answer_tokens)
    # A half of a surrogate pair is no character: no file could hold it.
    return Answered(redact(text.encode(errors="replace").decode()), prompt_tokens, answer_tokens)


def _fault_of(error: Exception, form: AnswerForm) -> Fault:
    status, name = getattr(error, "status_code", None), type(error).__name__
    message = f"{name}{f' {status}' if status else ''}: {_short(str(error))}"
    if name == "ContentPolicyViolationError":
        return Wasted(f"refused: {message}", None, 0)
    if name in ("ContextWindowExceededError", "AuthenticationError", "PermissionDeniedError", "NotFoundError"):
        return Lasting(message)
    if status in _NO_FORM or name in ("UnsupportedParamsError", "JSONSchemaValidationError"):
        return NoSuchForm(message) if form != "text" else Lasting(message)
    if status in _MAY_PASS or status is None or "Timeout" in name or "Connection" in name:
        return Passing(message, _retry_after(error))
    return Lasting(message)


def _retry_after(error: Exception) -> float | None:
    """Seconds that the server asks us to wait."""
    headers: Any = getattr(error, "litellm_response_headers", None) or getattr(
        getattr(error, "response", None), "headers", None
    )
    said = str((headers or {}).get("retry-after") or (headers or {}).get("Retry-After") or "")
    try:
        return max(0.0, float(said))
    except ValueError:
        return _until(said)


def _until(said: str) -> float | None:
    try:
        moment = parsedate_to_datetime(said)
    except (ValueError, TypeError):
        return None
    return max(0.0, (moment - datetime.now(moment.tzinfo or UTC)).total_seconds())


def _short(text: str) -> str:
    line = " ".join(redact(text).split())
    return line if len(line) <= _LONGEST_WORDS else f"{line[:_LONGEST_WORDS]} ..."


def missing_keys(model: str) -> list[str]:
    """Name the variables of the environment that a model's provider needs and that are not set."""
    try:
        found = load_litellm().validate_environment(model)
    except Exception:  # noqa: BLE001  an unknown provider is told when it is asked
        return []
    return [] if found.get("keys_in_environment") else [str(name) for name in found.get("missing_keys") or ()]
