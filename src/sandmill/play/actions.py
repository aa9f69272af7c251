"""Read the action of a model's message, in the format of SandMLE's agent.

A message begins with `<think>...</think>`. Its action follows: a tool call with code, a tool call as JSON, or an
answer, which ends the episode. A fenced block of Python counts as a tool call with code. Scores and results that a
message states are never read.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

from sandmill.models.rollout import Act

FORMAT = """\
Work in turns. Begin each message with your thoughts between <think> and </think>, and end it with one action.

To run a script:
<tool_call>
python
<code>
print("hello")
</code>
</tool_call>

To get feedback on the submission of your latest run:
<tool_call>
{"name": "submit", "arguments": {}}
</tool_call>

To end the episode with your latest valid submission:
<answer>done</answer>

To end it with the submission of an earlier step, here step 2:
<tool_call>
{"name": "finish", "arguments": {"step": 2}}
</tool_call>

Only the first action of a message counts. Its result comes between <tool_response> and </tool_response> in the next
message. Never write results yourself."""
"""Explains the format to a model."""

_THINK, _THINK_END = "<think>", "</think>"
_CALL, _CALL_END = "<tool_call>", "</tool_call>"
_CODE, _CODE_END = "<code>", "</code>"
_RESPONSE = "<tool_response>"
_ANSWER, _ANSWER_END = "<answer>", "</answer>"
_FENCE = re.compile(r"```(?:python|py)[ \t]*\n")
_FENCE_END = re.compile(r"^```", re.MULTILINE)
_END_OF_CODE = re.compile(r"</code>\s*</tool_call>")
_TOOLS = {"python": "run", "pythoninterpreter": "run", "run": "run", "submit": "submit", "score": "submit"} | {
    "finish": "finish",
    "answer": "finish",
}
"""Action by the name of a tool in lower case. `score` and `PythonInterpreter` are names that SandMLE's agent uses."""
_HINT = "Write one action in the format of the first message."


@dataclass(frozen=True)
class Parsed:
    """A message of a model, as its episode takes it."""

    act: Act | None
    """None if the message has no action that can be done."""
    error: str
    """Explains to the model why there is no action; else empty."""
    kept: str
    """The message up to the end of its action. What follows may be forged results."""
    is_formatted: bool
    """Whether it has the format that SandMLE's reward asks for: thoughts in tags at the start, and text after them."""


def parse_message(text: str, is_cut_off: bool = False) -> Parsed:
    """Find the first action of a message.

    Args:
        text: the message.
        is_cut_off: whether the message reached the model's limit of tokens.
    """
    start = _end_of_thoughts(text)
    if start is None:
        error = f"Error: your message has {_THINK} without {_THINK_END}, so it has no action. {_cut(is_cut_off)}{_HINT}"
        return Parsed(None, error, text, False)
    act, error, end = _find_action(text, start)
    if error:
        error = f"Error: {error} {_cut(is_cut_off)}{_HINT}"
    return Parsed(act, error, text[:end], _is_formatted(text))


def _cut(is_cut_off: bool) -> str:
    return "Your message was cut off, because it was too long. " if is_cut_off else ""


def _is_formatted(text: str) -> bool:
    body = text.lstrip()
    return body.startswith(_THINK) and bool(body.partition(_THINK_END)[2].strip())


def _end_of_thoughts(text: str) -> int | None:
    """Return where the thoughts end, 0 without thoughts. None if they have no end."""
    if not text.lstrip().startswith(_THINK):
        return 0
    end = text.find(_THINK_END)
    return None if end < 0 else end + len(_THINK_END)


def _find_action(text: str, start: int) -> tuple[Act | None, str, int]:
    """Return the action or what is wrong, and the place where it ends."""
    forged = _place(text, _RESPONSE, start)
    if (call := _place(text, _CALL, start)) < forged:
        return _read_call(text, call + len(_CALL))
    fence = _FENCE.search(text, start, forged)
    if fence:
        end = _FENCE_END.search(text, fence.end())
        if end is None:
            return None, "the block of Python code has no closing ```.", len(text)
        return Act.run(text[fence.end() : end.start()]), "", end.end()
    if (answer := _place(text, _ANSWER, start)) < forged:
        end_of_answer = text.find(_ANSWER_END, answer)
        return Act.finish(), "", len(text) if end_of_answer < 0 else end_of_answer + len(_ANSWER_END)
    return None, "your message has no action.", min(forged, len(text))


def _place(text: str, tag: str, start: int) -> int:
    """Return where a tag begins, and a place beyond the text if it does not occur."""
    found = text.find(tag, start)
    return len(text) + 1 if found < 0 else found


def _read_call(text: str, start: int) -> tuple[Act | None, str, int]:
    """Read the inside of a tool call, which begins at `start`."""
    inside = text[start:].lstrip()
    if inside.startswith("{"):
        end = text.find(_CALL_END, start)
        call = text[start:] if end < 0 else text[start:end]
        act, error = _read_json(call)
        return act, error, len(text) if end < 0 else end + len(_CALL_END)
    code = _place(text, _CODE, start)
    if code > _place(text, _CALL_END, start) or code > len(text):
        end = text.find(_CALL_END, start)
        error = f"the tool call is neither JSON nor code between {_CODE} and {_CODE_END}."
        return None, error, len(text) if end < 0 else end + len(_CALL_END)
    return _read_code(text, code + len(_CODE))


def _read_code(text: str, start: int) -> tuple[Act | None, str, int]:
    """Read code. The tag of its end may also occur inside of it, so the one before the end of the call counts."""
    if found := _END_OF_CODE.search(text, start):
        return Act.run(_dedent_edge(text[start : found.start()])), "", found.end()
    end = text.find(_CODE_END, start)
    if end < 0:
        return None, f"the code has no {_CODE_END}.", len(text)
    return Act.run(_dedent_edge(text[start:end])), "", end + len(_CODE_END)


def _dedent_edge(code: str) -> str:
    """Remove the line break after the opening tag."""
    return code.removeprefix("\r").removeprefix("\n")


def _read_json(text: str) -> tuple[Act | None, str]:
    """Read a tool call in JSON: `name` and `arguments`."""
    try:
        call, _ = json.JSONDecoder(strict=False).raw_decode(text.strip())
    except (ValueError, RecursionError):
        return None, 'the tool call is not valid JSON with "name" and "arguments".'
    name = call.get("name") if isinstance(call, dict) else None
    arguments: Any = call.get("arguments") or {} if isinstance(call, dict) else {}
    tool = _TOOLS.get(name.lower()) if isinstance(name, str) else None
    if tool is None:
        return None, "the tool call names no known tool. Known: python, submit, finish."
    if not isinstance(arguments, dict):
        return None, 'the "arguments" of the tool call are not an object.'
    if tool == "run":
        return _read_run(arguments)
    return _read_finish(arguments) if tool == "finish" else (Act.submit(), "")


def _read_run(arguments: dict[str, Any]) -> tuple[Act | None, str]:
    code = arguments.get("code")
    if not isinstance(code, str):
        return None, 'the tool python needs "code", a text.'
    return Act.run(code), ""


def _read_finish(arguments: dict[str, Any]) -> tuple[Act | None, str]:
    step = arguments.get("step")
    if step is not None and (not isinstance(step, int) or isinstance(step, bool) or step < 1):
        return None, 'the "step" of finish is not the number of a step.'
    return Act.finish(step), ""
