"""Answers of models that write one script, for trainers without tools."""

from collections.abc import Iterator

HOW_TO_ANSWER = """\
## How to answer

Answer with one complete Python script, in a code block that starts with ```python. If there are several, the last \
one runs.
"""

_THINK, _THINK_END = "<think>", "</think>"
_PYTHON = frozenset({"", "python", "python3", "py"})
"""Languages of a code block that runs. A block without a language runs too."""


def last_script(message: str) -> str:
    """Return the last complete Python block after the thoughts of a message; empty if it holds none.

    A code block without an end does not count: the message was cut off.
    """
    scripts = [text for text, language in _blocks(_after_thoughts(message)) if language in _PYTHON and text.strip()]
    return scripts[-1] if scripts else ""


def _after_thoughts(message: str) -> str:
    """Return what follows the thoughts; empty if they have no end."""
    if _THINK in message and _THINK_END not in message:
        return ""
    # Some chat templates open the thoughts in the prompt, so that only their end is in the message.
    return message.rpartition(_THINK_END)[2]


def _blocks(message: str) -> Iterator[tuple[str, str]]:
    """Yield content and language of each complete code block."""
    lines: list[str] = []
    language: str | None = None
    for line in message.splitlines(keepends=True):
        mark = line.strip()
        if language is None and mark.startswith("```") and "`" not in mark[3:]:
            lines, language = [], mark[3:].strip().lower()
        elif language is not None and mark == "```":
            yield "".join(lines), language
            language = None
        else:
            lines.append(line)
