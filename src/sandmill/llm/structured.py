"""JSON answers from servers that know JSON Schema and from servers that do not."""

import json
import math
import re
from typing import Any

from sandmill.models.llm import AnswerForm, Prompt

FORMS: tuple[AnswerForm, ...] = ("json_schema", "json_object", "text")
"""The strictest form first. A server that refuses a form is sent the next one."""

_FENCE = re.compile(r"```(?:json)?[^\S\n]*\n(.*?)```", re.DOTALL)
_INSTRUCTION = (
    "Answer with one JSON object and nothing else: no comment before or after it, no code fence. "
    "It must be valid under this JSON Schema:\n"
)


def wire_messages(prompt: Prompt, form: AnswerForm) -> list[dict[str, str]]:
    """Return the messages to send. If the form carries no schema, the first message ends with the schema as text."""
    messages = [message.model_dump() for message in prompt.messages]
    if form != "json_schema":
        schema = json.dumps(prompt.answer, sort_keys=True, ensure_ascii=False)
        messages[0]["content"] += f"\n\n{_INSTRUCTION}{schema}"
    return messages


def response_format(prompt: Prompt, form: AnswerForm) -> dict[str, Any]:
    """Return the `response_format` parameter of a request."""
    if form == "json_schema":
        schema = {"name": prompt.role, "schema": prompt.answer, "strict": False}
        return {"type": "json_schema", "json_schema": schema}
    return {"type": "json_object", "schema": prompt.answer}


def read_json(text: str) -> dict[str, Any] | str:
    """Find the JSON object of an answer: the whole text, a fenced block, or the first object in the text.

    Returns:
        The object, or a description of the problem that the model can act on.
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
