"""The text form of actions: a fenced Python block runs, `<submit/>` asks for feedback, `<finish/>` ends the episode."""

import re
from collections.abc import Iterator

from sandmill.models.rollout import Act

HOW_TO_ACT = """\
## How to act

Each of your messages does one action. Think first if you like, then write one of these:

- A complete Python script in a code block that starts with ```python. It runs as one step.
- `<submit/>`: get feedback on the submission of the latest script.
- `<finish/>`: end the episode. The latest valid submission counts; `<finish step="2"/>` names that of step 2.

If a message holds several actions, only the first one is done.
"""
HOW_TO_ANSWER = """\
## How to answer

Answer with one complete Python script, in a code block that starts with ```python. If there are several, the last \
one runs.
"""
NO_ACTION = "The message held no action. Write a Python script in a ```python block, `<submit/>` or `<finish/>`."

_THINK, _THINK_END = "<think>", "</think>"
_PYTHON = frozenset({"", "python", "python3", "py"})
"""Languages of a code block that runs. A block without a language runs too."""
_TAG = re.compile(r"""<(?P<name>submit|finish)(?:\s+step\s*=\s*["']?(?P<step>[1-9]\d{0,5})["']?)?\s*/?>""")


def parse_action(message: str) -> Act | None:
    """Return the first action after the thoughts of a message, or None if it holds none.

    What follows the first action may be results that the model made up. A code block without an end is no action: the
    message was cut off. Tags inside code blocks do not count.
    """
    for text, language in _segments(_after_thoughts(message)):
        if language is None and (tag := _TAG.search(text)):
            return _act_of(tag)
        if language in _PYTHON and text.strip():
            return Act.run(text)
    return None


def last_script(message: str) -> str:
    """Return the last complete Python block after the thoughts of a message; empty if it holds none."""
    segments = _segments(_after_thoughts(message))
    scripts = [text for text, language in segments if language in _PYTHON and text.strip()]
    return scripts[-1] if scripts else ""


def _after_thoughts(message: str) -> str:
    """Return what follows the thoughts; empty if they have no end."""
    if _THINK not in message:
        # Some chat templates open the thoughts in the prompt.
        return message.rpartition(_THINK_END)[2]
    return message.rpartition(_THINK_END)[2] if _THINK_END in message else ""


def _act_of(tag: re.Match[str]) -> Act:
    if tag["name"] == "submit":
        return Act.submit()
    return Act.finish(int(tag["step"]) if tag["step"] else None)


def _segments(message: str) -> Iterator[tuple[str, str | None]]:
    """Yield the parts of a text in order: (content, language) of a code block, (text, None) between blocks."""
    lines: list[str] = []
    language: str | None = None
    for line in message.splitlines(keepends=True):
        mark = line.strip()
        if language is None and mark.startswith("```") and "`" not in mark[3:]:
            yield "".join(lines), None
            lines, language = [], mark[3:].strip().lower()
        elif language is not None and mark == "```":
            yield "".join(lines), language
            lines, language = [], None
        else:
            lines.append(line)
    if language is None:
        yield "".join(lines), None
