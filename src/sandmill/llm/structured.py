"""Answers in JSON from strict and from weak servers: a schema where it is understood, else told in words."""

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from sandmill.models.llm import AnswerForm, Prompt

FORMS: tuple[AnswerForm, ...] = ("json_schema", "json_object", "text")
"""The strictest first; each is tried when a server refuses the one before."""

_FENCE = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)
_TOLD = (
    "Answer with one JSON object and nothing else: no comment before or after it, no code fence. "
    "It must be valid under this JSON Schema:\n"
)


def wire_messages(prompt: Prompt, form: AnswerForm) -> list[dict[str, str]]:
    """Write the messages; where the server is given no schema, the last system or user message tells it."""
    messages = [message.model_dump() for message in prompt.messages]
    if form == "json_schema":
        return messages
    told = _TOLD + json.dumps(prompt.answer, sort_keys=True, ensure_ascii=False)
    first = messages[0]
    if first["role"] == "system":
        return [{**first, "content": f"{first['content']}\n\n{told}"}, *messages[1:]]
    return [{"role": "system", "content": told}, *messages]


def wire_format(prompt: Prompt, form: AnswerForm) -> Mapping[str, Any] | None:
    """What a request says about the form of its answer."""
    match form:
        case "json_schema":
            schema = {"name": prompt.role, "schema": prompt.answer, "strict": False}
            return {"type": "json_schema", "json_schema": schema}
        case "json_object":
            return {"type": "json_object", "schema": prompt.answer}
        case "text":
            return None


def read_json(text: str) -> dict[str, Any] | str:
    """Find the JSON object of an answer: the whole text, a fenced block, or the first object in it.

    Returns:
        The object, or what is wrong with the text, in words that its writer can act on.
    """
    problem = ""
    for piece in (text, *_FENCE.findall(text), text[max(text.find("{"), 0) :]):
        try:
            found, _ = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite).raw_decode(piece.strip())
            json.dumps(found, ensure_ascii=False).encode()  # JSON can escape half a character, which no file can hold
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
