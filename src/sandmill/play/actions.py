"""Read the action of a model's message, in the format of SandMLE's agent.

A message begins with `<think>...</think>`. Its action follows: a tool call with code, a tool call as JSON, or an
answer, which ends the episode. A fenced block of Python counts as a tool call with code. Scores and results that a
message states are never read.
"""

import json
import re
from dataclasses import dataclass
from importlib.resources import files

from sandmill.models.rollout import Act

FORMAT = (files("sandmill.play") / "format.md").read_text(encoding="utf-8")

_THINK, _THINK_END = "<think>", "</think>"
_CALL, _CALL_END = "<tool_call>", "</tool_call>"
_CODE, _CODE_END = "<code>", "</code>"
_RESPONSE = "<tool_response>"
_ANSWER, _ANSWER_END = "<answer>", "</answer>"
_FENCE = re.compile(r"```(?:python|py)[ \t]*\n")
_FENCE_END = re.compile(r"^```", re.MULTILINE)
_END_OF_CODE = re.compile(r"</code>\s*</tool_call>")
_TOOLS = {"submit": "submit", "score": "submit", "finish": "finish", "answer": "finish"} | dict.fromkeys(
    ("python", "pythoninterpreter", "run", "run_code"), "run"
)
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
    """Find the first action of a message. `is_cut_off` says that it reached the model's limit of tokens."""
    has_thoughts, end = text.lstrip().startswith(_THINK), text.find(_THINK_END)
    found: Act | str = f"your message has {_THINK} without {_THINK_END}, so it has no action."
    kept = len(text)
    if not has_thoughts or end >= 0:
        found, kept = _find_action(text, end + len(_THINK_END) if has_thoughts else 0)
    is_formatted = has_thoughts and end >= 0 and bool(text[end + len(_THINK_END) :].strip())
    if isinstance(found, Act):
        return Parsed(found, "", text[:kept], is_formatted)
    cut = "Your message was cut off, because it was too long. " if is_cut_off else ""
    return Parsed(None, f"Error: {found} {cut}{_HINT}", text[:kept], is_formatted)


def read_call(name: object, arguments: object, run: str = "python") -> Act | str:
    """Return the action of a tool call that a model wrote, or what is wrong with it. `run` is the tool for code."""
    tool = _TOOLS.get(name.lower()) if isinstance(name, str) else None
    if tool is None:
        return f"the tool call names no known tool. Known: {run}, submit, finish."
    if not isinstance(arguments, dict):
        return 'the "arguments" of the tool call are not an object.'
    if tool == "run":
        code = arguments.get("code")
        return Act.run(code) if isinstance(code, str) else f'the tool {run} needs "code", a text.'
    if tool == "submit":
        return Act.submit()
    step = arguments.get("step")
    is_number = step is None or (isinstance(step, int) and not isinstance(step, bool) and step > 0)
    return Act.finish(step) if is_number else 'the "step" of finish is not the number of a step.'


def _find_action(text: str, start: int) -> tuple[Act | str, int]:
    """Return the action or what is wrong, and the place where it ends."""
    forged = _find(text, _RESPONSE, start)[0]
    if (call := _find(text, _CALL, start))[0] < forged:
        return _read_tag(text, call[1])
    if fence := _FENCE.search(text, start, forged):
        if not (end := _FENCE_END.search(text, fence.end())):
            return "the block of Python code has no closing ```.", len(text)
        return Act.run(text[fence.end() : end.start()]), end.end()
    if (answer := _find(text, _ANSWER, start)[0]) < forged:
        return Act.finish(), min(len(text), _find(text, _ANSWER_END, answer)[1])
    return "your message has no action.", min(forged, len(text))


def _find(text: str, tag: str, start: int) -> tuple[int, int]:
    """Return where a tag begins and ends, and places beyond the text if it does not occur."""
    found = text.find(tag, start)
    return (len(text) + 1, len(text) + 1) if found < 0 else (found, found + len(tag))


def _read_tag(text: str, start: int) -> tuple[Act | str, int]:
    """Read the inside of a tool call, which begins at `start`."""
    inner_end, end = _find(text, _CALL_END, start)
    if text[start:].lstrip().startswith("{"):
        return _read_json(text[start:inner_end].strip()), min(end, len(text))
    code, code_start = _find(text, _CODE, start)
    if code > inner_end or code > len(text):
        return f"the tool call is neither JSON nor code between {_CODE} and {_CODE_END}.", min(end, len(text))
    # The tag of its end may also occur inside of the code, so the one before the end of the call counts.
    if found := _END_OF_CODE.search(text, code_start):
        code_end, end = found.span()
    else:
        code_end, end = _find(text, _CODE_END, code_start)
    if code_end > len(text):
        return f"the code has no {_CODE_END}.", len(text)
    return Act.run(text[code_start:code_end].removeprefix("\r").removeprefix("\n")), end


def _read_json(text: str) -> Act | str:
    try:
        call, _ = json.JSONDecoder(strict=False).raw_decode(text)
    except (ValueError, RecursionError):
        return 'the tool call is not valid JSON with "name" and "arguments".'
    return read_call(call.get("name"), call.get("arguments") or {})
